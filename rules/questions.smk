rule questions:
    input:
        files=lambda wildcards: plan.files_of(
            training_plan.sets(config)[wildcards.question_set]
        ),
    output:
        questions=QUESTIONS,
        passages=PASSAGES,
        rows=ROWS,
    log:
        RESULTS / "logs/questions/{question_set}.{noise}.log",
    conda:
        "../envs/query.yaml"
    params:
        entry=lambda wildcards: plan.made_of(
            training_plan.sets(config)[wildcards.question_set]
        ),
        seed=config["seed"],
        code=code_of("questions"),
    message:
        "Questions of {wildcards.question_set}, noise {wildcards.noise}"
    script:
        "../scripts/questions.py"

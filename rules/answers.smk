CODE_OF_ANSWERS = code_of("answers")


# One job a cell of the confidence study, asynchronous inside.
rule answers:
    input:
        questions=[QUESTIONS],
        passages=[PASSAGES],
        rows=[ROWS],
        weights=lambda wildcards: weights_of(wildcards.model),
    output:
        answers=[ANSWERS],
    log:
        RESULTS
        / "logs/answers/{model}/{question_set}.{configuration}.{tool}.{noise}.log",
    benchmark:
        RESULTS
        / "logs/answers/{model}/{question_set}.{configuration}.{tool}.{noise}.benchmark.tsv"
    wildcard_constraints:
        model=one_of(BY_CELL),
    conda:
        "../envs/query.yaml"
    threads: lambda wildcards: demands.processors(*asked_by(wildcards.model))
    resources:
        api=lambda wildcards: demands.jobs("api", *asked_by(wildcards.model)),
    params:
        model=lambda wildcards: wildcards.model,
        answers=lambda wildcards: entries.answering(config["models"][wildcards.model]),
        cells=lambda wildcards: [study_of(plan.cell_of(wildcards))],
        code=CODE_OF_ANSWERS,
    message:
        "{wildcards.model} answers {wildcards.question_set}, {wildcards.configuration}, {wildcards.tool}"
    script:
        "../scripts/answers.py"


# One start of a server serves all, as in the rules of the trajectories.
for model in [name for name in BY_MODEL if study_cells(name)]:

    rule:
        name:
            f"answers_{model}"
        input:
            questions=[study_path(QUESTIONS, cell) for cell in study_cells(model)],
            passages=[study_path(PASSAGES, cell) for cell in study_cells(model)],
            rows=[study_path(ROWS, cell) for cell in study_cells(model)],
            weights=weights_of(model),
        output:
            answers=[study_path(ANSWERS, cell) for cell in study_cells(model)],
        log:
            RESULTS / f"logs/answers/{model}.log",
        benchmark:
            RESULTS / f"logs/answers/{model}.benchmark.tsv"
        conda:
            "../envs/query.yaml"
        resources:
            vllm=1,
            gpu=demands.gpus(*asked_by(model)),
        params:
            model=model,
            answers=entries.answering(config["models"][model]),
            cells=[study_of(cell) for cell in study_cells(model)],
            code=CODE_OF_ANSWERS,
        message:
            f"{model} answers all questions of the confidence study"
        script:
            "../scripts/answers.py"

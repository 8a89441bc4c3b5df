# What training changed: every checkpoint of the confidence study beside the untreated model.
rule comparison:
    input:
        questions=of_study(QUESTIONS),
        answers=of_study(ANSWERS),
        judgements=expand(ANSWER_JUDGEMENTS, model=ANSWERING),
    output:
        **tables_of("comparison", folder="training"),
    log:
        RESULTS / "logs/comparison.log",
    conda:
        "../envs/analysis.yaml"
    params:
        cells=[list(cell) for cell in STUDY],
        checkpoints=COMPARED,
        rewards={
            name: config["rewards"][name]
            for name in config.get("training", {}).get("rewards", [])
        },
        trained=[list(place) for place in checkpoints.trained_on(config)],
        study=study_settings(),
        code=code_of("comparison"),
    message:
        "What training changed"
    script:
        "../scripts/comparison.py"

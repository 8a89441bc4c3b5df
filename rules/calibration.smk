# How well stated confidences fit what was right, cell by cell of the confidence study, and what tells cells apart.
rule calibration:
    input:
        questions=of_study(QUESTIONS),
        answers=of_study(ANSWERS),
        judgements=expand(ANSWER_JUDGEMENTS, model=ANSWERING),
    output:
        **tables_of(*CONFIDENCE, folder="confidence"),
    log:
        RESULTS / "logs/calibration.log",
    conda:
        "../envs/analysis.yaml"
    params:
        cells=[list(cell) for cell in STUDY],
        base_models={
            cell.model: config["models"][cell.model].get("base_model")
            for cell in STUDY
        },
        limits={
            name: entry.get("limit")
            for name, entry in config.get("confidence", {}).get("sets", {}).items()
        },
        trials=config.get("confidence", {}).get("trials"),
        graded_by=config.get("confidence", {}).get("graded_by"),
        seed=config["seed"],
        code=code_of("calibration"),
    message:
        "How well stated confidences fit what was right"
    script:
        "../scripts/calibration.py"

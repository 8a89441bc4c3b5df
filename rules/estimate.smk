# What a run would still ask and cost; read from the cases and the journals, so it writes no table and is always done.
localrules:
    estimate,


rule estimate:
    input:
        cases=per_cell(CASES, but=BY_RECORDING),
        contexts=per_cell(CONTEXTS, but=BY_RECORDING),
        questions=[study_path(QUESTIONS, cell) for cell in STUDY],
        # What the judge reads, where that is made without a call.
        read_by_judge=[
            path
            for model in JUDGED
            if config["models"][model]["source"] in entries.NO_CALLS
            for paths in read_by_judge(model).values()
            for path in paths
        ],
    log:
        RESULTS / "logs/estimate.log",
    conda:
        "../envs/query.yaml"
    params:
        # Not inputs, for those would be made; in the order of the cells.
        journals=per_cell(JOURNAL),
        user_journals=per_cell(USER_JOURNAL),
        trajectories=per_cell(TRAJECTORIES),
        turn_confidence=per_cell(TURN_CONFIDENCE),
        study=[
            [
                list(cell),
                [study_path(QUESTIONS, cell), study_path(ANSWER_JOURNAL, cell)],
            ]
            for cell in STUDY
        ],
        answers_judged={
            model: {
                "answers": [study_path(ANSWERS, cell) for cell in study_cells(model)],
                "questions": [
                    study_path(QUESTIONS, cell) for cell in study_cells(model)
                ],
                "journal": judged(model, ANSWER_JUDGE_JOURNAL)["journal"],
            }
            for model in ANSWERING
        },
        folder=str(JOURNAL.parents[1]),
        judged={
            model: {"reads": read_by_judge(model), "journal": judged(model)["journal"]}
            for model in JUDGED
        },
    message:
        "What this run would still ask of its models"
    script:
        "../scripts/estimate.py"

rule diagnosis:
    input:
        **after_turns(per_cell(TURN_CONFIDENCE, but=BY_RECORDING)),
        **CORRECTIONS,
        cases=per_cell(CASES),
        contexts=per_cell(CONTEXTS),
        trajectories=per_cell(TRAJECTORIES),
        probe_events=per_cell(PROBE_EVENTS, but=BY_RECORDING),
        actions=per_cell(ACTIONS),
        grades=per_cell(GRADES),
        writes=expand(WRITES, model=WITH_USER),
        judgements=expand(JUDGEMENTS, model=JUDGED),
    output:
        **tables_of(*DIAGNOSIS),
    log:
        RESULTS / "logs/diagnosis.log",
    conda:
        "../envs/analysis.yaml"
    params:
        families={name: entry["family"] for name, entry in config["models"].items()},
        plan=[
            [
                *cell,
                path_of(CASES, cell),
                path_of(CONTEXTS, cell),
                configuration.selection(config, cell),
                configuration.trials(config, cell.model),
            ]
            for cell in CELLS
        ],
        probes={
            name: entry["probe"]
            for name, entry in config["perturbations"].items()
            if entry["kind"] == "probe"
        },
        labellers=LABELLERS,
        # Whose labels the corrections are put over; none without corrections.
        corrected=CORRECTED_FROM,
        questions=JUDGE_QUESTIONS,
        seed=config["seed"],
        code=code_of("diagnosis"),
    message:
        "Gold Action Recall, accuracy and what lies between them"
    script:
        "../scripts/diagnosis.py"

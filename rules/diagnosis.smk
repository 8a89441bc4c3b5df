rule diagnosis:
    input:
        cases=per_cell(CASES),
        trajectories=per_cell(TRAJECTORIES),
        actions=per_cell(ACTIONS),
        grades=per_cell(GRADES),
    output:
        **TABLES,
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
                configuration.selection(config, cell),
                configuration.trials(config, cell.model),
            ]
            for cell in CELLS
        ],
        labellers=config["labellers"],
        seed=config["seed"],
        code=code_of("diagnosis"),
    message:
        "Gold Action Recall, accuracy and what lies between them"
    script:
        "../scripts/diagnosis.py"

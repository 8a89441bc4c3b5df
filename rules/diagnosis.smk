DIAGNOSIS = ("outcomes", "turns", "confusion", "cells", "slack_reasons", "families")
TABLES = {
    **{table: RESULTS / f"diagnosis/{table}.parquet" for table in DIAGNOSIS},
    **{f"{table}_csv": RESULTS / f"diagnosis/{table}.csv" for table in DIAGNOSIS},
}


rule diagnosis:
    message:
        "Gold Action Recall, accuracy and what lies between them"
    input:
        cases=per_cell(rules.cases.output.cases),
        trajectories=per_cell(rules.trajectories.output.trajectories),
        actions=per_cell(rules.actions.output.actions),
        grades=per_cell(rules.grades.output.grades),
    output:
        **TABLES,
    params:
        families={name: entry["family"] for name, entry in config["models"].items()},
        plan=[
            [*cell, configuration.selection(config, cell), config["trials"]]
            for cell in CELLS
        ],
        labellers=config["labellers"],
        seed=config["seed"],
        code=code_of("diagnosis"),
    log:
        RESULTS / "logs/diagnosis.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/diagnosis.py"

# What other tools open: in `all` where the configuration names it.
INSPECT_LOGS = RESULTS / "exports/inspect/{model}"
EXPORTED = {
    "inspect": expand(INSPECT_LOGS, model=list(dict.fromkeys(c.model for c in CELLS))),
    "dataset": [RESULTS / "exports/dataset"],
}
EXPORTS = [path for name in config["exports"] for path in EXPORTED[name] if CELLS]


localrules:
    exports,


# Asked for by name: what the configuration names, else all there is.
rule exports:
    input:
        EXPORTS or list(EXPORTED.values()),
    message:
        "Exports are there"


rule export_inspect:
    input:
        **CORRECTIONS,
        cases=lambda wildcards: per_cell(CASES, wildcards.model),
        contexts=lambda wildcards: per_cell(CONTEXTS, wildcards.model),
        trajectories=lambda wildcards: per_cell(TRAJECTORIES, wildcards.model),
        user_messages=lambda wildcards: per_cell(
            USER_MESSAGES, wildcards.model, free=True
        ),
        actions=ACTIONS,
        grades=lambda wildcards: per_cell(GRADES, wildcards.model),
        outcomes=OF_DIAGNOSIS["outcomes"],
        cells=OF_DIAGNOSIS["cells"],
    output:
        logs=directory(INSPECT_LOGS),
    log:
        RESULTS / "logs/export_inspect/{model}.log",
    conda:
        "../envs/inspect.yaml"
    params:
        cells=lambda wildcards: [
            [
                *cell,
                *(path_of(table, cell) for table in (CASES, CONTEXTS, TRAJECTORIES)),
                (
                    path_of(USER_MESSAGES, cell)
                    if configuration.speaks_freely(cell.scenario)
                    else None
                ),
            ]
            for cell in cells_of(wildcards.model)
        ],
        family=lambda wildcards: config["models"][wildcards.model]["family"],
        corrected=CORRECTED_FROM,
        code=code_of("export_inspect"),
    message:
        "Logs of Inspect of {wildcards.model}"
    script:
        "../scripts/export_inspect.py"


rule export_dataset:
    input:
        **{
            name: OF_DIAGNOSIS[name]
            for name in ("effects", "family_effects", "outcomes", "write_rates")
        },
        **{name: TABLES[name] for name in ["correction_agreement"] if name in TABLES},
        **CORRECTIONS,
        cells=OF_DIAGNOSIS["cells"],
        cases=per_cell(CASES),
        contexts=per_cell(CONTEXTS),
        trajectories=per_cell(TRAJECTORIES),
        user_messages=per_cell(USER_MESSAGES, free=True),
        probe_events=per_cell(PROBE_EVENTS, but=BY_RECORDING),
        actions=per_cell(ACTIONS),
        grades=per_cell(GRADES),
        writes=expand(WRITES, model=WITH_USER),
    output:
        folder=directory(EXPORTED["dataset"][0]),
    log:
        RESULTS / "logs/export_dataset.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models={name: entry["family"] for name, entry in config["models"].items()},
        seed=config["seed"],
        code=code_of("export_dataset"),
    message:
        "A data set folder of this run"
    script:
        "../scripts/export_dataset.py"

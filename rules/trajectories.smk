# The only stage that calls a model: one job a cell, asynchronous inside.
rule trajectories:
    input:
        cases=CASES,
        contexts=CONTEXTS,
    output:
        trajectories=TRAJECTORIES,
    log:
        RESULTS / "logs/trajectories/{model}/{scenario}.{perturbation}.log",
    benchmark:
        RESULTS / "logs/trajectories/{model}/{scenario}.{perturbation}.benchmark.tsv"
    conda:
        "../envs/query.yaml"
    params:
        entry=lambda wildcards: config["models"][wildcards.model],
        selection=lambda wildcards: configuration.selection(config, cell_of(wildcards)),
        trials=config["trials"],
        seed=config["seed"],
        # Beside the results, not an output: Snakemake removes outputs before a job runs.
        journal=lambda wildcards: str(JOURNAL).format(**wildcards),
        # A new ending with infrastructure errors redoes the cell, once per run.
        unfinished=lambda wildcards: unfinished.count(str(JOURNAL).format(**wildcards)),
        code=code_of("trajectories"),
    message:
        "{wildcards.model} answers {wildcards.scenario}, {wildcards.perturbation}"
    script:
        "../scripts/trajectories.py"

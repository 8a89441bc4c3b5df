# The only stage that calls a model: one job a cell, asynchronous inside.
TRAJECTORIES = RESULTS / "trajectories/{model}/{scenario}.{perturbation}.parquet"
JOURNAL = RESULTS / "journal/{model}/{scenario}.{perturbation}.jsonl"


def unfinished_endings(wildcards):
    """How often the cell ended with infrastructure errors: a new ending redoes it, once per run."""
    return unfinished.count(str(JOURNAL).format(**wildcards))


rule trajectories:
    message:
        "{wildcards.model} answers {wildcards.scenario}, {wildcards.perturbation}"
    input:
        cases=rules.cases.output.cases,
        contexts=rules.contexts.output.contexts,
    output:
        trajectories=TRAJECTORIES,
    params:
        entry=lambda wildcards: config["models"][wildcards.model],
        selection=lambda wildcards: configuration.selection(config, cell_of(wildcards)),
        trials=config["trials"],
        seed=config["seed"],
        # Beside the results, not an output: Snakemake removes outputs before a job runs.
        journal=lambda wildcards: str(JOURNAL).format(**wildcards),
        unfinished=unfinished_endings,
        code=code_of("trajectories"),
    log:
        RESULTS / "logs/trajectories/{model}/{scenario}.{perturbation}.log",
    benchmark:
        RESULTS / "logs/trajectories/{model}/{scenario}.{perturbation}.benchmark.tsv"
    conda:
        "../envs/query.yaml"
    script:
        "../scripts/trajectories.py"

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
        # Beside the results, not an output: Snakemake removes outputs before a job runs.
        journal=lambda wildcards: str(JOURNAL).format(**wildcards),
        # One value, for Snakemake compares params as a set: two numbers that trade places would not be seen.
        run=run_of_cell,
        code=code_of("trajectories"),
    message:
        "{wildcards.model} answers {wildcards.scenario}, {wildcards.perturbation}"
    script:
        "../scripts/trajectories.py"

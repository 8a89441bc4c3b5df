CONTEXTS = RESULTS / "contexts/{scenario}.{perturbation}.parquet"


rule contexts:
    message:
        "What a model reads in {wildcards.scenario}, {wildcards.perturbation}"
    input:
        cases=rules.cases.output.cases,
    output:
        contexts=CONTEXTS,
    params:
        code=code_of("contexts"),
    log:
        RESULTS / "logs/contexts/{scenario}.{perturbation}.log",
    conda:
        "../envs/benchmark.yaml"
    script:
        "../scripts/contexts.py"

rule contexts:
    input:
        cases=CASES,
    output:
        contexts=CONTEXTS,
    log:
        RESULTS / "logs/contexts/{scenario}.{perturbation}.log",
    conda:
        "../envs/benchmark.yaml"
    params:
        code=code_of("contexts"),
    message:
        "What a model reads in {wildcards.scenario}, {wildcards.perturbation}"
    script:
        "../scripts/contexts.py"

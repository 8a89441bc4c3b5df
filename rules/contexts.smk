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
        perturbation=lambda wildcards: configuration.perturbation(
            config, wildcards.perturbation
        ),
        seed=lambda wildcards: (
            config["seed"] if wildcards.perturbation != BASELINE else None
        ),
        code=code_of("contexts"),
    message:
        "What a model reads in {wildcards.scenario}, {wildcards.perturbation}"
    script:
        "../scripts/contexts.py"

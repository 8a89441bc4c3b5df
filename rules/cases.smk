rule cases:
    output:
        cases=CASES,
    log:
        RESULTS / "logs/cases/{scenario}.log",
    conda:
        "../envs/benchmark.yaml"
    params:
        ask_tasks=lambda wildcards: configuration.ask_tasks(config, wildcards.scenario),
        seed=config["seed"],
        code=code_of("cases"),
    message:
        "Cases of {wildcards.scenario}"
    script:
        "../scripts/cases.py"

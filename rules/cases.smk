CASES = RESULTS / "cases/{scenario}.parquet"


rule cases:
    message:
        "Cases of {wildcards.scenario}"
    output:
        cases=CASES,
    params:
        seed=config["seed"],
        code=code_of("cases"),
    log:
        RESULTS / "logs/cases/{scenario}.log",
    conda:
        "../envs/benchmark.yaml"
    script:
        "../scripts/cases.py"

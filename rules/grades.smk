rule grades:
    input:
        cases=lambda wildcards: per_cell(CASES, wildcards.model),
        trajectories=lambda wildcards: per_cell(TRAJECTORIES, wildcards.model),
    output:
        grades=GRADES,
    log:
        RESULTS / "logs/grades/{model}.log",
    conda:
        "../envs/benchmark.yaml"
    params:
        # Of a recorded run only what holds its verdicts, and nothing of others: a change elsewhere regrades nothing.
        entry=lambda wildcards: {
            key: value
            for key, value in config["models"][wildcards.model].items()
            if key in ("format", "results", "scores")
            and config["models"][wildcards.model]["source"] == "recorded"
        }
        or None,
        code=code_of("grades"),
    message:
        "Grades of {wildcards.model}"
    script:
        "../scripts/grades.py"

rule grades:
    input:
        cases=lambda wildcards: per_cell(CASES, wildcards.model, free=False),
        trajectories=lambda wildcards: per_cell(
            TRAJECTORIES, wildcards.model, free=False
        ),
        recordings=lambda wildcards: recordings(wildcards.model),
    output:
        grades=GRADES,
    log:
        RESULTS / "logs/grades/{model}.log",
    wildcard_constraints:
        model=one_of(BY_CELL + BY_MODEL),
    conda:
        "../envs/benchmark.yaml"
    params:
        recording=lambda wildcards: entries.recording(config["models"][wildcards.model]),
        code=code_of("grades"),
    message:
        "Grades of {wildcards.model}"
    script:
        "../scripts/grades.py"

GRADES = RESULTS / "grades/{model}.parquet"


def cases_of_model(wildcards):
    return per_cell(rules.cases.output.cases, wildcards.model)


rule grades:
    message:
        "Grades of {wildcards.model}"
    input:
        cases=cases_of_model,
        trajectories=trajectories_of_model,
    output:
        grades=GRADES,
    params:
        code=code_of("grades"),
    log:
        RESULTS / "logs/grades/{model}.log",
    conda:
        "../envs/benchmark.yaml"
    script:
        "../scripts/grades.py"

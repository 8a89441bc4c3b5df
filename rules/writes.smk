rule writes:
    input:
        # One a cell, whatever cells share: the script goes through them side by side.
        cases=lambda wildcards: [
            path_of(CASES, cell) for cell in cells_of(wildcards.model, free=True)
        ],
        trajectories=lambda wildcards: per_cell(
            TRAJECTORIES, wildcards.model, free=True
        ),
        user_messages=lambda wildcards: per_cell(
            USER_MESSAGES, wildcards.model, free=True
        ),
        grades=lambda wildcards: per_cell(GRADES, wildcards.model, free=True),
    output:
        writes=WRITES,
    log:
        RESULTS / "logs/writes/{model}.log",
    wildcard_constraints:
        model=one_of(WITH_USER),
    conda:
        "../envs/query.yaml"
    params:
        code=code_of("writes"),
    message:
        "Writes of {wildcards.model}, and whether the user had agreed"
    script:
        "../scripts/writes.py"

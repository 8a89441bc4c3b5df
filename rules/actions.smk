rule actions:
    input:
        trajectories=lambda wildcards: per_cell(TRAJECTORIES, wildcards.model),
        contexts=lambda wildcards: per_cell(CONTEXTS, wildcards.model),
        user_messages=lambda wildcards: per_cell(
            USER_MESSAGES, wildcards.model, free=True
        ),
    output:
        actions=ACTIONS,
    log:
        RESULTS / "logs/actions/{model}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        labellers=config["labellers"],
        code=code_of("actions"),
    message:
        "Action classes of {wildcards.model}"
    script:
        "../scripts/actions.py"

ACTIONS = RESULTS / "actions/{model}.parquet"


def contexts_of_model(wildcards):
    return per_cell(rules.contexts.output.contexts, wildcards.model)


def trajectories_of_model(wildcards):
    return per_cell(rules.trajectories.output.trajectories, wildcards.model)


rule actions:
    message:
        "Action classes of {wildcards.model}"
    input:
        trajectories=trajectories_of_model,
        contexts=contexts_of_model,
    output:
        actions=ACTIONS,
    params:
        labellers=config["labellers"],
        code=code_of("actions"),
    log:
        RESULTS / "logs/actions/{model}.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/actions.py"

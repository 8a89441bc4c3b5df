# Worked out once, for many rules.
CODE_OF_TRAJECTORIES = code_of("trajectories")


# One job a cell, asynchronous inside. This and the conversations are where models are asked.
rule trajectories:
    input:
        cases=[CASES],
        contexts=[CONTEXTS],
        recordings=lambda wildcards: recordings(wildcards.model),
        weights=lambda wildcards: weights_of(wildcards.model),
        replayed=lambda wildcards: replayed(configuration.Cell(**wildcards)),
    output:
        **after_turns([TURN_CONFIDENCE]),
        trajectories=[TRAJECTORIES],
        probe_events=[PROBE_EVENTS],
    log:
        RESULTS / "logs/trajectories/{model}/{scenario}.{perturbation}.log",
    benchmark:
        RESULTS / "logs/trajectories/{model}/{scenario}.{perturbation}.benchmark.tsv"
    wildcard_constraints:
        model=one_of(BY_CELL),
        scenario="bfcl-[a-z_]+",
    conda:
        "../envs/query.yaml"
    threads: lambda wildcards: demands.processors(*asked_by(wildcards.model))
    resources:
        api=lambda wildcards: demands.jobs("api", *asked_by(wildcards.model)),
    params:
        model=lambda wildcards: wildcards.model,
        answers=lambda wildcards: entries.answering(config["models"][wildcards.model]),
        cells=lambda wildcards: [run_of(configuration.Cell(**wildcards))],
        question=lambda wildcards: turn_plan.settings(
            config, configuration.Cell(**wildcards)
        ),
        code=CODE_OF_TRAJECTORIES,
    message:
        "{wildcards.model} answers {wildcards.scenario}, {wildcards.perturbation}"
    script:
        "../scripts/trajectories.py"


# Where a server takes minutes to start, one job runs all cells of its model, the baseline of a scenario first; those
# that are done come from the journal.
for model in [name for name in BY_MODEL if cells_of(name, free=False)]:

    rule:
        name:
            f"trajectories_{model}"
        input:
            cases=[path_of(CASES, cell) for cell in cells_of(model, free=False)],
            contexts=[path_of(CONTEXTS, cell) for cell in cells_of(model, free=False)],
            weights=weights_of(model),
        output:
            **after_turns(
                [
                    path_of(TURN_CONFIDENCE, cell)
                    for cell in cells_of(model, free=False)
                ]
            ),
            trajectories=[
                path_of(TRAJECTORIES, cell) for cell in cells_of(model, free=False)
            ],
            probe_events=[
                path_of(PROBE_EVENTS, cell) for cell in cells_of(model, free=False)
            ],
        log:
            RESULTS / f"logs/trajectories/{model}.log",
        benchmark:
            RESULTS / f"logs/trajectories/{model}.benchmark.tsv"
        conda:
            "../envs/query.yaml"
        resources:
            vllm=1,
            gpu=demands.gpus(*asked_by(model)),
        params:
            model=model,
            answers=entries.answering(config["models"][model]),
            cells=[run_of(cell) for cell in cells_of(model, free=False)],
            question=[
                turn_plan.settings(config, cell)
                for cell in cells_of(model, free=False)
            ],
            code=CODE_OF_TRAJECTORIES,
        message:
            f"{model} answers all its cells"
        script:
            "../scripts/trajectories.py"

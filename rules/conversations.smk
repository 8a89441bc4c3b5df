# Conversations with tau2's user, held and judged by tau2's own engine: one job a cell, asynchronous inside.
CODE_OF_CONVERSATIONS = code_of("conversations")


rule conversations:
    input:
        cases=[CASES],
        contexts=[CONTEXTS],
        replayed=lambda wildcards: replayed(configuration.Cell(**wildcards)),
        weights=lambda wildcards: weights_of(wildcards.model, with_user=True),
    output:
        **after_turns([TURN_CONFIDENCE]),
        trajectories=[TRAJECTORIES],
        probe_events=[PROBE_EVENTS],
        user_messages=[USER_MESSAGES],
        grades=[CONVERSATION[GRADES]],
    log:
        RESULTS / "logs/conversations/{model}/{scenario}.{perturbation}.log",
    benchmark:
        RESULTS / "logs/conversations/{model}/{scenario}.{perturbation}.benchmark.tsv"
    wildcard_constraints:
        model=one_of(BY_CELL),
        scenario="tau2-[a-z_]+",
    conda:
        "../envs/query.yaml"
    threads: lambda wildcards: demands.processors(*asked_by(wildcards.model, talks=True))
    resources:
        api=lambda wildcards: demands.jobs(
            "api", *asked_by(wildcards.model, talks=True)
        ),
        vllm=lambda wildcards: demands.jobs(
            "vllm", *asked_by(wildcards.model, talks=True)
        ),
        gpu=lambda wildcards: demands.gpus(*asked_by(wildcards.model, talks=True)),
    params:
        model=lambda wildcards: wildcards.model,
        answers=lambda wildcards: entries.answering(config["models"][wildcards.model]),
        cells=lambda wildcards: [run_of(configuration.Cell(**wildcards))],
        question=lambda wildcards: turn_plan.settings(
            config, configuration.Cell(**wildcards)
        ),
        code=CODE_OF_CONVERSATIONS,
    message:
        "{wildcards.model} talks with the users of {wildcards.scenario}, {wildcards.perturbation}"
    script:
        "../scripts/conversations.py"


# One start of a server serves all, as in the rules of the trajectories.
for model in [name for name in BY_MODEL if cells_of(name, free=True)]:

    rule:
        name:
            f"conversations_{model}"
        input:
            cases=[path_of(CASES, cell) for cell in cells_of(model, free=True)],
            contexts=[path_of(CONTEXTS, cell) for cell in cells_of(model, free=True)],
            weights=weights_of(model, with_user=True),
        output:
            **after_turns(
                [path_of(TURN_CONFIDENCE, cell) for cell in cells_of(model, free=True)]
            ),
            trajectories=[
                path_of(TRAJECTORIES, cell) for cell in cells_of(model, free=True)
            ],
            probe_events=[
                path_of(PROBE_EVENTS, cell) for cell in cells_of(model, free=True)
            ],
            user_messages=[
                path_of(USER_MESSAGES, cell) for cell in cells_of(model, free=True)
            ],
            grades=[path_of(GRADES, cell) for cell in cells_of(model, free=True)],
        log:
            RESULTS / f"logs/conversations/{model}.log",
        benchmark:
            RESULTS / f"logs/conversations/{model}.benchmark.tsv"
        conda:
            "../envs/query.yaml"
        threads: demands.processors(*asked_by(model, talks=True))
        resources:
            vllm=demands.jobs("vllm", *asked_by(model, talks=True)),
            gpu=demands.gpus(*asked_by(model, talks=True)),
            api=demands.jobs("api", *asked_by(model, talks=True)),
        params:
            model=model,
            answers=entries.answering(config["models"][model]),
            cells=[run_of(cell) for cell in cells_of(model, free=True)],
            question=[
                turn_plan.settings(config, cell) for cell in cells_of(model, free=True)
            ],
            code=CODE_OF_CONVERSATIONS,
        message:
            f"{model} talks with the users of all its scenarios"
        script:
            "../scripts/conversations.py"

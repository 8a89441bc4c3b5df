# The conversations of a model, as data files for the page.
rule explorer_conversations:
    input:
        **after_turns(
            lambda wildcards: per_cell(
                TURN_CONFIDENCE, wildcards.model, but=BY_RECORDING
            )
        ),
        **CORRECTIONS,
        cases=lambda wildcards: per_cell(CASES, wildcards.model),
        contexts=lambda wildcards: per_cell(CONTEXTS, wildcards.model),
        trajectories=lambda wildcards: per_cell(TRAJECTORIES, wildcards.model),
        probe_events=lambda wildcards: per_cell(
            PROBE_EVENTS, wildcards.model, but=BY_RECORDING
        ),
        user_messages=lambda wildcards: per_cell(
            USER_MESSAGES, wildcards.model, free=True
        ),
        actions=ACTIONS,
        grades=lambda wildcards: per_cell(GRADES, wildcards.model),
        writes=lambda wildcards: expand(WRITES, model=wildcards.model)
        * (wildcards.model in WITH_USER),
        judgements=lambda wildcards: expand(JUDGEMENTS, model=wildcards.model)
        * (wildcards.model in JUDGED),
        # Of all models; what it says of this one follows from the tables above.
        outcomes=ancient(OF_DIAGNOSIS["outcomes"]),
    output:
        conversations=directory(EXPLORED_CONVERSATIONS),
    log:
        RESULTS / "logs/explorer/{model}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        cells=lambda wildcards: [files_of(cell) for cell in cells_of(wildcards.model)],
        corrected=CORRECTED_FROM,
        explorer=config.get("explorer"),
        diagnosis=code_of("diagnosis"),
        code=code_of("explorer_conversations"),
    message:
        "Conversations of {wildcards.model} for the explorer"
    script:
        "../scripts/explorer_conversations.py"


# The page, and the data of its tables and charts.
rule explorer:
    input:
        **{name: path for name, path in TABLES.items() if not name.endswith("_csv")},
        page=sorted((BASE / "toolcal/explorer").glob("[pv]*/*")),
        manifest=MANIFEST,
        conversations=expand(EXPLORED_CONVERSATIONS, model=EXPLORED),
    output:
        index=RESULTS / "explorer/index.html",
        page=directory(RESULTS / "explorer/page"),
        data=directory(RESULTS / "explorer/data/tables"),
    log:
        RESULTS / "logs/explorer.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=EXPLORED,
        code=code_of("explorer"),
    message:
        "The explorer"
    script:
        "../scripts/explorer.py"

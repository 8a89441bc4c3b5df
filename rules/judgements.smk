# Off, and without a rule, unless the configuration has a judge. One job a model whose users speak freely, asynchronous inside.
if JUDGED:

    rule judgements:
        input:
            writes=WRITES,
            trajectories=lambda wildcards: per_cell(
                TRAJECTORIES, wildcards.model, free=True
            ),
            user_messages=lambda wildcards: per_cell(
                USER_MESSAGES, wildcards.model, free=True
            ),
        output:
            judgements=JUDGEMENTS,
        log:
            RESULTS / "logs/judgements/{model}.log",
        benchmark:
            RESULTS / "logs/judgements/{model}.benchmark.tsv"
        wildcard_constraints:
            model=one_of(JUDGED),
        conda:
            "../envs/query.yaml"
        params:
            run=lambda wildcards: judged(wildcards.model),
            code=code_of("judgements"),
        message:
            "The judge reads the writes of {wildcards.model}"
        script:
            "../scripts/judgements.py"

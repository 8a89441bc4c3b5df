# Off, and without a rule, unless the configuration has a judge. One job a model whose users speak freely, asynchronous inside.
if JUDGED:

    rule judgements:
        input:
            unpack(lambda wildcards: read_by_judge(wildcards.model)),
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
            "The judge reads the conversations of {wildcards.model}"
        script:
            "../scripts/judgements.py"

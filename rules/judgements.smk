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
        resources:
            api=1,
        params:
            run=lambda wildcards: judged(wildcards.model),
            code=code_of("judgements"),
        message:
            "The judge reads the conversations of {wildcards.model}"
        script:
            "../scripts/judgements.py"


# The same for the answers of the confidence study.
if ANSWERING:

    rule answer_judgements:
        input:
            answers=lambda wildcards: [
                study_path(ANSWERS, cell) for cell in study_cells(wildcards.model)
            ],
            questions=lambda wildcards: list(
                dict.fromkeys(
                    study_path(QUESTIONS, cell)
                    for cell in study_cells(wildcards.model)
                )
            ),
        output:
            judgements=ANSWER_JUDGEMENTS,
        log:
            RESULTS / "logs/answer_judgements/{model}.log",
        benchmark:
            RESULTS / "logs/answer_judgements/{model}.benchmark.tsv"
        wildcard_constraints:
            model=one_of(ANSWERING),
        conda:
            "../envs/query.yaml"
        resources:
            api=1,
        params:
            run=lambda wildcards: judged(wildcards.model, ANSWER_JUDGE_JOURNAL),
            code=code_of("answer_judgements"),
        message:
            "The judge reads the answers of {wildcards.model}"
        script:
            "../scripts/answer_judgements.py"

# How far the labels hold, on a set of items that careful readers have labelled.
rule validity:
    input:
        recordings=lambda wildcards: recordings_of_validity(),
    output:
        **tables_of("validity"),
    log:
        RESULTS / "logs/validity.log",
    conda:
        "../envs/query.yaml"
    params:
        folder=config["recorded_folder"],
        seed=config["seed"],
        code=code_of("validity"),
    message:
        "How far the labels hold"
    script:
        "../scripts/validity.py"

# What readers say of labels, held against them. The labels themselves stay as they are.
rule corrections:
    input:
        files=CORRECTION_FILES,
        actions=per_cell(ACTIONS),
    output:
        **CORRECTIONS,
        csv=RESULTS / "corrections/corrections.csv",
    log:
        RESULTS / "logs/corrections.log",
    conda:
        "../envs/analysis.yaml"
    params:
        labellers=config["labellers"],
        code=code_of("corrections"),
    message:
        "Readers' corrections of labels"
    script:
        "../scripts/corrections.py"

rule tables:
    input:
        cells=TABLES["cells"],
        outcomes=TABLES["outcomes"],
        write_rates=TABLES["write_rates"],
        effects=TABLES["effects"],
    output:
        PRINTED,
    log:
        RESULTS / "logs/tables.log",
    conda:
        "../envs/analysis.yaml"
    params:
        pages=PRINTED_PAGES,
        folder=str(RESULTS / "tables"),
        names=published_names(),
        scenarios=list(config["scenarios"]),
        seed=config["seed"],
        code=code_of("tables"),
    message:
        "Tables in LaTeX and Markdown"
    script:
        "../scripts/tables.py"

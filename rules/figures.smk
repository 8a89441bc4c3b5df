rule figures:
    input:
        table=lambda wildcards: TABLES[figures.TABLES[wildcards.figure]],
    output:
        svg=report(
            f"{FIGURE}.svg",
            caption="../report/{figure}.rst",
            category="Figures",
            labels={"figure": "{figure}", "labeller": "{labeller}"},
        ),
        pdf=f"{FIGURE}.pdf",
        csv=f"{FIGURE}.csv",
    log:
        RESULTS / "logs/figures/{figure}.{labeller}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        code=code_of("figures"),
    message:
        "Figure {wildcards.figure}, {wildcards.labeller}"
    script:
        "../scripts/figures.py"

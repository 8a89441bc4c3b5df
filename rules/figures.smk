FIGURE = str(RESULTS / "figures/{figure}.{labeller}")
FIGURES = expand(
    FIGURE + ".{suffix}",
    figure=figures.TABLES,
    labeller=config["labellers"],
    suffix=("svg", "pdf", "csv"),
)


def table_of_figure(wildcards):
    return TABLES[figures.TABLES[wildcards.figure]]


rule figures:
    message:
        "Figure {wildcards.figure}, {wildcards.labeller}"
    input:
        table=table_of_figure,
    output:
        svg=report(
            FIGURE + ".svg",
            caption="../report/{figure}.rst",
            category="Figures",
            labels={"figure": "{figure}", "labeller": "{labeller}"},
        ),
        pdf=FIGURE + ".pdf",
        csv=FIGURE + ".csv",
    params:
        code=code_of("figures"),
    log:
        RESULTS / "logs/figures/{figure}.{labeller}.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/figures.py"

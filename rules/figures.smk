rule figures:
    input:
        table=lambda wildcards: (TABLES | REWARDS)[
            figures.FIGURES[wildcards.figure].table
        ],
    output:
        svg=report(
            f"{FIGURE}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels=lambda wildcards: {
                "figure": wildcards.figure,
                **{key: page_of(wildcards).get(key, "") for key in PAGES},
            },
        ),
        pdf=f"{FIGURE}.pdf",
        csv=f"{FIGURE}.csv",
    log:
        RESULTS / "logs/figures/{figure}{of}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        # Snakemake's report knows no wildcards in a caption's path.
        caption=caption_of,
        code=code_of("figures"),
    message:
        "Figure {wildcards.figure}{wildcards.of}"
    script:
        "../scripts/figures.py"

def page_of(wildcards):
    """What a page is of: column -> value."""
    return figures.page(wildcards.figure, wildcards.of)


def about_page(wildcards):
    """What a page's caption says of its perturbation; None where it has none."""
    from toolcal.figures.about import about

    name = page_of(wildcards).get("perturbation")
    return about(name, config["perturbations"][name]) if name else None


rule figures:
    input:
        table=lambda wildcards: TABLES[figures.FIGURES[wildcards.figure].table],
    output:
        svg=report(
            f"{FIGURE}.svg",
            caption="../report/{figure}.rst",
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
        about=about_page,
        code=code_of("figures"),
    message:
        "Figure {wildcards.figure}{wildcards.of}"
    script:
        "../scripts/figures.py"

"""Draw one page of a figure from its table: without perturbation, or of one, as the page's name says."""

from toolcal import figures, logs, tables
from toolcal.figures.save import save


def main(smk):
    logs.to_file(smk.log[0])
    name = smk.wildcards.figure
    data = figures.rows(name, tables.read(figures.FIGURES[name].table, smk.input.table), smk.wildcards.of)
    save(figures.draw(name, data), data, svg=smk.output.svg, pdf=smk.output.pdf, csv=smk.output.csv)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

"""Draw one figure from its table, for one labeller, without perturbation."""

from toolcal import figures, logs, tables
from toolcal.cells import BASELINE
from toolcal.figures.save import save


def main(smk):
    logs.to_file(smk.log[0])
    name = smk.wildcards.figure
    data = tables.read(figures.TABLES[name], smk.input.table)
    data = data[(data["labeller"] == smk.wildcards.labeller) & (data["perturbation"] == BASELINE)]
    save(figures.draw(name, data), data, svg=smk.output.svg, pdf=smk.output.pdf, csv=smk.output.csv)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

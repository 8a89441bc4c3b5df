"""Draw one figure from its table, without perturbation; where there is a figure for each labeller, for one."""

from toolcal import figures, logs, tables
from toolcal.cells import BASELINE
from toolcal.figures.save import save


def main(smk):
    logs.to_file(smk.log[0])
    name, labeller = smk.wildcards.figure, smk.wildcards.of.removeprefix(".")
    data = tables.read(figures.FIGURES[name].table, smk.input.table)
    if labeller:
        data = data[data["labeller"] == labeller]
    if "perturbation" in data:
        data = data[data["perturbation"] == BASELINE]
    save(figures.draw(name, data), data, svg=smk.output.svg, pdf=smk.output.pdf, csv=smk.output.csv)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

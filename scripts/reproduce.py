"""Published figures beside those of this run, for every model of the panel that has a published name."""

from toolcal import logs, tables
from toolcal.diagnosis.reproduce import load_published, reproduce


def main(smk):
    logs.to_file(smk.log[0])
    table = reproduce(
        load_published(),
        tables.read("cells", smk.input.cells),
        tables.read("outcomes", smk.input.outcomes),
        tables.read("write_rates", smk.input.write_rates),
        smk.params.names,
        seed=smk.params.seed,
        effects=tables.read("effects", smk.input.effects),
    )
    tables.write("reproduce", table, smk.output.reproduce, {"seed": smk.params.seed, "code": smk.params.code})
    table.to_csv(smk.output.reproduce_csv, index=False)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

"""Fine-tune the base model on invented tool calls; a killed job begins anew."""

from toolcal import logs, tables
from toolcal.training.supervised import fine_tune


def main(smk):
    logs.to_file(smk.log[0])
    log = fine_tune(smk.input.base, smk.output.adapter, **smk.params.settings, threads=smk.threads)
    tables.write("supervised_log", log, smk.output.log, {"settings": smk.params.settings, "code": smk.params.code})


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

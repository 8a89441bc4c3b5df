"""The labels made here against those of careful readers."""

from pathlib import Path

from toolcal import logs, tables


def main(smk):
    logs.to_file(smk.log[0])
    # The cue files are read on import; what is wrong in them has to reach the log.
    from toolcal.validity.scores import validity

    data = validity(Path(smk.params.folder), seed=smk.params.seed)
    tables.write("validity", data, smk.output.validity, {"seed": smk.params.seed, "code": smk.params.code})
    data.to_csv(smk.output.validity_csv, index=False)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

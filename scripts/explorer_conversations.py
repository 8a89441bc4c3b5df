"""The conversations of a model, with all that the stages made of them, as data files for the explorer's page."""

from toolcal import logs
from toolcal.explorer import model


def main(smk):
    logs.to_file(smk.log[0])
    files = model.ModelFiles(
        [model.CellFiles(**cell) for cell in smk.params.cells],
        smk.input.outcomes,
        smk.input.actions,
        smk.input.writes,
        smk.input.judgements,
        (smk.params.corrected, smk.input.corrected) if smk.params.corrected else None,
    )
    settings = smk.params.explorer
    model.write(smk.output.conversations, files, settings["cases"], settings["sample"])


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

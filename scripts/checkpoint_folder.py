"""A checkpoint of the training as a folder, which vLLM serves."""

from toolcal import logs
from toolcal.training.write_back import merged, write_folder


def main(smk):
    logs.to_file(smk.log[0])
    adapter = smk.input.get("adapter") or None
    write_folder(merged(smk.input.base, adapter), smk.input.base, smk.output.folder)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

"""A checkpoint of the training as a GGUF file, which the embedded server serves."""

from toolcal import logs
from toolcal.models.entries import weights_of
from toolcal.training.write_back import merged, write_gguf


def main(smk):
    logs.to_file(smk.log[0])
    name = smk.params.model
    mould = weights_of(name, smk.config["models"][name]).path
    adapter = smk.input.get("adapter") or None
    write_gguf(merged(smk.input.base, adapter), mould, smk.output.gguf, tensor_type=smk.params.tensor_type)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

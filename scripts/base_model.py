"""The model that training starts from, as a folder: a GGUF file unpacked, or a model of a hub."""

from toolcal import logs
from toolcal.models.entries import weights_of
from toolcal.training.base_model import prepare, prepare_from_hub


def main(smk):
    logs.to_file(smk.log[0])
    name = smk.params.model
    entry = smk.config["models"][name]
    if entry["source"] == "vllm":
        prepare_from_hub(entry["model"], entry.get("revision"), smk.output.folder)
    else:
        prepare(weights_of(name, entry).path, smk.output.folder)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

"""A model trained by GRPO with one reward design to answer with tools, and to know how sure to be.

It goes on from its last checkpoint; the log has a row a step, and grows as JSON lines while the training runs.
"""

from pathlib import Path

from toolcal import logs, runs, tables
from toolcal.training.designs import design_of
from toolcal.training.gathering import gathered
from toolcal.training.tasks import Place
from toolcal.training.train import keep_adapter, train


def main(smk):
    logs.to_file(smk.log[0])
    names = ("questions", "passages", "rows")
    training = gathered(
        design_of(smk.wildcards.design, smk.params.reward),
        {
            Place(*place): dict(zip(names, paths, strict=True))
            for place, *paths in zip(smk.params.places, *(smk.input[name] for name in names), strict=True)
        },
        smk.input.held_out,
        settings=smk.params.settings,
        asking=smk.params.asking,
        model=smk.params.model,
        limits=smk.params.limits,
        study_limits=smk.params.study_limits,
        base=Path(smk.input.base),
        progress=Path(smk.params.progress),
    )
    last = train(training, threads=smk.threads, over=lambda: runs.over(smk.config["results"]))
    about = {"settings": smk.params.settings, "reward": smk.params.reward, "code": smk.params.code}
    steps = smk.params.settings["steps"]
    tables.write("training_log", training.log.table("training_log", steps), smk.output.log, about)
    tables.write("training_samples", training.samples.table("training_samples", steps), smk.output.samples, about)
    keep_adapter(last, Path(smk.output.adapter))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

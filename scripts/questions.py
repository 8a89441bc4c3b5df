"""A question set at one noise level: what is asked, the passages that search finds, and the rows that code reads."""

from pathlib import Path

from toolcal import logs, tables
from toolcal.confidence.sets import question_set


def main(smk):
    logs.to_file(smk.log[0])
    name, level = smk.wildcards.question_set, float(smk.wildcards.noise)
    found = question_set(name, smk.params.entry, level, smk.params.seed)
    about = {"entry": smk.params.entry, "noise": level, "seed": smk.params.seed, "code": smk.params.code}
    tables.write("questions", found.questions, smk.output.questions, about)
    tables.write("passages", found.passages, smk.output.passages, about)
    Path(smk.output.rows).write_text(found.rows, encoding="utf-8")


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

"""Versions, checksums, configuration and commit: what says whether two results are comparable."""

import json
from pathlib import Path

from toolcal import corrections, logs, provenance, tables
from toolcal.benchmarks.registry import data_files
from toolcal.models import entries


def main(smk):
    logs.to_file(smk.log[0])
    config = smk.params.config
    found = tables.read("cases", *smk.input.cases, columns=["scenario", "revision"]).groupby("scenario")["revision"]
    revisions = {scenario: ", ".join(sorted(names.unique())) for scenario, names in found}
    files = {f"{scenario}/{path.name}": path for scenario in revisions for path in data_files(scenario)}
    sets = tables.read("questions", *smk.input.questions, columns=["question_set", "source", "revision", "licence"])
    for name, rows in sets.groupby("question_set"):
        facts = rows.drop(columns="question_set").drop_duplicates()
        revisions[f"confidence/{name}"] = "; ".join(
            " ".join(filter(None, row)) for row in facts.itertuples(index=False)
        )
    files |= entries.files(config["models"])
    files |= {f"labels/{path}": Path(path) for path in corrections.files(config)}
    found = provenance.manifest(
        config,
        revisions=revisions,
        files=files,
        stages=smk.params.stages,
        repository=Path(smk.params.repository),
    )
    Path(smk.output.manifest).write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

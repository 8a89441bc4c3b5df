"""Versions, checksums, configuration and commit: what says whether two results are comparable."""

import json
from pathlib import Path

from toolcal import corrections, logs, provenance, tables
from toolcal.benchmarks.registry import data_files
from toolcal.models import entries

READ = ["system", "turns", "tools", "probe"]


def prompts(inputs):
    found = {}
    for path in inputs.contexts:
        rows = tables.read("contexts", path, columns=["scenario", "perturbation", "case_id", *READ])
        for (scenario, perturbation), part in rows.groupby(["scenario", "perturbation"]):
            found.setdefault(f"{scenario}.{perturbation}", set()).update(texts(part, ["case_id", *READ]))
    for path in inputs.questions:
        rows = tables.read("questions", path, columns=["question_set", "noise", "question_id", "text"])
        for (question_set, noise), part in rows.groupby(["question_set", "noise"]):
            found.setdefault(f"questions/{question_set}.{noise:g}", set()).update(texts(part, ["question_id", "text"]))
    return {name: provenance.text_hash(rows) for name, rows in found.items()}


def texts(rows, columns):
    return rows[columns].astype(object).where(rows[columns].notna(), None).itertuples(index=False, name=None)


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
    served_by = {}
    for path in smk.input.trajectories:
        rows = tables.read("trajectories", path, columns=["model", "served_by"])
        for model, names in rows.groupby("model")["served_by"]:
            served_by.setdefault(model, set()).update(names.dropna().unique())
    files |= {f"labels/{path}": Path(path) for path in corrections.files(config)}
    found = provenance.manifest(
        config,
        revisions=revisions,
        files=files,
        prompts=prompts(smk.input),
        served_by={model: sorted(names) for model, names in served_by.items()},
        stages=smk.params.stages,
        repository=Path(smk.params.repository),
    )
    Path(smk.output.manifest).write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

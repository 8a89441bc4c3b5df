"""Readers' corrections against this run's labels: fails where a line cannot be used, tells which are not in force."""

from pathlib import Path

import pandas as pd

from toolcal import logs, provenance, tables
from toolcal.corrections.lines import CorrectionError, read
from toolcal.corrections.settle import settle

TOLD = 20
"""Lines that the terminal is given; the table has all."""


def tell(lines, where):
    """The first of these, and how many there are besides."""
    for line in lines[:TOLD]:
        logs.warn(line)
    if len(lines) > TOLD:
        logs.warn(f"... and {len(lines) - TOLD} more like these{where}")


def main(smk):
    logs.to_file(smk.log[0])
    try:
        given = read(*smk.input.files)
    except CorrectionError as error:
        tell(error.lines, "")
        raise
    cases = {one.case_id for one in given}
    # Only what is marked: the labels of all models together may be many.
    parts = (tables.read("actions", path) for path in smk.input.actions)
    marked = pd.concat([part[part["case_id"].isin(cases)] for part in parts])
    found = settle(given, marked, smk.params.labellers)
    about = {
        "files": {path: provenance.sha256(Path(path)) for path in smk.input.files},
        "labellers": list(smk.params.labellers),
        "code": smk.params.code,
    }
    tables.write("corrections", found.corrections, smk.output.corrections, about)
    tables.write("actions", found.labels, smk.output.corrected, about)
    found.corrections.to_csv(smk.output.csv, index=False)
    idle = found.corrections[found.corrections["why"].notna()]
    said = zip(idle["file"], idle["line"], idle["status"], idle["why"], strict=True)
    tell(
        [f"{file} line {line}: not applied ({status}): {why}" for file, line, status, why in said],
        f": {smk.output.csv}",
    )


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

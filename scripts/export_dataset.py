"""The run's tables as a data set folder: Parquet files and a card."""

import shutil
from pathlib import Path

from toolcal import logs, tables
from toolcal.exports.card import card
from toolcal.exports.dataset import CONFIGS, export


def main(smk):
    logs.to_file(smk.log[0])
    folder, root = Path(smk.output.folder), Path(smk.input.cells).parents[1]
    temporary = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    given = {name: paths for name, paths in smk.input.items() if name in CONFIGS}
    files = {name: [paths] if isinstance(paths, str) else [*paths] for name, paths in given.items()}
    configs = export({name: [*map(Path, paths)] for name, paths in files.items()}, root, temporary)
    cases = tables.read("cases", *files["cases"], columns=["scenario", "revision"])
    revisions = {name: ", ".join(sorted(rows.unique())) for name, rows in cases.groupby("scenario")["revision"]}
    text = card(configs, smk.params.models, revisions, smk.params.seed)
    (temporary / "README.md").write_text(text, encoding="utf-8")
    temporary.replace(folder)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

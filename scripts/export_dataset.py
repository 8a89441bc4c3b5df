"""The run's tables as a data set folder: Parquet files and a card."""

from pathlib import Path

from toolcal import logs, tables
from toolcal.exports.card import card
from toolcal.exports.dataset import CONFIGS, export
from toolcal.folders import made_whole


def main(smk):
    logs.to_file(smk.log[0])
    root = Path(smk.input.cells).parents[1]
    given = {name: paths for name, paths in smk.input.items() if name in CONFIGS}
    files = {name: [paths] if isinstance(paths, str) else [*paths] for name, paths in given.items()}
    cases = tables.read("cases", *files["cases"], columns=["scenario", "revision"])
    revisions = {name: ", ".join(sorted(rows.unique())) for name, rows in cases.groupby("scenario")["revision"]}
    with made_whole(smk.output.folder) as folder:
        configs = export({name: [*map(Path, paths)] for name, paths in files.items()}, root, folder)
        text = card(configs, smk.params.models, revisions, smk.params.seed)
        (folder / "README.md").write_text(text, encoding="utf-8")


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

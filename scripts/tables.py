"""Tables for a paper: ours in the published layout, published figures below where there are any."""

from pathlib import Path

from toolcal import logs, tables
from toolcal.diagnosis.reproduce import load_published, reproduce
from toolcal.typeset import Page
from toolcal.typeset.latex import latex
from toolcal.typeset.markdown import markdown
from toolcal.typeset.page import grid


def main(smk):
    logs.to_file(smk.log[0])
    found = {name: tables.read(name, smk.input[name]) for name in ("cells", "outcomes", "write_rates", "effects")}
    names, seed = smk.params.names, smk.params.seed
    found["reproduce"] = reproduce(load_published(), **found, names=names, seed=seed)
    writers = {".tex": latex, ".md": markdown}
    of_page = {name: Page(*page) for name, page in smk.params.pages.items()}
    for path in map(Path, smk.output):
        made = grid(of_page[path.stem], found, models=list(names), scenarios=smk.params.scenarios, seed=seed)
        path.write_text(writers[path.suffix](made), encoding="utf-8")


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

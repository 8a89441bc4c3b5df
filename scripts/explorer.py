"""The explorer's page, and the data of its tables and charts."""

import json
from pathlib import Path

from toolcal import logs, tables
from toolcal.explorer import site


def main(smk):
    logs.to_file(smk.log[0])
    given = smk.input.keys()
    results = {name: tables.read(name, smk.input[name]) for name in tables.TABLES if name in given}
    manifest = json.loads(Path(smk.input.manifest).read_text(encoding="utf-8"))
    site.write_data(smk.output.data, results, manifest, smk.params.models)
    site.drop_others(Path(smk.output.data).with_name("conversations"), smk.params.models)
    site.write_page(Path(smk.output.index).parent)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

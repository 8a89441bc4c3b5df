"""All cases of a scenario, from its benchmark's data files."""

from toolcal import logs, tables
from toolcal.benchmarks import case_table, registry


def main(smk):
    logs.to_file(smk.log[0])
    cases = registry.cases(smk.wildcards.scenario, smk.params.ask_tasks)
    data = case_table.to_frame(cases, smk.params.seed)
    tables.write("cases", data, smk.output.cases, {"seed": smk.params.seed, "code": smk.params.code})


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

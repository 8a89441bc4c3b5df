"""What a model will read of each case: to be looked at before a call is paid for."""

from toolcal import logs, perturbations, tables
from toolcal.benchmarks import case_table


def main(smk):
    logs.to_file(smk.log[0])
    cases = case_table.from_frame(tables.read("cases", smk.input.cases))
    data = perturbations.to_frame(cases, smk.wildcards.perturbation)
    tables.write("contexts", data, smk.output.contexts, {"code": smk.params.code})


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

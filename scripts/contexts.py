"""What a model will read of each case: to be looked at before a call is paid for."""

import logging

from toolcal import logs, perturbations, tables
from toolcal.benchmarks import case_table
from toolcal.perturbations import registry


def tell_of_left_out(wildcards, cases, contexts):
    left_out = [
        f"{case.case_id}: {context.left_out}" for case, context in zip(cases, contexts, strict=True) if context.left_out
    ]
    for words in left_out:
        logging.warning("left out: %s", words)
    if left_out:
        logs.warn(
            f"{len(left_out)} of {len(cases)} cases of {wildcards.scenario} are left out under "
            f"{wildcards.perturbation}, the first is {left_out[0]}"
        )


def main(smk):
    logs.to_file(smk.log[0])
    cases = case_table.from_frame(tables.read("cases", smk.input.cases))
    spec, seed = smk.params.perturbation, smk.params.seed
    contexts = [registry.apply(case, spec, seed) for case in cases]
    tell_of_left_out(smk.wildcards, cases, contexts)
    data = perturbations.to_frame(cases, smk.wildcards.perturbation, contexts)
    made_by = {"perturbation": spec and {**spec, "version": registry.version(spec)}, "seed": seed}
    tables.write("contexts", data, smk.output.contexts, {**made_by, "code": smk.params.code})


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

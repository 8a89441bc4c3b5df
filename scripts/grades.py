"""The benchmark's verdict on every run of a model: the official one, and the strict one."""

from toolcal import logs, tables
from toolcal.benchmarks.bfcl.result_files import verdicts
from toolcal.benchmarks.disagreement import disagreement
from toolcal.benchmarks.grades import grade_trajectories


def main(smk):
    logs.to_file(smk.log[0])
    trajectories = tables.read("trajectories", *smk.input.trajectories)
    cases = tables.read("cases", *smk.input.cases)
    recorded = {
        (scenario, case_id): passed
        for scenario in (cases["scenario"].unique() if smk.params.recording else ())
        for case_id, passed in verdicts(smk.params.recording, scenario).items()
    }
    data = grade_trajectories(trajectories, cases, recorded)
    if words := disagreement(data):
        logs.warn(f"{smk.wildcards.model}: {words}")
    tables.write("grades", data, smk.output.grades, {"code": smk.params.code})


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

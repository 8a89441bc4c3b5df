"""The benchmark's verdict on every run of a model: the official one, and the strict one."""

from toolcal import logs, tables
from toolcal.benchmarks.grades import grade_trajectories


def main(smk):
    logs.to_file(smk.log[0])
    trajectories = tables.read("trajectories", *smk.input.trajectories)
    data = grade_trajectories(trajectories, tables.read("cases", *smk.input.cases))
    tables.write("grades", data, smk.output.grades, {"code": smk.params.code})


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

"""What reward designs ask for, and what tabular agents trained by them end with."""

from toolcal import logs, tables
from toolcal.training.reward_analysis import analyse
from toolcal.training.reward_bench import bench
from toolcal.training.rewards import design_of
from toolcal.training.tabular_agent import Training


def main(smk):
    logs.to_file(smk.log[0])
    designs = [design_of(name, entry) for name, entry in smk.params.designs.items()]
    results = analyse(designs) | bench(designs, Training(**smk.params.training), seed=smk.params.seed)
    for name, data in results.items():
        tables.write(name, data, smk.output[name], {"seed": smk.params.seed, "code": smk.params.code})
        data.to_csv(smk.output[f"{name}_csv"], index=False)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

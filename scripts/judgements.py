"""The judge on every write that needs the user's yes; what has no answer is no verdict, and asked again next time."""

import asyncio
from pathlib import Path

from toolcal import logs, runs, tables, unfinished
from toolcal.judging.items import items
from toolcal.judging.judge import judgements, open_judge
from toolcal.judging.question import CONFIRMED_WRITE


def tell_of_gaps(data, about):
    broken = data[data["status"] == "infra_error"]
    if not broken.empty:
        unfinished.note(about["journal"])
        logs.warn(
            f"{len(broken)} of {len(data)} writes of {about['model']} have no answer of the judge; the first: "
            f"{broken['reason'].iloc[0]}; run again to go on"
        )
    undecided = data[data["status"].isin(["undecided", "context_exceeded"])]
    if not undecided.empty:
        logs.warn(
            f"the judge decided nothing on {len(undecided)} of {len(data)} writes of {about['model']}; the first: "
            f"{undecided['reason'].iloc[0]}"
        )


async def run(smk):
    config, about = smk.config, smk.params.run
    found = items(
        tables.read("writes", smk.input.writes),
        tables.read("trajectories", *smk.input.trajectories),
        tables.read("user_messages", *smk.input.user_messages),
    )
    async with open_judge(
        config["judge"],
        about["journal"],
        results=Path(config["results"]),
        endpoints=config["endpoints"],
        limits=config["limits"],
        seed=config["seed"],
    ) as judge:
        data = await judgements(about["model"], found, judge)
    tell_of_gaps(data, about)
    metadata = {"judge": about["judge"], "question": CONFIRMED_WRITE.version, "code": smk.params.code}
    tables.write("judgements", data, smk.output.judgements, metadata)


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

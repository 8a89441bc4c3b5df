"""The judge on writes that need the user's yes, and on runs with assertions; what has no answer is asked next time."""

import asyncio
from pathlib import Path

from toolcal import logs, runs, tables, unfinished
from toolcal.judging import items
from toolcal.judging.judge import judgements, open_judge
from toolcal.judging.question import CONFIRMED_WRITE, NL_ASSERTIONS

WHAT = {CONFIRMED_WRITE.name: "writes", NL_ASSERTIONS.name: "assertions"}


def tell_of_gaps(data, about):
    broken = data[data["status"] == "infra_error"]
    if not broken.empty:
        unfinished.note(about["journal"])
        logs.warn(
            f"{amounts(broken, data)} of {about['model']} have no answer of the judge; the first: "
            f"{broken['reason'].iloc[0]}; run again to go on"
        )
    undecided = data[data["status"].isin(["undecided", "context_exceeded"])]
    if not undecided.empty:
        logs.warn(
            f"the judge decided nothing on {amounts(undecided, data)} of {about['model']}; the first: "
            f"{undecided['reason'].iloc[0]}"
        )


def amounts(part, data):
    """How many of each kind, e.g. 1 of 7 writes and 2 of 30 assertions."""
    of_kind = {name: ((part["question"] == name).sum(), (data["question"] == name).sum()) for name in WHAT}
    return " and ".join(f"{some} of {all_} {WHAT[name]}" for name, (some, all_) in of_kind.items() if some)


async def run(smk):
    config, about = smk.config, smk.params.run
    found = items.items(config["judge"]["questions"], items.read(smk.input))
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
    versions = {question.name: question.version for question in (CONFIRMED_WRITE, NL_ASSERTIONS)}
    metadata = {"judge": about["judge"], "questions": versions, "code": smk.params.code}
    tables.write("judgements", data, smk.output.judgements, metadata)


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

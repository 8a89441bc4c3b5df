"""The judge on the answers of the confidence study; what has no verdict is asked for again next time."""

import asyncio
from pathlib import Path

from toolcal import logs, runs, tables, unfinished
from toolcal.judging.answer_items import answer_items
from toolcal.judging.judge import judgements, open_judge
from toolcal.judging.question import RIGHT_ANSWER


def tell_of_gaps(data, about):
    broken = data[data["status"] == "infra_error"]
    undecided = data[data["status"].isin(["undecided", "context_exceeded"])]
    if not broken.empty:
        unfinished.note(about["journal"])
        logs.warn(
            f"{len(broken)} of {len(data)} answers of {about['model']} have no answer of the judge; the first: "
            f"{broken['reason'].iloc[0]}; run again to go on"
        )
    if not undecided.empty:
        logs.warn(
            f"the judge decided nothing on {len(undecided)} of {len(data)} answers of {about['model']}; the first: "
            f"{undecided['reason'].iloc[0]}"
        )


async def run(smk):
    config, about = smk.config, smk.params.run
    answers, questions = (tables.read(name, *smk.input[name]) for name in ("answers", "questions"))
    async with open_judge(
        config["judge"],
        about["journal"],
        results=Path(config["results"]),
        endpoints=config["endpoints"],
        limits=config["limits"],
        seed=config["seed"],
        table="answer_judgements",
    ) as judge:
        data = await judgements(about["model"], answer_items(answers, questions), judge)
    tell_of_gaps(data, about)
    metadata = {"judge": about["judge"], "question": RIGHT_ANSWER.version, "code": smk.params.code}
    tables.write("answer_judgements", data, smk.output.judgements, metadata)


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

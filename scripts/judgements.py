"""The judge on writes that need the user's yes, and on runs with assertions; what has no answer is asked next time."""

import asyncio

from toolcal import logs, runs, tables
from toolcal.judging import items
from toolcal.judging.job import judged
from toolcal.judging.question import CONFIRMED_WRITE, NL_ASSERTIONS


async def run(smk):
    about = smk.params.run
    data = await judged(smk.config, about, items.items(smk.config["judge"]["questions"], items.read(smk.input)))
    versions = {question.name: question.version for question in (CONFIRMED_WRITE, NL_ASSERTIONS)}
    metadata = {"judge": about["judge"], "questions": versions, "code": smk.params.code}
    tables.write("judgements", data, smk.output.judgements, metadata)


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

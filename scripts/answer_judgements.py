"""The judge on the answers of the confidence study; what has no verdict is asked for again next time."""

import asyncio

from toolcal import logs, runs, tables
from toolcal.judging.answer_items import answer_items
from toolcal.judging.job import judged
from toolcal.judging.question import RIGHT_ANSWER


async def run(smk):
    about = smk.params.run
    answers, questions = (tables.read(name, *smk.input[name]) for name in ("answers", "questions"))
    data = await judged(smk.config, about, answer_items(answers, questions), "answer_judgements")
    metadata = {"judge": about["judge"], "question": RIGHT_ANSWER.version, "code": smk.params.code}
    tables.write("answer_judgements", data, smk.output.judgements, metadata)


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

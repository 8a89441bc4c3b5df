"""How well the confidences of the study fit what was right, and what its figures show."""

from toolcal import logs, tables
from toolcal.confidence.calibrate import calibrate
from toolcal.confidence.judged import answer_agreement, graded_by_judge
from toolcal.confidence.plan import StudyCell


def main(smk):
    logs.to_file(smk.log[0])
    answers = tables.read("answers", *smk.input.answers)
    agreement = {}
    if smk.input.judgements:
        judgements = tables.read("answer_judgements", *smk.input.judgements)
        agreement = {"answer_agreement": answer_agreement(answers, judgements)}
        if smk.params.graded_by == "judge":
            answers = graded_by_judge(answers, judgements)
    results = agreement | calibrate(
        answers,
        tables.read("questions", *smk.input.questions),
        [StudyCell(*cell) for cell in smk.params.cells],
        base_models=smk.params.base_models,
        limits=smk.params.limits,
        trials=smk.params.trials,
        seed=smk.params.seed,
    )
    for name, data in results.items():
        tables.write(name, data, smk.output[name], {"seed": smk.params.seed, "code": smk.params.code})
        data.to_csv(smk.output[f"{name}_csv"], index=False)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

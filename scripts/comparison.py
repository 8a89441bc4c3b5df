"""Every checkpoint beside the untreated model, on the same questions: what training changed, setting by setting."""

from toolcal import logs, tables
from toolcal.confidence.judged import graded_by_judge
from toolcal.confidence.plan import StudyCell
from toolcal.training.comparison import Study, comparison
from toolcal.training.designs import design_of
from toolcal.training.settings import Place


def main(smk):
    logs.to_file(smk.log[0])
    about = smk.params.study
    answers = tables.read("answers", *smk.input.answers)
    if about["graded_by"] == "judge":
        answers = graded_by_judge(answers, tables.read("answer_judgements", *smk.input.judgements))
    study = Study(
        answers=answers,
        questions=tables.read("questions", *smk.input.questions),
        cells=[StudyCell(*cell) for cell in smk.params.cells],
        limits=about["limits"],
        trials=about["trials"],
        services=about["services"],
        seed=about["seed"],
    )
    designs = {name: design_of(name, entry) for name, entry in smk.params.rewards.items()}
    found = comparison(study, smk.params.checkpoints, designs, [Place(*place) for place in smk.params.trained])
    found = found[list(tables.TABLES["comparison"].columns)]
    tables.write("comparison", found, smk.output.comparison, {"seed": about["seed"], "code": smk.params.code})
    found.to_csv(smk.output.comparison_csv, index=False)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821

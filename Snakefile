from snakemake.utils import min_version

min_version("9.0")


# A file given with --configfile stands in place of config.yaml, so that a preset is what it says.
if not workflow.overwrite_configfiles:

    configfile: "config.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"
include: "rules/paths.smk"
include: "rules/asking.smk"
include: "rules/study.smk"
include: "rules/run.smk"
include: "rules/resources.smk"
include: "rules/cases.smk"
include: "rules/contexts.smk"
include: "rules/trajectories.smk"
include: "rules/conversations.smk"
include: "rules/recordings.smk"
include: "rules/questions.smk"
include: "rules/answers.smk"
include: "rules/checkpoints.smk"
include: "rules/training.smk"
include: "rules/actions.smk"
include: "rules/corrections.smk"
include: "rules/grades.smk"
include: "rules/writes.smk"
include: "rules/judgements.smk"
include: "rules/diagnosis.smk"
include: "rules/validity.smk"
include: "rules/calibration.smk"
include: "rules/comparison.smk"
include: "rules/rewards.smk"
include: "rules/figures.smk"
include: "rules/tables.smk"
include: "rules/exports.smk"
include: "rules/manifest.smk"
include: "rules/explorer.smk"
include: "rules/reproduce.smk"
include: "rules/estimate.smk"


localrules:
    all,


rule all:
    default_target: True
    input:
        FIGURES,
        TABLES.values(),
        IN_PRINT,
        EXPORTS,
        MANIFEST,
        EXPLORER,
    message:
        "Figures, tables and manifest are there"


onstart:
    begin_run()


onsuccess:
    print(closing_words())

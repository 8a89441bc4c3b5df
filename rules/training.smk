# One job a reward design: from the untreated model to an adapter. What is kept on the way lies beside the outputs, since
# Snakemake removes those before a job runs, so that a training that was killed goes on from its last checkpoint.
TRAINED = RESULTS / "training/{design}"
DESIGNS = training_plan.designs(config)


localrules:
    train,


rule train:
    input:
        expand(TRAINED / "adapter", design=DESIGNS),
        expand(TRAINED / "log.parquet", design=DESIGNS),
        AFTER_TRAINING,
    message:
        "Trained and compared: {DESIGNS}"


rule training:
    input:
        base=BASE_MODEL,
        questions=of_training(QUESTIONS),
        passages=of_training(PASSAGES),
        rows=of_training(ROWS),
        held_out=asked_by_study(QUESTIONS),
    output:
        adapter=directory(TRAINED / "adapter"),
        log=TRAINED / "log.parquet",
        samples=TRAINED / "samples.parquet",
    log:
        RESULTS / "logs/training/{design}.log",
    benchmark:
        RESULTS / "logs/training/{design}.benchmark.tsv"
    wildcard_constraints:
        design=one_of(DESIGNS),
    conda:
        "../envs/train.yaml"
    threads: all_cores()
    resources:
        vllm=lambda wildcards: int(config["training"]["rollouts"] == "vllm"),
    params:
        progress=lambda wildcards: str(TRAINED / "progress").format(
            design=wildcards.design
        ),
        reward=lambda wildcards: config["rewards"][wildcards.design],
        settings=lambda wildcards: training_plan.settings(config),
        places=training_plan.places(config),
        limits=training_plan.limits(config, "training"),
        study_limits=training_plan.limits(config, "confidence"),
        asking=lambda wildcards: training_plan.asking(config),
        model=lambda wildcards: entries.answering(
            config["models"][config["training"]["model"]]
        ),
        code=code_of("training"),
    message:
        "Training with the reward {wildcards.design}"
    script:
        "../scripts/training.py"

# Models of this run's training as files that the panel's query jobs serve.
rule base_model:
    output:
        folder=directory(BASE_MODEL),
    log:
        RESULTS / "logs/training/base.log",
    conda:
        "../envs/train.yaml"
    params:
        model=lambda wildcards: config["training"]["model"],
        answers=lambda wildcards: entries.answering(
            config["models"][config["training"]["model"]]
        ),
        code=code_of("base_model"),
    message:
        "{params.model} as a folder to train from"
    script:
        "../scripts/base_model.py"


rule supervised:
    input:
        base=BASE_MODEL,
    output:
        adapter=directory(str(ADAPTER).format(checkpoint=checkpoints.SUPERVISED)),
        log=RESULTS / "training" / checkpoints.SUPERVISED / "log.parquet",
    log:
        RESULTS / "logs/training/supervised.log",
    benchmark:
        RESULTS / "logs/training/supervised.benchmark.tsv"
    conda:
        "../envs/train.yaml"
    threads: 2
    resources:
        # A GPU is one server's, or one training's.
        vllm=lambda wildcards: int(
            config["models"][config["training"]["model"]]["source"] == "vllm"
        ),
    params:
        settings=lambda wildcards: checkpoints.fine_tune_settings(config),
        code=code_of("supervised"),
    message:
        "Supervised fine-tune on invented tool calls"
    script:
        "../scripts/supervised.py"


# What an entry with `checkpoint` is served from: a GGUF file by llama.cpp, a folder by vLLM.
rule checkpoint:
    input:
        base=BASE_MODEL,
        adapter=lambda wildcards: adapter_of(wildcards.checkpoint),
    output:
        gguf=checkpoints.gguf(RESULTS, "{checkpoint}"),
    log:
        RESULTS / "logs/training/{checkpoint}.gguf.log",
    wildcard_constraints:
        checkpoint=one_of(CHECKPOINTS),
    conda:
        "../envs/train.yaml"
    params:
        model=lambda wildcards: config["training"]["model"],
        tensor_type=lambda wildcards: config["training"]["gguf"],
        code=code_of("checkpoint"),
    message:
        "{wildcards.checkpoint} as a GGUF file"
    script:
        "../scripts/checkpoint.py"


rule checkpoint_folder:
    input:
        base=BASE_MODEL,
        adapter=lambda wildcards: adapter_of(wildcards.checkpoint),
    output:
        folder=directory(checkpoints.folder(RESULTS, "{checkpoint}")),
    log:
        RESULTS / "logs/training/{checkpoint}.folder.log",
    wildcard_constraints:
        checkpoint=one_of(CHECKPOINTS),
    conda:
        "../envs/train.yaml"
    params:
        code=code_of("checkpoint_folder"),
    message:
        "{wildcards.checkpoint} as a folder"
    script:
        "../scripts/checkpoint_folder.py"

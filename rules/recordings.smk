# Runs of conversations that were made elsewhere: what was asked, answered and judged is in one file.
rule recordings:
    input:
        recordings=lambda wildcards: recordings(wildcards.model),
    output:
        cases=RECORDED[CASES],
        contexts=RECORDED[CONTEXTS],
        trajectories=TRAJECTORIES,
        user_messages=USER_MESSAGES,
        grades=RECORDED[GRADES],
    log:
        RESULTS / "logs/recordings/{model}/{scenario}.{perturbation}.log",
    benchmark:
        RESULTS / "logs/recordings/{model}/{scenario}.{perturbation}.benchmark.tsv"
    wildcard_constraints:
        model=one_of(BY_RECORDING),
    conda:
        "../envs/query.yaml"
    params:
        recording=lambda wildcards: entries.recording(config["models"][wildcards.model]),
        ask_tasks=lambda wildcards: configuration.ask_tasks(config, wildcards.scenario),
        selection=lambda wildcards: configuration.selection(
            config, configuration.Cell(**wildcards)
        ),
        seed=config["seed"],
        code=code_of("recordings"),
    message:
        "Recorded runs of {wildcards.model} in {wildcards.scenario}"
    script:
        "../scripts/recordings.py"

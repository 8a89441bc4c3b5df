# What reward designs ask for and bring about, without a model; asked for by name, and no part of `all`.
localrules:
    rewards,


rule rewards:
    input:
        REWARDS.values(),
        REWARD_FIGURES,
    message:
        "Reward designs: tables are in rewards/, figures in figures/"


rule reward_bench:
    output:
        **REWARDS,
    log:
        RESULTS / "logs/reward_bench.log",
    conda:
        "../envs/analysis.yaml"
    params:
        designs=config["rewards"],
        training=config["reward_bench"],
        seed=config["seed"],
        code=code_of("reward_bench"),
    message:
        "Reward designs: what they ask for, and what agents trained by them end with"
    script:
        "../scripts/reward_bench.py"

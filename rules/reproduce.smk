# The published figures beside ours; asked for by name, and no part of `all`.
localrules:
    reproduce,


rule reproduce:
    input:
        cells=OF_DIAGNOSIS["cells"],
        outcomes=OF_DIAGNOSIS["outcomes"],
        write_rates=OF_DIAGNOSIS["write_rates"],
        effects=OF_DIAGNOSIS["effects"],
    output:
        **REPRODUCE,
    log:
        RESULTS / "logs/reproduce.log",
    conda:
        "../envs/analysis.yaml"
    params:
        names=published_names(),
        seed=config["seed"],
        code=code_of("reproduce"),
    message:
        "Published figures beside those of this run"
    script:
        "../scripts/reproduce.py"

# Tables for a paper.
from toolcal import typeset as _typeset

PAGES_IN_PRINT = _typeset.pages(
    (cell.scenario.partition("-")[0] for cell in CELLS),
    LABELLERS,
    perturbed=bool(PAGES["perturbation"]),
    with_user=bool(WITH_USER),
)
IN_PRINT = [
    RESULTS / f"tables/{page.name}.{suffix}"
    for page in PAGES_IN_PRINT
    for suffix in ("tex", "md")
]


rule tables:
    input:
        cells=OF_DIAGNOSIS["cells"],
        outcomes=OF_DIAGNOSIS["outcomes"],
        write_rates=OF_DIAGNOSIS["write_rates"],
        effects=OF_DIAGNOSIS["effects"],
    output:
        IN_PRINT,
    log:
        RESULTS / "logs/tables.log",
    conda:
        "../envs/analysis.yaml"
    params:
        pages={page.name: list(page) for page in PAGES_IN_PRINT},
        names=published_names(),
        scenarios=list(config["scenarios"]),
        seed=config["seed"],
        code=code_of("tables"),
    message:
        "Tables in LaTeX and Markdown"
    script:
        "../scripts/tables.py"

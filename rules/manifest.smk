MANIFEST = RESULTS / "manifest.json"


rule manifest:
    message:
        "Versions, checksums, configuration and commit of this run"
    input:
        cases=per_cell(rules.cases.output.cases),
    output:
        manifest=MANIFEST,
    params:
        config=config,
        repository=str(BASE),
        git=provenance.git_state(BASE),
        stages={path.stem: code_of(path.stem) for path in sorted(BASE.glob("scripts/*.py"))},
        code=code_of("manifest"),
    log:
        RESULTS / "logs/manifest.log",
    conda:
        "../envs/query.yaml"
    script:
        "../scripts/manifest.py"

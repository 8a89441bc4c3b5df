rule manifest:
    input:
        cases=per_cell(CASES),
        contexts=per_cell(CONTEXTS),
        trajectories=per_cell(TRAJECTORIES),
        questions=of_study(QUESTIONS),
        # Last of all, so that it never tells of other results than those beside it.
        tables=TABLES.values(),
    output:
        manifest=MANIFEST,
    log:
        RESULTS / "logs/manifest.log",
    conda:
        "../envs/query.yaml"
    params:
        config=config,
        repository=str(BASE),
        git=provenance.git_state(BASE),
        stages={
            path.stem: code_of(path.stem) for path in sorted(BASE.glob("scripts/*.py"))
        },
        code=code_of("manifest"),
    message:
        "Versions, checksums, configuration and commit of this run"
    script:
        "../scripts/manifest.py"

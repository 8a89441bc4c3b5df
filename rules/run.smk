# How a run begins, and what it says at its end.


def targets():
    """What this run was asked for by name."""
    return set(workflow.dag_settings.targets)


def estimates_only():
    """Whether this run looks at the results folder, and no more."""
    return targets() == {"estimate"}


def begin_run():
    """Take the results folder for this run, and tell what its models will lack; an estimate only looks at it."""
    if targets() & {"rewards", "reward_bench"} and not config["rewards"]:
        raise WorkflowError("rewards: no reward design is configured, name one")
    if "reproduce" in targets() and not CELLS:
        raise WorkflowError(
            "reproduce: no scenarios are run, so there is nothing to compare"
        )
    try:
        asks = JUDGED or ANSWERING
        asked = {"the judge": config["judge"] | {"source": "api"}} if asks else {}
        entries.check(config["models"] | asked, config["endpoints"])
        if not estimates_only():
            runs.begin(RESULTS)
    except (entries.EntryError, runs.RunError) as error:
        raise WorkflowError(str(error)) from None


def closing_words():
    """The summary table, where the run got that far, and what it lacks; the published figures where asked for."""
    from toolcal import tables
    from toolcal.summary import effects_summary, lacking, left_over, summary
    from toolcal.confidence.shown import study_summary, changes_summary

    if estimates_only():
        return ""
    if targets() == {"train"} and COMPARED:
        from toolcal.training.shown import shown as compared

        return f"\n{compared(tables.read('comparison', TABLES['comparison']))}"
    if targets() == {"reproduce"}:
        from toolcal.diagnosis.reproduce import shown

        return f"\n{shown(tables.read('reproduce', REPRODUCE['reproduce']))}"
    if targets() == {"rewards"}:
        from toolcal.training.reward_shown import shown

        return f"\n{shown(tables.read('tabular_summary', REWARDS['tabular_summary']))}"
    told = {
        name: tables.read(name, TABLES[name])
        for name in ("cells", "effects", "calibration", "calibration_tests")
        if name in TABLES and TABLES[name].is_file()
    }
    if not told:
        return ""
    blocks = [
        shown(told[name])
        for name, shown in (
            ("cells", summary),
            ("effects", effects_summary),
            ("calibration", study_summary),
            ("calibration_tests", changes_summary),
        )
        if name in told
    ]
    lacks = lacking(told["cells"]) if "cells" in told else ""
    blocks.append(
        f"Figures and tables are in {RESULTS}.{lacks}"
        f"{left_over(RESULTS / 'figures', FIGURES + REWARD_FIGURES)}"
    )
    return "\n" + "\n\n".join(block for block in blocks if block)

"""The confidence study as a block of text for a terminal."""

from __future__ import annotations

import pandas as pd

from toolcal.confidence.plan import level

_PERCENT = {
    "accuracy": "accuracy",
    "mean_confidence": "confidence",
    "ece10": "ECE",
    "mcip": "MCIP",
}


def study_summary(calibration: pd.DataFrame) -> str:
    """The table `calibration`, a line per cell; empty where there is none.

    Args:
        calibration: rows of the table; rates from 0 to 1.

    Returns:
        Accuracy, mean confidence, ECE (10 bins), MCIP and coverage in percent, AUROC from 0 to 1; `-` where a metric is
        undefined. Answers without a verdict stand beside n.
    """
    rows = calibration[
        (calibration["difficulty"] == "all") & (calibration["post_hoc"] == "none") & (calibration["questions"] == "all")
    ]
    if rows.empty:
        return ""
    shown = pd.DataFrame(
        {
            "model": rows["model"],
            "set": rows["question_set"],
            "configuration": rows["configuration"],
            "tool": rows["tool"],
            "noise": rows["noise"].map(level),
            "n": [
                f"{n}" if not missing else f"{n} (+{missing} missing)"
                for n, missing in zip(rows["n"], rows["n_missing"], strict=True)
            ],
        }
    )
    for column, title in _PERCENT.items():
        shown[title] = [_number(100 * value, 1) for value in rows[column]]
    shown["AUROC"] = [_number(value, 2) for value in rows["auroc"]]
    shown["coverage"] = [_number(100 * value, 1) for value in rows["coverage"]]
    heading = (
        "Confidence (in %; AUROC 0 to 1; ECE of 10 bins; coverage: share of answers whose confidence could be read)"
    )
    return f"{heading}\n{shown.to_string(index=False)}"


def changes_summary(calibration_tests: pd.DataFrame) -> str:
    """What tools do to the confidence of wrong answers, from the table `calibration_tests`; empty where that is empty.

    Args:
        calibration_tests: rows of the table; differences from -1 to 1.

    Returns:
        A line per cell with a tool: its MCIP less that of `direct`, in points, with interval and p after Holm; `-`
        where it is undefined or no pair differs.
    """
    rows = calibration_tests[(calibration_tests["comparison"] == "tool") & (calibration_tests["metric"] == "mcip")]
    if rows.empty:
        return ""
    shown = rows[["model", "question_set", "configuration", "tool"]].rename(columns={"question_set": "set"})
    shown["noise"] = rows["noise"].map(level)
    shown["pairs"] = rows["n"]
    for column in ("delta", "delta_low", "delta_high"):
        shown[{"delta": "change", "delta_low": "low", "delta_high": "high"}[column]] = [
            _number(100 * value, 1) for value in rows[column]
        ]
    shown["p"] = [_number(value, 3) for value in rows["p_holm"]]
    heading = (
        "Confidence of wrong answers: with the tool less without (MCIP of own errors, in points, 95 % interval, p\n"
        "after Holm over all comparisons; all others are in confidence/calibration_tests.csv)"
    )
    return f"{heading}\n{shown.to_string(index=False)}"


def _number(value: float, digits: int) -> str:
    return "-" if pd.isna(value) else f"{value:.{digits}f}"

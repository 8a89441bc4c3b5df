"""Lines of corrections for the tests."""

from __future__ import annotations

from toolcal.corrections.lines import Correction

LINE = {
    "model": "model",
    "scenario": "bfcl-miss_func",
    "perturbation": "none",
    "case_id": "a",
    "trial": 0,
    "turn": 0,
    "step": 0,
    "attempt": 0,
    "labeller": "refined",
    "was": "OTHER",
    "action": "ASK",
    "note": None,
    "by": "ann",
    "time": "2026-12-01T08:15:00Z",
    "labeller_version": "2",
}


def mark(line=1, **changed):
    return Correction("marks.jsonl", line, **(LINE | changed))

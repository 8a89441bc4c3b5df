"""Where what was recorded of a run and what is found here differ."""

from __future__ import annotations

import pandas as pd


def disagreement(grades: pd.DataFrame) -> str | None:
    """One line on the verdicts that differ from the recorded ones, or None where none does."""
    compared = grades.loc[grades["regrade_differs"].notna()]
    ids = compared.loc[compared["regrade_differs"].astype(bool), "case_id"].tolist()
    if not ids:
        return None
    some = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
    return f"{len(ids)} of {len(compared)} recorded verdicts differ from the one found here (regrade_differs): {some}"

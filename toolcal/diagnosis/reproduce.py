"""Table `reproduce`: the published figures of part A (method A5 to A7), each beside ours of the same model.

`published.csv` holds the figures, one a line, as rates; the effects of probes under the names that they have in
`presets/paper.yaml`. A figure is compared with the one model of the panel that bears its name and ran its scenario;
where there is none, or more than one, the line says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.diagnosis.statistics import percentile_interval, resample
from toolcal.tables import CASE

PUBLISHED = Path(__file__).with_name("published.csv")

LABELLER = "paper_like"
"""The labeller whose rules are the published ones."""
OVERALL = "bfcl"
"""In place of a scenario: the mean over BFCL's four."""
SCENARIOS = ("bfcl-base", "bfcl-long_context", "bfcl-miss_func", "bfcl-miss_param")

_LABELLED = ("gar_case_any", "delta_gar_case_any")
_OF_EFFECTS = {"delta_acc": "acc", "delta_gar_case_any": "gar_case_any"}
_OF_WRITES = {"writes_confirmed": "confirmed", "writes_acc": "acc", "writes_gap": "gap"}
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Figure:
    """A figure of ours with its interval and n, or the reason why there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    why: str | None = None


@dataclass(frozen=True)
class _Run:
    """The tables that figures of ours come from."""

    cells: pd.DataFrame
    outcomes: pd.DataFrame
    write_rates: pd.DataFrame | None
    effects: pd.DataFrame | None
    seed: int

    def lacks(self, model: str, row: Mapping[str, Any]) -> list[str]:
        """The scenarios of a published figure that a model did not run."""
        own = self.cells[(self.cells["model"] == model) & (self.cells["perturbation"] == row["perturbation"])]
        ran = set(own["scenario"])
        return [scenario for scenario in _scenarios(row) if scenario not in ran]


def load_published(path: str | Path = PUBLISHED) -> pd.DataFrame:
    """The published figures: source, model, scenario, perturbation, gold_action, measure, value (a rate), note."""
    data = pd.read_csv(path, dtype="str")
    return data.assign(value=data["value"].astype(float))


def reproduce(
    published: pd.DataFrame,
    cells: pd.DataFrame,
    outcomes: pd.DataFrame,
    write_rates: pd.DataFrame | None,
    names: Mapping[str, str],
    *,
    seed: int,
    effects: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Table `reproduce`.

    Args:
        published: from `load_published`.
        cells: table `cells`.
        outcomes: table `outcomes`.
        write_rates: table `write_rates`; None where the run has no conversations with writes.
        names: of each model of the panel the name under which it was published (case does not matter).
        seed: of the bootstrap, from the configuration.
        effects: table `effects`; None where nothing was perturbed.

    Returns:
        One row per published figure, in their order.
    """
    run = _Run(cells, outcomes, write_rates, effects, seed)
    rows = [_line(row, run, names) for row in tables.records(published)]
    data = tables.frame("reproduce", rows)
    spec = tables.TABLES["reproduce"].columns
    kinds = {"float": "float64", "int": "Int64", "bool": "boolean"}
    return data.astype({name: kinds[column.type] for name, column in spec.items() if column.type in kinds})


def shown(table: pd.DataFrame) -> str:
    """The table as text for a terminal: a line per figure that has one of ours, and one line for the others.

    Args:
        table: rows of the table `reproduce`.
    """
    compared, alone = table[table["ours"].notna()], table[table["ours"].isna()]
    parts = []
    if len(compared):
        interval = zip(compared["ours"], compared["ours_low"], compared["ours_high"], strict=True)
        difference = zip(compared["difference"], compared["inside"], strict=True)
        lines = pd.DataFrame(
            {
                "model": compared["model"],
                "scenario": compared["scenario"],
                "gold": compared["gold_action"].fillna("-"),
                "measure": compared["measure"],
                "published": [f"{100 * value:.1f}" for value in compared["published"]],
                "ours": [f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]" for value, low, high in interval],
                "difference": [f"{100 * value:+.1f} {' ' if inside else '!'}" for value, inside in difference],
                "n": compared["n"],
            }
        )
        title = "Published figures and ours (in %; ! = the published one lies outside our 95 % interval)"
        parts.append(f"{title}\n{lines.to_string(index=False)}")
    if len(alone):
        parts.append(_others(alone, len(table)))
    return "\n\n".join(parts)


def _others(alone: pd.DataFrame, published: int) -> str:
    """Why these figures have none of ours beside them, in one line."""
    unnamed = alone["why"].str.startswith(_unnamed(""))
    if len(alone) == published and unnamed.all():
        return (
            f"None of the {published} published figures is of a model of this panel "
            "(published_as in a model's entry gives its published name)."
        )
    reasons = alone["why"].mask(unnamed, "no model of the panel has that name").value_counts(sort=False)
    words = "; ".join(f"{reason} ({count})" for reason, count in reasons.items())
    return f"{len(alone)} of {published} published figures have none of ours beside them: {words}."


def _line(row: Mapping[str, Any], run: _Run, names: Mapping[str, str]) -> dict[str, Any]:
    model, why = _counterpart(row, run, names)
    ours = Figure(why=why) if why or model is None else _figure(row, model, run)
    compared: dict[str, Any] = {"difference": None, "inside": None}
    if ours.value is not None and ours.low is not None and ours.high is not None:
        compared["difference"] = ours.value - row["value"]
        compared["inside"] = ours.low - _ROUNDING <= row["value"] <= ours.high + _ROUNDING
    return {
        **{name: row[name] for name in tables.TABLES["reproduce"].key},
        "published": row["value"],
        "ours": ours.value,
        "ours_low": ours.low,
        "ours_high": ours.high,
        **compared,
        "n": ours.n,
        "panel_model": model,
        "labeller": LABELLER if row["measure"] in _LABELLED else None,
        "why": ours.why,
        "note": row["note"],
    }


def _counterpart(row: Mapping[str, Any], run: _Run, names: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The model of the panel to compare with, and why not."""
    same = [model for model, name in names.items() if name.casefold() == row["model"].casefold()]
    if not same:
        return None, _unnamed(row["model"])
    # One name may have several entries, such as a served model and its recorded runs of another benchmark.
    whole = [model for model in same if not run.lacks(model, row)]
    if not whole:
        nearest = min(same, key=lambda model: len(run.lacks(model, row)))
        which = f": {', '.join(run.lacks(nearest, row))}" if row["scenario"] == OVERALL else ""
        return nearest if len(same) == 1 else None, f"scenario not run{which}"
    if len(whole) > 1:
        return None, f"{len(whole)} models of the panel are named {row['model']}: {', '.join(whole)}"
    return whole[0], None


def _unnamed(name: str) -> str:
    return f"no model of the panel is named {name}"


def _scenarios(row: Mapping[str, Any]) -> tuple[str, ...]:
    return SCENARIOS if row["scenario"] == OVERALL else (row["scenario"],)


def _figure(row: Mapping[str, Any], model: str, run: _Run) -> Figure:
    """The model's own figure of what was published."""
    if row["measure"] in _OF_WRITES:
        return _of_writes(row, model, run.write_rates)
    if row["measure"] in _OF_EFFECTS:
        return _of_effects(row, model, run.effects)
    if row["scenario"] == OVERALL:
        return overall(run.outcomes, model, row["perturbation"], run.seed)
    cells = _of(run.cells, model, row)
    cells = cells[cells["gold_action"] == row["gold_action"]]
    if cells.empty:
        return Figure(why=f"no case has the gold action {row['gold_action']}")
    if row["measure"] in _LABELLED:
        cells = cells[cells["labeller"] == LABELLER]
        if cells.empty:
            return Figure(why=f"the run was not labelled by {LABELLER}")
    # A rate that rests on no label is the same in the rows of all labellers.
    cell = cells.iloc[0]
    if cell["n"] and pd.isna(cell[row["measure"]]):
        unknown = f"null: of {cell['n_unknown']} of {cell['n']} case-trials it was not recorded"
        return Figure(n=int(cell["n"]), why=unknown)
    return _rate(cell, row["measure"], "null: no case-trial has a verdict")


def _of_writes(row: Mapping[str, Any], model: str, write_rates: pd.DataFrame | None) -> Figure:
    """A rate of the writes that the model made; the published ones count all calls, failed ones too."""
    none = Figure(why="null: no write that needs the user's yes was made")
    if write_rates is None:
        return none
    rates = _of(write_rates, model, row)
    rates = rates[(rates["writes"] == "all") & (rates["reader"] == "rule")]
    return none if rates.empty else _rate(rates.iloc[0], _OF_WRITES[row["measure"]], "null: no write has a verdict")


def _of_effects(row: Mapping[str, Any], model: str, effects: pd.DataFrame | None) -> Figure:
    """What a perturbation moved, over the pairs of a case with and without it."""
    none = Figure(why="null: no case has a verdict with and without the perturbation")
    if effects is None:
        return none
    found = _of(effects, model, row)
    found = found[(found["gold_action"] == row["gold_action"]) & (found["measure"] == _OF_EFFECTS[row["measure"]])]
    if row["measure"] in _LABELLED:
        found = found[found["labeller"] == LABELLER]
    return none if found.empty else _rate(found.iloc[0], "delta", "null: no pair has it in both runs")


def _rate(rates: pd.Series[Any], column: str, none: str) -> Figure:
    """A rate with its interval out of a table's row, or why it is null: for want of anything counted."""
    n = int(rates["n"])
    if pd.isna(rates[column]):
        return Figure(n=n, why=none)
    return Figure(float(rates[column]), float(rates[f"{column}_low"]), float(rates[f"{column}_high"]), n)


def overall(outcomes: pd.DataFrame, model: str, perturbation: str, seed: int) -> Figure:
    """The mean of the accuracies in `SCENARIOS`; cases of one number share their initial state, so they are resampled
    together.

    Args:
        outcomes: table `outcomes`.
        model: the model's id in the configuration.
        perturbation: under which it ran.
        seed: of the bootstrap, from the configuration.
    """
    own = outcomes[(outcomes["model"] == model) & (outcomes["perturbation"] == perturbation)]
    own = own[own["scenario"].isin(SCENARIOS)]
    graded = own[own["passed"].notna()].drop_duplicates(list(CASE))
    without = [scenario for scenario in SCENARIOS if not (graded["scenario"] == scenario).any()]
    if without:
        return Figure(n=len(graded), why=f"null: no case-trial of {', '.join(without)} has a verdict")
    passed = graded.assign(passed=graded["passed"].astype(float)).groupby(["cluster_id", "scenario"])["passed"]
    above, below = (
        sums.unstack(fill_value=0)[list(SCENARIOS)].to_numpy(dtype=float) for sums in (passed.sum(), passed.count())
    )
    means = resample(above, below, seed=seed).mean(axis=1)
    low, high = percentile_interval(means, len(above))
    mean = (above.sum(axis=0) / below.sum(axis=0)).mean()
    return Figure(float(mean), float(low), float(high), len(graded))


def _of(data: pd.DataFrame, model: str, row: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of a model in a published figure's scenario and perturbation."""
    cell = {"model": model, "scenario": row["scenario"], "perturbation": row["perturbation"]}
    return data[(data[list(cell)] == list(cell.values())).all(axis=1)]

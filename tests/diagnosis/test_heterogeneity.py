import pandas as pd
import pytest

from tests.diagnosis.panel import row
from tests.diagnosis.test_effects import panel_of
from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.diagnosis.heterogeneity import heterogeneity


def of(*families, measure="acc"):
    """A row of `family_effects` per (family, delta, low, high)."""
    rows = []
    for family, delta, low, high in families:
        one = dict.fromkeys(tables.TABLES["family_effects"].columns)
        one |= {"family": family, "scenario": "bfcl-base", "perturbation": "sri-full", "gold_action": "TOOL_CALL"}
        one |= {"labeller": "refined", "measure": measure, "delta": delta, "delta_low": low, "delta_high": high}
        rows.append(one)
    return pd.DataFrame(rows).astype(dict.fromkeys(["delta", "delta_low", "delta_high"], "float64"))


def only(families):
    found = heterogeneity(families)
    tables.check("heterogeneity", found)
    assert len(found) == 1
    return found.iloc[0]


def test_the_published_change_of_sign():
    """SRI on base: +11.5 points on Qwen3-8B, -21.0 on ToolACE-2-8B."""
    found = only(of(("Qwen3", 0.115, 0.05, 0.18), ("ToolACE-2", -0.21, -0.28, -0.14), ("xLAM-2", 0.01, -0.04, 0.06)))
    assert found[["n_families", "lowest_family", "highest_family"]].tolist() == [3, "ToolACE-2", "Qwen3"]
    assert found[["lowest", "highest"]].tolist() == [-0.21, 0.115]
    assert found["range"] == pytest.approx(0.325)
    assert found["sign_change"]


@pytest.mark.parametrize(
    ("one", "other"),
    [((0.1, -0.01, 0.2), (-0.1, -0.2, -0.05)), ((0.1, 0.05, 0.2), (-0.1, -0.2, 0.0)), ((0.1, 0.05, 0.2),) * 2],
)
def test_no_change_of_sign_within_the_intervals(one, other):
    assert not only(of(("a", *one), ("b", *other)))["sign_change"]


def test_one_family_cannot_differ_and_none_has_nothing():
    found = only(of(("a", 0.1, 0.05, 0.2), ("b", None, None, None)))
    assert found[["n_families", "lowest_family", "highest_family", "range"]].tolist() == [1, "a", "a", 0.0]
    assert pd.isna(found["sign_change"])
    found = only(of(("a", None, None, None)))
    assert found["n_families"] == 0
    assert found[["lowest", "highest", "lowest_family", "range", "sign_change"]].isna().all()


def test_of_equal_deltas_the_first_by_name_is_named():
    found = only(of(("b", 0.1, 0, 0.2), ("a", 0.1, 0, 0.2), ("c", 0.1, 0, 0.2)))
    assert found[["lowest_family", "highest_family"]].tolist() == ["a", "a"]


def test_from_runs():
    verdicts = {(model, BASELINE): [i < 15 for i in range(30)] for model in ("m1", "m2")}
    verdicts |= {("m1", "hint"): [True] * 30, ("m2", "hint"): [False] * 30}
    found = panel_of(verdicts, families={"m1": "x", "m2": "y"}).diagnose()["heterogeneity"]
    acc = row(found, measure="acc")
    assert acc[["n_families", "lowest", "lowest_family", "highest", "highest_family", "range"]].tolist() == [
        *(2, -0.5, "y", 0.5, "x", 1.0)
    ]
    assert acc["sign_change"]

from tests.diagnosis.test_effects import panel_of
from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.summary import effects_summary


def test_effects_on_the_terminal():
    before, after = [False] * 10 + [True] * 10, [True] * 20
    verdicts = {("m", BASELINE): before, ("m", "hint"): after, ("m", "idle"): before}
    text = effects_summary(panel_of(verdicts).diagnose()["effects"])
    heading, columns, hint, idle = text.split("\n")
    assert heading.startswith("Labeller paper_like, effects (change from the baseline in points, ")
    assert columns.split() == ["model", "scenario", "perturbation", "gold", "n", "GAR", "p", "GAR", "Acc", "p", "Acc"]
    assert hint.split()[:6] == ["m", "bfcl-miss_func", "hint", "REFUSE", "20", "+50.0"]
    assert hint.split()[-1] == "0.002"
    assert idle.split()[2:6] == ["idle", "REFUSE", "20", "+0.0"]
    assert idle.split()[-1] == "-"
    assert all(len(line) <= 120 for line in text.split("\n")[1:])


def test_without_perturbations_nothing_is_said():
    assert effects_summary(tables.frame("effects", [])) == ""

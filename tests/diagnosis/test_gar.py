import pandas as pd
import pytest

from tests.diagnosis.panel import ASK, CALL, CONFIRM, EMPTY, NOW, OTHER, REFUSE, WRITE, E, Panel, row

VIEWS = ["emitted_case_any", "emitted_decisive", "emitted_decisive_mutating"]


def one(turns, *, gold=("REFUSE",), decisive=1, n_turns=2, excluded=(), status="done"):
    """The tables of one run of one case."""
    panel = Panel()
    panel.case("c", turns=n_turns, gold=gold, decisive=decisive, excluded=excluded)
    panel.planned("c")
    panel.run("c", turns, False, status=status)
    return panel.diagnose()


VIEWED = [
    ("REFUSE", [[CALL], [REFUSE]], (True, True, True)),
    ("REFUSE", [[REFUSE], [ASK]], (True, False, False)),  # somewhere else: case_any only
    ("REFUSE", [[CALL], [CALL, REFUSE]], (True, False, True)),  # the call outranks; it changed nothing
    ("REFUSE", [[CALL], [WRITE, REFUSE]], (True, False, False)),
    ("ASK", [[CALL], [ASK, REFUSE]], (True, False, False)),  # REFUSE outranks ASK
    ("ASK", [[CALL], [CONFIRM, OTHER, ASK]], (True, True, True)),
    ("CONFIRM", [[CALL], [OTHER, CONFIRM]], (True, True, True)),
    ("REFUSE", [[CALL], [EMPTY]], (False, False, False)),
    ("REFUSE", [[CALL]], (False, False, False)),  # never reached
    ("TOOL_CALL", [[ASK], [CALL]], (True, True, False)),
    ("TOOL_CALL", [[ASK], [WRITE]], (True, True, True)),
    ("REFUSE", [[CALL], [E("TOOL_CALL", flags=("CONFIRM", "REFUSE", "TOOL_CALL"))]], (False, False, True)),
    ("ASK", [[CALL], [E("ASK", flags=("ASK", "REFUSE"))]], (True, True, True)),  # the class counts, not the flags
    ("REFUSE", [[CALL], [E("REFUSE", retracted=True), ASK]], (False, False, False)),
    ("REFUSE", [[CALL], [E("REFUSE", origin="probe"), ASK]], (False, False, False)),
    ("REFUSE", [[CALL], [E("TOOL_CALL", retracted=True), REFUSE]], (True, True, True)),
]


@pytest.fixture(scope="module")
def viewed():
    """Their outcomes, each a model's only case."""
    panel = Panel(families={f"m{i}": "family" for i in range(len(VIEWED))})
    for i, (gold, turns, _) in enumerate(VIEWED):
        cell = (f"m{i}", *NOW[1:])
        panel.case(f"c{i}", gold=(gold,), decisive=1)
        panel.planned(f"c{i}", cell=cell)
        panel.run(f"c{i}", turns, False, cell=cell)
    return panel.diagnose()["outcomes"].set_index("model")


@pytest.mark.parametrize("number", range(len(VIEWED)))
def test_views_of_one_case(viewed, number):
    assert tuple(viewed.loc[f"m{number}", VIEWS]) == VIEWED[number][2]


def test_without_a_decisive_turn_its_views_are_null():
    found = one([[CALL], [CALL]], gold=("TOOL_CALL",), decisive=None)
    assert found["outcomes"]["emitted_case_any"].tolist() == [True]
    assert found["outcomes"][[*VIEWS[1:], "outcome_decisive"]].isna().all(axis=None)
    assert (
        found["cells"][["gar_decisive", "gap_decisive", "violation_decisive", "share_slack_decisive"]]
        .isna()
        .all(axis=None)
    )
    assert found["cells"]["gar_case_any"].tolist() == [1.0]


def test_turns_and_confusion_by_hand():
    panel = Panel()
    panel.case("a", turns=3, decisive=1)
    panel.case("b", turns=3, decisive=1, excluded=[2])
    panel.planned("a", "b")
    panel.run("a", [[CALL, CONFIRM], [REFUSE], [ASK]], True)
    panel.run("b", [[EMPTY], [CALL]], False, status="step_limit")
    found = panel.diagnose()
    # Golds of a: call, refuse, call; of b: call, refuse. Classes of a: call, refuse, ask; of b: none, call.
    cell = found["cells"].iloc[0]
    assert (cell["n_turns"], cell["gar_turn"]) == (5, pytest.approx(2 / 5))
    turns = found["turns"]
    assert turns[["turn", "n", "recall"]].to_numpy().tolist() == [[0, 2, 0.5], [1, 2, 0.5], [2, 1, 0.0]]
    counts = {(r.gold_action, r.action): (r.n, r.share) for r in found["confusion"].itertuples() if r.n}
    assert counts == {
        ("TOOL_CALL", "TOOL_CALL"): (1, pytest.approx(1 / 3)),
        ("TOOL_CALL", "ASK"): (1, pytest.approx(1 / 3)),
        ("TOOL_CALL", "NONE"): (1, pytest.approx(1 / 3)),
        ("REFUSE", "REFUSE"): (1, 0.5),
        ("REFUSE", "TOOL_CALL"): (1, 0.5),
    }
    assert len(found["confusion"]) == 2 * 7  # the empty classes are there, too


def test_a_turn_never_reached_counts_as_not_recalled():
    found = one([[CALL]], gold=("TOOL_CALL",), decisive=None, n_turns=4, status="context_exceeded")
    assert found["cells"][["n_turns", "gar_turn", "n_context_exceeded"]].to_numpy().tolist() == [[4, 0.25, 1]]
    assert row(found["confusion"], action="NONE")["n"] == 3


def test_excluded_turns_still_count_for_case_any():
    found = one([[REFUSE], [ASK]], excluded=[0])
    assert found["outcomes"]["emitted_case_any"].tolist() == [True]
    assert found["turns"]["turn"].tolist() == [1]


def test_several_gold_actions_give_a_row_each():
    found = one([[CALL], [ASK]], gold=("REFUSE", "ASK"))
    assert row(found["outcomes"], gold_action="ASK")["emitted_decisive"]
    assert not row(found["outcomes"], gold_action="REFUSE")["emitted_decisive"]
    assert row(found["cells"], gold_action="ASK")["gar_turn"] == 1.0
    assert row(found["cells"], gold_action="REFUSE")["gar_turn"] == 0.5
    # One turn, whichever gold: it is counted once, and any gold recalls it.
    assert found["turns"][["n", "recall"]].to_numpy().tolist() == [[1, 1.0], [1, 1.0]]
    assert row(found["confusion"], gold_action="TOOL_CALL", action="TOOL_CALL")["n"] == 1


def test_labellers_are_kept_apart():
    panel = Panel(labellers=("paper_like", "refined"))
    panel.case("c", decisive=1)
    panel.planned("c")
    panel.run("c", [[CALL], [ASK]], True, others={"refined": [[CALL], [REFUSE]]})
    found = panel.diagnose()
    assert not row(found["outcomes"], labeller="paper_like")["emitted_decisive"]
    assert row(found["outcomes"], labeller="refined")["emitted_decisive"]
    only = panel.diagnose(labellers=["refined"])
    assert only["cells"]["labeller"].tolist() == ["refined"]


def broken(**changed):
    panel = Panel()
    panel.case("c", decisive=1)
    panel.planned("c")
    panel.run("c", [[CALL], [ASK]], True)
    given = panel.tables()
    return panel.diagnose(**{name: change(given[name]) for name, change in changed.items()})


def test_emissions_and_labels_must_match():
    with pytest.raises(
        ValueError, match=r"1 emissions have no label.*'turn': 1, 'step': 0, 'labeller': 'paper_like'.*'case_id': 'c'"
    ):
        broken(actions=lambda rows: rows[rows["turn"] == 0])
    with pytest.raises(ValueError, match="1 labels belong to no emission"):
        broken(trajectories=lambda rows: rows[rows["turn"] == 0])
    with pytest.raises(ValueError, match="1 runs were graded, but have no trajectory"):
        broken(trajectories=lambda rows: rows[:0], actions=lambda rows: rows[:0])


BY_ITS_OWN_RULES = [
    ("REFUSE", {"REFUSE": True}, [[CALL], [OTHER]], True),  # nobody said no, but nothing was written
    ("REFUSE", {"REFUSE": False}, [[REFUSE]], False),
    ("TOOL_CALL", {"TOOL_CALL": False}, [[WRITE]], False),
    ("TOOL_CALL", {"TOOL_CALL": None}, [[WRITE]], None),
    ("ASK", {"TOOL_CALL": True}, [[E("TOOL_CALL", flags=("TOOL_CALL", "ASK"))]], True),  # read multi-label
    ("ASK", {"TOOL_CALL": True}, [[CALL], [REFUSE]], False),
    ("ASK", {}, [[E("TOOL_CALL", text_recorded=False)]], None),
    ("ASK", {}, [[E("ASK", origin="benchmark")], [CALL]], False),
]


@pytest.fixture(scope="module")
def by_its_own_rules():
    """The tables of all of them, each a model's only case."""
    panel = Panel(families={f"m{i}": "family" for i in range(len(BY_ITS_OWN_RULES))})
    for i, (gold, met, turns, _) in enumerate(BY_ITS_OWN_RULES):
        cell = (f"m{i}", "tau2-airline", "none")
        panel.case(f"c{i}", turns=0, gold=(gold,), scenario="tau2-airline")
        panel.planned(f"c{i}", cell=cell)
        panel.run(f"c{i}", turns, True, cell=cell, met=met)
    return panel.diagnose()


@pytest.mark.parametrize("number", range(len(BY_ITS_OWN_RULES)))
def test_a_benchmarks_own_rules_stand_in_place_of_case_any(by_its_own_rules, number):
    found, expected = by_its_own_rules, BY_ITS_OWN_RULES[number][3]
    run = row(found["outcomes"], model=f"m{number}")
    told = run["emitted_case_any"]
    assert (None if told is pd.NA else told) == expected
    assert run[VIEWS[1:]].isna().all()
    assert found["confusion"].empty
    assert found["turns"].empty
    assert row(found["cells"], model=f"m{number}")["n_unknown"] == int(expected is None)


def test_what_the_model_did_not_write_needs_no_label():
    panel = Panel()
    panel.case("c", turns=0, gold=("ASK",), decisive=None)
    panel.planned("c")
    panel.run("c", [[E("ASK", origin="benchmark"), CALL]], True)
    labels = panel.tables()["actions"]
    found = panel.diagnose(actions=labels[labels["action"] != "ASK"])
    assert found["outcomes"]["emitted_case_any"].tolist() == [False]

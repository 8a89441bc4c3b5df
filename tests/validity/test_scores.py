"""How far labels agree with the readers: the answers on an invented set, and the set itself."""

from __future__ import annotations

import pytest

from toolcal import tables
from toolcal.actions.before import Before
from toolcal.validity import agreement, scores
from toolcal.validity.agreement import CLASSES, Labels
from toolcal.validity.conversations import Call, Conversation, Message, ValidityError, read_all
from toolcal.validity.draw import Item, draw, read_items
from toolcal.writes.consent import Decision

EMISSION = Item("e001", "emission", "shop.json", "7/0", "1", "", "dev")
WRITE = Item("w001", "write", "shop.json", "7/0", "3", "1", "test")
TALK = Conversation(
    "shop.json",
    "7/0",
    "shop.json",
    "7",
    (
        Message("0", "user", "Cancel it."),
        Message("1", "assistant", "Which one, please?", of_model=True),
        Message("2", "user", "The second."),
        Message("3", "assistant", "", (Call("look", {}), Call("cancel", {})), of_model=True),
    ),
    frozenset({"look", "cancel"}),
    ({"role": "user", "content": "Cancel it."},),
)
RIGHT = {
    "e001": Labels(frozenset({"ASK"}), frozenset({"information"})),
    "w001": Labels(proposed=True, agreed=True, message=2),
}


def told(found, **where):
    return [(row["label"], row["said"], row["right"]) for row in found if where.items() <= row.items()]


def test_each_labeller_answers_for_each_label(monkeypatch):
    asked = []
    monkeypatch.setattr(scores, "decide", lambda *given: asked.append(given) or Decision(True, False, 2, "invented"))
    found = list(scores.answers([EMISSION, WRITE], [TALK], RIGHT))
    refined = told(found, labeller="refined", item="e001", half="dev")
    assert refined == [
        ("ASK", True, True),
        *((name, False, False) for name in CLASSES if name != "ASK"),
        ("information", True, True),
        ("consent", False, False),
        ("transfer", False, False),
    ]
    assert [name for name, *_ in told(found, labeller="paper_like")] == list(CLASSES), "cue phrases have no sub-labels"
    assert told(found, labeller="rule", half="test", item="w001") == [("confirmed", False, True)]
    assert asked == [(TALK.recorded, 3, 1)]
    assert {row["cluster_id"] for row in found} == {"shop.json 7"}


@pytest.mark.parametrize(
    ("item", "conversations", "words"),
    [
        (EMISSION, [], "shop.json with the run 7/0 is missing there"),
        (Item("e001", "emission", "shop.json", "7/0", "2", "", "dev"), [TALK], "message 2 of the run 7/0 is not"),
        (Item("w001", "write", "shop.json", "7/0", "3", "2", "dev"), [TALK], "message 3 of the run 7/0 is not"),
        (Item("w001", "write", "shop.json", "7/0", "9", "0", "dev"), [TALK], "message 9 of the run 7/0 is not"),
    ],
)
def test_items_that_the_files_do_not_hold_are_named(item, conversations, words):
    with pytest.raises(ValidityError, match=words):
        list(scores.answers([item], conversations, RIGHT))


def test_the_request_and_the_calls_before_an_item_are_known():
    read = ("get_orders", "cancel_order", "cancel_order")
    messages = (
        Message("0", "user", "Cancel it."),
        Message("1", "assistant", "", tuple(Call(name, {}) for name in read), of_model=True),
        Message("2", "tool", "[]"),
        Message("3", "tool", "Error: unknown order"),
        Message("4", "tool", "{}"),
        Message("5", "assistant", "Shall I cancel the next one?", (Call("look", {}),), of_model=True),
        Message("6", "user", "No."),
        Message("7", "assistant", "Fine.", of_model=True),
    )
    talk = Conversation("shop.json", "8/0", "shop.json", "8", messages, frozenset(read))
    assert scores.before_message(messages[5], talk) == Before("Cancel it.", ("get_orders", "cancel_order"))
    assert scores.before_message(messages[7], talk) == Before("No.")


@pytest.fixture(scope="module")
def conversations(recorded):
    return read_all(recorded)


def test_the_draw_is_still_the_one_that_was_labelled(conversations):
    assert draw(conversations) == read_items()


def test_the_table_of_the_half_that_was_tuned_on(recorded, conversations, monkeypatch):
    items = [item for item in read_items() if item.split == "dev"]
    monkeypatch.setattr(scores, "read_items", lambda: items)
    monkeypatch.setattr(scores, "read_all", lambda _, wanted: conversations)
    found = scores.validity(recorded, seed=0)
    tables.check("validity", found)
    assert set(found["half"]) == {"dev"}
    emissions = sum(item.kind == "emission" for item in items)
    for labeller, part in found.groupby("labeller"):
        counts = dict(zip(part["label"], part["n"], strict=True))
        if labeller == "rule":
            assert counts == {"confirmed": len(items) - emissions}
        else:
            assert {*CLASSES, "macro"} <= counts.keys()
            assert set(counts.values()) == {emissions}
            mean = part.set_index("label").loc[list(CLASSES), "f1"].mean()
            assert part.set_index("label").loc["macro", "f1"] == pytest.approx(mean)
    for name, kappa in agreement.kappas().items():
        assert set(found.loc[found["label"] == name, "kappa_readers"]) == {kappa}
    assert found.loc[found["label"] == "macro", "kappa_readers"].isna().all()


def test_other_files_in_the_folder_are_left_alone(recorded, tmp_path):
    (tmp_path / "tau2").mkdir()
    (tmp_path / "tau1").symlink_to(recorded / "tau1")
    (tmp_path / "tau2/mine.json").write_text('{"hello": 1}')
    wanted = {"tau1/gpt-4o_airline_50.json"}
    assert {c.file for c in read_all(tmp_path, wanted)} == {*wanted, "embedded.jsonl"}
    with pytest.raises(ValidityError, match=r"mine\.json: cannot be read as tau2/\*\.json"):
        read_all(tmp_path)

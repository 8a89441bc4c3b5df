"""The journal: one line a call, healed, locked, replayed."""

import json
import logging
import os
import threading
import time

import pytest

from tests.timing import PATIENCE
from toolcal.journal import Journal, JournalError, call_key, records, spent

CALL = {
    "model": {"name": "openai/m", "sha256": "ab"},
    "body": {"messages": [{"role": "user", "content": "hé"}], "temperature": 0.0, "seed": 1},
    "call": ("multi_turn_base_0", 0, 0, 0, 0),
}
ONE = ("multi_turn_base_0", 0, 1, 2, 0)


def test_the_key_does_not_depend_on_the_order_of_keys():
    body = {"seed": 1, "temperature": 0.0, "messages": [{"content": "hé", "role": "user"}]}
    assert call_key(**CALL) == call_key(**{**CALL, "body": body})


def test_the_key_is_stable_across_versions():
    # A new value here makes every call of every journal anew: raise it on purpose only.
    assert call_key(**CALL) == "fd33e2c5499af5772afd364edf620c2e02d9ad0e6bf1a31b20c600a2d0052c9e"


def test_a_call_beside_the_conversation_has_a_key_of_its_own():
    beside = {**CALL, "call": (*CALL["call"], "confidence")}
    assert call_key(**beside) != call_key(**CALL)
    assert call_key(**beside) == "cc13eceafbd8cfbd55cf1c6fd2ddd57f15ce0f950f490bb2203c4739d3490d88"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", {"name": "openai/m", "sha256": "cd"}),
        ("body", {**CALL["body"], "temperature": 0.1}),
        ("body", {**CALL["body"], "tools": []}),
        ("call", ("multi_turn_base_1", 0, 0, 0, 0)),
        *(("call", ("multi_turn_base_0", *(int(n == place) for n in range(4)))) for place in range(4)),
    ],
)
def test_the_key_tells_calls_apart(field, value):
    assert call_key(**CALL) != call_key(**{**CALL, field: value})


def test_records_come_back_also_from_a_later_run(tmp_path):
    path = tmp_path / "deep" / "cell.jsonl"
    odd = {"text": 'line\nbreak \u2028 \ud800 "é"', "n": None}
    with Journal(path) as journal:
        journal.put("a", ONE, odd)
        journal.put("b", ONE, {"n": 2})
        assert journal.get("a") == odd
    with Journal(path) as journal:
        assert len(journal) == 2
        assert journal.get("a") == odd
        assert journal.get("b") == {"n": 2}
        assert journal.get("c") is None
        journal.put("c", ONE, {"n": 3})
        assert journal.get("c") == {"n": 3}
    assert len(path.read_bytes().splitlines()) == 3


def test_another_journal_is_read_and_not_written(tmp_path):
    with Journal(tmp_path / "one") as journal:
        journal.put("a", ONE, {"message": 1})
    with (tmp_path / "one").open("ab") as file:
        file.write(b'{"key": "cut')
    whole = (tmp_path / "one").read_bytes()
    with Journal(tmp_path / "other", replay=tmp_path / "one") as journal:
        journal.put("b", ONE, {"message": 2})
        assert (journal.replayed("a"), journal.get("a")) == ({"message": 1}, None)
        assert (journal.replayed("b"), journal.get("b")) == (None, {"message": 2})
        assert len(journal) == 1
    assert (tmp_path / "one").read_bytes() == whole
    with Journal(tmp_path / "other", replay=tmp_path / "none") as journal:
        assert journal.replayed("a") is None


def test_a_key_is_recorded_once(tmp_path):
    with Journal(tmp_path / "j") as journal:
        journal.put("a", ONE, {})
        with pytest.raises(ValueError, match="recorded already"):
            journal.put("a", ONE, {})


@pytest.mark.parametrize("cut", [b'{"key":"b","rec', b'{"key":"b","record":{}}', b"\x00\x00\x00\n", b"\xff"])
def test_a_cut_last_line_is_dropped_with_a_notice(tmp_path, caplog, cut):
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.put("a", ONE, {"n": 1})
    whole = path.read_bytes()
    path.write_bytes(whole + cut)
    with caplog.at_level(logging.WARNING), Journal(path) as journal:
        assert journal.get("a") == {"n": 1}
        assert path.read_bytes() == whole
        journal.put("b", ONE, {"n": 2})
    assert "line 2 was cut short" in caplog.text
    with Journal(path) as journal:
        assert journal.get("b") == {"n": 2}


def test_a_broken_line_in_the_middle_is_an_error_and_releases_the_lock(tmp_path):
    path = tmp_path / "j"
    path.write_text('{"key":"a","record":{}}\nnonsense\n{"key":"b","record":{}}\n')
    for _ in range(2):
        with pytest.raises(JournalError, match="line 2 is not a record"), Journal(path):
            pass


def test_a_second_writer_is_refused(tmp_path):
    with Journal(tmp_path / "j"):
        with pytest.raises(JournalError, match="another run"), Journal(tmp_path / "j", wait=0):
            pass
        with Journal(tmp_path / "other"):
            pass
    with Journal(tmp_path / "j"):
        pass


def test_a_journal_is_waited_for_while_a_lost_job_gives_it_up(tmp_path):
    taken, refused = threading.Event(), threading.Event()

    def lost():
        with Journal(tmp_path / "j"):
            taken.set()
            refused.wait(PATIENCE)
            time.sleep(0.3)

    losing = threading.Thread(target=lost)
    losing.start()
    taken.wait()
    try:
        with pytest.raises(JournalError), Journal(tmp_path / "j", wait=0):
            pass
    finally:
        refused.set()
    with Journal(tmp_path / "j", wait=PATIENCE):
        pass
    losing.join()


def test_calls_and_costs_can_be_read_while_it_is_written(tmp_path):
    path = tmp_path / "j"
    assert (list(records(path)), spent(path)) == ([], 0)
    with Journal(path) as journal:
        journal.put("a", ONE, {"cost": 0.25})
        journal.put("b", ONE, {"cost": None})
        journal.put("c", ONE, {"cost": 0.5})
        with path.open("ab") as file:
            file.write(b'{"key":"d","call":[],"record":{"cost":9}')
        assert next(iter(records(path))) == (list(ONE), {"cost": 0.25})
        assert spent(path) == 0.75


def test_what_is_no_json_is_not_written(tmp_path):
    with Journal(tmp_path / "j") as journal:
        for record in ({"x": float("nan")}, {"x": object()}):
            with pytest.raises((ValueError, TypeError)):
                journal.put("a", ONE, record)
        assert (tmp_path / "j").read_bytes() == b""


def test_a_failed_write_leaves_the_journal_as_it_was(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.put("a", ONE, {"n": 1})
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OSError, match="No space"):
                journal.put("b", ONE, {"n": 2})
        assert journal.get("b") is None
        journal.put("b", ONE, {"n": 3})
    assert [json.loads(line)["record"] for line in path.read_text().splitlines()] == [{"n": 1}, {"n": 3}]


def test_a_closed_journal_says_so(tmp_path):
    journal = Journal(tmp_path / "j")
    with pytest.raises(ValueError, match="not open"):
        journal.put("a", ONE, {})

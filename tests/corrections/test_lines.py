from __future__ import annotations

import json

import pytest

from tests.corrections.marks import LINE, mark
from toolcal.corrections.lines import CorrectionError, read


def written(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def test_lines_come_back_with_their_places(tmp_path):
    path = written(tmp_path / "marks.jsonl", "\ufeff" + json.dumps(LINE), "", LINE | {"labeller_version": 2, "turn": 1})
    first, second = read(path)
    assert (first.line, second.line, second.turn, second.labeller_version) == (1, 3, 1, "2")
    assert first.file == str(path)
    assert first.emission == ("model", "bfcl-miss_func", "none", "a", 0, 0, 0, 0)
    assert mark(time="2026-12-01T08:15:00").moment == mark().moment


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"model": ', "is no JSON object"),
        ("[1]", "is no JSON object"),
        ({key: value for key, value in LINE.items() if key != "by"}, "by: is missing"),
        (LINE | {"comment": "x"}, "comment: unknown key, allowed are model, "),
        (LINE | {"action": "SHOUT"}, "action: found 'SHOUT', allowed: one of TOOL_CALL, REFUSE, ASK, CONFIRM, OTHER"),
        (LINE | {"was": "NONE"}, "was: found 'NONE', allowed: one of TOOL_CALL"),
        (LINE | {"was": ["ASK"]}, "was: found ['ASK'], allowed"),
        (LINE | {"turn": -1}, "turn: found -1, allowed: a whole number, 0 or more"),
        (LINE | {"step": True}, "step: found True, allowed: a whole number"),
        (LINE | {"attempt": 1.5}, "attempt: found 1.5, allowed"),
        (LINE | {"by": " "}, "by: found ' ', allowed: text, not empty"),
        (LINE | {"note": "\ud800"}, "note: found"),
        (LINE | {"time": "yesterday"}, "time: found 'yesterday', allowed: a date and time such as"),
    ],
)
def test_a_bad_line_is_told_with_its_field_and_what_is_allowed(tmp_path, line, said):
    path = written(tmp_path / "marks.jsonl", LINE, line)
    with pytest.raises(CorrectionError, match="1 lines cannot be used") as raised:
        read(path)
    (told,) = raised.value.lines
    assert told.startswith(f"{path} line 2: {said}")
    assert "\n" not in told


def test_all_bad_lines_of_all_files_are_told(tmp_path):
    one = written(tmp_path / "one.jsonl", LINE | {"by": ""}, LINE | {"turn": "x"})
    with pytest.raises(CorrectionError) as raised:
        read(one, tmp_path / "other.jsonl")
    assert len(raised.value.lines) == 3
    assert "other.jsonl: cannot be read (No such file or directory)" in raised.value.lines[-1]

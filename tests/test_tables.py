from __future__ import annotations

import pandas as pd
import pytest

from toolcal import __version__, tables

ROW = {
    "model": "m",
    "scenario": "s",
    "perturbation": "baseline",
    "labeller": "l",
    "turn": 0,
    "n": 3,
    "n_unknown": 0,
    "recall": 0.5,
    "recall_low": None,
    "recall_high": None,
}


def test_a_table_comes_back_as_it_went_with_its_metadata(tmp_path):
    path = tmp_path / "deep" / "turns.parquet"
    tables.write("turns", tables.frame("turns", [ROW]), path, {"seed": 1})
    assert tables.records(tables.read("turns", path)) == [ROW]
    assert tables.metadata(path) == {"toolcal": __version__, "seed": 1}
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROW, ROW], "table turns: 1 rows share a key"),
        ([ROW | {"n": None}], "table turns: column n is null in 1 rows"),
        ([ROW | {"turn": "first"}], "table turns: "),
    ],
)
def test_rows_that_break_the_contract_are_not_written(tmp_path, rows, said):
    with pytest.raises(tables.TableError, match=said):
        tables.write("turns", tables.frame("turns", rows), tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


def test_a_value_outside_its_list_is_named():
    row = (
        dict.fromkeys(tables.TABLES["confusion"].columns, 0)
        | ROW
        | {"gold_action": "ASK", "action": "SHOUT", "share": 0}
    )
    data = tables.frame("confusion", [row])
    with pytest.raises(tables.TableError, match=r"column action holds \['SHOUT'\], allowed"):
        tables.check("confusion", data)


def test_unknown_and_absent_columns_are_named():
    with pytest.raises(tables.TableError, match=r"unknown columns \['x'\], absent columns \['labeller'"):
        tables.check("turns", pd.DataFrame({"x": [1]}))


def test_a_file_of_another_table_is_refused(tmp_path):
    tables.write("turns", tables.frame("turns", [ROW]), tmp_path / "t.parquet")
    with pytest.raises(tables.TableError, match="not a table of kind cells"):
        tables.read("cells", tmp_path / "t.parquet")


def test_every_key_is_of_columns_and_every_column_is_described():
    for table in tables.TABLES.values():
        assert set(table.key) <= set(table.columns)
        assert all(column.doc for column in table.columns.values())
        assert all(table.schema.field(name).metadata[b"doc"] for name in table.columns)


def test_text_that_utf8_cannot_hold_is_stored():
    assert tables.text_or_json("a\ud800b") == "a?b"
    assert tables.dumps({"a": "\ud800"}) == '{"a":"\\ud800"}'

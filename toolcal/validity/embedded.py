"""Keep the embedded model's conversations: `python -m toolcal.validity.embedded results/trajectories/MODEL`.

What it says is the project's own run and may stand in the project, so that this part of the validity set can be read
without the folder of recorded runs. The user's side comes from the benchmark and is not written.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from toolcal import tables
from toolcal.validity.conversations import EMBEDDED


def lines(*paths: Path) -> Iterator[str]:
    """One JSON line an emission: case_id, turn, step, text and calls (name, arguments).

    Args:
        paths: tables `trajectories` of one trial.

    Raises:
        toolcal.tables.TableError: where a file is another table.
    """
    rows = tables.records(tables.read("trajectories", *paths))
    for row in sorted(rows, key=lambda r: (r["case_id"], r["turn"], r["step"])):
        called = [call["function"] for call in json.loads(row["tool_calls"])]
        calls = [{"name": call["name"], "arguments": json.loads(call["arguments"])} for call in called]
        said = {"case_id": row["case_id"], "turn": row["turn"], "step": row["step"]}
        yield json.dumps({**said, "text": row["content"] or "", "calls": calls}, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write `embedded.jsonl` from a model's folder of trajectories."""
    parser = argparse.ArgumentParser(description="Keep the embedded model's emissions for the validity set.")
    parser.add_argument("folder", type=Path, help="a model's folder of trajectories")
    paths = sorted(parser.parse_args(arguments).folder.glob("*.parquet"))
    if not paths:
        parser.exit(1, "no *.parquet there; run the embedded model first\n")
    EMBEDDED.write_text("".join(lines(*paths)))


if __name__ == "__main__":
    main()

"""The judge's question: its text, kept with a version in a file of its own, and the prompt that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from toolcal.judging.items import Item


@dataclass(frozen=True)
class Question:
    """A question as its YAML file has it.

    Attributes:
        name: in the column `question`.
        version: raised with every change of the texts.
        question: what is asked, and the form of the answer.
        closing: what stands behind the record.
        again: what is added where an answer could not be read; {why} says what was wrong.
    """

    name: str
    version: int
    question: str
    closing: str
    again: str

    def prompt(self, item: Item, wrong: str | None = None) -> list[dict[str, str]]:
        """The messages to send; of the item they hold its record and nothing else.

        Args:
            item: the write.
            wrong: what was wrong with the first answer, at the second asking.
        """
        asked = f"<record>\n{item.record()}\n</record>\n\n{self.closing}"
        if wrong is not None:
            asked += "\n" + self.again.replace("{why}", wrong)
        return [{"role": "system", "content": self.question}, {"role": "user", "content": asked}]


def load(path: Path) -> Question:
    """Read a question's file."""
    return Question(**yaml.safe_load(path.read_text(encoding="utf-8")))


CONFIRMED_WRITE = load(Path(__file__).with_name("confirmed_write.yaml"))

"""The judge's questions: their texts, each with a version in a file of its own, and the prompts that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import yaml


class Item(Protocol):
    """What is put to the judge in one call."""

    @property
    def question(self) -> Question:
        """What is asked about it."""

    @property
    def keys(self) -> Sequence[Mapping[str, Any]]:
        """The key's columns of each row of `judgements` that it becomes."""

    @property
    def call(self) -> tuple[str, int, int, int]:
        """Its place in the journal: a name, then trial, turn and step."""

    def sections(self) -> dict[str, str]:
        """Tag -> what the judge reads between it; no text in it can end it."""

    def read(self, text: str) -> list[dict[str, Any]]:
        """The judge's answer: the columns of each row that it decides.

        Raises:
            Unreadable: it does not have the form asked for.
        """


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
        """The messages to send; of the item they hold its sections and nothing else.

        Args:
            item: what is asked about.
            wrong: what was wrong with the first answer, at the second asking.
        """
        told = [f"<{tag}>\n{text}\n</{tag}>\n\n" for tag, text in item.sections().items()]
        asked = "".join([*told, self.closing])
        if wrong is not None:
            asked += "\n" + self.again.replace("{why}", wrong)
        return [{"role": "system", "content": self.question}, {"role": "user", "content": asked}]


def load(path: Path) -> Question:
    """Read a question's file."""
    return Question(**yaml.safe_load(path.read_text(encoding="utf-8")))


CONFIRMED_WRITE, NL_ASSERTIONS, RIGHT_ANSWER = (
    load(Path(__file__).with_name(f"{name}.yaml")) for name in ("confirmed_write", "nl_assertions", "right_answer")
)

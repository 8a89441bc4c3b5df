"""Rules about the wording of a sentence, read from a YAML file (`refined.yaml` says how it is written)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from toolcal.actions.gates import holds_one, needed
from toolcal.actions.sentences import apart, together

_WORD = re.compile(r"\{([a-z_]+)\}")
_FORMS = {"question": True, "statement": False}


class RuleError(ValueError):
    """A mistake in a rule file; the message names file, key and what is wrong."""


@dataclass(frozen=True)
class Rule:
    """One way to say something: what is looked for, what rules it out, in which sentences, in main clauses only."""

    any: re.Pattern[str]
    needed: tuple[str, ...] = ()
    unless: re.Pattern[str] | None = None
    question: bool | None = None
    main: bool = False
    items: bool = True

    def found(self, text: str, main_clauses: str, question: bool, item: bool = False) -> str | None:
        """The words by which a sentence follows the rule, None if it does not."""
        if (self.question is not None and self.question is not question) or (item and not self.items):
            return None
        within = main_clauses if self.main else text
        if not holds_one(within, self.needed):
            return None
        match = self.any.search(within)
        if not match or (self.unless and self.unless.search(text)):
            return None
        start = match.start()
        if within.startswith("n't", start):
            start = within.rfind(" ", 0, start - 1) + 1
        return together(" ".join(within[start : match.end()].split()).strip(" ,:;-"))


def load_rules(path: Path, acts: Collection[str]) -> tuple[int, Mapping[str, tuple[Rule, ...]]]:
    """Read and check a rule file: its version, and the rules of each act.

    Raises:
        RuleError: naming file, key and what is wrong: broken YAML or regular expression, an act or word not known.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise RuleError(f"{path.name}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or content.keys() != {"version", "words", "rules"}:
        raise RuleError(f"{path.name}: needs the keys version, words and rules, and no others")
    if type(content["version"]) is not int:
        raise RuleError(f"{path.name}: version: {content['version']!r} is not a whole number")
    if unlike := set(content["rules"]) ^ set(acts):
        raise RuleError(f"{path.name}: rules: {sorted(unlike)[0]} is missing, or is no act")
    words: dict[str, str] = {}
    for name, entries in content["words"].items():
        if not isinstance(entries, str):
            raise RuleError(f"{path.name}: words.{name}: needs entries with commas between them")
        words[name] = "|".join(_texts(entries.split(", "), words, f"{path.name}: words.{name}"))
    rules = {
        act: tuple(
            _rule(rule, words, f"{path.name}: rules.{act}[{at}]") for at, rule in enumerate(content["rules"][act])
        )
        for act in acts
    }
    return content["version"], rules


def _rule(rule: Any, words: Mapping[str, str], where: str) -> Rule:
    if not isinstance(rule, dict) or "any" not in rule or rule.keys() - {"any", "unless", "in", "main", "items"}:
        raise RuleError(f"{where}: needs the key any, and may have unless, in, main and items")
    if rule.get("in") not in (None, *_FORMS):
        raise RuleError(f"{where}.in: {rule['in']!r} is not one of {', '.join(_FORMS)}")
    looked_for = _pattern(rule["any"], words, f"{where}.any")
    return Rule(
        looked_for,
        needed(looked_for.pattern),
        _pattern(rule["unless"], words, f"{where}.unless") if "unless" in rule else None,
        _FORMS.get(rule.get("in", "")),
        rule.get("main", False) is True,
        rule.get("items", True) is True,
    )


def _pattern(entries: Any, words: Mapping[str, str], where: str) -> re.Pattern[str]:
    lines = entries.splitlines() if isinstance(entries, str) else entries
    return re.compile(rf"(?<!\w)(?:{'|'.join(_texts(lines, words, where))})(?!\w)")


def _texts(entries: Any, words: Mapping[str, str], where: str) -> list[str]:
    """The entries with the word lists put in, each checked by itself."""
    if not isinstance(entries, list) or not entries:
        raise RuleError(f"{where}: needs a list")
    found = []
    for at, entry in enumerate(entries):
        if not isinstance(entry, str):
            raise RuleError(f"{where}[{at}]: {entry!r} is not text; put it in quotes")
        if unknown := [name for name in _WORD.findall(entry) if name not in words]:
            raise RuleError(f"{where}[{at}]: no word list {unknown[0]} above")
        if re.search(r"[A-Z]", re.sub(r"\\.", "", entry)):
            raise RuleError(f"{where}[{at}]: {entry!r} has capitals, and the text is matched in lower case")
        entry = apart(_WORD.sub(lambda name: f"(?:{words[name[1]]})", entry))
        try:
            re.compile(entry)
        except re.error as error:
            raise RuleError(f"{where}[{at}]: broken regular expression {entry!r}: {error}") from None
        found.append(entry)
    return found

"""The things of an order: which a call is for, and which variants it asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcal.writes.cues import fold
from toolcal.writes.details import Details, Said, amounts_in, contains
from toolcal.writes.talk import Known


def difference(details: Details, said: Said, known: Known) -> str | None:
    """Which thing of the call was not put to the user, or was put otherwise, in words; else None."""
    order = [record for _, value in details.identities for record in known.records(value)]
    listed = {fold(str(i["name"])) for r in order for i in _listed(r) if "name" in i}
    whole = re.search(r"\b(all|both|entire|whole|everything|every)\b", said.core) is not None
    for place, item in enumerate(details.items):
        if place < len(details.new_items) and details.new_items[place] == item:
            continue
        names = {fold(str(r["name"])) for r in known.records(item) if isinstance(r.get("name"), str)}
        if names and not contains(said.all, item):
            if not any(named(said.agent, name) for name in names):
                return f"{sorted(names)[0]} was never put to the user"
            others = sorted(name for name in listed - names if name in said.core)
            if others and not whole and not any(named(said.here, name) for name in names):
                return f"it was about {others[0]}, and the call is for {sorted(names)[0]}"
        if place < len(details.new_items) and (found := _new_item(item, details.new_items[place], said, known)):
            return found
    return None


def named(text: str, name: str) -> bool:
    """Whether a text names a product, in full or by the last word of its name."""
    words = [w for w in re.split(r"\W+", name) if len(w) > 1]
    return name in text or (bool(words) and words[-1].removesuffix("s") in text)


def options_of(item: str, known: Known) -> tuple[dict[str, str], set[float]]:
    """A variant's options and prices, as tools told them."""
    records = [r for r in known.records(item) if isinstance(r.get("options"), Mapping)]
    options = {str(k): fold(str(v)) for r in records[:1] for k, v in r["options"].items() if telling(fold(str(v)))}
    return options, {float(r["price"]) for r in records if isinstance(r.get("price"), int | float)}


def telling(option: str) -> bool:
    """Whether an option's value is told by its words: not "yes", nor a letter."""
    return len(option) > 2 and option not in ("yes", "none", "true", "false")


def _listed(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = record.get("items")
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _new_item(old: str, new: str, said: Said, known: Known) -> str | None:
    """A variant is named by its id, its price, or by the options in which it differs from the old one."""
    if old == new or contains(said.here, new):
        return None
    before, _ = options_of(old, known)
    after, prices = options_of(new, known)
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    for key, value in changed.items():
        others = {fold(v) for v in known.values(key)} - {value, before.get(key, "")}
        other = next((o for o in sorted(others) if telling(o) and contains(said.here, o)), None)
        if not contains(said.all, value) and other:
            return f"{other} was put, and the call has {value}"
    if not changed or prices & amounts_in(said.all):
        return None
    if not any(contains(said.all, value) for value in changed.values()):
        return f"the new item {new} was never put to the user"
    return None

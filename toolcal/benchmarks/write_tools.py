"""Which tools change a case's database, and which of them want the user's yes."""

from __future__ import annotations

from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2 import engine


def of_case(case: Case) -> tuple[frozenset[str], frozenset[str]]:
    """The tools that write, and those of them whose every use the policy wants confirmed.

    tau2's toolkit marks its tools itself, and tau-bench's first version has the same ones; other recorded runs name
    them (`write_tools` in `recordings/openai.py`).
    """
    if case.benchmark in ("tau2", "tau1"):
        domain = engine.domain(case.initial_state["domain"])
        return domain.write_tools, domain.to_be_confirmed
    named = frozenset(case.initial_state.get("write_tools", ()))
    return named, named

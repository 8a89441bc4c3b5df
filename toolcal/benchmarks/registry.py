"""Which benchmark a scenario belongs to."""

from __future__ import annotations

from toolcal.benchmarks.protocol import Benchmark


def of_scenario(scenario: str) -> Benchmark:
    """The benchmark that a scenario belongs to: the part of its name before the first hyphen.

    Raises:
        ValueError: for a benchmark that toolcal does not have.
    """
    name = scenario.split("-", 1)[0]
    if name == "bfcl":
        from toolcal.benchmarks.bfcl import Bfcl

        return Bfcl()
    raise ValueError(f"scenario {scenario!r}: no benchmark is called {name!r}; there is bfcl")

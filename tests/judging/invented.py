"""Invented conversations with writes, as the tables have them."""

from __future__ import annotations

import json

from toolcal import tables
from toolcal.judging.assertion_items import assertion_items
from toolcal.judging.write_items import write_items

RUN = {"model": "m", "scenario": "tau2-retail", "perturbation": "baseline", "trial": 0}


class Conversation:
    """A run, put together message by message; all of it in turn 0."""

    def __init__(self, case_id="c1"):
        self.run = {**RUN, "case_id": case_id}
        self.place = self.step = 0
        self.emissions, self.heard, self.writes = [], [], []

    def user(self, text, role="user"):
        row = {"place": self.place, "turn": 0, "role": role, "content": text, "tool_calls": "[]"}
        self.heard.append({**self.run, **row})
        self.place += 1
        return self

    def agent(self, text=None, *calls, error=None, asked=True):
        """Says something, and calls tools, each (name, arguments); those called `cancel...` write."""
        made = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for n, (name, arguments) in enumerate(calls)
        ]
        results = [
            {"name": name, "arguments": given, "result": error or "done", "error": error, "executed": error is None}
            for name, given in calls
        ]
        where = {**self.run, "turn": 0, "step": self.step, "attempt": 0}
        told = {"tool_calls": json.dumps(made), "tool_results": json.dumps(results)}
        self.emissions.append({**where, "content": text, **told, "retracted": False, "status": "ok"})
        for at, (name, arguments) in enumerate(calls):
            if name.startswith("cancel"):
                row = {"call": at, "place": self.place, "tool": name, "arguments": json.dumps(arguments)}
                about = {"to_be_confirmed": asked, "executed": error is None, "cluster_id": self.run["case_id"]}
                self.writes.append({**where, **row, **about, "confirmed": True, "passed": True})
        self.place += 1 + len(calls)
        self.step += 1
        return self


def table_of(name, *conversations):
    """One of the tables of some conversations."""
    column = {"trajectories": "emissions", "user_messages": "heard", "writes": "writes"}[name]
    return tables.frame(name, [row for one in conversations for row in getattr(one, column)])


def items_of(*conversations):
    return write_items(*(table_of(name, *conversations) for name in ("writes", "trajectories", "user_messages")))


def cancelling(case_id="c1", order="#7", yes="Yes, please."):
    """A write that the user agreed to in message 2."""
    return (
        Conversation(case_id)
        .user(f"I don't need order {order} any more.")
        .agent(f"I'd cancel order {order}, 18 euros back to your card. Do you agree?")
        .user(yes)
        .agent(None, ("cancel_order", {"order": order}))
    )


ASSERTIONS = ("Agent cancels order #7.", "Agent offers no voucher.")


def asserted(*conversations, assertions=ASSERTIONS, status="done"):
    """The items of runs whose tasks have these assertions."""
    task = {"evaluation_criteria": {"nl_assertions": list(assertions)}}
    cases = [
        {"scenario": one.run["scenario"], "case_id": one.run["case_id"], "benchmark": "tau2"}
        | {"initial_state": json.dumps({"domain": "retail", "task": task})}
        for one in conversations
    ]
    grades = [{**one.run, "status": status} for one in conversations]
    return assertion_items(
        tables.frame("cases", cases),
        table_of("trajectories", *conversations),
        table_of("user_messages", *conversations),
        tables.frame("grades", grades),
    )

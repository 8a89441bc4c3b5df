"""How an item is put to a judge: what is sent, and which call of the journal that is. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.journal import Call, call_key
from toolcal.judging.question import Item
from toolcal.utf8 import in_utf8


@dataclass(frozen=True)
class Put:
    """A call to the judge: its key and its place in the journal, and the body to send."""

    key: str
    call: Call
    body: dict[str, Any]


@dataclass(frozen=True)
class Asking:
    """What holds for all calls to a judge.

    Attributes:
        identity: what tells this model from another in the journal.
        parameters: sampling parameters, sent as they are; one that is null is not sent.
        seed: the run's; each call gets its own, made from it, unless the parameters have one.
    """

    identity: Mapping[str, Any]
    parameters: Mapping[str, Any]
    seed: int

    def put(self, item: Item, wrong: str | None = None) -> Put:
        """An item's call.

        Args:
            item: what is asked about.
            wrong: what was wrong with the first answer, at the second asking.
        """
        call: Call = (*item.call, int(wrong is not None))
        digest = hashlib.sha256(json.dumps([self.seed, *call]).encode()).digest()
        body = {"messages": item.question.prompt(item, wrong), "seed": int.from_bytes(digest[:4]) >> 1}
        body = {name: value for name, value in (body | dict(self.parameters)).items() if value is not None}
        # Half a character would be an infrastructure error for ever.
        sent: dict[str, Any] = in_utf8(body)
        return Put(call_key(model=self.identity, body=sent, call=call), call, sent)

"""Jobs that spend money, for tests of the limit over processes; apart, as every process reads this file anew."""

import asyncio
import os
import random
import signal

from toolcal.journal import Journal
from toolcal.models.budget import Budget, BudgetReached


def record(cost, **more):
    return {"message": {"content": "Hello."}, "cost": cost, **more}


def dying(folder, queue):
    own = folder / "n" / "dying.jsonl"

    async def work():
        with Journal(own) as kept:
            money = Budget(folder, 10.0)
            async with money.hold(own, 1.0) as bill:
                bill.cost = 0.5
            kept.put("a", ("c", 0, 0, 0, 0), record(0.5))
            async with money.hold(own, 9.0):
                queue.put(os.getpid())
                await asyncio.sleep(60)

    asyncio.run(work())


def spending(folder, limit, seed, dies, start):
    """A job of a cell: calls of drawn costs, four at once, until one does not fit; may kill itself at a drawn call."""
    chance = random.Random(seed)
    own = folder / "m" / f"{seed}.jsonl"
    last = chance.randrange(2, 9)  # its call under way at which it dies
    refused, begun = [], []

    async def work():
        money = Budget(folder, limit)
        with Journal(own) as kept:

            async def calls():
                while not refused:
                    worst = chance.uniform(0.01, 0.2)
                    cost = worst * chance.choice([0, 0.1, 0.5, 1])
                    try:
                        async with money.hold(own, worst) as bill:
                            begun.append(bill)
                            await asyncio.sleep(chance.uniform(0, 0.01))
                            if dies and len(begun) >= last:
                                os.kill(os.getpid(), signal.SIGKILL)
                            bill.cost = cost
                    except BudgetReached:
                        refused.append(worst)
                        return
                    kept.put(f"{len(kept)}", ("c", len(kept), 0, 0, 0), record(cost))

            await asyncio.gather(*(calls() for _ in range(4)))
            money.leave(own)

    start.wait(120)
    asyncio.run(work())

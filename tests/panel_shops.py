"""Departments whose people share a job, and shops that sell jobs by department: some know few, lie, or are away."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from pacas.core.hierarchy import Hierarchy
from pacas.errors import RemoteError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Reason, Refusal, Request, refused

JOBS = Hierarchy.from_rows([(f"{family}{n}", family, "*") for family in "vwxyz" for n in range(4)])
OTHER_JOBS = Hierarchy.from_rows([(f"{family}{n}", f"grade {n}", "*") for family in "vwxyz" for n in range(4)])
FD = "DEPT -> JOB"


def departments(count: int, *, seed: int = 0, rate: float = 0.2, stale: float = 0.0) -> tuple[pa.Table, pa.Table]:
    """The truth, and the same with errors: at random, and in a share of departments a wrong value for most."""
    draw = random.Random(seed)
    dept, truth, dirty = [], [], []
    for number in range(count):
        job = draw.choice(JOBS.ground_labels)
        old = draw.choice([label for label in JOBS.ground_labels if label != job])
        is_stale = draw.random() < stale
        for place in range(5):
            dept.append(f"d{number:04}")
            truth.append(job)
            if is_stale:
                dirty.append(old if place < 3 else job)
            else:
                dirty.append(draw.choice(JOBS.ground_labels) if draw.random() < rate else job)
    tables = [pa.table({"DEPT": dept, "JOB": jobs}) for jobs in (truth, dirty)]
    return tables[0], tables[1]


class JobShop:
    """Sells jobs by department; `moment` is called whenever something happens."""

    def __init__(
        self,
        truth: pa.Table,
        *,
        seed: int = 0,
        covers: float = 1.0,
        wrong: float = 0.0,
        price: int = 100,
        tree: Hierarchy = JOBS,
    ) -> None:
        draw = random.Random(f"shop {seed}")
        jobs = dict(zip(truth["DEPT"].to_pylist(), truth["JOB"].to_pylist(), strict=True))
        self.job = {dept: job for dept, job in jobs.items() if draw.random() < covers}
        for dept in self.job:
            if draw.random() < wrong:
                self.job[dept] = draw.choice([one for one in JOBS.ground_labels if one != self.job[dept]])
        self.price, self.tree = price, tree
        self.sold: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.moment: Callable[[], None] = lambda: None
        self.fails: Callable[[str], bool] = lambda what: False

    def _happens(self, what: str) -> None:
        self.moment()
        self.asked.append(what)
        if self.fails(what):
            raise RemoteError("the provider does not answer; try again later")

    def catalogue(self) -> dict[str, Offer]:
        self._happens("catalogue")
        return {"JOB": Offer("JOB", ("DEPT",), self.tree)}

    def _price(self, level: int) -> int:
        return self.price * (self.tree.height - level) // self.tree.height

    def quote(self, request: Request) -> Quote | Refusal:
        return Quote(self._price(request.level)) if request.tuple["DEPT"] in self.job else Refusal(Reason.NO_MATCH)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        self._happens("quote")
        prices = [
            [self._price(level) if dept in self.job else refused(Reason.NO_MATCH) for level in range(3)]
            for dept in tuples["DEPT"]
        ]
        return Ladders(np.array(prices, dtype=np.int64))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        self._happens("pay")
        if key not in self.sold:
            job = self.job[str(request.tuple["DEPT"])]
            price = self._price(request.level)
            if price > ceiling:
                return Refusal(Reason.CEILING)
            value = str(self.tree.generalize_value(job, request.level))
            self.sold[key] = Answer(value, request.level, price)
        self.moment()
        return self.sold[key]

    @property
    def earned(self) -> int:
        return sum(answer.price for answer in self.sold.values())


def wrong_cells(cleaned: pa.Table, truth: pa.Table) -> int:
    return sum(a != b for a, b in zip(cleaned["JOB"].to_pylist(), truth["JOB"].to_pylist(), strict=True))

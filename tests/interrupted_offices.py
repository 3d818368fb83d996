"""Offices whose people share a job, shops that sell jobs, and runs that end at the n-th moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Reason, Refusal, Request, refused

ENGINE = DuckEngine(threads=1)
PARTS = {"data": "d"}
JOBS = Hierarchy.from_rows([(f"{family}{n}", family, "*") for family in "xyz" for n in range(4)])
GROUPS = 20
OFFICES = Hierarchy.flat([f"o{number}" for number in range(GROUPS)])


def truth() -> pa.Table:
    """Groups of four, five and six people who have the same job."""
    group = [number for number in range(GROUPS) for _ in range(4 + number % 3)]
    return pa.table(
        {
            "PERSON": [f"p{n:03}" for n in range(len(group))],
            "OFFICE": [f"o{g}" for g in group],
            "JOB": [JOBS.ground_labels[g * 7 % 12] for g in group],
            "AGE": [str(20 + n * 7 % 40) for n in range(len(group))],
        }
    )


def dirty() -> pa.Table:
    """In most groups a block was overwritten, two rows at least; some rows stand in another's office."""
    rows = truth().to_pylist()
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        place = seen[row["OFFICE"]] = seen.get(row["OFFICE"], -1) + 1
        group = int(row["OFFICE"][1:])
        if group % 5 and place < 2 + group % 2:
            row["JOB"] = JOBS.ground_labels[(group * 7 + 5) % 12]
        if number % 17 == 5:
            row["OFFICE"] = f"o{(group + 3) % GROUPS}"
    return pa.Table.from_pylist(rows)


class Ended(BaseException):
    """The run is over, wherever it was."""


class At:
    """Ends the run at the n-th moment."""

    def __init__(self, fatal: int = 0) -> None:
        self.count, self.fatal = 0, fatal

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.fatal:
            raise Ended


class Falling:
    """Sells jobs by person; each purchase makes all others cheaper, some more than others."""

    def __init__(self) -> None:
        self.job = dict(zip(*truth().select(["PERSON", "JOB"]).to_pydict().values(), strict=True))
        self.keys: dict[str, Answer] = {}

    def catalogue(self) -> dict[str, Offer]:
        return {"JOB": Offer("JOB", ("PERSON",), JOBS)}

    def _price(self, person: str, level: int) -> int:
        number = int(person[1:])
        if number % 9 == 4:
            return refused(Reason.NO_MATCH)
        return max(1000 + 130 * (number % 7) - 300 * level - (number % 11) * 9 * len(self.keys), 5)

    def quote(self, request: Request) -> Quote | Refusal:
        return Quote(self._price(str(request.tuple["PERSON"]), request.level))

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.array([[self._price(str(p), level) for level in range(3)] for p in tuples["PERSON"]]))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        person = str(request.tuple["PERSON"])
        if key not in self.keys:
            if int(person[1:]) % 13 == 3:
                return Refusal(Reason.UNSAFE)
            value = str(JOBS.generalize_value(self.job[person], request.level))
            self.keys[key] = Answer(value, request.level, self._price(person, request.level))
        return self.keys[key]


def provider(**options: Any) -> pacas.Provider:
    return pacas.Provider(
        truth(),
        match={"JOB": "PERSON = PERSON", "OFFICE": "PERSON = PERSON"},
        policies=[pacas.Policy(x=("AGE",), y=("JOB",), k=2, levels={"JOB": 0}, allow_linkage=True)],
        hierarchies={"JOB": JOBS, "OFFICE": OFFICES},
        **options,
    )


SHOPS: dict[str, Callable[[], Any]] = {
    "sealed": lambda: provider(quotes="sealed"),
    "paper": lambda: provider(total=200, seed=5),
    "falling": Falling,
}


class Watched:
    """A marketplace, with a moment before and after each payment."""

    def __init__(self, shop: str) -> None:
        self.shop = SHOPS[shop]()
        self.moment: Callable[[], None] = lambda: None

    def catalogue(self) -> dict[str, Offer]:
        return dict(self.shop.catalogue())

    def quote(self, request: Request) -> Quote | Refusal:
        return self.shop.quote(request)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return self.shop.quote_batch(attribute, tuples)

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        self.moment()
        answer = self.shop.pay(request, ceiling, key)
        self.moment()
        return answer


def told(cleaning: Cleaning) -> dict[str, Any]:
    assert cleaning.weighing is not None
    return {
        "table": cleaning.relation.table.to_pydict(),
        "purchases": [(p.attribute, p.rows.tolist(), p.row, p.level, p.value, p.price) for p in cleaning.purchases],
        "unrepaired": [(u.attribute, u.rows.tolist(), u.reason) for u in cleaning.unrepaired],
        "doubtful": cleaning.weighing.doubtful,
        "expected": cleaning.weighing.expected,
        "promised": cleaning.weighing.promised,
        "spent": cleaning.spent_nanocredits,
    }

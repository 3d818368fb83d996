"""Random tables whose classes are many, and providers for them: worlds in which purchases can be planned ahead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine
from pacas.protocol.marketplace import Forwarding, Marketplace
from pacas.protocol.messages import Answer, Payment, Refusal, Request

A = Hierarchy.from_rows([(f"a{n}", f"a/{n // 3}", f"a//{n // 6}", "*") for n in range(12)])
B = Hierarchy.from_rows([(f"b{n}", f"b/{n // 2}", "*") for n in range(8)])
SCHEDULES: dict[str, Any] = {"list": None, "falling": [(0, 100), (30, 80), (90, 50)]}
FDS = {
    "apart": ["G -> A", "G, H -> B"],
    "one": ["G -> A"],
    "chained": ["G -> A", "A, H -> B"],
    "both": ["G -> A", "K -> A", "H, K -> B"],
}
MATCHES = {
    "by group": {"A": "G = G", "B": "G = G, H = H"},
    "by row": {"A": "P = P", "B": "P = P"},
    "by repaired": {"A": "G = G", "B": "A = A, H = H"},
}


class RunWorld(NamedTuple):
    """What a world is drawn by."""

    seed: int
    groups: int
    fds: str
    match: str
    quotes: str
    schedule: str
    strategy: str
    budget: int
    choices: dict[str, Any]

    def truth(self) -> pa.Table:
        random = np.random.default_rng(self.seed)
        rows = self.groups * 5
        g, h = random.integers(0, self.groups, rows), random.integers(0, 3, rows)
        a, k = (g * 7) % 12, (g * 7) % 12 * 2 + g % 2
        return pa.table(
            {
                "P": [f"p{n}" for n in range(rows)],
                "G": [f"g{n}" for n in g],
                "H": [f"h{n}" for n in h],
                "K": [f"k{n}" for n in k],
                "A": [f"a{n}" for n in a],
                "B": [f"b{(x * 3 + y) % 8}" for x, y in zip(a, h, strict=True)],
            }
        )

    def sold(self) -> pa.Table:
        """What a provider has; where quotes are sealed, one row of each group: several would be ambiguous."""
        truth = self.truth()
        if self.quotes == "paper" or self.match == "by row":
            return truth
        groups = truth["G"].to_pylist()
        return truth.take([groups.index(group) for group in dict.fromkeys(groups)])

    def dirty(self) -> pa.Table:
        random, table = np.random.default_rng(self.seed + 1), self.truth()
        for name, tree in (("A", A), ("B", B)):
            values = table[name].to_pylist()
            for row in random.choice(len(values), len(values) // 6 + 1, replace=False):
                values[row] = [*tree.ground_labels, "?", None][random.integers(0, len(tree.ground_labels) + 2)]
            table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))
        groups = table["G"].to_pylist()
        groups[0] = "nobody"
        return table.set_column(1, "G", pa.array(groups, pa.string()))

    def provider(self, engine: Engine[Any], **more: Any) -> pacas.Provider:
        with patch("pacas.provider.opened_shop._secret", lambda seed: b"of all providers of a world"):
            return pacas.Provider(
                self.sold(),
                match=MATCHES[self.match],
                policies=[pacas.Policy(x=("H",), y=("A",), k=2, levels={"A": 0}, allow_linkage=True)],
                hierarchies={"A": A, "B": B},
                total=1000,
                schedule=SCHEDULES[self.schedule],
                engine=engine,
                quotes=self.quotes,
                **more,
            )

    def clean(self, marketplace: Marketplace, engine: Engine[Any], **how: Any) -> Cleaning:
        cleaner = pacas.SafeClean(FDS[self.fds], self.budget, strategy=self.strategy, **self.choices)
        return cleaner.clean(self.dirty(), marketplace, engine=engine, **{"run": "r", **how})


class OneByOne(Forwarding):
    """A marketplace that sells nothing in runs."""

    @property
    def most_at_once(self) -> int:
        return 1


class Counted(Forwarding):
    """Notes how many were ordered and sold in each run; `moment` comes before and after each payment."""

    def __init__(self, marketplace: Marketplace, moment: Callable[[], None] = lambda: None) -> None:
        super().__init__(marketplace)
        self.runs: list[tuple[int, int]] = []
        self.moment = moment

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        self.moment()
        answer = super().pay(request, ceiling, key)
        self.moment()
        return answer

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        self.moment()
        answers = super().pay_many(payments)
        self.moment()
        self.runs.append((len(payments), len(answers)))
        return answers


def told(cleaning: Cleaning) -> dict[str, Any]:
    """All that a cleaning comes to, the keys of its purchases included."""
    found: dict[str, Any] = {
        "table": cleaning.relation.table.to_pydict(),
        "purchases": [
            (p.attribute, p.rows.tolist(), p.row, p.level, p.value, p.price, p.key, p.differing.tolist())
            for p in cleaning.purchases
        ],
        "spent": cleaning.spent_nanocredits,
        "violations": (cleaning.violations_before, cleaning.violations_after, cleaning.rounds),
        "left": [(u.attribute, u.rows.tolist(), u.reason, u.price, u.cheapest) for u in cleaning.unrepaired],
        "repairs": [(r.attribute, r.rows.tolist(), r.new, r.why, r.round, r.violations) for r in cleaning.repairs],
    }
    if cleaning.weighing is not None:
        weighing = cleaning.weighing
        found |= {"doubtful": weighing.doubtful, "expected": weighing.expected, "promised": weighing.promised}
    return found


def sold(provider: pacas.Provider) -> list[tuple[Any, ...]]:
    """What a ledger holds: who bought what, for how much, under which keys."""
    return [
        (p.buyer, p.idempotency_key, dict(p.request.tuple), p.request.attribute, p.request.level, p.price, p.answer)
        for p in (entry.purchase for entry in provider.ledger.entries(1))
    ]

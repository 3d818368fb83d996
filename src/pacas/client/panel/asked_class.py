"""A class that several providers may be asked about: its tuples, what was quoted and said, and what that comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pacas.client.buying.panel import PanelPurchaser
from pacas.client.classes.current_relation import CurrentColumn, CurrentRelation
from pacas.client.outcome.steps import BoughtValue, Why
from pacas.client.panel.belief import Opinion, belief
from pacas.client.panel.ground_values import OWN, SHOWN, GroundValues
from pacas.client.panel.reliability import Reliabilities
from pacas.core.distance import Floats
from pacas.core.histogram import Ints

SURE = 0.9
"""A belief is weak while no value is as likely as this."""
CAREFUL = 0.9
"""The least probability of a value that is written though nothing was bought for it."""


class PanelTuples(NamedTuple):
    """The different tuples of a class as one provider looks them up, and the last row that has each."""

    columns: dict[str, list[str | None]]
    rows: list[int]
    ladders: Ints


class SettledValue(NamedTuple):
    """What a class should hold."""

    value: str
    why: Why
    sure: float


@dataclass(slots=True, eq=False)
class AskedClass:
    """One equivalence class."""

    number: int
    attribute: str
    places: Ints
    values: GroundValues
    opinions: list[Opinion]
    allowance: int
    quoted: dict[str, PanelTuples] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    missed: set[str] = field(default_factory=set)
    """Who was away when it was to be asked."""
    purchases: list[BoughtValue] = field(default_factory=list)
    reason: str | None = None
    """Why nothing came of the last order."""

    def believed(self, reliabilities: Reliabilities) -> Floats:
        return belief(len(self.values), self.opinions, reliabilities.of(self.opinions))

    def is_weak(self, reliabilities: Reliabilities) -> bool:
        return float(self.believed(reliabilities).max(initial=0.0)) < SURE

    def quote(self, buyer: PanelPurchaser, current: CurrentRelation) -> None:
        """Gather the ladders of all who sell the attribute and were not asked yet."""
        for provider in buyer.selling(self.attribute):
            if provider in self.asked or provider in self.quoted or provider in buyer.struck_off:
                continue
            if buyer.is_there(provider):
                columns, rows = self._tuples(buyer.offered(provider, self.attribute).offer.columns, current)
                ladders = buyer.quote(provider, self.attribute, columns)
                if ladders is not None:
                    self.quoted[provider] = PanelTuples(columns, rows, ladders)
                    self.missed.discard(provider)
                    continue
            self.missed.add(provider)

    def _tuples(self, names: Sequence[str], current: CurrentRelation) -> tuple[dict[str, list[str | None]], list[int]]:
        columns = [current[name].texts(self.places) for name in names]
        last = dict(zip(zip(*columns, strict=True), self.places.tolist(), strict=True))
        tuples = sorted(last, key=last.__getitem__)
        by_column = dict(zip(names, map(list, zip(*tuples, strict=True)), strict=True))
        return by_column, [last[values] for values in tuples]

    def know(self, values: GroundValues) -> None:
        """There are more values that the class may have: nobody has named them yet."""
        unnamed = np.zeros(len(values) - len(self.values), dtype=np.bool_)
        self.opinions = [said._replace(inside=np.append(said.inside, unnamed)) for said in self.opinions]
        self.values = values

    def miss(self, provider: str) -> None:
        """Who was chosen is away, and was sent nothing: it may be asked when it is back, by the quotes of then."""
        self.asked.discard(provider)
        self.quoted.pop(provider, None)
        self.missed.add(provider)

    def hear(self, bought: BoughtValue) -> None:
        """Take in what a provider has answered."""
        assert bought.provider is not None
        inside = self.values.base(bought.provider, bought.value)
        _, nodes = self.values.nodes(bought.provider, bought.level)
        self.opinions.append(Opinion(bought.provider, inside, nodes))
        self.purchases.append(bought)

    def settled(self, reliabilities: Reliabilities) -> SettledValue | None:
        """The value of least expected δ, the finest of several; None if nothing was bought and none is sure enough.

        It is the likeliest ground value, or what lies above it in the client's tree.
        """
        if not len(self.values):
            return None
        believed = self.believed(reliabilities)
        best = int(believed.argmax())
        sure = float(believed[best])
        if not self.purchases and sure < CAREFUL:
            return None
        found = self.values.expected_distances(believed, best)
        least = min(distance for _, distance in found)
        value = next(value for value, distance in found if distance <= least + TIE)
        if not self.purchases:
            return SettledValue(value, Why.OWN, sure)
        is_bought = any(bought.value == value for bought in self.purchases)
        return SettledValue(value, Why.BOUGHT if is_bought else Why.WEIGHED, sure)


TIE = 1e-9


def own_opinions(column: CurrentColumn, places: Ints, values: GroundValues) -> list[Opinion]:
    """What a class's own cells say: that its value is one of those they hold, and which of them most of them hold.

    Both may be wrong: a majority is one of the values that stand in the class, so that another of these is likelier
    than one that nobody has named. Of several that are as frequent any may be meant.
    """
    codes, counts = np.unique(column.codes[places], return_counts=True)
    is_evidence = np.array(column.is_evidence, dtype=np.bool_)[codes]
    codes, counts = codes[is_evidence], counts[is_evidence]
    if not len(codes):
        return []
    meant = np.stack([values.base(OWN, str(column.hierarchy.label(code))) for code in codes.tolist()])
    most = counts == counts.max()
    shown, named = (np.asarray(of.any(axis=0)) for of in (meant, meant[most]))
    if not named.any():
        return []
    return [
        Opinion(OWN, named, len(codes) // int(most.sum())),
        Opinion(SHOWN, shown, len(values) // int(shown.sum())),
    ]

"""What is worth buying next: the request that is expected to remove most δ a credit."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pacas.client.buying.purchaser import Purchaser
from pacas.client.weighed_groups.belief import SURE, Belief
from pacas.client.weighed_groups.source_trust import IN_A_ROW, share_of_worth
from pacas.client.weighing.decision import Weighed
from pacas.client.weighing.model import Model
from pacas.client.weighing.rare_values import RareCells
from pacas.client.weighing.worth import worth_of_groups, worth_of_left_values, worth_of_rows, worth_of_settling
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import NO_ROWS, Ints

Heard = Mapping[tuple[str, str, int], int]
"""By (provider, attribute, row), of several providers: the level below which one may still be asked about it."""

LEAST = 0.02
"""The δ, in bits, that a purchase must be expected to remove: the budget says what the client would spend, and what is
worth most a credit comes first; but of less than this beliefs say nothing."""

NAMED = 0.5
"""How likely a cell is wrong that somebody else has named."""

MOST_ROWS = 4
"""Rows of a group that are quoted: some may be kept back, or found by nobody."""

LOOKED_AT = 256
"""Rows of a group that are looked at in search of them."""

MOST_ANSWERS = 4
"""A group is not asked about more often."""


class Wish(NamedTuple):
    """A request that is worth its price; what is worth most a credit comes first."""

    rank: float
    """Credits a bit, so that the lowest is the best."""
    attribute: str
    row: int
    level: int
    price: int
    worth: tuple[float, ...]
    """Per level: the δ that an answer is expected to remove."""
    ladder: tuple[int, ...]
    least: int
    """What costs less is known already."""
    provider: str | None = None
    """Who is asked, where there are several."""
    doubt: tuple[float, ...] = ()
    """Per level, of one of several: the share of the worth by which it is compared with others."""
    others: tuple[Wish, ...] = ()
    """What may be asked instead, if this cannot be: about other rows of its group, or others than its provider."""

    def within(self, levels: Sequence[int], most: int) -> Wish | None:
        """The same wish at the level that is worth most a credit, among those that cost no more than is given."""
        best: Wish | None = None
        for level in levels:
            price = self.ladder[level]
            if level < len(self.worth) and self.least <= price <= most and self.worth[level] > LEAST:
                rank = max(price, 1) / (self.worth[level] * (self.doubt[level] if self.doubt else 1.0))
                if best is None or rank < best.rank * (1 - 1e-9):
                    best = self._replace(rank=rank, level=level, price=price)
        return best


class _Asked(NamedTuple):
    """Rows of which one is to be asked about for an attribute, and what an answer at each level is worth."""

    attribute: str
    of: Ints
    """Per row: the number of what it would be asked for; of rows with the same number the best is asked."""
    rows: Ints
    worth: Floats
    """[m, levels]"""
    heard: Mask | None = None
    """Per row: is there an answer already? What costs nothing more is then known."""
    belief: Belief | None = None
    """That an answer is for, where it is asked for groups."""


class Wishes:
    """All requests that are worth asking, the best first. They are found by what is believed when this is made."""

    def __init__(
        self,
        model: Model,
        buyer: Purchaser,
        texts: Mapping[str, Sequence[str | None]],
        careful: float,
        settled: set[tuple[str, int]],
        quoted: dict[tuple[str, int], list[int]],
        rare: Mapping[str, RareCells],
        decided: Mapping[str, Weighed],
        heard: Heard = MappingProxyType({}),
    ) -> None:
        """`texts` are the columns that requests are made of; `settled` are (attribute, row) not to be asked again.

        What each row was quoted last is noted in `quoted`; `decided` is what would be written now. `heard` is what
        several providers were asked about.
        """
        self._model, self._buyer, self._texts, self._careful = model, buyer, texts, careful
        self._offers, self._settled, self._quoted, self._rare = buyer.offers, settled, quoted, rare
        self._heard = heard
        self._withheld = {name: cells.withheld(careful) for name, cells in decided.items()}
        self._heap: list[Wish] = []
        for asked in self._all():
            self._add(asked)

    def best(self, remaining: int) -> Wish | None:
        """The best that can be paid now; it is taken off the list."""
        while self._heap:
            wish = heapq.heappop(self._heap)
            if (wish.attribute, wish.row) in self._settled:
                continue
            if wish.price <= remaining and self._buyer.is_there(wish.provider):
                return wish
            if (instead := self._instead(wish, remaining)) is not None:
                heapq.heappush(self._heap, instead)
        return None

    def _instead(self, wish: Wish, remaining: int) -> Wish | None:
        """The best that can be paid of a wish at other levels, and of what may be asked instead."""
        found = []
        for one in (wish._replace(others=()), *wish.others):
            if (one.attribute, one.row) not in self._settled and self._buyer.is_there(one.provider):
                levels = self._levels(one.provider, one.attribute, one.row)
                if (cheaper := one.within(levels, remaining)) is not None:
                    found.append(cheaper)
        return _best_of(found)

    def best_at_once(self, remaining: int) -> Wish | None:
        """The best, if it can be paid as it is; it is taken off the list. Nothing else is changed."""
        if not self._heap or self._heap[0].price > remaining:
            return None
        if (self._heap[0].attribute, self._heap[0].row) in self._settled:
            return None
        return heapq.heappop(self._heap)

    def put_back(self, wish: Wish) -> None:
        heapq.heappush(self._heap, wish)

    def renew(self, attribute: str, row: int) -> None:
        """A group has had an answer: a further question may be worth its price."""
        for belief in self._model.beliefs:
            group = int(belief.side.group[row])
            if belief.fd.rhs == attribute and group >= 0 and len(belief.answers.get(group, ())) < MOST_ANSWERS:
                self._add(self._of_groups(belief, np.array([group])))

    # ---- finding ----------------------------------------------------------------------------------------------

    def _all(self) -> Iterator[_Asked]:
        model = self._model
        for belief in model.beliefs:
            if belief.fd.rhs not in self._offers:
                continue
            if belief.violated.any():
                yield self._of_groups(belief, self._askable(belief))
            columns = self._offers[belief.fd.rhs].offer.columns
            if not model.is_by_group(belief) and not set(columns) & set(belief.side.attributes):
                found = worth_of_rows(model, belief, self._careful)
                levels = np.arange(belief.column.height + 1)
                each = np.arange(len(found.rows))
                yield _Asked(belief.fd.rhs, each, found.rows, found.worth[:, None] * (levels <= found.level[:, None]))
        for name, rows in model.cells.items():
            if name in self._offers:
                column = model.columns[name]
                lost = column.mean_distance[column.codes[rows]][:, None] - column.level_penalties[None, :]
                yield _Asked(name, np.arange(len(rows)), rows, np.maximum(NAMED * lost, 0) * (lost > 0))
        for name, cells in self._rare.items():
            if name in self._offers and name not in self._offers[name].offer.columns:
                column = model.columns[name]
                apart = column.distance(cells.meant, column.codes[cells.rows])
                unsure = np.where(cells.chance >= self._careful, 1 - cells.chance, cells.chance) * apart
                unsure[self._goes_with_others(name, cells.rows)] = 0.0
                ground = np.arange(column.height + 1) == 0
                yield _Asked(name, np.arange(len(cells.rows)), cells.rows, unsure[:, None] * ground)
        rights = {belief.fd.rhs for belief in model.beliefs}
        for name in model.left_attributes:
            if name in self._offers and name not in rights and name not in self._offers[name].offer.columns:
                found = worth_of_left_values(model, name, self._careful)
                ground = np.arange(model.columns[name].height + 1) == 0
                yield _Asked(name, np.arange(len(found.rows)), found.rows, found.worth[:, None] * ground)

    def _goes_with_others(self, name: str, rows: Ints) -> Mask:
        """Would an answer about each row be one about a group of several? That is asked if the group is worth it."""
        found: Mask = np.zeros(len(rows), dtype=np.bool_)
        for belief in self._model.beliefs:
            if belief.fd.rhs == name and self._model.is_by_group(belief):
                group = belief.side.group[rows]
                found |= (group >= 0) & (belief.side.size[np.maximum(group, 0)] > 1)
        return found

    def _askable(self, belief: Belief) -> Ints:
        """Groups of several rows, and those that were not asked about too often."""
        askable = belief.side.size > 1
        askable[[group for group, answers in belief.answers.items() if len(answers) >= MOST_ANSWERS]] = False
        return np.flatnonzero(askable)

    def _of_groups(self, belief: Belief, groups: Ints) -> _Asked:
        groups = groups[np.array([not self._is_told(belief, group) for group in groups.tolist()], dtype=np.bool_)]
        settling = worth_of_settling(self._model, belief, self._withheld, self._careful)
        beyond = np.full(belief.side.count, LEAST)
        beyond[groups] -= settling[groups].max(axis=1, initial=0)
        found = worth_of_groups(belief, groups, self._careful, beyond)
        worth = found.worth + settling[found.groups]
        wanted = worth.max(axis=1, initial=0) > LEAST
        groups, worth = found.groups[wanted], worth[wanted]
        whom = [self._whom_to_ask(belief, group) for group in groups.tolist()]
        of = np.repeat(np.arange(len(groups)), [len(rows) for rows in whom])
        rows = np.concatenate([NO_ROWS, *whom])
        belongs = np.array([1 - self._model.stray(belief, row) for row in rows.tolist()])
        return _Asked(belief.fd.rhs, of, rows, worth[of] * belongs[:, None], belief.asked[groups][of], belief)

    def _is_told(self, belief: Belief, group: int) -> bool:
        """One of several providers has told something, and what is believed is not weak: nobody else is asked then.

        Nor where two camps of the group were told to be right.
        """
        if belief.answered_camps.has_two_truths(group):
            return True
        return float(belief.sure[group]) >= SURE and belief.has_been_told(group)

    def _whom_to_ask(self, belief: Belief, group: int) -> Ints:
        """The rows that are likeliest to belong to the group, those that show its likeliest value first; the last.

        Those of another camp, where it is that one's turn.
        """
        rows = belief.side.members.one(group)
        if self._model.is_by_group(belief):
            return rows[-1:]
        rows = rows[[(belief.fd.rhs, row) not in self._settled for row in rows.tolist()]][-LOOKED_AT:]
        stays = self._model.misplaced.stays[belief.side][rows]
        camp = belief.camp_to_ask(group)
        weight = 0.5 if camp == belief.likeliest[group] else 2.0
        fit = stays + weight * (belief.column.codes[rows] == camp)
        return rows[::-1][np.argsort(-fit[::-1], kind="stable")[:MOST_ROWS]]

    # ---- prices -----------------------------------------------------------------------------------------------

    def _add(self, asked: _Asked) -> None:
        """Quote what is asked."""
        name = asked.attribute
        worth = asked.worth.max(axis=1, initial=0) > LEAST
        open_ = np.array([(name, row) not in self._settled for row in asked.rows.tolist()], dtype=np.bool_)
        chosen = np.flatnonzero(worth & open_)
        if not len(chosen):
            return
        found: dict[int, list[Wish]] = {}
        for provider in self._buyer.selling(name):
            if self._buyer.is_there(provider):
                self._quote(provider, asked, chosen, found)
        for wishes in found.values():
            if (wish := _best_of(wishes)) is not None:
                heapq.heappush(self._heap, wish)

    def _levels(self, provider: str | None, attribute: str, row: int) -> Sequence[int]:
        """The levels at which a provider may be asked: one of several below what it has answered."""
        levels = self._buyer.offered(provider, attribute).levels
        if provider is None or (answered := self._heard.get((provider, attribute, row))) is None:
            return levels
        return [level for level in levels if level < answered]

    def _right(self, provider: str, asked: _Asked, rows: Sequence[int]) -> Floats:
        """Per row: how likely one of several will be right about it."""
        belief, usual = asked.belief, self._model.trust.of(asked.attribute)[provider]
        if belief is None:
            return np.full(len(rows), usual)
        return np.array([belief.will_be_right(int(belief.side.group[row]), provider) for row in rows])

    def _quote(self, provider: str | None, asked: _Asked, chosen: Ints, found: dict[int, list[Wish]]) -> None:
        """What one provider would charge: wishes by their numbers."""
        name, offered = asked.attribute, self._buyer.offered(provider, asked.attribute)
        rows: list[int] = asked.rows[chosen].tolist()
        columns = {c: [self._texts[c][row] for row in rows] for c in offered.offer.columns}
        quoted = self._buyer.quote(provider, name, columns)
        if quoted is None:
            return
        least = [0] * len(rows) if asked.heard is None else asked.heard[chosen].astype(np.int64).tolist()
        worth, doubts = asked.worth[chosen], [()] * len(rows)
        if provider is not None:
            nodes = offered.offer.hierarchy.widths[: worth.shape[1]].astype(np.int64)
            share = share_of_worth(self._right(provider, asked, rows), nodes)
            worth, doubts = worth[:, : len(nodes)] * share, list(map(tuple, (share ** (IN_A_ROW - 1)).tolist()))
        for of, row, worths, doubt, ladder, lowest in zip(
            asked.of[chosen].tolist(), rows, worth.tolist(), doubts, quoted.tolist(), least, strict=True
        ):
            if provider is None or len(ladder) == self._offers[name].offer.hierarchy.height + 1:
                self._quoted[name, row] = ladder
            wish = Wish(0.0, name, row, 0, 0, tuple(worths), tuple(ladder), lowest, provider, doubt).within(
                self._levels(provider, name, row), max(ladder)
            )
            if wish is not None:
                found.setdefault(of, []).append(wish)


def _best_of(wishes: list[Wish]) -> Wish | None:
    """The best, the first of several, with what may be asked instead."""
    if not wishes:
        return None
    at = min(range(len(wishes)), key=lambda number: wishes[number].rank)
    return wishes[at]._replace(others=(*wishes[:at], *wishes[at + 1 :]))

"""Quoters of the rows that requests find, in an index that stays on the engine.

The engine has worked out beforehand what a quote needs to know of other rows (`layout`), so that a quoter of the rows
found gives the bytes that one of the whole index would give. No private column is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from sys import maxsize
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.core.histogram import Histogram
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.engine.codes import coded_texts
from pacas.engine.contract import Engine, Index
from pacas.engine.grouping import Ints
from pacas.errors import NeedsMemoryError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Request
from pacas.provider.matching.index_matcher import IndexMatcher
from pacas.provider.matching.lookup_keys import Key, LookupKeys, agreement_of, distinct_keys, key_of
from pacas.provider.matching.row_lookup import FoundRows, GroupIndex, RowLookup
from pacas.provider.quoter.index_part import IndexPart
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_view import PublicView
from pacas.provider.quoter.quoter import Quoter, SoldBefore, known_units
from pacas.provider.quoter.quoters import FoundUnit, Judge
from pacas.provider.quoter.sold_attribute import FoundUnits
from pacas.provider.quoter_on_engine.layout import Layout


def one_row_of_each_kind(engine: Engine[Any], table: Any, view: PublicView) -> IndexPart:
    """A row for each combination of the public values by which dictionaries have cases; all else of it is null."""
    given = sorted({name for linked in view.components for name in linked.given})
    columns: dict[str, list[str | None]] = {name: [None] for name in view.index.columns}
    if given:
        found = engine.histogram(table, given, {})
        for linked in view.components:
            _check_cases(linked, found)
            _check_left(linked, view)
        columns = {name: [None] * len(found.values) for name in columns}
        columns |= {name: [line[place] for line in found.values] for place, name in enumerate(given)}
    texts = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    numbers = -np.arange(1, len(next(iter(columns.values()))) + 1)
    return IndexPart({name: coded_texts(column) for name, column in texts.items()}, numbers, len(table))


def _check_cases(linked: LinkedAttributes, found: Histogram) -> None:
    """An error if rows have values that the dictionary does not have."""
    places = [found.attributes.index(name) for name in linked.given]
    known = set(linked.values)
    occurring = zip(found.values, found.counts.tolist(), strict=True)
    linked.check_known(sum(n for line, n in occurring if tuple(line[place] for place in places) not in known))


def _check_left(linked: LinkedAttributes, view: PublicView) -> None:
    """An error if the rows of a unit may be of several cases."""
    left = view.left.get(linked.attributes[0])
    if left is not None and not set(linked.given) <= set(left):
        tie, given = ", ".join(left), ", ".join(linked.given)
        raise NeedsMemoryError(
            f"{tie} ties rows that may differ in {given}, by which a dictionary has other tuples; add {given} to it"
        )


AT_A_TIME = 1 << 18
"""Rows that an audit looks at together."""
ALL = 1 << 40
"""More rows than there are."""


class LookedUpQuoters:
    """A quoter for what each call looks up."""

    keeps_quotes = False
    price_lists = None

    def __init__(
        self, engine: Engine[Any], table: Any, view: PublicView, bought: Sequence[tuple[str, Request]] = ()
    ) -> None:
        self._engine = engine
        self.view = replace(view, index=one_row_of_each_kind(engine, table, view))
        self._of_kinds = bare = Quoter(self.view)
        self._keys = {a: LookupKeys.on(engine, table, md, view.hierarchies) for a, md in view.match.items()}
        self._first = engine.first_row(table, sorted(view.index.columns))
        self._layout = Layout.of(bare)
        self._use(self._layout.numbered(engine, table, view))
        closed = self._sold_before(bought) if bought else {}
        self._layout, laid_out = self._layout.kept_back(engine, self._table, bare, closed)
        self._use(laid_out)
        self.sold_before = list(self._units_sold(bought)) if bought else []
        self._lookups = {a: self._lookup(a, view.max_matches, bool(bare.watched)) for a in view.match}

    def _use(self, table: Any) -> None:
        """Look up in this table from now on."""
        self._table = table
        self._indexes: dict[tuple[str, ...], Index] = {}
        self._rest = self._engine.rows(table, np.array([self._first]), self._layout.columns)

    def client_columns(self, attribute: str) -> tuple[str, ...]:
        return self._keys[attribute].client_columns

    # ---- requests -----------------------------------------------------------------------------------------------

    def find(self, attribute: str, tuples: Columns, judge: Judge) -> Ints:
        keys, which = distinct_keys(self.client_columns(attribute), tuples)
        height = self.view.hierarchies[attribute].height
        told = [np.empty((0, height + 1), dtype=np.int64)]
        told += [judge(*self._found(attribute, *chunk)) for chunk in self._lookups[attribute].each(keys)]
        return np.concatenate(told)[which]

    def find_one(self, request: Request) -> FoundUnit:
        keys = [key_of(self.client_columns(request.attribute), request.tuple)]
        quoter, found = self._found(request.attribute, keys, self._lookups[request.attribute].of(keys))
        return quoter, int(found.units[0]), int(found.matches[0]), int(found.never_below[0])

    def find_all(self, requests: Sequence[Request]) -> list[FoundUnit]:
        found: dict[tuple[str, Key], FoundUnit] = {}
        asked = self._asked(requests)
        for attribute, keys in _by_attribute(asked):
            for chunk, rows in self._lookups[attribute].each(keys):
                quoter, units = self._found(attribute, chunk, rows)
                lines = zip(chunk, *(column.tolist() for column in units), strict=True)
                found |= {(attribute, key): (quoter, *numbers) for key, *numbers in lines}
        return [found[one] for one in asked]

    def _asked(self, requests: Sequence[Request]) -> list[tuple[str, Key]]:
        return [(one.attribute, key_of(self.client_columns(one.attribute), one.tuple)) for one in requests]

    def _found(self, attribute: str, keys: Sequence[Key], found: FoundRows) -> tuple[Quoter, FoundUnits]:
        """A quoter of the rows that were found, and what each tuple finds there."""
        order = np.array([found.keys[key] for key in keys], dtype=np.int64)
        matched = found.matched.take(order)
        matches = np.where(found.too_many[order], self.view.max_matches + 1, np.diff(matched.offsets))
        quoter = self._quoter(found.rows, found.texts)
        return quoter, quoter.sold[attribute].found(matched, matches)

    def _quoter(self, rows: Ints, texts: pa.Table) -> Quoter:
        """A quoter of some rows, with all columns, and of the one that has what does not divide."""
        place = np.flatnonzero(rows == self._first)
        if len(place):
            return self._quoter_of(rows, texts, int(place[0]))
        together = pa.concat_tables([texts.select(self._layout.columns), self._rest])
        return self._quoter_of(np.append(rows, self._first), together, len(rows))

    def _quoter_of(self, rows: Ints, texts: pa.Table, first: int = -1) -> Quoter:
        return Quoter(replace(self.view, index=self._layout.part(self.view, rows, texts, first)))

    # ---- what was sold before -----------------------------------------------------------------------------------

    def _sold_before(self, bought: Sequence[tuple[str, Request]]) -> dict[int, Ints]:
        """By policy the rows of which enough was sold before to leave too little."""
        pooled, quoters = BoughtLevels(), {}
        for quoter, (_, attribute, unit, level) in self._units_sold(bought):
            sold = quoter.sold[attribute]
            pooled.learn(sold.priced, sold.place, unit, level)
            quoters[id(quoter)] = quoter
        closed: dict[int, list[int]] = {}
        for quoter in quoters.values():
            for guard in quoter.guards:
                rows = np.flatnonzero(guard.values_left(pooled) < guard.enough)
                closed.setdefault(guard.number, []).extend(quoter.view.index.number(row) for row in rows.tolist())
        return {number: np.unique(np.array(rows, dtype=np.int64)) for number, rows in closed.items()}

    def _units_sold(self, bought: Sequence[tuple[str, Request]]) -> Iterator[tuple[Quoter, SoldBefore]]:
        """Every unit that requests found, all of which had the answer."""
        found: dict[tuple[str, Key], tuple[Quoter, Ints]] = {}
        asked = self._asked([request for _, request in bought])
        for attribute, keys in _by_attribute(asked):
            for chunk, rows in self._lookup(attribute, ALL, True).each(keys):
                quoter = self._quoter(rows.rows, rows.texts)
                of_row = quoter.sold[attribute].priced.units.of_row
                found |= {(attribute, key): (quoter, of_row[rows.matched.one(rows.keys[key])]) for key in chunk}
        for (buyer, request), one in zip(bought, asked, strict=True):
            quoter, units = found[one]
            for unit in known_units(units):
                yield quoter, SoldBefore(buyer, request.attribute, unit, request.level)

    # ---- audits -------------------------------------------------------------------------------------------------

    def by_group(self, policy: int, touched: int) -> Iterator[Quoter]:
        wanted = self.view.policies[policy - 1]
        are_alike = wanted.scope == "group" and self.view.index.rows == 1  # all rows that nobody has bought anything of
        most = wanted.keep + touched if are_alike else maxsize
        for batch in self._by_x(policy).batches(AT_A_TIME, most):
            if len(batch):
                yield self._quoter_of(batch.column("row").to_numpy(), batch)

    def unlinked(self, policy: int) -> int:
        return self.view.index.in_all - len(self._by_x(policy))

    def reserved(self, policy: int) -> int | None:
        if policy in self._layout.kept:
            found = self._engine.histogram(self._table, [self._layout.kept[policy]], {})
            return int(sum(n for (kept,), n in zip(found.values, found.counts, strict=True) if kept is not None))
        of_kinds = self._of_kinds.reserved.get(policy)  # all rows, or none
        return None if of_kinds is None else self.view.index.in_all * int(of_kinds.all())

    def safe_levels(self, policy: int) -> Mapping[str, tuple[int, ...]]:
        return self._of_kinds.safe_levels(policy)

    # ---- look-ups -----------------------------------------------------------------------------------------------

    def _lookup(self, attribute: str, most: int, with_units: bool) -> RowLookup:
        """Rows by what an attribute is found by; with all rows of their units, where each row of one matters."""
        together = agreement_of(self.view.match[attribute], self.view.hierarchies)
        matcher = IndexMatcher(self._keys[attribute], self._index(together.columns, together.hierarchies))
        tie = self._layout.ties.get(tuple(self.view.left.get(attribute, ()))) if with_units else None
        return RowLookup(matcher, most, [] if tie is None else [GroupIndex([tie], self._index((tie,), {}), None)])

    def _by_x(self, policy: int) -> Index:
        return self._index(self.view.policies[policy - 1].x, self.view.hierarchies)

    def _index(self, by: Sequence[str], hierarchies: Mapping[str, Any]) -> Index:
        key = (*by, *(a for a in by if a in hierarchies and hierarchies[a].numeric))
        if key not in self._indexes:
            self._indexes[key] = self._engine.index(self._table, list(by), self._layout.columns, hierarchies)
        return self._indexes[key]


def _by_attribute(asked: Sequence[tuple[str, Key]]) -> Iterator[tuple[str, list[Key]]]:
    """What is asked for of each attribute, each key once."""
    keys: dict[str, dict[Key, None]] = {}
    for attribute, key in asked:
        keys.setdefault(attribute, {})[key] = None
    return ((attribute, list(mine)) for attribute, mine in keys.items())

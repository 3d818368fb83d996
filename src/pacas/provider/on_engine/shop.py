"""A shop over a relation that is larger than memory: it stays on the engine, and requests look up what they need.

Prices, refusals and answers are those of a relation in memory, with two exceptions on the safe side. What would leave
so few neighbours in all that some X-group elsewhere could lose a value of its own is refused as unsafe. And an X-group
that reaches beyond what is matched is judged by its first rows, if it has very many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pacas.core.query import GeneralizedQuery
from pacas.engine.contract import Engine, Index
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Ladders, Offer, Quote, Refusal, Request
from pacas.provider.ledger.entry import Purchase
from pacas.provider.matching import listed_columns
from pacas.provider.on_engine.audit import count_sales
from pacas.provider.on_engine.covering import find_covering
from pacas.provider.on_engine.covering_neighbours import CoveringNeighbours
from pacas.provider.on_engine.lookup_keys import Key, LookupKeys, by_likeness
from pacas.provider.on_engine.memory_limit import check_sellable
from pacas.provider.on_engine.relation_summary import RelationSummary, protected_columns
from pacas.provider.on_engine.row_lookup import RowLookup
from pacas.provider.on_engine.row_subset import RowSubset
from pacas.provider.on_engine.sparse_sales import SparseSales
from pacas.provider.pricing.conflicts import Inquiry, MatchedRequests
from pacas.provider.shop.contract import CountedShop, Tell, check_request, offer_of
from pacas.provider.shop.fingerprint import generated_digest, terms_digests, weights_digest
from pacas.provider.shop.judging import REASONS, ladders_of, ladders_without_rows
from pacas.provider.terms import HistoryScope, Terms

FIRST_KEYS = 256
MOST_KEYS = 1 << 16
MOST_ROWS = 1 << 18
"""Tuples that are looked up together at first and at most, and about how many rows these may bring."""


class EngineSale(NamedTuple):
    """A request that may be answered."""

    price: int
    rows: tuple[int, ...]
    value: str

    def __repr__(self) -> str:  # no value: it is the provider's
        return f"EngineSale(price={self.price})"


class EngineShop:
    """What is sold from, on the engine, and what has been sold of it."""

    keeps_quotes = False
    is_short = False

    def __init__(self, engine: Engine[Any], table: Any, terms: Terms, secret: bytes, state: Lock, tell: Tell) -> None:
        check_sellable(terms)
        self.terms, self._state = terms, state
        self.engine, self.table = engine, table
        self._indexes: dict[tuple[tuple[str, ...], frozenset[str]], Index] = {}
        tell("reading the relation")
        columns = protected_columns(engine, table, terms)
        lookup_keys = {a: self._lookup_keys(a) for a in terms.match}
        tell("making the index")
        indexes = {a: self._index(lookup_keys[a].by, by_likeness(terms.match[a])) for a in terms.match}
        tell("making the support set")
        bare = RelationSummary(terms, len(table), columns, secret, CoveringNeighbours.none())
        self.summary = RelationSummary(terms, len(table), columns, secret, find_covering(bare, self.index_by))
        tell("weighing the neighbours")
        self.total = self.summary.weighing.total if self.summary.neighbours else 0
        self.offers: Mapping[str, Offer] = {
            a: Offer(a, lookup_keys[a].client_columns, columns[a].domain) for a in terms.match
        }
        self._row_lookups = {a: self._row_lookup(a, lookup_keys[a], indexes[a]) for a in terms.match}
        self._found_again = {a for a in terms.match if self._is_found_again(a, lookup_keys[a])}
        """The attributes whose purchases name no rows, as in memory: equality finds them again."""
        self.sales = SparseSales(self.summary, self._rows)

    def _is_found_again(self, attribute: str, lookup_keys: LookupKeys) -> bool:
        has_edits = any(attribute in codes for codes in self.summary.covering.changes)
        return self.terms.history is HistoryScope.POOLED and lookup_keys.by_equality and not has_edits

    @property
    def rows(self) -> int:
        return self.summary.rows

    @property
    def neighbours(self) -> int:
        return self.summary.neighbours

    def fingerprint(self) -> dict[str, str]:
        summary = self.summary
        domains = {a: summary.columns[a].domain for a in self.terms.protected}
        edits = len(summary.covering.edit_rows)
        made = generated_digest(self.terms, summary.seed, summary.rows, domains, [*summary.counts.values(), edits])
        return terms_digests(self.terms) | {"support set": made} | weights_digest(self.terms, summary.counts, edits)

    # ---- judging ------------------------------------------------------------------------------------------------

    def ladders(self, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        height = offer_of(attribute, self.offers).hierarchy.height
        columns = listed_columns(self.offers[attribute].columns, tuples)
        number: dict[Key, int] = {}
        which = np.array([number.setdefault(key, len(number)) for key in zip(*columns, strict=True)], dtype=np.int64)
        keys = list(number)
        found = [np.empty((0, height + 1), dtype=np.int64)]
        start, size = 0, FIRST_KEYS
        while start < len(keys):
            chunk = keys[start : start + size]
            ladders, subset, _ = self._judged(attribute, chunk, buyer)
            found.append(ladders)
            start += size
            of_a_key = max(len(subset.rows) / len(chunk), 1) if subset else 1
            size = max(FIRST_KEYS, min(16 * size, MOST_KEYS, int(MOST_ROWS / of_a_key)))
        return Ladders(np.concatenate(found)[which])

    def judge(self, request: Request, buyer: str) -> EngineSale | Refusal:
        check_request(request, self.offers)
        given = {column: [value] for column, value in request.tuple.items()}
        columns = listed_columns(self.offers[request.attribute].columns, given)
        (key,) = zip(*columns, strict=True)
        ladders, subset, asked = self._judged(request.attribute, [key], buyer)
        price = int(ladders[0, request.level])
        if price < 0 or subset is None or asked is None:
            return Refusal(REASONS[price])
        rows = asked.sets.rows
        column = subset.columns[request.attribute]
        node = column.hierarchy.ancestors[request.level, column.cells[rows[0]]]
        return EngineSale(price, tuple(subset.rows[rows].tolist()), str(column.hierarchy.label(node)))

    def _judged(
        self, attribute: str, keys: Sequence[Key], buyer: str
    ) -> tuple[Ints, RowSubset | None, MatchedRequests | None]:
        """Prices and refusals of tuples, each given once; the rows that they need, and which of these are asked."""
        offer, max_matches = self.offers[attribute], self.terms.max_matches
        height = offer.hierarchy.height
        found = self._row_lookups[attribute].of(keys)
        too_many = found.too_many[[found.keys[key] for key in keys]]
        if not len(found.rows):
            return ladders_without_rows(too_many.astype(np.int64), height), None, None
        policies, attributes = self.summary.bearing_on(attribute)
        subset = RowSubset(self.summary, found.rows, found.texts, attributes)
        edits, dependency = subset.support.edits, self.terms.match[attribute]
        inquiry = Inquiry(attribute, dependency, subset.columns, edits, self.terms.hierarchies, max_matches)
        tuples = dict(zip(offer.columns, map(list, zip(*keys, strict=True)), strict=True))
        asked = inquiry.ask(tuples, too_many=too_many)
        with self._state:
            sold = self.sales.judged(buyer)
            in_all, depths = sold.in_all(), sold.depths(attributes, subset.rows)
            own = self.sales.known(buyer).depths(attributes, subset.rows)
        surviving = subset.surviving(depths, subset.linked(policies), in_all)
        prices, known = subset.prices(attribute), subset.known(own)
        return ladders_of(asked, prices, known, surviving, height, max_matches), subset, asked

    def quote_query(self, query: GeneralizedQuery, buyer: str) -> Quote | Refusal:
        raise InputError(
            "a generalized query is priced only where the relation is held in memory; use DuckDB, with memory for it"
        )

    # ---- sales --------------------------------------------------------------------------------------------------

    def purchase(self, sale: EngineSale, request: Request, buyer: str, key: str) -> Purchase:
        rows = None if request.attribute in self._found_again else sale.rows
        return Purchase(buyer, key, request, sale.price, sale.value, rows)

    def add(self, sale: EngineSale, purchase: Purchase) -> None:
        self.sales.add(purchase, sale.rows)

    def count_sales(self, purchases: Sequence[Purchase]) -> CountedShop:
        sales = SparseSales(self.summary, self._rows)
        sales.replay(purchases)
        return count_sales(
            self.summary, sales, lambda rows, columns: self.engine.rows(self.table, rows, columns), self.index_by
        )

    def _rows(self, attribute: str, tuples: Sequence[Mapping[str, str | None]]) -> list[tuple[int, ...]]:
        columns = self.offers[attribute].columns
        return self._row_lookups[attribute].rows([tuple(t[c] for c in columns) for t in tuples])

    # ---- look-ups -----------------------------------------------------------------------------------------------

    def index_by(self, columns: Sequence[str]) -> Index:
        """An index by all of the columns."""
        return self._index(sorted(columns), [])

    def _index(self, by: Sequence[str], likeness: Sequence[str]) -> Index:
        key = (tuple(by), frozenset(likeness))
        if key not in self._indexes:
            hierarchies = {a: h for a, h in self.terms.hierarchies.items() if a in by and a not in likeness}
            self._indexes[key] = self.engine.index(self.table, list(by), list(self.terms.attributes), hierarchies)
        return self._indexes[key]

    def _lookup_keys(self, attribute: str) -> LookupKeys:
        distinct = {
            c: [value for (value,) in self.engine.histogram(self.table, [c], {}).values if value is not None]
            for c in by_likeness(self.terms.match[attribute])
        }
        return LookupKeys(self.terms.match[attribute], distinct, self.terms.hierarchies)

    def _row_lookup(self, attribute: str, lookup_keys: LookupKeys, index: Index) -> RowLookup:
        policies, _ = self.summary.bearing_on(attribute)
        within = [lookup_keys.by_equality and set(lookup_keys.by) <= set(policy.x) for policy in policies]
        linked = [(p, None if inside else self.index_by(p.x)) for p, inside in zip(policies, within, strict=True)]
        return RowLookup(lookup_keys, index, linked, self.terms.hierarchies, self.terms.max_matches)

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
from pacas.protocol.marketplace import Columns, check_request, offer_of
from pacas.protocol.messages import Ladders, Offer, Quote, Refusal, Request
from pacas.protocol.order_of_checks import REASON_OF, not_below
from pacas.provider.ledger.entry import AboutBuyer, Purchase
from pacas.provider.matching.index_matcher import IndexMatcher
from pacas.provider.matching.lookup_keys import Key, LookupKeys, by_likeness, distinct_keys, key_of
from pacas.provider.matching.row_lookup import FoundRows, GroupIndex, RowLookup
from pacas.provider.on_engine.audit import count_sales
from pacas.provider.on_engine.covering import MOST_OF_A_GROUP, find_covering
from pacas.provider.on_engine.covering_neighbours import CoveringNeighbours
from pacas.provider.on_engine.memory_limit import check_sellable
from pacas.provider.on_engine.relation_summary import RelationSummary
from pacas.provider.on_engine.row_subset import RowSubset
from pacas.provider.on_engine.sparse_sales import SparseSales
from pacas.provider.pricing.conflicts import Inquiry, MatchedRequests
from pacas.provider.pricing.prices import price_bounds
from pacas.provider.shop.contract import CountedShop, Tell
from pacas.provider.shop.fingerprint import generated_digest, terms_digests, weights_digest
from pacas.provider.shop.judging import ladders_of, ladders_without_rows
from pacas.provider.shop.protected_columns import protected_columns
from pacas.provider.terms import HistoryScope, Terms


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
    price_lists = None

    def __init__(self, engine: Engine[Any], table: Any, terms: Terms, secret: bytes, state: Lock, tell: Tell) -> None:
        check_sellable(terms)
        self.terms, self._state = terms, state
        self.engine, self.table = engine, table
        self._indexes: dict[tuple[tuple[str, ...], frozenset[str]], Index] = {}
        tell("reading the relation")
        columns = protected_columns(engine, table, terms)
        lookup_keys = {a: LookupKeys.on(engine, table, md, terms.hierarchies) for a, md in terms.match.items()}
        tell("making the index")
        indexes = {a: self._index(lookup_keys[a].by, by_likeness(terms.match[a])) for a in terms.match}
        tell("making the support set")
        bare = RelationSummary(terms, len(table), columns, secret, CoveringNeighbours.none())
        self.summary = RelationSummary(terms, len(table), columns, secret, find_covering(bare, self.index_by))
        tell("weighing the neighbours")
        self.total = self.summary.weighing.total if self.summary.neighbours else 0
        self.offers: Mapping[str, Offer] = {
            a: Offer(
                a,
                lookup_keys[a].client_columns,
                columns[a].domain,
                floor=terms.floor.get(a, 0),
                bounds=price_bounds(terms, a, self.summary.extreme_weights(a)),
            )
            for a in terms.match
        }
        self._row_lookups = {a: self._row_lookup(a, lookup_keys[a], indexes[a]) for a in terms.match}
        self._found_again = {a for a in terms.match if self._is_found_again(a)}
        """The attributes whose purchases name no rows, as in memory: their spelling finds them again."""
        self.sales = SparseSales(self.summary, self._rows)

    def _is_found_again(self, attribute: str) -> bool:
        has_edits = any(attribute in codes for codes in self.summary.covering.changes)
        is_found = self.terms.match[attribute].is_by_spelling
        return self.terms.history is HistoryScope.POOLED and is_found and not has_edits

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
        keys, which = distinct_keys(self.offers[attribute].columns, tuples)
        told = [np.empty((0, height + 1), dtype=np.int64)]
        for chunk, found in self._row_lookups[attribute].each(keys):
            told.append(self._judged(attribute, chunk, found, buyer)[0])
        return Ladders(np.concatenate(told)[which])

    def ladder(self, attribute: str, values: Mapping[str, str | None], buyer: str) -> list[int]:
        found: list[int] = self.ladders(attribute, {c: [v] for c, v in values.items()}, buyer).prices[0].tolist()
        return found

    def judge(self, request: Request, buyer: str) -> EngineSale | Refusal:
        check_request(request, self.offers)
        keys = [key_of(self.offers[request.attribute].columns, request.tuple)]
        found = self._row_lookups[request.attribute].of(keys)
        ladders, subset, asked = self._judged(request.attribute, keys, found, buyer)
        price = int(ladders[0, request.level])
        if price < 0 or subset is None or asked is None:
            return Refusal(REASON_OF[price])
        rows = asked.sets.rows
        column = subset.columns[request.attribute]
        node = column.hierarchy.ancestors[request.level, column.cells[rows[0]]]
        return EngineSale(price, tuple(subset.rows[rows].tolist()), str(column.hierarchy.label(node)))

    def _judged(
        self, attribute: str, keys: Sequence[Key], found: FoundRows, buyer: str
    ) -> tuple[Ints, RowSubset | None, MatchedRequests | None]:
        """Prices and refusals of tuples, each given once; the rows that they need, and which of these are asked."""
        offer, max_matches = self.offers[attribute], self.terms.max_matches
        height = offer.hierarchy.height
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
        ladders = ladders_of(asked, prices, known, surviving, height, max_matches)
        return not_below(offer.floor, ladders), subset, asked

    def recount(self, told: Sequence[AboutBuyer]) -> None:
        sales = SparseSales(self.summary, self._rows)
        sales.take_in(told)
        self.sales = sales

    def quote_query(self, query: GeneralizedQuery, buyer: str) -> Quote | Refusal:
        raise InputError(
            "a generalized query is priced only where the relation is held in memory; use DuckDB, with memory for it"
        )

    # ---- sales --------------------------------------------------------------------------------------------------

    def purchase(self, sale: EngineSale, request: Request, buyer: str, key: str, time: int | None) -> Purchase:
        rows = None if request.attribute in self._found_again else sale.rows
        return Purchase(buyer, key, request, sale.price, sale.value, rows, time)

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

    def _row_lookup(self, attribute: str, lookup_keys: LookupKeys, index: Index) -> RowLookup:
        """Where a match is by equality of columns of X, as D5 has it, the X-groups lie within what is matched."""
        policies, _ = self.summary.bearing_on(attribute)
        beyond = [p for p in policies if not (lookup_keys.by_equality and set(lookup_keys.by) <= set(p.x))]
        beside = [GroupIndex(p.x, self.index_by(p.x), MOST_OF_A_GROUP) for p in beyond]
        matcher = IndexMatcher(lookup_keys, index)
        return RowLookup(matcher, self.terms.max_matches, beside, self.terms.hierarchies)

"""All that a provider sells from, made ready once: columns, support set, weights, prices, and where requests are found.

Everything follows from the relation, the terms and the secret seed; nothing here changes with a sale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.contract import Engine, Source
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.protocol.messages import PriceBounds
from pacas.provider.column import Column
from pacas.provider.pricing.conflicts import Inquiry
from pacas.provider.pricing.price_points import PricePoint, price_point_weights
from pacas.provider.pricing.prices import CellPrices, Prices, price_bounds
from pacas.provider.pricing.views import Views
from pacas.provider.safety.covering import covering
from pacas.provider.safety.linked_values import LinkedValues
from pacas.provider.safety.surviving import Surviving
from pacas.provider.shop.contract import Tell
from pacas.provider.shop.fingerprint import generated_digest, terms_digests, text_digest, weights_digest
from pacas.provider.support.support_set import Generated, GivenSupport, SupportSet
from pacas.provider.support.weights import check_weights, sensitivity_weights, uniform_weights
from pacas.provider.terms import Terms

MOST_TURNS = 8
"""How often it is looked whether a covering support set covers; once is nearly always enough."""


@dataclass(frozen=True, eq=False, repr=False)
class Stock:
    """What is sold from, and on what terms."""

    terms: Terms
    columns: Mapping[str, Column]
    support: SupportSet
    weights: Ints
    """Per neighbour, in nanocredits."""
    prices: Prices
    inquiries: Mapping[str, Inquiry]
    views: Views
    untouched: Surviving
    """The support set before anything was sold; copied, never changed."""

    @property
    def total(self) -> int:
        return int(self.weights.sum())

    def bounds(self, attribute: str) -> tuple[PriceBounds, ...] | None:
        """What one row can cost at each level."""
        first = self.support.first().get(attribute, 0)
        return price_bounds(self.terms, attribute, self.weights[first : first + self.support.counts.get(attribute, 0)])

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0


def take_stock(engine: Engine[Any], sources: Mapping[str, Source], terms: Terms, seed: bytes, tell: Tell) -> Stock:
    """Make everything ready to sell from the relations (the main one is `relation`)."""
    tell("reading the relation")
    columns = _columns(engine, sources[MAIN], terms)
    terms.check_values(columns)
    tell("making the support set")
    support, untouched = _support(terms, columns, seed)
    views = Views(engine, sources, terms.hierarchies, columns, support)
    tell("weighing the neighbours")
    weights = _weights(terms, support, views.conflicts)
    tell("making the price tables")
    inquiries = {
        a: Inquiry(a, dependency, columns, support.edits, terms.hierarchies, terms.max_matches)
        for a, dependency in terms.match.items()
    }
    return Stock(terms, columns, support, weights, _prices(support, weights, columns), inquiries, views, untouched)


def _columns(engine: Engine[Any], source: Source, terms: Terms) -> dict[str, Column]:
    """The columns that are looked at: all of them, where a neighbour may be a whole new row."""
    whole_rows = isinstance(terms.support, GivenSupport) or terms.support.mix.insert > 0
    needed = list(dict.fromkeys([*terms.attributes, *(source.columns if whole_rows else ())]))
    table = engine.open(source, needed)
    given = _given_values(terms.support.neighbours) if isinstance(terms.support, GivenSupport) else {}
    columns = {}
    for attribute, coded in engine.columns(table, needed).items():
        hierarchy = terms.hierarchies.get(attribute)
        ground = hierarchy.ground_labels if hierarchy and attribute in terms.protected else []
        columns[attribute] = Column(attribute, coded, hierarchy, [*ground, *given.get(attribute, ())])
    return columns


def _given_values(neighbours: Sequence[Any]) -> dict[str, dict[str, None]]:
    """The texts that neighbours put in, per attribute."""
    texts: dict[str, dict[str, None]] = {}
    for neighbour in neighbours:
        for values in (*neighbour.rows.values(), *neighbour.inserted):
            for attribute, value in (values or {}).items():
                if value:
                    texts.setdefault(attribute, {})[value] = None
    return texts


# ---- support set ----------------------------------------------------------------------------------------------------


def _support(terms: Terms, columns: Mapping[str, Column], seed: bytes) -> tuple[SupportSet, Surviving]:
    """The support set, and how many values it shows; a generated one is covering (D7)."""
    if isinstance(terms.support, GivenSupport):
        support = SupportSet.take(terms.support, terms.simple, columns)
        return support, _untouched(terms, columns, support)
    support = SupportSet.generate(terms.support, terms.protected, terms.simple, columns, seed)
    untouched = _untouched(terms, columns, support)
    for turn in range(MOST_TURNS):
        if not untouched.short:
            break
        more = covering(untouched.margins, untouched.alive, terms.simple, columns, seed, turn)
        if not len(more):
            break
        support = support.with_more(more)
        untouched = _untouched(terms, columns, support)
    return support, untouched


def _untouched(terms: Terms, columns: Mapping[str, Column], support: SupportSet) -> Surviving:
    linked = [LinkedValues(policy, columns, support.cells, support.edits) for policy in terms.policies]
    heights = {a: columns[a].hierarchy.height for a in terms.protected}
    rows = len(next(iter(columns.values()))) if columns else 0
    return Surviving(support.cells, support.edits, linked, heights, rows)


# ---- weights and prices ---------------------------------------------------------------------------------------------


def _weights(terms: Terms, support: SupportSet, conflicts: Callable[[GeneralizedQuery], Ints]) -> Ints:
    given = terms.support.weights if isinstance(terms.support, GivenSupport) else None
    if given is not None:
        return _given_weights(terms, support, given)
    total, counts, factors = terms.weight_runs(support.counts, len(support.edits))
    if terms.points and terms.sensitivity:
        raise InputError("price points say what neighbours weigh; leave out sensitivity, or the points")
    if terms.points:
        points = [PricePoint(p.name, conflicts(p.view), p.price) for p in terms.points]
        return price_point_weights(total, len(support), points)
    check_weights(total, counts, factors)
    return sensitivity_weights(total, counts, factors) if factors else uniform_weights(total, len(support))


def _given_weights(terms: Terms, support: SupportSet, given: Ints) -> Ints:
    if terms.sensitivity or terms.points:
        raise InputError("the support set has weights of its own; leave out sensitivity and points, or the weights")
    total = sum(given.tolist())
    if terms.total is not None and terms.total != total:
        raise InputError("total is not the sum of the support set's weights; leave it out, or give their sum")
    weights: Ints = given[support.given]
    return weights


def _prices(support: SupportSet, weights: Ints, columns: Mapping[str, Column]) -> Prices:
    first = support.first()
    tables = {
        a: CellPrices.of(cells, weights[first[a] : first[a] + len(cells)], columns[a].hierarchy.height)
        for a, cells in support.cells.items()
    }
    return Prices(tables, weights[first[None] :])


# ---- what a ledger belongs to ---------------------------------------------------------------------------------------


def stock_digests(stock: Stock, seed: bytes) -> dict[str, str]:
    """A hex digest of each thing but the relation that prices and answers follow from."""
    terms, support, edits = stock.terms, stock.support, len(stock.support.edits)
    weights = {"weights": hashlib.sha256(stock.weights.tobytes()).hexdigest()}
    if isinstance(terms.support, Generated):
        domains = {a: stock.columns[a].domain for a in terms.protected}
        made = generated_digest(terms, seed, stock.rows, domains, [*support.counts.values(), edits])
        if not terms.points:
            weights = weights_digest(terms, support.counts, edits)
    else:
        made = _given_digest(stock)
    return terms_digests(terms) | {"support set": made} | weights


def _given_digest(stock: Stock) -> str:
    digest = hashlib.sha256()
    for attribute, cells in stock.support.cells.items():
        digest.update(attribute.encode() + text_digest(stock.columns[attribute].hierarchy.labels).encode())
        for array in (cells.first, cells.new, cells.divergence):
            digest.update(array.tobytes())
    edits = stock.support.edits
    digest.update(edits.neighbour.tobytes() + edits.row.tobytes() + edits.gone.tobytes())
    for attribute, changed in sorted(edits.values.items()):
        digest.update(attribute.encode() + changed.patch.tobytes())
        digest.update(text_digest([stock.columns[attribute].values[c] for c in changed.code.tolist()]).encode())
    return digest.hexdigest()

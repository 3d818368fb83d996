"""From an equivalence class to the request that is worth its price: whom to ask about, and at which level.

Paper: GenerateRequest, Alg. 5. One call quotes all cells of a class at all levels. Cells whose tuples look alike to the
provider have the same quotes, so only the last of them, which would win the tie, is asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pacas.client.buying.offers import Offered
from pacas.client.buying.question import AskedTuples, Choice, Unbought
from pacas.client.classes.current_relation import CurrentRelation
from pacas.client.classes.error_counts import ErrorCounts
from pacas.client.outcome.steps import TOO_EXPENSIVE
from pacas.core.histogram import NO_ROWS, Ints, Values
from pacas.engine.grouping import Keys, combine
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import MAX_MATCHES, REASONS, Ladders, Offer, Reason, Request, refused
from pacas.protocol.order_of_checks import is_too_many

Mask = NDArray[np.bool_]


def classes_of_one_tuple(counts: ErrorCounts, offers: Mapping[str, Offered]) -> NDArray[np.bool_]:
    """Per class: do all its tuples look alike to the provider, now and for the whole round? Most do."""
    alike = np.zeros(len(counts), dtype=np.bool_)
    for attribute, cells in counts.classes.cells.items():
        if len(cells) and attribute in offers and all(map(counts.is_steady, offers[attribute].offer.columns)):
            columns = [counts.current[column].before for column in offers[attribute].offer.columns]
            keys = combine([Keys(column.codes, len(column.values), False) for column in columns]).key[cells.rows]
            first = cells.offsets[:-1]
            same = np.minimum.reduceat(keys, first) == np.maximum.reduceat(keys, first)
            alike[counts.numbers(attribute)] = same
    return alike


def generate_request(
    rows: Ints,
    offered: Offered,
    allowance: int,
    current: CurrentRelation,
    marketplace: Marketplace,
    alike: Mapping[str, str | None] | None = None,
) -> Choice | Unbought:
    """The affordable request that is preferred, or why there is none; `alike` is the tuple of a class that has one."""
    if alike is not None:
        return _of_one_tuple(alike, current.row(int(rows[-1])), offered, allowance, marketplace)
    offer = offered.offer
    columns = [current[name].texts(rows) for name in offer.columns]
    last = dict(zip(zip(*columns, strict=True), rows.tolist(), strict=True))
    tuples = list(last) if len(last) in (1, len(rows)) else sorted(last, key=last.__getitem__)
    by_column = dict(zip(offer.columns, map(list, zip(*tuples, strict=True)), strict=True))
    ladders = marketplace.quote_batch(offer.attribute, by_column)
    found = choose(ladders, allowance, offered.levels)
    quoted = AskedTuples(offer.attribute, by_column, ladders)
    if found is None:
        return unbought(ladders.prices, offered)._replace(quoted=quoted)
    at, level, price = found
    request = Request(dict(zip(offer.columns, tuples[at], strict=True)), offer.attribute, level)
    others = _not_found(ladders, offer) if offer.is_sealed else _unlike(ladders, at)
    differing = current.rows(_rows_of(others, rows, tuples, columns))
    return Choice(request, current.row(last[tuples[at]]), price, differing, quoted)


def _of_one_tuple(
    values: Mapping[str, str | None], row: int, offered: Offered, allowance: int, marketplace: Marketplace
) -> Choice | Unbought:
    """The affordable request that is preferred where all rows look alike to the provider, and one stands for all."""
    offer = offered.offer
    by_column = {name: [value] for name, value in values.items()}
    ladders = marketplace.quote_batch(offer.attribute, by_column)
    found = choose(ladders, allowance, offered.levels)
    quoted = AskedTuples(offer.attribute, by_column, ladders)
    if found is None:
        return unbought(ladders.prices, offered)._replace(quoted=quoted)
    _, level, price = found
    return Choice(Request(values, offer.attribute, level), row, price, quoted=quoted)


def _rows_of(others: Mask, rows: Ints, tuples: Sequence[Values], columns: Sequence[Sequence[str | None]]) -> Ints:
    """The rows that have some of the tuples."""
    if not others.any():
        return NO_ROWS
    if len(tuples) == len(rows):
        return np.compress(others, rows)
    unlike = {values for values, other in zip(tuples, others.tolist(), strict=True) if other}
    return np.compress([values in unlike for values in zip(*columns, strict=True)], rows)


def _unlike(ladders: Ladders, at: int) -> Mask:
    """The tuples with other quotes than the one chosen. All cells of a class should describe one provider's value."""
    return np.asarray((~_alike(ladders.prices, ladders.prices[at])).any(axis=1))


def _not_found(ladders: Ladders, offer: Offer) -> Mask:
    """The tuples that find nobody, or several: all that sealed quotes tell beside who is kept back, as some must be.

    Whoever is found is sold at the root; but for people of a registry, of whom that would say that they are there.
    """
    at_root = ladders.prices[:, -1]
    return np.asarray(at_root == refused(Reason.NO_MATCH) if offer.may_be_absent else at_root < 0)


def _alike(prices: Ints, price: Ints) -> Mask:
    """Whether quotes are as good as equal: one refusal, or nearly one price.

    A neighbour weighs at least 100 nanocredits and rounding moves that by one: up to one in a hundred means nothing.
    """
    near = np.abs(prices - price) * 100 <= np.minimum(prices, price)
    alike: Mask = (prices == price) | near
    return alike


def choose(ladders: Ladders, allowance: int, levels: Sequence[int]) -> tuple[int, int, int] | None:
    """(which tuple, level, price): the first level with an affordable quote, the lowest price there, the last at it.

    As the level is preferred to the price, this is the choice of Alg. 5, which looks for each cell's own level first.
    """
    prices = ladders.prices.tolist()
    for level in levels:
        at, lowest = -1, allowance
        for i, ladder in enumerate(prices):
            if 0 <= ladder[level] <= lowest:
                at, lowest = i, ladder[level]
        if at >= 0:
            return at, level, lowest
    return None


def unbought(prices: Ints, offered: Offered) -> Unbought:
    """Why none of some tuples' quotes was taken: the lowest price, or of several reasons the one nearest to a sale."""
    quotes = prices[:, offered.levels]
    if len(priced := quotes[quotes >= 0]):
        return Unbought(TOO_EXPENSIVE, int(priced.min()))
    reason = REASONS[-1 - int(quotes.min())]
    ambiguous = prices[(quotes == refused(Reason.AMBIGUOUS)).any(axis=1)]
    if reason is Reason.AMBIGUOUS and all(is_too_many(ladder, offered.offer) for ladder in ambiguous.tolist()):
        return Unbought(MAX_MATCHES)
    return Unbought(reason.value)

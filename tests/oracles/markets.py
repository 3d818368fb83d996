"""Marketplaces for tests: a literal provider behind the client's seam, and one whose prices are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from oracles import pricing, safe_clean
from oracles.tree import Tree
from pacas.core.hierarchy import Hierarchy
from pacas.errors import KeyReusedError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Reason, Refusal, Request, refused


class LiteralMarketplace:
    """A provider of the oracles as one buyer sees it; satisfies `Marketplace`."""

    def __init__(self, provider: safe_clean.Market, offers: Mapping[str, Offer], buyer: str = "ann") -> None:
        self.provider, self.offers, self.buyer = provider, offers, buyer
        self.keys: dict[str, tuple[Request, Answer]] = {}
        self.batches: list[tuple[str, int]] = []
        """(attribute, how many tuples) of each call of quote_batch."""

    def catalogue(self) -> Mapping[str, Offer]:
        return self.offers

    def quote(self, request: Request) -> Quote | Refusal:
        quoted = self.provider.quote(_plain(request), self.buyer)
        return Refusal(Reason(quoted)) if isinstance(quoted, str) else Quote(quoted)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        columns = {name: list(values) for name, values in tuples.items()}
        assert tuple(columns) == self.offers[attribute].columns
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        self.batches.append((attribute, len(rows)))
        levels = range(self.offers[attribute].hierarchy.height + 1)
        quotes = [
            [self.provider.quote(pricing.Request(r, attribute, level), self.buyer) for level in levels] for r in rows
        ]
        prices = [[refused(Reason(q)) if isinstance(q, str) else q for q in ladder] for ladder in quotes]
        return Ladders(np.array(prices, dtype=np.int64).reshape(len(rows), len(levels)))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        if key in self.keys:
            asked, answer = self.keys[key]
            if asked != request:
                raise KeyReusedError.at(0)
            return answer
        paid = self.provider.buy(_plain(request), self.buyer, ceiling)
        if isinstance(paid, str):
            return Refusal(Reason(paid))
        answer = Answer(paid.answer, request.level, paid.price)
        self.keys[key] = request, answer
        return answer


def _plain(request: Request) -> pricing.Request:
    return pricing.Request(request.tuple, request.attribute, request.level)


def literal_offers(provider: pricing.LiteralProvider) -> dict[str, Offer]:
    """What a literal provider sells. A column without a tree has that of its values."""
    offers = {}
    for attribute, match in provider.matches.items():
        columns = tuple(dict.fromkeys(clause.client for clause in match))
        offers[attribute] = Offer(attribute, columns, _hierarchy(published_tree(provider, attribute)))
    return offers


def published_tree(provider: pricing.LiteralProvider, attribute: str) -> Tree:
    if attribute in provider.trees:
        return provider.trees[attribute]
    return Tree([[v, "*"] for v in sorted({str(row[attribute]) for row in provider.rows})])


def _hierarchy(tree: Tree) -> Hierarchy:
    return Hierarchy.from_rows(tree.rows, numeric=tree.numeric)


class DrawnMarket:
    """Prices, refusals and values that follow from a seed, the question, and how often it was bought.

    Prices are few, so that there are ties; a quote may be refused at the counter, or have become cheaper.
    """

    def __init__(self, seed: int, trees: Mapping[str, Tree], *, refusals: float = 0.2) -> None:
        self.seed, self.trees, self.refusals = seed, trees, refusals
        self.sold: dict[Any, int] = {}

    def _draw(self, what: pricing.Request, salt: str, *, history: bool = True) -> Random:
        tuple_ = tuple(what.values.items())
        times = self.sold.get((tuple_, what.attribute), 0) if history else 0
        return Random(repr((self.seed, salt, tuple_, what.attribute, what.level, times)))

    def quote(self, what: pricing.Request, buyer: str) -> int | str:
        random = self._draw(what, "quote")
        if random.random() < self.refusals:
            return random.choice(["no_match", "ambiguous", "unsafe", "refused"])
        return random.choice([0, 1, 5, 10, 10, 20, 40, 10**9])

    def buy(self, what: pricing.Request, buyer: str, ceiling: int | None = None) -> pricing.Purchase | str:
        random = self._draw(what, "pay")
        if random.random() < self.refusals / 4:
            return random.choice(["unsafe", "credit"])
        price = self.quote(what, buyer)
        if isinstance(price, str):
            return price
        price = price // random.choice([1, 1, 1, 2])
        if ceiling is not None and price > ceiling:
            return "ceiling"
        key = (tuple(what.values.items()), what.attribute)
        self.sold[key] = self.sold.get(key, 0) + 1
        tree = self.trees[what.attribute]
        pool = sorted(tree.base(tree.root)) or ["a"]
        ground = self._draw(pricing.Request(what.values, what.attribute, 0), "value", history=False).choice(pool)
        return pricing.Purchase(price, tree.generalize(ground, what.level))

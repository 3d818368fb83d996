"""Stock: what is for sale, by which columns it is found, its levels and prices, and its hierarchies to unfold.

A hierarchy is shown as far as it is published: clients see the same. One that is nothing but the data's own values is
not, here or there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from starlette.responses import Response
from starlette.routing import Route

from pacas.console.board import Board
from pacas.console.visits import Visit, Visits
from pacas.core.hierarchy import Hierarchy
from pacas.core.money import rounded_text
from pacas.errors import InputError
from pacas.protocol.messages import Offer
from pacas.provider.ledger.chain import Total

CHILDREN = 100
"""Nodes of a tree that are unfolded at once."""


class Node(NamedTuple):
    """A node of a hierarchy: its number, what it is called, and how many are right below it."""

    code: int
    label: str
    children: int


class LevelLine(NamedTuple):
    """One level of an attribute: how many values it has, what it costs, and what was sold there."""

    level: int
    values: int | None
    price: str
    sold: int
    mean: str


class Attribute(NamedTuple):
    """What is for sale."""

    name: str
    columns: tuple[str, ...]
    match: str
    levels: list[LevelLine]
    keys: int | None
    """Keys of its price list, if it has one."""
    root: Node | None
    """Of its hierarchy, if that is published."""


def routes(board: Board, visits: Visits) -> list[Route]:
    provider = board.service.provider
    offers = list(provider.catalogue().values())
    published = provider.shop.terms.hierarchies

    async def stock(visit: Visit) -> Response:
        summed = await board.ask(board.sales.now)
        sold = summed.by(lambda key: (key[2], key[3]))
        shown = [_attribute(board, offer, sold) for offer in offers]
        shop = provider.shop
        return board.page(
            visit,
            "stock.html",
            attributes=shown,
            rows=shop.rows,
            total=shop.total,
            neighbours=shop.neighbours,
            is_sealed=shop.terms.sealing is not None,
            dependencies=[str(fd) for fd in provider.dependencies()],
        )

    async def tree(visit: Visit) -> Response:
        number, node, start = (visit.number(name) for name in ("attribute", "node", "start"))
        hierarchy = published.get(offers[number].attribute) if 0 <= number < len(offers) else None
        if hierarchy is None or not 0 <= node < len(hierarchy):
            raise InputError("there is no such node; load the page again")
        codes = np.flatnonzero((hierarchy.parent == node) & (np.arange(len(hierarchy)) != node))
        return board.part(
            visit,
            "tree.html",
            attribute=number,
            node=node,
            nodes=_nodes(hierarchy, codes[max(0, start) :][:CHILDREN]),
            left=max(0, len(codes) - start - CHILDREN),
            following=start + CHILDREN,
        )

    return [visits.get("/stock", stock), visits.get("/stock/tree", tree)]


def _nodes(hierarchy: Hierarchy, codes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Node]:
    parent = hierarchy.parent
    below = np.bincount(parent[parent >= 0], minlength=len(hierarchy))
    below[hierarchy.root] -= int(parent[hierarchy.root] == hierarchy.root)
    return [Node(code, str(hierarchy.label(code)), int(below[code])) for code in codes.tolist()]


def _attribute(board: Board, offer: Offer, sold: dict[tuple[str, int], Total]) -> Attribute:
    terms = board.service.provider.shop.terms
    own = terms.hierarchies.get(offer.attribute)
    prices = _prices(offer)
    levels = []
    for level in range(offer.hierarchy.height + 1):
        total = sold.get((offer.attribute, level), Total())
        mean = rounded_text(total.spent // total.purchases) if total.purchases else "–"
        values = None if own is None else len(own.at_level(level))
        levels.append(LevelLine(level, values, prices.get(level, "by tuple"), total.purchases, mean))
    return Attribute(
        offer.attribute,
        offer.columns,
        str(terms.match[offer.attribute]),
        levels,
        offer.prices.keys if offer.prices is not None and offer.prices.has_list else None,
        None if own is None else _nodes(own, np.array([own.root]))[0],
    )


def _prices(offer: Offer) -> dict[int, str]:
    """By level what keys, or rows, cost who has bought nothing: one price, or from the lowest to the highest."""
    found = {}
    for level in range(offer.hierarchy.height + 1):
        if offer.prices is not None:
            told = sorted({ladder.prices[level] for ladder in offer.prices.ladders if level >= ladder.floor})
        elif offer.bounds is not None:
            told = list(offer.bounds[level]) if level >= offer.floor else []
        else:
            return {}
        ends = list(dict.fromkeys(rounded_text(price) for price in told[:1] + told[-1:]))
        found[level] = " to ".join(ends) or "not sold"
    return found

"""From a relation and its terms to a sealed shop: the public view first, from the public columns alone."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from pacas.core.hierarchy import canonical_number
from pacas.core.money import CREDIT
from pacas.engine.contract import Engine, Source
from pacas.errors import InputError, NeedsMemoryError, SchemaError
from pacas.protocol.messages import ABSENT
from pacas.provider.quoter.declared import Sealing, components_of, public_left_sides
from pacas.provider.quoter.index_part import IndexPart
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.public_view import PublicView
from pacas.provider.quoter.quoters import HeldQuoter
from pacas.provider.quoter_on_engine.quoters import LookedUpQuoters
from pacas.provider.sealed.earlier_sales import earlier_requests, sold_before_digest
from pacas.provider.sealed.fetched_cells import fetched_cells
from pacas.provider.sealed.held_cells import held_cells
from pacas.provider.sealed.shop import SealedShop
from pacas.provider.shop.contract import BYTES_OF_A_CELL, FEW, Tell
from pacas.provider.terms import Terms


def open_sealed(
    engine: Engine[Any], source: Source, terms: Terms, sealing: Sealing, state: Lock, tell: Tell
) -> SealedShop:
    """Make everything ready to sell from a relation at sealed quotes: in memory, if there is room, or on the engine."""
    tell("reading the public columns")
    names = public_columns(terms, sealing)
    table = engine.open(sealing.registry or source, names)
    _check_left_sides(engine, table, terms, sealing)
    bought = earlier_requests(sealing.sold_before, terms)
    digests = {} if sealing.registry is None else {"registry": engine.digest(sealing.registry)}
    digests |= sold_before_digest(bought)
    bytes_of_a_row = BYTES_OF_A_CELL * (len(names) + len(terms.protected))
    if engine.holdable_bytes < sys.maxsize and len(table) * bytes_of_a_row > engine.holdable_bytes:
        try:
            view = public_view(terms, sealing, IndexPart.nothing(names, len(table)))
            looked_up = LookedUpQuoters(engine, table, view, bought)
            tell("looking at what is sold")
            fetched = fetched_cells(engine, source, terms, view, table if sealing.registry else None)
            return SealedShop(looked_up, fetched, terms, digests, state)
        except NeedsMemoryError:
            if len(table) > FEW:
                raise
    view = public_view(terms, sealing, PublicIndex(engine.columns(table, names)))
    held = HeldQuoter(view, bought)
    tell("reading what is sold")
    cells = held_cells(engine, source, terms, held.quoter, has_registry=sealing.registry is not None)
    return SealedShop(held, cells, terms, digests, state)


def _check_left_sides(engine: Engine[Any], table: Any, terms: Terms, sealing: Sealing) -> None:
    """Public columns on the left of a dependency tell rows apart by their texts: a value has one, and none is null."""
    for fd in (one.fd for one in sealing.dependencies):
        for column in (a for a in fd.lhs if a not in terms.protected):
            tree = terms.hierarchies.get(column)
            values = engine.histogram(table, [column], {}).column(column)
            if None in values:
                raise InputError(f"dependency {fd}: some rows have no {column}; fill it, or leave the dependency out")
            if tree is not None and tree.numeric and len({canonical_number(str(v)) for v in values}) < len(values):
                raise InputError(f"dependency {fd}: {column} has numbers in two spellings; write each in one way")


def public_columns(terms: Terms, sealing: Sealing) -> list[str]:
    """The columns of the index: those that are matched by, in X, or left in a dependency. None of them is private."""
    public = [*terms.found_by, *(a for policy in terms.policies for a in policy.x)]
    for one in sealing.dependencies:
        one.check(terms.protected)
        public += [a for a in one.fd.lhs if a not in terms.protected]
    if both := [a for a in terms.protected if a in public]:
        raise InputError(
            f"{both[0]!r} is sold or protected, and public as well: matched by, in X, or left in a dependency; take "
            'it out there, or say quotes = "paper"'
        )
    names = sorted(set(public))
    if sealing.registry is not None:
        SchemaError.check_there(names, sealing.registry.columns, sealing.registry.name)
    return names


def public_view(terms: Terms, sealing: Sealing, index: PublicIndex) -> PublicView:
    """pub(R): no private column is opened."""
    if bare := [a for a in terms.protected if a not in terms.hierarchies]:
        raise InputError(
            f"{bare[0]!r} has no hierarchy, and its values would tell which there are; give it one in a file, or say "
            'quotes = "paper"'
        )
    terms.check_can_hold(terms.hierarchies)
    components = components_of(terms.protected, terms.hierarchies, sealing.dependencies, sealing.prior)
    left = public_left_sides(sealing.dependencies, components)
    if sealing.registry is not None:
        _check_registry(terms, left)
        present, all_of_them = sealing.share.as_integer_ratio()
        components = [one.or_absent(present, all_of_them - present) for one in components]
    return PublicView(
        terms.hierarchies,
        components,
        terms.match,
        terms.policies,
        CREDIT if terms.total is None else terms.total,
        index,
        left,
        terms.sensitivity,
        sealing.spread,
        sealing.reserve,
        max_matches=terms.max_matches,
        floor=terms.floor,
    )


def _check_registry(terms: Terms, left: Mapping[str, Sequence[str]]) -> None:
    """What a registry cannot go with."""
    if left:
        determined = next(iter(left))
        raise InputError(
            f"{', '.join(left[determined])} -> {determined}: one answer for several people of a registry could not say "
            "who is absent; leave the dependency out, or the registry"
        )
    for number, policy in enumerate(terms.policies, start=1):
        if policy.scope == "row":
            raise InputError(f'policy {number}: with a registry, scope = "row" would sell nothing; leave one out')
    if mistaken := [a for a in terms.protected if ABSENT in terms.hierarchies[a].labels]:
        raise InputError(f"{mistaken[0]!r} has a value {ABSENT!r}, which is what a registry answers; rename it")

"""From a relation and its terms to a sealed shop: the public view first, from the public columns alone."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np

from pacas.core.component import Component
from pacas.core.money import CREDIT
from pacas.engine.contract import Engine, Source
from pacas.errors import InputError
from pacas.provider.column import Column
from pacas.provider.quoter.declared import Sealing, components_of, public_left_sides
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.public_view import PublicView
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.sealed.shop import SealedShop
from pacas.provider.shop.contract import Tell
from pacas.provider.terms import Terms


def open_sealed(
    engine: Engine[Any], source: Source, terms: Terms, sealing: Sealing, state: Lock, tell: Tell
) -> SealedShop:
    """Make everything ready to sell from a relation at sealed quotes."""
    tell("reading the public columns")
    quoter = Quoter(public_view(engine, source, terms, sealing))
    tell("reading what is sold")
    table = engine.open(source, list(terms.protected))
    coded = engine.columns(table, list(terms.protected))
    private = {a: Column(a, column, terms.hierarchies[a]) for a, column in coded.items()}
    terms.check_values(private)
    _check_dependencies(quoter, private)
    return SealedShop(quoter, private, terms, state)


def public_view(engine: Engine[Any], source: Source, terms: Terms, sealing: Sealing) -> PublicView:
    """pub(R): no private column is opened."""
    public = [*terms.found_by, *(a for policy in terms.policies for a in policy.x)]
    for one in sealing.dependencies:
        one.check(terms.protected)
        public += [a for a in one.fd.lhs if one.dictionary is None]
    if both := [a for a in terms.protected if a in public]:
        raise InputError(
            f"{both[0]!r} is sold or protected, and public as well: matched by, in X, or left in a dependency; take "
            'it out there, or say quotes = "paper"'
        )
    if bare := [a for a in terms.protected if a not in terms.hierarchies]:
        raise InputError(
            f"{bare[0]!r} has no hierarchy, and its values would tell which there are; give it one in a file, or say "
            'quotes = "paper"'
        )
    components = components_of(terms.protected, terms.hierarchies, sealing.dependencies, sealing.prior)
    names = sorted(set(public))
    index = PublicIndex(engine.columns(engine.open(source, names), names))
    return PublicView(
        terms.hierarchies,
        components,
        terms.match,
        terms.policies,
        CREDIT if terms.total is None else terms.total,
        index,
        public_left_sides(sealing.dependencies, components),
        terms.sensitivity,
        sealing.spread,
        sealing.reserve,
        max_matches=terms.max_matches,
    )


def _check_dependencies(quoter: Quoter, private: Mapping[str, Column]) -> None:
    """What is declared is true of the relation: answers must not tell more than the public tables count."""
    for priced in quoter.components:
        component = priced.component
        cells = [private[a].cells for a in component.attributes]
        named = ", ".join(component.attributes)
        if len(cells) > 1 and (strange := _not_among(component, cells)):
            raise InputError(f"{strange:,} rows have values of {named} that no dictionary lists together; complete it")
        for attribute, column in zip(component.attributes, cells, strict=True):
            first = column[priced.units.rows.members[priced.units.rows.offsets[:-1]]]
            if wrong := int((first[priced.units.of_row] != column).sum()):
                left = ", ".join(quoter.view.left[attribute])
                raise InputError(f"{wrong:,} rows do not have the one {attribute} that {left} is declared to determine")


def _not_among(component: Component, cells: list[Any]) -> int:
    """How many rows hold a tuple that is not possible."""
    listed = {tuple(int(path[0, i]) for path in component.paths) for i in range(len(component))}
    found, count = np.unique(np.stack(cells), axis=1, return_counts=True)
    return sum(int(n) for values, n in zip(found.T.tolist(), count, strict=True) if tuple(values) not in listed)

"""A prior from the relation itself: how often values occur, with noise that hides anybody's (differential privacy).

Counts are published once per ledger: the noise follows from the ledger's secret, so that no restart draws another. One
person's value, exchanged, moves two counts of an attribute by one; the attributes share ε.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pacas.core.sealed.noise import discrete_laplace, secret_numbers
from pacas.engine.contract import Engine, Source
from pacas.errors import InputError
from pacas.provider.quoter.declared import Sealing
from pacas.provider.terms import Terms

MOVED = 2
"""How much counts differ, in sum, where one unit has another value."""

LEAST, MOST = 0.000001, 1000.0
"""What ε may be: with less the noise would drown any table; with more there would be none."""


def checked_epsilon(epsilon: Fraction | Decimal) -> Fraction:
    """How much a prior may tell, as an exact number."""
    if not LEAST <= epsilon <= MOST:
        raise InputError(f"dp_epsilon must be a number from {LEAST:f} to {MOST:,.0f}, such as 0.1, not {epsilon}")
    return Fraction(epsilon)


def with_prior(engine: Engine[Any], source: Source, terms: Terms, sealing: Sealing, secret: bytes) -> Sealing:
    """How quotes are sealed, its prior drawn if it is to follow from the relation; what dictionaries link has none."""
    if sealing.dp_epsilon is None:
        return sealing
    linked = {a for one in sealing.dependencies if one.dictionary is not None for a in one.fd.attributes}
    left = {one.fd.rhs: one.fd.lhs for one in sealing.dependencies if one.dictionary is None}
    alone = [a for a in terms.protected if a not in linked and a in terms.hierarchies]
    prior = {}
    for attribute in alone:
        tied_by = [*left.get(attribute, ())]
        below = secret_numbers(secret, f"prior {attribute}")
        counts = _counts(engine, source, terms, attribute, tied_by)
        scale = Fraction(MOVED * len(alone)) / checked_epsilon(sealing.dp_epsilon)
        prior[attribute] = {value: count + discrete_laplace(scale, below) for value, count in counts.items()}
    return replace(sealing, prior=prior, dp_epsilon=None)


def _counts(engine: Engine[Any], source: Source, terms: Terms, attribute: str, tied_by: list[str]) -> dict[str, int]:
    """How many units have each value of the domain: rows or, where columns determine the attribute, their values."""
    hierarchy = terms.hierarchies[attribute]
    counts = dict.fromkeys(hierarchy.ground_labels, 0)
    names = [*tied_by, attribute]
    found = engine.histogram(engine.open(source, names), names, {attribute: hierarchy})
    for (*_, value), rows in zip(found.values, found.counts.tolist(), strict=True):
        if value in hierarchy and (label := hierarchy.label(hierarchy.code(value))) in counts:
            counts[str(label)] += 1 if tied_by else rows
    return counts

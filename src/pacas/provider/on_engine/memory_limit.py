"""Whether there is room for a relation in memory, and what cannot be sold where there is none."""

from __future__ import annotations

import sys
from typing import Any

from pacas.engine.contract import Engine, Source
from pacas.errors import InputError
from pacas.provider.shop.contract import BYTES_OF_A_CELL, FEW
from pacas.provider.support.support_set import ONLY_UPDATES, GivenSupport
from pacas.provider.terms import Terms

BYTES_OF_A_NEIGHBOUR = 12
"""What a support set takes in memory."""


def too_large(engine: Engine[Any], source: Source, terms: Terms) -> Any | None:
    """The relation, opened, if a caller has no room for it in memory."""
    if engine.holdable_bytes >= sys.maxsize:
        return None
    table = engine.open(source, list(terms.attributes))
    per_cell = 1 if isinstance(terms.support, GivenSupport) else terms.support.per_cell
    of_a_row = BYTES_OF_A_CELL * len(terms.attributes) + BYTES_OF_A_NEIGHBOUR * per_cell * len(terms.protected)
    fits = len(table) * of_a_row <= engine.holdable_bytes or (len(table) <= FEW and _needs_memory(terms) is not None)
    return None if fits else table


def _needs_memory(terms: Terms) -> str | None:
    """What is wanted of a relation, if anything, that only one in memory can be sold with."""
    support = terms.support
    if isinstance(support, GivenSupport):
        return "a support set that is given neighbour by neighbour"
    if support.size is not None:
        return "a support set of a given size (give per_cell)"
    if support.mix != ONLY_UPDATES:
        return "a mix of other neighbours than updates"
    if terms.points:
        return "price points"
    involved = [a for a in terms.protected if a not in terms.simple]
    return f"the protected {involved[0]!r} in X or in a match" if involved else None


def check_sellable(terms: Terms) -> None:
    """One clear line, if a relation on the engine cannot be sold from on these terms."""
    problem = _needs_memory(terms)
    if problem is not None:
        raise InputError(
            f"the relation is larger than the memory that there is for it, and stays on the engine, where {problem} "
            "cannot be sold from; leave that out, or sell with DuckDB and more memory"
        )

"""Whether there is room for a relation in memory, and what cannot be sold where there is none."""

from __future__ import annotations

import sys
from typing import Any

from pacas.engine.contract import Engine, Source
from pacas.errors import InputError
from pacas.provider.neighbour import GivenSupport
from pacas.provider.support import ONLY_UPDATES
from pacas.provider.terms import Terms

BYTES_OF_A_CELL = 8
BYTES_OF_A_NEIGHBOUR = 12
"""What a relation takes in memory."""


def too_large(engine: Engine[Any], source: Source, terms: Terms) -> Any | None:
    """The relation, opened, if a caller has no room for it in memory."""
    if engine.room >= sys.maxsize:
        return None
    table = engine.open(source, list(terms.attributes))
    per_cell = 1 if isinstance(terms.support, GivenSupport) else terms.support.per_cell
    of_a_row = BYTES_OF_A_CELL * len(terms.attributes) + BYTES_OF_A_NEIGHBOUR * per_cell * len(terms.protected)
    return table if len(table) * of_a_row > engine.room else None


def check_sellable(terms: Terms) -> None:
    """One clear line, if a relation on the engine cannot be sold from on these terms."""
    support, problem = terms.support, None
    if isinstance(support, GivenSupport):
        problem = "a support set that is given neighbour by neighbour"
    elif support.size is not None:
        problem = "a support set of a given size (give per_cell)"
    elif support.mix != ONLY_UPDATES:
        problem = "a mix of other neighbours than updates"
    elif terms.points:
        problem = "price points"
    elif involved := [a for a in terms.protected if a not in terms.simple]:
        problem = f"the protected {involved[0]!r} in X or in a match"
    if problem is not None:
        raise InputError(
            f"the relation is larger than the memory that there is for it, and stays on the engine, where {problem} "
            "cannot be sold from; leave that out, or sell with DuckDB and more memory"
        )

"""One row of each kind of an index that stays on the engine: kinds have prices and safe levels of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pacas.core.histogram import Histogram
from pacas.engine.codes import coded_texts
from pacas.engine.contract import Engine
from pacas.errors import NeedsMemoryError
from pacas.provider.quoter.index_part import IndexPart
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_view import PublicView


def one_row_of_each_kind(engine: Engine[Any], table: Any, view: PublicView) -> IndexPart:
    """A row for each combination of the public values by which dictionaries have cases; all else of it is null."""
    given = sorted({name for linked in view.components for name in linked.given})
    columns: dict[str, list[str | None]] = {name: [None] for name in view.index.columns}
    if given:
        found = engine.histogram(table, given, {})
        for linked in view.components:
            _check_cases(linked, found)
            _check_left(linked, view)
        columns = {name: [None] * len(found.values) for name in columns}
        columns |= {name: [line[place] for line in found.values] for place, name in enumerate(given)}
    texts = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    numbers = -np.arange(1, len(next(iter(columns.values()))) + 1)
    return IndexPart({name: coded_texts(column) for name, column in texts.items()}, numbers, len(table))


def _check_cases(linked: LinkedAttributes, found: Histogram) -> None:
    """An error if rows have values that the dictionary does not have."""
    places = [found.attributes.index(name) for name in linked.given]
    known = set(linked.values)
    occurring = zip(found.values, found.counts.tolist(), strict=True)
    linked.check_known(sum(n for line, n in occurring if tuple(line[place] for place in places) not in known))


def _check_left(linked: LinkedAttributes, view: PublicView) -> None:
    """An error if the rows of a unit may be of several cases."""
    left = view.left.get(linked.attributes[0])
    if left is not None and not set(linked.given) <= set(left):
        tie, given = ", ".join(left), ", ".join(linked.given)
        raise NeedsMemoryError(
            f"{tie} ties rows that may differ in {given}, by which a dictionary has other tuples; add {given} to it"
        )

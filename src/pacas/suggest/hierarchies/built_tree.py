"""What a builder makes of a column whose values may have to be read first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pacas.core.builders import Contingency, build
from pacas.core.builders.labelled_values import OTHER, labelled_tree
from pacas.core.hierarchy import Hierarchy
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.hierarchies.suggested import BuilderOptions

Reader = Callable[[str], str | None]
"""A value as a builder takes it; None: it is none of its kind."""


class DraftHierarchy(NamedTuple):
    """A hierarchy, where its levels come from, and what a builder is told to make just this one, if one can."""

    how: str
    hierarchy: Hierarchy
    options: BuilderOptions | None = None
    alternative: BuilderOptions | None = None
    is_ordered: bool = False


def built(column: ProfiledColumn, read: Reader, how: str, method: str, **options: Any) -> DraftHierarchy:
    """The builder's own hierarchy if it can read every value; else one of all values, by what was read of each.

    Values that cannot be read are `other` at every level.
    """
    texts = {value: read(value) for value in column.values}
    known = sorted({text for text in texts.values() if text is not None})
    made = build(method, Contingency(known, [1] * len(known)), **options)
    if all(value == text for value, text in texts.items()):
        return DraftHierarchy(how, made, {"build": method, **options}, is_ordered=True)
    in_order = sorted((made.code(text), value) for value, text in texts.items() if text is not None)
    labels = {value: [str(made.label(above)) for above in made.ancestors[1:-1, code]] for code, value in in_order}
    others = {value: (OTHER,) * (made.height - 1) for value, text in texts.items() if text is None}
    return DraftHierarchy(how, labelled_tree({**labels, **others}), is_ordered=True)

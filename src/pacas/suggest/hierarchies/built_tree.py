"""What a builder makes of a column whose values may have to be read first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pacas.core.builders import Contingency, build
from pacas.core.hierarchy import Hierarchy
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.hierarchies.labelled_values import OTHER, labelled_tree
from pacas.suggest.hierarchies.suggested import BuilderOptions

Reader = Callable[[str], str | None]
"""A value as a builder takes it; None: it is none of its kind."""


class DraftHierarchy(NamedTuple):
    """A hierarchy, where its levels come from, and what a builder is told to make just this one, if one can."""

    how: str
    hierarchy: Hierarchy
    options: BuilderOptions | None = None
    alternative: BuilderOptions | None = None


def built(column: ProfiledColumn, read: Reader, how: str, method: str, **options: Any) -> DraftHierarchy:
    """The builder's own hierarchy if it can read every value; else one of all values, by what was read of each.

    Values that cannot be read are `other` at every level.
    """
    texts = {value: read(value) for value in column.values}
    known = sorted({text for text in texts.values() if text is not None})
    made = build(method, Contingency(known, [1] * len(known)), **options)
    if all(value == text for value, text in texts.items()):
        return DraftHierarchy(how, made, {"build": method, **options})
    others = (OTHER,) * (made.height - 1)
    above = {text: made.ancestors[1:-1, made.code(text)].tolist() for text in known}
    labels = {
        value: others if text is None else [str(made.label(code)) for code in above[text]]
        for value, text in texts.items()
    }
    return DraftHierarchy(how, labelled_tree(labels))

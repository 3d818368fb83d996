"""From a label per value and level to a tree: one parent a label, and no label that means two things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pacas.core.hierarchy import ROOT, Hierarchy

OTHER = "other"
"""The label of values that could not be read."""

Labels = Sequence[str]
"""A value's labels from level 1 up, without the root."""


def labelled_tree(labels: Mapping[str, Labels]) -> Hierarchy:
    """The hierarchy of some values by their labels, which nest.

    A label that stands on two levels, or is a value as well, would be one node: above its first level it gets
    parentheses. Levels that tell nothing are left out: with one label, or as many as the level below.

    >>> tree = labelled_tree({"Albany": ["Albany", "NY"], "Troy": ["Rensselaer", "NY"], "Newark": ["Essex", "NJ"]})
    >>> list(tree.rows())[0], list(tree.rows())[2]
    (('Albany', 'NY', '*'), ('Newark', 'NJ', '*'))
    """
    values = list(labels)
    columns = [values]
    taken = {*values, root_of(values)}
    for level in zip(*labels.values(), strict=True):
        if 1 < len(set(level)) < len(set(columns[-1])):
            named = {label: _free(label, taken) for label in dict.fromkeys(level)}
            taken |= set(named.values())
            columns.append([named[label] for label in level])
    columns.append([root_of(values)] * len(values))
    return Hierarchy.from_rows(zip(*columns, strict=True))


def root_of(values: Sequence[str]) -> str:
    """A label for the root that no value has."""
    return _free(ROOT, set(values))


def _free(label: str, taken: set[str]) -> str:
    while label in taken:
        label = f"({label})"
    return label

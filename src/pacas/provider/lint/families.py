"""Hierarchies whose families hide too little: fewer than k protected values, or one value alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.core.words import counted
from pacas.engine.grouping import Ints
from pacas.provider.lint.finding import ProviderFinding, Severity, balanced
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.terms import Terms


def small_families(own: OwnRows, terms: Terms, files: Mapping[str, str]) -> Iterator[ProviderFinding]:
    """Labels above a protected level that stand for fewer than k values of it."""
    for number, policy in enumerate(terms.policies, start=1):
        for attribute, level in policy.y_levels.items() if len(policy.y) == 1 else ():
            tree = terms.hierarchies.get(attribute)
            if tree is None or attribute not in terms.match:
                continue
            small = _small(tree, range(level + 1, tree.height), level, policy.k)
            people = own.in_all(_people(own, attribute, small))
            if len(small) and (people or terms.sealing is not None):
                single = sum(_values_below(tree, level)[small] == 1)
                says = (
                    f"policy {number}: {counted(len(small), 'label')} of {attribute} above level {level} "
                    f"{'stands' if len(small) == 1 else 'stand'} for fewer than k = {policy.k} values"
                    + (f", {single:,} of them for one" if single else "")
                    + _what_follows(terms)
                )
                remedy = balanced(attribute, level, policy.k, files)
                yield ProviderFinding("small-families", "warning", attribute, people, says, remedy, own.is_sample)


def _what_follows(terms: Terms) -> str:
    if terms.sealing is None:
        return ": their refusals tell who is in them"
    return "; on their account people who are kept back are sold at higher levels only, whatever their value is"


def only_children(own: OwnRows, terms: Terms, files: Mapping[str, str]) -> Iterator[ProviderFinding]:
    """Labels that stand for one value alone, where no policy has been found short by them."""
    for attribute in terms.match:
        tree = terms.hierarchies.get(attribute)
        if tree is None:
            continue
        protected = [p.y_levels[attribute] for p in terms.policies if attribute in p.y and len(p.y) == 1]
        small = _small(tree, range(1, min(protected, default=tree.height - 1) + 1), 0, 2)
        people = own.in_all(_people(own, attribute, small))
        if people:
            tells = "; its price tells it from others" if terms.sealing is None else ""
            labels = counted(len(small), "label")
            says = f"{labels} of {attribute}, for one value each: who buys it knows the value{tells}"
            severity: Severity = "warning" if terms.sealing is None else "note"
            remedy = balanced(attribute, 0, 2, files)
            yield ProviderFinding("only-child", severity, attribute, people, says, remedy, own.is_sample)


def uneven_families(own: OwnRows, terms: Terms, files: Mapping[str, str]) -> Iterator[ProviderFinding]:
    """Levels on which one label stands for far more values than most others do: prices and refusals differ as much."""
    for attribute in terms.match:
        tree = terms.hierarchies.get(attribute)
        if tree is None:
            continue
        for level in range(1, tree.height):
            below = np.unique(tree.ancestors[level, tree.is_ground], return_counts=True)[1]
            usual = int(np.median(below))
            if len(below) > 2 and below.max() > UNEVEN * usual:
                says = (
                    f"level {level} of {attribute} has labels for {below.min():,} to {below.max():,} values, "
                    f"half of them for {usual:,} at most"
                )
                remedy = balanced(attribute, level - 1, usual, files)
                yield ProviderFinding("uneven", "note", attribute, own.of, says, remedy)
                break


UNEVEN = 5
"""A family so many times as large as most is told from them."""


def _small(tree: Hierarchy, levels: range, level: int, k: int) -> Ints:
    """The labels that stand on some levels, each once, and have fewer than k values of a level below them."""
    if not len(levels):
        return np.empty(0, dtype=np.int64)
    standing = np.unique(tree.ancestors[list(levels)][:, tree.is_ground])
    return standing[_values_below(tree, level)[standing] < k].astype(np.int64)


def _values_below(tree: Hierarchy, level: int) -> Ints:
    """Per node how many values of a level lie below it, itself included if it is one."""
    values: Codes = np.unique(tree.ancestors[level, tree.is_ground])
    above = tree.ancestors[level:, values].astype(np.int64) * len(values) + np.arange(len(values))
    return np.bincount(np.unique(above) // max(len(values), 1), minlength=len(tree))


def _people(own: OwnRows, attribute: str, labels: Ints) -> int:
    """How many rows have a value below one of some labels."""
    if not len(labels):
        return 0
    tree = own.hierarchy(attribute)
    is_small = np.zeros(len(tree), dtype=np.bool_)
    is_small[labels] = True
    below = np.flatnonzero(is_small[tree.ancestors[: tree.height]].any(axis=0))
    return int(np.isin(own.nodes(attribute), below).sum())

"""A dependency that somebody else names, with the evidence that a table has for it."""

from __future__ import annotations

from pacas.core.dependency import FunctionalDependency
from pacas.engine.grouping import combine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.evidence import PairCounts, classify, weigh
from pacas.suggest.dependencies.suggested import SuggestedDependency


def judge_dependency(table: CodedTable, fd: FunctionalDependency) -> SuggestedDependency | None:
    """What a table says of a dependency; None where no two rows with the same left side have a right side."""
    right = table[fd.rhs]
    groups = combine([table[name].keys for name in fd.lhs])
    classified = classify(PairCounts.of(groups.key, right.codes, max(len(right.values), 1)), right.counts)
    found = weigh(classified, table.rows)
    if found is None:
        return None
    return SuggestedDependency(
        fd, found.score, found.rows, found.groups, found.typo, found.scattered, found.blocks, found.agreeing_groups
    )

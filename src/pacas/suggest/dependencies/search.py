"""The search: columns are screened by what each determines, what passes is counted, what is counted is graded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pacas.core.dependency import FunctionalDependency
from pacas.engine.contract import Engine
from pacas.engine.grouping import Keys, combine
from pacas.engine.questions import Data
from pacas.suggest.coded_table import CodedTable, equal_columns
from pacas.suggest.dependencies.choosing import choose, ranked
from pacas.suggest.dependencies.evidence import Classified, DependencyEvidence, Floats, PairCounts, classify, weigh
from pacas.suggest.dependencies.examples import examples, shortened
from pacas.suggest.dependencies.grading import (
    LEAST_SUPPORT,
    PAIR,
    Grade,
    Thresholds,
    doubts,
    grade,
    inherited,
    thresholds_for,
)
from pacas.suggest.dependencies.misspelled import is_constant_but_for_errors, misspelled
from pacas.suggest.dependencies.pairs import find_pairs
from pacas.suggest.dependencies.screening import RowSample, RowSamples, rows_to_screen
from pacas.suggest.dependencies.suggested import SuggestedDependencies, SuggestedDependency
from pacas.suggest.kind import Kind

FLOOR = 0.35
"""The score by a sample from which on a dependency is counted."""

Tell = Callable[[str], None]
Left = tuple[int, ...]
"""A left side: the numbers of its columns."""


def suggest_dependencies(
    data: Data | CodedTable,
    *,
    pairs: bool = True,
    engine: Engine[Any] | None = None,
    progress: Tell | None = None,
) -> SuggestedDependencies:
    """The functional dependencies that a dirty table almost satisfies, best first, with their evidence.

    `data` is a table in memory (pandas, Polars, Arrow, DuckDB), `pacas.scan_relation(path)` for a file, or a table
    that was coded before. `pairs` says whether left sides of two attributes are looked at; they are always weak.
    """
    return _Search(CodedTable.from_data(data, engine), progress or (lambda _: None)).run(pairs)


class _Search:
    """One table being searched."""

    def __init__(self, table: CodedTable, tell: Tell) -> None:
        self._table, self._tell = table, tell
        telling = (column for column in table.columns.values() if not column.kind.tells_nothing)
        self._columns = [column for column in telling if not is_constant_but_for_errors(column)]
        self._misspelled = misspelled(self._columns)
        self._samples = RowSamples(self._columns, table.rows, self._misspelled)
        self._equal = equal_columns(self._columns)
        self._kept: dict[tuple[Left, bool], tuple[Classified, DependencyEvidence | None]] = {}
        """What was weighed of columns that have equal ones."""
        self._found: dict[tuple[Left, int], SuggestedDependency] = {}
        self._evidence: dict[tuple[Left, int], DependencyEvidence] = {}
        self._grades: dict[tuple[Left, int], Grade] = {}

    def run(self, pairs: bool) -> SuggestedDependencies:
        alone = self._singles()
        for at, kin in inherited(self._evidence, self._grades).items():
            self._grades[at] = Grade.STRONG
            self._found[at] = replace(self._found[at], because=f"its left side determines {kin} other columns")
        if pairs:
            self._pairs(alone)
        declared, redundant = choose(ranked(self._graded(Grade.STRONG)))
        keys = tuple(name for name, column in self._table.columns.items() if column.kind is Kind.KEY)
        return SuggestedDependencies(
            tuple(declared),
            tuple(redundant),
            tuple(ranked(self._graded(Grade.WEAK))),
            keys,
            self._table.rows,
            self._table.of,
        )

    def _graded(self, wanted: Grade) -> list[SuggestedDependency]:
        return [self._found[at] for at, graded in self._grades.items() if graded is wanted]

    def _singles(self) -> dict[int, Floats]:
        """Count what each column seems to determine; how each scores for all columns."""
        alone: dict[int, Floats] = {}
        most = rows_to_screen(len(self._columns))
        for left, column in enumerate(self._columns):
            self._tell(f"what does {column.name} determine? ({left + 1:,} of {len(self._columns):,} columns)")
            sample = self._samples.of(left, most)
            scores = sample.scores(sample.codes[left], LEAST_SUPPORT)
            if scores is None:
                continue
            alone[left] = scores
            for right in np.flatnonzero(scores >= FLOOR).tolist():
                if right != left:
                    self._count((left,), right, sample)
        return alone

    def _pairs(self, alone: dict[int, Floats]) -> None:
        strong = {(left[0], right) for (left, right), graded in self._grades.items() if graded is Grade.STRONG}
        for pair in find_pairs(self._columns, self._samples, alone, strong, self._tell):
            self._count(pair.left, pair.right, pair.sample)

    def _count(self, left: Left, right: int, sample: RowSample) -> None:
        """Count a dependency's evidence in the sample, and if it may be declared, in all rows."""
        counted, evidence = self._weighed(left, right, sample if len(sample.rows) < self._table.rows else None)
        if evidence is None:
            return
        if len(left) == 1 and len(sample.rows) < self._table.rows and self._grade(left, evidence) is Grade.STRONG:
            counted, evidence = self._weighed(left, right, None)
        if evidence is not None and self._grade(left, evidence):
            self._evidence[left, right] = evidence
            self._grades[left, right] = self._grade(left, evidence)
            self._found[left, right] = self._suggested(left, right, counted, evidence)

    def _grade(self, left: Left, evidence: DependencyEvidence) -> Grade:
        """Left sides of two attributes are weak at best."""
        graded = grade(evidence, self._thresholds(left, evidence))
        return min(graded, Grade.WEAK) if len(left) > 1 else graded

    def _thresholds(self, left: Left, evidence: DependencyEvidence) -> Thresholds:
        return PAIR if len(left) > 1 else thresholds_for(self._columns[left[0]].kind, evidence)

    def _weighed(
        self, left: Left, right: int, sample: RowSample | None
    ) -> tuple[Classified, DependencyEvidence | None]:
        """The exceptions of a dependency and what they come to, in a sample or in all rows; once for equal columns."""
        sides = [*left, right]
        at = tuple(self._equal.get(column, column) for column in sides), sample is None
        if at in self._kept:
            return self._kept[at]
        found = self._newly_weighed(left, right, sample)
        if any(column in self._equal for column in sides):
            self._kept[at] = found
        return found

    def _newly_weighed(
        self, left: Left, right: int, sample: RowSample | None
    ) -> tuple[Classified, DependencyEvidence | None]:
        groups, column = self._groups(left, sample), self._columns[right]
        value = column.codes if sample is None else sample.codes[right]
        counts = PairCounts.of(groups.key, value, len(column.values))
        counted = classify(counts, column.counts, self._misspelled.get(right))
        return counted, weigh(counted, len(value))

    def _groups(self, left: Left, sample: RowSample | None) -> Keys:
        keys = [self._columns[c].keys for c in left]
        if sample is not None:
            keys = [Keys(sample.codes[c], key.space, key.partial) for c, key in zip(left, keys, strict=True)]
        return combine(keys)

    def _suggested(
        self, left: Left, right: int, counted: Classified, evidence: DependencyEvidence
    ) -> SuggestedDependency:
        lefts = [self._columns[c] for c in left]
        is_weak = len(left) == 1 and self._grades[left, right] is Grade.WEAK
        return SuggestedDependency(
            FunctionalDependency(tuple(column.name for column in lefts), self._columns[right].name),
            score=evidence.score,
            rows=evidence.rows,
            groups=evidence.groups,
            typo=evidence.typo,
            scattered=evidence.scattered,
            blocks=evidence.blocks,
            agreeing_groups=evidence.agreeing_groups,
            placeholder=shortened(lefts[0].values[evidence.placeholder])
            if evidence.placeholder >= 0 and len(left) == 1
            else None,
            because=doubts(evidence, self._thresholds(left, evidence)) if is_weak else "",
            looked_at=evidence.looked_at,
            examples=examples(counted, lefts, self._columns[right]) if evidence.exceptions else (),
        )

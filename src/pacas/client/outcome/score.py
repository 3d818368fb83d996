"""How good a repair is, where somebody knows the truth: its distance from it, and the cells it got right.

Paper: §7.1 (repair error) and §7.2 (repair values by distance). Only cells that differ from the truth are measured one
by one, each pair of values once; the rest costs a comparison of columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, reduce
from itertools import zip_longest
from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table as RichTable

from pacas.client.outcome.summary import rich_table
from pacas.core.distance import SemanticDistance
from pacas.core.hierarchy import ROOT, Codes, Hierarchy
from pacas.core.histogram import Ints
from pacas.core.notebook import Lines, html_lines
from pacas.core.words import counted
from pacas.engine.contract import Engine, Hierarchies, Table
from pacas.engine.questions import Data, as_source, engine_for
from pacas.errors import InputError


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Cells whose true value is ground; those with a null or general truth are left out.

    A value is right if it is the true one. One above it says less, and is counted by itself (`general_correct`).
    """

    cells: int = 0
    wrong: int = 0
    """Not right in the dirty relation."""
    wrong_after: int = 0
    """Not right in the repaired one."""
    changed: int = 0
    """With another value than before."""
    correct: int = 0
    """Changed to the true value."""
    general_correct: int = 0
    """Changed to a value above the true one."""
    levels: tuple[int, ...] = ()
    """The changed ones by the level of the value written, from ground up."""
    quarters: tuple[int, ...] = (0, 0, 0, 0)
    """The changed ones by δ(written, true) / δ(root, true): up to ¼, ½, ¾, and beyond.

    Values above the true one fill the whole range; a wrong value can be further away than the root, and is in the last.
    """

    def __add__(self, other: CellCounts) -> CellCounts:
        return CellCounts(*(_sum(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))

    @property
    def precision(self) -> float | None:
        """The share of the changed cells that became right; None if nothing was changed."""
        return _ratio(self.correct, self.changed)

    @property
    def recall(self) -> float | None:
        """The share of the wrong cells that became right; None if nothing was wrong."""
        return _ratio(self.correct, self.wrong)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two."""
        return _ratio(2 * self.correct, self.changed + self.wrong)

    @property
    def level_shares(self) -> list[float]:
        return shares(self.levels)

    @property
    def quarter_shares(self) -> list[float]:
        return shares(self.quarters)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        ratios = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return asdict(self) | ratios | {"level_shares": self.level_shares, "quarter_shares": self.quarter_shares}


def shares(counts: Sequence[int]) -> list[float]:
    """Counts as shares of their sum; zeros if that is 0."""
    total = sum(counts)
    return [n / total if total else 0.0 for n in counts]


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _sum(a: Any, b: Any) -> Any:
    return tuple(x + y for x, y in zip_longest(a, b, fillvalue=0)) if isinstance(a, tuple) else a + b


@dataclass(frozen=True, slots=True)
class AttributeScore:
    """One attribute's cells against the truth's."""

    repair_error: float
    """δ(repaired, truth), summed over the cells."""
    repair_error_before: float | None = None
    """δ(dirty, truth), if the dirty relation is given."""
    counts: CellCounts | None = None
    """What became of the cells, if the dirty relation is given."""

    def __add__(self, other: AttributeScore) -> AttributeScore:
        if self.counts is None or other.counts is None:
            return AttributeScore(self.repair_error + other.repair_error)
        before = (self.repair_error_before or 0.0) + (other.repair_error_before or 0.0)
        return AttributeScore(self.repair_error + other.repair_error, before, self.counts + other.counts)

    @property
    def is_telling(self) -> bool:
        """Was or is there anything wrong, or was anything changed?"""
        acted = self.counts is not None and (self.counts.changed > 0 or self.counts.wrong > 0)
        return acted or self.repair_error > 0 or (self.repair_error_before or 0.0) > 0

    @property
    def change(self) -> str:
        """The repair error, before if that is known, and after."""
        before = "" if self.repair_error_before is None else f"{self.repair_error_before:,.3f} → "
        return f"{before}{self.repair_error:,.3f}"

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        if self.counts is None:
            return {"repair_error": self.repair_error}
        errors = {"repair_error_before": self.repair_error_before, "repair_error": self.repair_error}
        return errors | self.counts.as_dict()


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """A repaired relation against the truth, per attribute and in total."""

    attributes: Mapping[str, AttributeScore]

    @cached_property
    def total(self) -> AttributeScore:
        return reduce(AttributeScore.__add__, self.attributes.values())

    @property
    def repair_error(self) -> float:
        """δ between the relations."""
        return self.total.repair_error

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON: the total, and each attribute that is or was not as it should be."""
        told = {a: found.as_dict() for a, found in self.attributes.items() if found.is_telling}
        return self.total.as_dict() | {"attributes": told}

    def __repr__(self) -> str:
        total = self.total
        if total.counts is None:
            return f"Score(repair error {total.repair_error:,.3f})"
        precision, recall, f1 = (_share(x) for x in (total.counts.precision, total.counts.recall, total.counts.f1))
        return (
            f"Score(repair error {total.repair_error_before:,.3f} before and {total.repair_error:,.3f} after, "
            f"precision {precision}, recall {recall}, F1 {f1})"
        )

    def __rich__(self) -> RichTable:
        return rich_table(_TITLE, self._lines())

    def _repr_html_(self) -> str:
        return html_lines(_TITLE, self._lines())

    def _lines(self) -> Lines:
        """A few lines, however many attributes: no values, only names and numbers."""
        lines = [("repair error", self.total.change)]
        if self.total.counts is not None:
            counts = self.total.counts
            ratios = {"precision": counts.precision, "recall": counts.recall, "F1": counts.f1}
            lines.append(("wrong cells", f"{counts.wrong:,} → {counts.wrong_after:,} of {counts.cells:,}"))
            lines += [(name, _share(ratio)) for name, ratio in ratios.items()]
        told = {a: found for a, found in self.attributes.items() if found.is_telling}
        worst = sorted(told, key=lambda a: -told[a].repair_error)
        lines += [(f"repair error of {a}", told[a].change) for a in worst[:MOST_ATTRIBUTES]]
        if len(worst) > MOST_ATTRIBUTES:
            lines.append(("…", f"{counted(len(worst) - MOST_ATTRIBUTES, 'attribute')} more"))
        return lines


MOST_ATTRIBUTES = 6

_TITLE = "Score"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def score(
    relation: Data,
    truth: Data,
    dirty: Data | None = None,
    hierarchies: Hierarchies | None = None,
    *,
    engine: Engine[Any] | None = None,
) -> Score:
    """Measure a repaired relation on the truth, row by row, over the columns that both have.

    With the dirty relation that it was made from, also how near that one was, and what became of its cells.
    """
    engine = engine_for(relation, engine, truth)
    sources = [as_source(data) for data in (relation, truth, dirty) if data is not None]
    compared = [c for c in sources[0].columns if all(c in source.columns for source in sources)]
    if not compared:
        raise InputError(f"{sources[0].name} and {sources[1].name} have no column in common; is it the right truth?")
    tables = [engine.open(source, compared) for source in sources]
    for source, table in zip(sources, tables, strict=True):
        if len(table) != len(tables[0]):
            raise InputError(
                f"{sources[0].name} has {len(tables[0]):,} rows and {source.name} has {len(table):,}; "
                "they are compared row by row"
            )
    trees = hierarchies or {}
    return Score({a: _score(engine, tables, a, trees.get(a)) for a in compared})


def _score(engine: Engine[Any], tables: list[Table], attribute: str, hierarchy: Hierarchy | None) -> AttributeScore:
    """`tables` are the repaired one, the truth and, if there is one, the dirty one."""
    columns = [engine.rows(table, None, [attribute]).column(0) for table in tables]
    delta = _distance_on(columns[1], hierarchy)
    differ = _differ(columns)
    cells = _ComparedCells.of(delta, [column.filter(differ) for column in columns])
    if len(columns) == 2:
        return AttributeScore(cells.error(0))
    counts = cells.counts(len(columns[1]) - delta.left_out)
    return AttributeScore(cells.error(0), cells.error(2), counts)


def _differ(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Per row: do not all columns have the same text? Null is like null."""
    import pyarrow.compute as pc  # here: slow to import, and a cleaning without its truth needs none of it

    same = [pc.fill_null(pc.equal(columns[0], column), False) for column in columns[1:]]
    null = [pc.and_(columns[0].is_null(), column.is_null()) for column in columns[1:]]
    return pc.invert(reduce(pc.and_, map(pc.or_, same, null)))


def _distance_on(truth: pa.ChunkedArray, hierarchy: Hierarchy | None) -> SemanticDistance:
    """E and δ as the truth is distributed, nulls left out."""
    import pyarrow.compute as pc  # here, too

    counted = truth.value_counts()
    values, n = counted.field("values"), counted.field("counts").to_numpy()
    if hierarchy is not None:
        return SemanticDistance.of(hierarchy, values.to_pylist(), n)
    # Only the root of the two-level hierarchy has a penalty: values need no nodes, however many there are.
    ground = pc.fill_null(pc.not_equal(values, ROOT), False).to_numpy(zero_copy_only=False)
    total = max(int(n[ground].sum()), 1)
    entropy = np.log2(total) - float(n[ground] @ np.log2(n[ground])) / total
    return SemanticDistance(Hierarchy.flat(()).admit([None]), np.full(2, max(entropy, 0.0)), int(n[~ground].sum()))


@dataclass(frozen=True, eq=False)
class _ComparedCells:
    """The (repaired, truth, dirty) values of some cells of one attribute, as codes."""

    delta: SemanticDistance
    codes: list[Codes]

    @classmethod
    def of(cls, delta: SemanticDistance, columns: list[pa.ChunkedArray]) -> _ComparedCells:
        together = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
        coded = together.combine_chunks().dictionary_encode(null_encoding="encode")
        values = coded.dictionary.to_pylist()
        known = delta.admit(values)
        codes = known.hierarchy.encode(values)[coded.indices.to_numpy()]
        return cls(known, np.split(codes, len(columns)))

    def error(self, which: int) -> float:
        return float(self.delta.between_codes(self.codes[which], self.codes[1]).sum())

    def counts(self, cells: int) -> CellCounts:
        """What became of them; `cells` are all with a ground truth, those that are not looked at among them."""
        tree = self.delta.hierarchy
        ground = tree.is_ground[self.codes[1]] & (self.codes[1] != tree.code(None))
        repaired, truth, dirty = (codes[ground] for codes in self.codes)
        right, changed = repaired == truth, repaired != dirty
        above = tree.precedes(truth, repaired) & ~right
        return CellCounts(
            cells=cells,
            wrong=int((dirty != truth).sum()),
            wrong_after=int((~right).sum()),
            changed=int(changed.sum()),
            correct=int((changed & right).sum()),
            general_correct=int((changed & above).sum()),
            levels=_per_place(tree.level[repaired[changed]], tree.height + 1),
            quarters=_per_place(self._quarters(repaired[changed], truth[changed]), 4),
        )

    def _quarters(self, v: Codes, w: Codes) -> Ints:
        """0 to 3: which quarter δ(v, w) / δ(root, w) lies in, cut at 1, for ground w; the bounds belong below."""
        furthest = self.delta.penalties[self.delta.hierarchy.root]
        normalised = self.delta.between_codes(v, w) / furthest if furthest > 0 else np.zeros(len(v))
        quarters: Ints = np.clip(np.ceil(np.round(normalised * 4, 9)).astype(np.int64) - 1, 0, 3)
        return quarters


def _per_place(places: Ints | Codes, size: int) -> tuple[int, ...]:
    return tuple(np.bincount(places, minlength=size).tolist())

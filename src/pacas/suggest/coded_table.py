"""A table as its columns' codes, with what each column is: what every suggestion starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn, coded_texts
from pacas.engine.contract import Engine, Source
from pacas.engine.grouping import Array, Keys
from pacas.engine.questions import Data, as_source, engine_for
from pacas.suggest.kind import Kind, kind_of

SEED = 1
MOST_CELLS = 60_000_000
"""Cells of a table up to which all of its rows are looked at."""


@dataclass(frozen=True, eq=False, repr=False)
class ProfiledColumn:
    """A column of a table: one code a row, −1 for a null; code i stands for values[i], which occurs counts[i] times."""

    name: str
    codes: Array
    values: Sequence[str]
    """Sorted, each once, without the null."""
    counts: Ints
    kind: Kind

    @classmethod
    def of(cls, name: str, coded: CodedColumn) -> ProfiledColumn:
        counts = np.bincount(coded.codes, minlength=len(coded.values)).astype(np.int64)
        values = coded.values
        codes = coded.codes
        if values and values[-1] is None:
            codes = np.append(np.arange(len(values) - 1, dtype=np.int32), np.int32(-1)).take(codes)
            values, counts = values[:-1], counts[:-1]
        known = [value for value in values if value is not None]
        return cls(name, codes, known, counts, kind_of(known, counts))

    @property
    def present(self) -> int:
        """How many rows have a value."""
        return int(self.counts.sum())

    @property
    def keys(self) -> Keys:
        """As engines number groups."""
        return Keys(self.codes, max(len(self.values), 1), self.present < len(self.codes))

    def __repr__(self) -> str:
        return f"ProfiledColumn({self.name}: {self.kind.value}, {len(self.values):,} values)"


def equal_columns(columns: Sequence[ProfiledColumn]) -> dict[int, int]:
    """By its place, each column that has the codes of another in every row, and the first one that has them."""
    alike: dict[bytes, list[list[int]]] = {}
    for place, column in enumerate(columns):
        kinds = alike.setdefault(column.counts.tobytes(), [])
        same = (kind for kind in kinds if np.array_equal(columns[kind[0]].codes, column.codes))
        kind = next(same, None)
        kinds.append([place]) if kind is None else kind.append(place)
    several = [kind for kinds in alike.values() for kind in kinds if len(kind) > 1]
    return {place: kind[0] for kind in several for place in kind}


@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """All rows of a table, or a sample of one that is too large."""

    name: str
    columns: Mapping[str, ProfiledColumn]
    rows: int
    of: int
    """How many rows the table has."""

    @classmethod
    def read(cls, engine: Engine[Any], source: Source, most_cells: int = MOST_CELLS) -> CodedTable:
        names = list(source.columns)
        table = engine.open(source, names)
        of = len(table)
        most = max(most_cells // max(len(names), 1), 1)
        if of <= most:
            coded = engine.columns(table, names)
        else:
            drawn = np.sort(np.random.default_rng(SEED).choice(of, most, replace=False))
            texts = engine.rows(table, drawn, names)
            coded = {name: coded_texts(texts[name]) for name in names}
        return cls(source.name, {name: ProfiledColumn.of(name, coded[name]) for name in names}, min(of, most), of)

    @classmethod
    def from_data(cls, data: Data | CodedTable, engine: Engine[Any] | None = None) -> CodedTable:
        """A table in memory or in a file, as codes; one that was coded before as it is."""
        return data if isinstance(data, CodedTable) else cls.read(engine_for(data, engine), as_source(data))

    @property
    def is_sample(self) -> bool:
        return self.rows < self.of

    def __getitem__(self, name: str) -> ProfiledColumn:
        return self.columns[name]

    def __repr__(self) -> str:
        return f"CodedTable({self.name}: {self.of:,} rows, {len(self.columns)} columns)"

"""What engines answer alike: by statements, run where the relation is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.core.consistency import GroupedRows
from pacas.core.histogram import GroupHistogram, Histogram
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.contract import Hierarchies, NeighbourDiffs
from pacas.engine.kept_rows import Agreement, Choose, KeptRows, size_of
from pacas.engine.sql.answer_statement import Outline, Recode, answer_sql, recoding
from pacas.engine.sql.change_statement import change_sql, changing_columns
from pacas.engine.sql.group_statements import mixed_groups
from pacas.engine.sql.histogram_statements import as_group_histogram, as_histogram, histogram_sql, pairs_sql
from pacas.engine.sql.statements import OpenedRelation, Sql, search_rows
from pacas.engine.sql.unit_statements import first_row_sql, kept_sql, kept_units, lacking_sql, numbered_sql, numbers_sql

T = TypeVar("T", bound=OpenedRelation)


class SqlEngine(ABC, Generic[T]):
    """An engine says where statements are run, what is done around a question, and how a relation gets more columns."""

    _by_hierarchy = False
    """Whether a hierarchy's own values are labelled, and not those that a column has, which are to be looked for."""

    @property
    @abstractmethod
    def _sql(self) -> Sql: ...

    @abstractmethod
    def _asking(self, *tables: T) -> AbstractContextManager[None]:
        """While a question is asked in SQL."""

    @abstractmethod
    def _table(self, sql: str) -> str:
        """An answer as further statements name it, for as long as there are views of it."""

    @abstractmethod
    def _view(self, table: T, sql: str, more: Sequence[str]) -> T:
        """A relation with more columns than one that is opened."""

    @abstractmethod
    def _given(self, deltas: NeighbourDiffs, columns: dict[str, str]) -> AbstractContextManager[str]:
        """How neighbours differ, as statements name it."""

    def first_row(self, table: T, columns: Sequence[str]) -> int:
        table.check_columns(columns)
        with self._asking(table):
            return int(self._sql.arrow(first_row_sql(table, columns)).column(0)[0].as_py())

    def lacking(self, table: T, other: T, columns: Sequence[str]) -> int:
        for one in (table, other):
            one.check_columns(columns)
        with self._asking(table, other):
            return int(self._sql.arrow(lacking_sql(table, other, columns)).column(0)[0].as_py())

    def numbered(self, table: T, groups: Mapping[str, Agreement]) -> T:
        for name, together in groups.items():
            table.check_columns(together.columns)
            with self._asking(table):
                numbers = self._table(numbers_sql(table, together))
                table = self._view(table, numbered_sql(table, together, numbers), [name, size_of(name)])
        return table

    def kept_back(self, table: T, kept: Mapping[str, KeptRows], choose: Choose) -> T:
        for name, of_groups in kept.items():
            with self._asking(table), kept_units(self._sql, table, of_groups, choose) as units:
                table = self._view(table, kept_sql(table, of_groups, self._table(units)), [name])
        return table

    def mixed_groups(self, table: T, lhss: Sequence[Sequence[str]], rhs: str, hierarchies: Hierarchies) -> GroupedRows:
        table.check_columns([*(a for lhs in lhss for a in lhs), rhs])
        with self._asking(table):
            return mixed_groups(self._sql, table, lhss, rhs, hierarchies)

    def histogram(self, table: T, attributes: Sequence[str], hierarchies: Hierarchies) -> Histogram:
        table.check_columns(attributes)
        with self._asking(table):
            counted = self._sql.arrow(histogram_sql(table, attributes))
        return as_histogram(counted, attributes, hierarchies)

    def group_histogram(
        self, table: T, x: Sequence[str], y: Mapping[str, int], hierarchies: Hierarchies
    ) -> GroupHistogram:
        table.check_columns([*x, *y])
        with self._labelling({MAIN: table}) as recode:
            return as_group_histogram(self._sql.stream(pairs_sql(table, x, y, hierarchies, recode), len(table)))

    def answer(self, query: GeneralizedQuery, tables: Mapping[str, T], hierarchies: Hierarchies) -> pa.Table:
        with self._labelling(tables) as recode:
            return self._sql.arrow(answer_sql(query, tables, hierarchies, recode))

    def changed_answers(
        self, query: GeneralizedQuery, tables: Mapping[str, T], deltas: NeighbourDiffs, hierarchies: Hierarchies
    ) -> NDArray[np.int64]:
        columns = changing_columns(query, tables, deltas)
        with (
            self._asking(*tables.values()),
            self._given(deltas, columns) as name,
            recoding(self._sql, tables, name, by_hierarchy=self._by_hierarchy) as recode,
        ):
            sql = change_sql(Outline(query, tables, hierarchies, recode), name, deltas)
            return np.empty(0, dtype=np.int64) if sql is None else self._sql.arrow(sql).column(0).to_numpy()

    def search(self, table: T, text: str, columns: Sequence[str], first: int, last: int) -> NDArray[np.int64]:
        table.check_columns(columns)
        with self._asking(table):
            return search_rows(self._sql, table, text, columns, first, last)

    @contextmanager
    def _labelling(self, tables: Mapping[str, T]) -> Iterator[Recode]:
        with self._asking(*tables.values()), recoding(self._sql, tables, by_hierarchy=self._by_hierarchy) as recode:
            yield recode

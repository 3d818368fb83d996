"""The contract on DuckDB: embedded, reads files in place, spills to disk.

DuckDB scans, joins and deduplicates. Each column that a question needs is replaced, once, by integer codes (a join
with the column's distinct values), and groups are then numbered over the codes with NumPy: that is what makes
violations and classes cost little more than one GROUP BY. Held in memory per row: one to four bytes a column asked
about. Where memory is limited and a relation too large for that, DuckDB groups by itself, and spills.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from cachetools import LRUCache
from numpy.typing import NDArray

from pacas.core.consistency import GroupedRows
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import GroupHistogram, Histogram, Values
from pacas.core.relation import Relation
from pacas.engine.codes import CodedColumn, coded_together, ground_keys, in_hierarchy, level_keys, linked_keys
from pacas.engine.contract import (
    Hierarchies,
    Index,
    KeyedFrame,
    NeighbourDiffs,
    RelationFile,
    RelationFolder,
    Source,
    memory_bytes,
)
from pacas.engine.duck.connection import DuckConnection, reading, start_duckdb
from pacas.engine.duck.folder_copy import write_folder
from pacas.engine.duck.index import DuckIndex
from pacas.engine.duck.source import create_from_texts, given_deltas, open_table, plain_columns
from pacas.engine.files.digest import source_digest
from pacas.engine.files.folder import scan_folder
from pacas.engine.files.watched_files import WatchedFiles, stamp
from pacas.engine.grouping import Keys, combine, connect, count_pairs, gather, mixed
from pacas.engine.new_cells import NewCells
from pacas.engine.sql.histogram_statements import as_histogram
from pacas.engine.sql.sql_engine import SqlEngine
from pacas.engine.sql.statements import OpenedRelation, changed_sql, coded_columns, new_values, rows_sql
from pacas.errors import InputError

DUCKDB = 0.6
"""What DuckDB itself gets of the memory that is given; the rest is for this process and for what DuckDB counts not."""
OPENED = 8
"""Files that were opened lately, and are not read again while they stay as they are."""
NAMES = count()
"""Numbers for names: no two engines use the same, so that they may share a DuckDB."""
WORD, FURTHER = 8, 4
"""Bytes of a number, and how many of them a question needs for each row, besides one for each column."""


@dataclass(eq=False, repr=False)
class DuckTable(OpenedRelation):
    """A relation that DuckDB has opened: a view of a Parquet file or Arrow table, or a table read from CSV."""

    row_count: int
    files: WatchedFiles
    asked: tuple[str, ...] = ()
    """The columns that it was opened for, which questions are sure to come about."""
    texts: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    """The columns that are in memory as they are."""
    is_known: bool = True
    """Whether DuckDB knows it: one whose columns are all in memory becomes known with the first question in SQL."""

    def __len__(self) -> int:
        return self.row_count


class DuckEngine(SqlEngine[DuckTable]):
    """DuckDB in this process. `memory`, such as "2GB", is what all of it may take; what is more goes to disk."""

    def __init__(self, *, memory: str | None = None, threads: int | None = None) -> None:
        limit = None if memory is None else memory_bytes(memory)
        self.holdable_bytes = sys.maxsize if limit is None else limit // 4
        share = None if limit is None else f"{int(limit * DUCKDB) // 10**6}MB"
        self._start = partial(start_duckdb, memory=share, threads=threads)
        self._threads, self._memory = threads or os.cpu_count() or 1, memory
        self._names = NAMES
        self._opened: LRUCache[object, DuckTable] = LRUCache(OPENED)
        self._one_at_a_time = threading.RLock()  # a DuckDB connection serves one thread

    def __repr__(self) -> str:
        return f"DuckEngine({self._threads} threads, memory {self._memory or 'as DuckDB finds it'})"

    def close(self) -> None:
        if "_connection" in self.__dict__:
            self._connection.close()
            self._remove_spill()

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """DuckDB, which starts with the first question that needs it: that takes longer than many a question."""
        spill = tempfile.mkdtemp(prefix="pacas-")  # for this user's eyes only: a provider's values may be spilled
        self._remove_spill = weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)
        return self._start(spill)

    @cached_property
    def _sql(self) -> DuckConnection:
        return DuckConnection(self._connection)

    # ---- the contract -----------------------------------------------------------------------------------------

    @property
    def finds_tables(self) -> bool:
        return False

    @property
    def reads_delta(self) -> bool:
        return False

    def serves(self, name: str, *, master: str | None = None, memory: str | None = None) -> bool:
        """One without a limit of its own serves; what has another limit is another engine."""
        return name == "duckdb" and memory is None

    def scan(self, table: str, key: Sequence[str]) -> RelationFolder:
        return scan_folder(table, key)

    def digest(self, source: Source) -> str:
        return source_digest(source)

    def index(self, table: DuckTable, by: Sequence[str], columns: Sequence[str], hierarchies: Hierarchies) -> Index:
        table.check_columns([*by, *columns])
        name = f"pacas_{next(self._names)}"
        with self._asking(table):
            return DuckIndex(self._connection, self._one_at_a_time, name, table, by, columns, hierarchies)

    def repaired(self, table: DuckTable, cells: Mapping[str, NewCells]) -> KeyedFrame:
        raise InputError(
            f"{table.name} was not given as a frame of a cluster; take .relation, the repaired table, and of it "
            ".to_pandas(), .to_polars() or .to_arrow()"
        )

    def write(self, table: DuckTable, cells: Mapping[str, NewCells], path: Path, *, replace: bool = False) -> None:
        if not isinstance(table.source, RelationFolder):
            raise InputError(f"{table.name} is not a folder of Parquet files, which alone is written here")
        with self._asking(table):
            write_folder(self._connection, table.source, cells, path, replace, table.files.check)

    def open(self, source: Source, columns: Sequence[str] | None = None) -> DuckTable:
        """A file that was opened before for the same columns, and has not changed, is not read again."""
        kept = tuple(source.columns if columns is None else dict.fromkeys(columns))
        asked, texts = () if columns is None else kept, plain_columns(source, kept)
        again = (source, stamp(source.path), kept, asked) if isinstance(source, RelationFile) else None
        files = WatchedFiles.of_source(source)
        with self._one_at_a_time:
            if again in self._opened:
                return self._opened[again]
            name = f"pacas_{next(self._names)}"
            if isinstance(source, Relation) and kept and len(source) and len(texts) == len(kept):
                return DuckTable(source.name, name, kept, source, len(source), files, asked, texts, is_known=False)
            rows, read = open_table(self._connection, name, source, kept)
            table = DuckTable(source.name, name, kept, source, rows, files, asked, read or texts, is_known=not read)
            if again is not None and self._memory is None:
                self._opened[again] = table
        return table

    def check_unchanged(self, table: DuckTable) -> None:
        table.files.check()

    def changed(self, table: DuckTable, cells: Mapping[str, NewCells]) -> DuckTable:
        name = f"pacas_{next(self._names)}"
        columns = tuple(dict.fromkeys([*table.columns, *cells]))
        new = {attribute: f"{name}_{i}" for i, attribute in enumerate(cells)}
        with self._asking(table):
            for attribute, values in cells.items():
                self._connection.register(new[attribute], new_values(values))
            return self._view(table, changed_sql(table, columns, new), columns[len(table.columns) :])

    def _table(self, sql: str) -> str:
        """A table that stays, on disk where there is no room for it."""
        name = f"pacas_{next(self._names)}"
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {sql}")
        return name

    def _view(self, table: DuckTable, sql: str, more: Sequence[str]) -> DuckTable:
        """A relation with more columns than one that is opened."""
        name = f"pacas_{next(self._names)}"
        self._connection.execute(f"CREATE TEMP VIEW {name} AS {sql}")
        return DuckTable(table.name, name, (*table.columns, *more), table.source, table.row_count, table.files)

    def mixed_groups(
        self, table: DuckTable, lhss: Sequence[Sequence[str]], rhs: str, hierarchies: Hierarchies
    ) -> GroupedRows:
        if self._is_large(table, [*dict.fromkeys(a for lhs in lhss for a in lhs), rhs]):
            return super().mixed_groups(table, lhss, rhs, hierarchies)
        self._encode(table, [*dict.fromkeys(a for lhs in lhss for a in lhs), rhs])
        hierarchy = hierarchies.get(rhs) or Hierarchy.flat(())
        groupings = [combine([ground_keys(table.coded[a], hierarchies.get(a)) for a in lhs]) for lhs in lhss]
        groups = groupings[0] if len(groupings) == 1 else connect(groupings)
        column = table.coded[rhs]
        known, nodes = in_hierarchy(column, hierarchy)
        values = nodes.take(column.codes) if hierarchy.numeric else column.codes  # 51 and 51.0 are one value
        rows, offsets = gather(groups, mixed(groups, values))
        return GroupedRows(rows, offsets, nodes.take(column.codes[rows]), known)

    def histogram(self, table: DuckTable, attributes: Sequence[str], hierarchies: Hierarchies) -> Histogram:
        in_memory = isinstance(table.source, Relation) and not table.is_known
        if in_memory and not self._is_large(table, attributes):  # there is no need for SQL
            texts = pa.table({f"v{i}": table.texts[a] for i, a in enumerate(attributes)})
            counted = texts.group_by(texts.column_names, use_threads=False).aggregate([([], "count_all")])
            return as_histogram(counted.select([*texts.column_names, "count_all"]), attributes, hierarchies)
        return super().histogram(table, attributes, hierarchies)

    def group_histogram(
        self, table: DuckTable, x: Sequence[str], y: Mapping[str, int], hierarchies: Hierarchies
    ) -> GroupHistogram:
        if self._is_large(table, [*x, *y]):
            return super().group_histogram(table, x, y, hierarchies)
        self._encode(table, [*x, *y])
        groups = combine([linked_keys(table.coded[a], hierarchies.get(a)) for a in x])
        levels = [level_keys(table.coded[a], hierarchies.get(a), a, level) for a, level in y.items()]
        value = combine([keys for _, keys in levels] or [Keys(np.zeros(len(table), dtype=np.int32), 1, False)])
        linked = np.flatnonzero(groups.key >= 0) if groups.partial else slice(None)
        group, code, n = count_pairs(groups.key[linked], value.key[linked], value.space)
        used_groups, group = np.unique(group, return_inverse=True)
        overall = np.bincount(value.key, minlength=value.space)
        used = np.flatnonzero(overall)
        example = np.zeros(value.space, dtype=np.int64)  # one row of each Y-value, to read its labels from
        example[value.key] = np.arange(len(table))
        labels = [[known.label(c) for c in keys.key[example[used]]] for known, keys in levels]
        values: list[Values] = list(zip(*labels, strict=True)) if labels else [()]
        unlinked = len(table) - int(n.sum())
        return GroupHistogram(group, np.searchsorted(used, code), n, len(used_groups), values, overall[used], unlinked)

    @contextmanager
    def _given(self, deltas: NeighbourDiffs, columns: dict[str, str]) -> Iterator[str]:
        name = f"pacas_{next(self._names)}"
        with given_deltas(self._connection, name, deltas, columns):
            yield name

    def columns(self, table: DuckTable, attributes: Sequence[str]) -> dict[str, CodedColumn]:
        self._encode(table, attributes)
        return {attribute: table.coded[attribute] for attribute in attributes}

    def rows(self, table: DuckTable, rows: NDArray[np.int64] | None, columns: Sequence[str]) -> pa.Table:
        table.check_columns(columns)
        if all(c in table.texts for c in columns):
            return self._in_memory(table, rows, columns)
        with self._asking(table):
            if rows is None:
                return self._sql.arrow(rows_sql(table, columns, None)).rename_columns(list(columns))
            wanted = pa.table({"row": pa.array(rows, pa.int64()), "position": pa.array(np.arange(len(rows)))})
            self._connection.register("pacas_wanted", wanted)
            found = self._sql.arrow(rows_sql(table, columns, "pacas_wanted")).rename_columns(list(columns))
        if len(found) < len(rows):
            raise _no_such_rows(table)
        return found

    def _in_memory(self, table: DuckTable, rows: NDArray[np.int64] | None, columns: Sequence[str]) -> pa.Table:
        """Rows of columns that are held as they are."""
        texts = pa.table({c: table.texts[c] for c in columns})
        if rows is None:
            return texts
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < len(table):
            raise _no_such_rows(table)
        table.files.check()
        return texts.take(pa.array(rows, pa.int64()))

    def _is_large(self, table: DuckTable, attributes: Sequence[str]) -> bool:
        """Whether the arrays that a question would need are too large; then SQL answers it, which may spill."""
        table.check_columns(attributes)
        return len(table) * WORD * (len(attributes) + FURTHER) > self.holdable_bytes

    # ---- codes ------------------------------------------------------------------------------------------------

    def _encode(self, table: DuckTable, attributes: Sequence[str]) -> None:
        """Give each attribute's column its codes, all missing ones in one scan."""
        table.check_columns(attributes)
        with self._watching(table):
            self._encode_missing(table, attributes)

    def _encode_missing(self, table: DuckTable, attributes: Sequence[str]) -> None:
        if all(a in table.coded for a in attributes):
            return
        wanted = [a for a in dict.fromkeys([*attributes, *table.asked]) if a not in table.coded]
        table.coded |= coded_together({a: table.texts[a] for a in wanted if a in table.texts}, self._threads)
        if missing := [a for a in wanted if a not in table.coded]:
            table.coded |= coded_columns(self._sql, table, missing)

    @contextmanager
    def _asking(self, *tables: DuckTable) -> Iterator[None]:
        """While a question is asked in SQL."""
        with self._watching(*tables):
            for table in tables:
                if not table.is_known:
                    create_from_texts(self._connection, table.sql_name, table.texts)
                    table.is_known = True
            yield

    @contextmanager
    def _watching(self, *tables: DuckTable) -> Iterator[None]:
        """While a question is answered: others wait, what DuckDB says is reworded, and the files must be as before."""
        with self._one_at_a_time, reading(" and ".join(table.name for table in tables)):
            for table in tables:
                table.files.check()
            yield
            for table in tables:
                table.files.check()


def _no_such_rows(table: DuckTable) -> InputError:
    return InputError(f"{table.name} has rows 0 to {len(table) - 1:,}; some of the rows asked for are not there")

"""The contract on Spark: the same questions, answered where the data is.

Statements are written in DuckDB's dialect, most of them the embedded engine's own, and translated. Spark groups, joins
and counts; what comes to this process is what is wrong with the data, in Arrow, and in batches where there is much.
What a value means under a hierarchy is decided here, on distinct values, as everywhere.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from pacas.engine.codes import CodedColumn
from pacas.engine.contract import Hierarchies, KeyedFrame, NeighbourDiffs, Source
from pacas.engine.files.digest import source_digest
from pacas.engine.files.folder import whole_folder
from pacas.engine.new_cells import NewCells
from pacas.engine.spark.errors import reading
from pacas.engine.spark.index import SparkIndex
from pacas.engine.spark.keyed_frames import PlacedRelation
from pacas.engine.spark.repaired_frame import repaired
from pacas.engine.spark.row_numbers import BUCKET
from pacas.engine.spark.scan import has_delta
from pacas.engine.spark.session import LOCAL, check_session, start_session
from pacas.engine.spark.sources import SparkSources, private_folder
from pacas.engine.spark.spark_sql import SparkSql, release
from pacas.engine.sql.sql_engine import SqlEngine
from pacas.engine.sql.statements import (
    ROW,
    OpenedRelation,
    changed_sql,
    coded_columns,
    column_name,
    new_values,
    rows_sql,
)
from pacas.errors import InputError


@dataclass(eq=False, repr=False)
class SparkTable(OpenedRelation):
    """A relation that Spark has opened: a view (row_number, c0, c1, …) of texts."""

    placed: PlacedRelation
    of: SparkTable | None = None
    """The one that it is a view of: what the workers hold of that has to stay."""

    def __len__(self) -> int:
        return self.placed.rows


class SparkEngine(SqlEngine[SparkTable]):
    """Spark, on a session of the caller's own or on one that is started for a master.

    `settings` are Spark's, for a session that is started; `bucket` is how many rows get their numbers together.
    """

    _by_hierarchy = True

    def __init__(
        self,
        session: SparkSession | None = None,
        *,
        master: str = LOCAL,
        settings: Mapping[str, str] | None = None,
        bucket: int = BUCKET,
    ) -> None:
        check_session(session)
        folder, remove = private_folder()
        self._end = weakref.finalize(self, remove)
        self._owned = session is None
        self.session = start_session(folder, master, settings) if session is None else session
        self._spark = SparkSql(self.session)
        self._sources = SparkSources(self.session, folder, bucket)
        self._releases: list[Callable[[], object]] = []

    @property
    def _sql(self) -> SparkSql:
        return self._spark

    def close(self) -> None:
        for end in self._releases:
            end()
        self._sources.close()
        if self._owned:
            self.session.stop()
        self._end()

    def scan(self, table: str, key: str | Sequence[str], format: str | None = None) -> KeyedFrame:
        """A table by its name, or a folder by its path, and the key that numbers its rows.

        A folder holds Parquet, or Delta where it has a log of Delta's; `format` says it where the folder is elsewhere.
        """
        with reading(table):
            return self._sources.scan(table, (key,) if isinstance(key, str) else tuple(key), format)

    def repaired(self, table: SparkTable, cells: Mapping[str, NewCells]) -> KeyedFrame:
        """The frame that a table was opened from, with new values in some cells; all else is as it was."""
        keyed, keys = table.placed.keyed, table.placed.keys
        if keyed is None or keys is None:
            raise InputError(
                f"{table.name} was not opened from a folder or a Spark frame with a key, which alone are repaired there"
            )
        with self._asking(table):
            self._sources.frames.check(keyed)
            return repaired(self._sql, keyed, keys, cells)

    # ---- the contract -----------------------------------------------------------------------------------------

    @property
    def holdable_bytes(self) -> int:
        """Nothing: what is on Spark stays there."""
        return 0

    @property
    def finds_tables(self) -> bool:
        return True

    @property
    def reads_delta(self) -> bool:
        """Spark does with Delta's package on its class path."""
        return has_delta(self.session)

    def serves(self, name: str, *, master: str | None = None, memory: str | None = None) -> bool:
        """A process has one Spark, whose memory was given when it started."""
        if name != "spark":
            return False
        running = self.session.conf.get("spark.master")
        if master is not None and master != running:
            raise InputError(f"client and provider name two Spark masters, {running} and {master}; a run has one")
        return True

    def digest(self, source: Source) -> str:
        if not isinstance(source, KeyedFrame):
            return source_digest(source)
        with reading(source.name):
            return self._sources.frames.digest(source)

    def open(self, source: Source, columns: Sequence[str] | None = None) -> SparkTable:
        kept = tuple(source.columns if columns is None else dict.fromkeys(columns))
        with reading(source.name):
            placed = self._sources.place(source, kept)
            table = SparkTable(source.name, self._sql.name(placed.frame), kept, source, placed)
        return self._released(table)

    def check_unchanged(self, table: SparkTable) -> None:
        table.placed.check_unchanged()

    def changed(self, table: SparkTable, cells: Mapping[str, NewCells]) -> SparkTable:
        columns = tuple(dict.fromkeys([*table.columns, *cells]))
        with self._asking(table), ExitStack() as stack:
            new = {a: stack.enter_context(self._sql.given(new_values(values))) for a, values in cells.items()}
            return self._view(table, changed_sql(table, columns, new), columns[len(table.columns) :])

    def _view(self, table: SparkTable, sql: str, more: Sequence[str]) -> SparkTable:
        """A relation with more columns than one that is opened; what it is made of is worked out when it is needed."""
        frame = self._sql.frame(sql)
        placed = replace(table.placed, frame=frame, forget=lambda: None)
        name, columns = self._sql.name(frame), (*table.columns, *more)
        return self._released(SparkTable(table.name, name, columns, table.source, placed, of=table))

    def _released(self, table: SparkTable) -> SparkTable:
        """A table that is let go of when nobody asks about it any more."""
        end = weakref.finalize(table, release, self._sql, table.sql_name, table.placed.forget)
        end.atexit = False
        self._releases.append(end)
        return table

    def _given(self, deltas: NeighbourDiffs, columns: dict[str, str]) -> AbstractContextManager[str]:
        return self._sql.named(self._sql.from_arrow(self._sources.delta_texts(deltas, columns)))

    def _table(self, sql: str) -> str:
        """The statement itself: nothing is worked out before it is needed."""
        return f"({sql})"

    def columns(self, table: SparkTable, attributes: Sequence[str]) -> dict[str, CodedColumn]:
        table.check_columns(attributes)
        missing = [a for a in dict.fromkeys(attributes) if a not in table.coded]
        if missing:
            with self._asking(table):
                table.coded |= coded_columns(self._sql, table, missing)
        return {attribute: table.coded[attribute] for attribute in attributes}

    def rows(self, table: SparkTable, rows: NDArray[np.int64] | None, columns: Sequence[str]) -> pa.Table:
        table.check_columns(columns)
        with self._asking(table):
            if rows is None:
                return pa.concat_tables(self._sql.stream(rows_sql(table, columns, None), len(table))).rename_columns(
                    list(columns)
                )
            return self._chosen(table, rows, columns)

    def _chosen(self, table: SparkTable, rows: NDArray[np.int64], columns: Sequence[str]) -> pa.Table:
        """Some rows, put in the order asked for here, which takes Spark two passes less."""
        if not len(rows):
            return pa.table([pa.array([], pa.string()) for _ in columns], names=list(columns))
        numbers = pa.table({"row": pa.array(rows, pa.int64()), "position": np.arange(len(rows))})
        names = "".join(f", t.{table.sql_column(c)} AS {column_name(i)}" for i, c in enumerate(columns))
        with self._sql.given(numbers) as wanted:
            joined = f"{wanted} AS w JOIN {table.sql_name} AS t ON t.{ROW} = w.row"
            found = pa.concat_tables(self._sql.stream(f"SELECT w.position AS position{names} FROM {joined}", len(rows)))
        if len(found) < len(rows):
            raise InputError(f"{table.name} has rows 0 to {len(table) - 1:,}; some of the rows asked for are not there")
        order = pa.array(np.argsort(found.column("position").to_numpy()))
        return found.drop_columns("position").take(order).rename_columns(list(columns))

    def index(
        self, table: SparkTable, by: Sequence[str], columns: Sequence[str], hierarchies: Hierarchies
    ) -> SparkIndex:
        table.check_columns([*by, *columns])
        with self._asking(table):
            return SparkIndex(self._sql, table, by, columns, hierarchies, lambda: self._asking(table))

    def write(self, table: SparkTable, cells: Mapping[str, NewCells], path: Path, *, replace: bool = False) -> None:
        new = self.repaired(table, cells).frame
        with self._asking(table), whole_folder(path, replace=replace) as partial:
            new.write.mode("append").parquet(str(partial))

    @contextmanager
    def _asking(self, *tables: SparkTable) -> Iterator[None]:
        """While a question is answered: what Spark says is reworded, and the tables must be what they were."""
        with reading(" and ".join(dict.fromkeys(table.name for table in tables))):
            for table in tables:
                table.placed.check_unchanged()
            yield
            for table in tables:
                table.placed.check_unchanged()

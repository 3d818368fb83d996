"""How Spark gets at a relation, and how its rows get their numbers.

A Parquet file is read in place, and a row's number is its place in the file. A frame (a table, a folder) has a key, and
is numbered in its order. Text files and tables in memory are read by the embedded engine, which alone decides what a
value in them is, and carry their row numbers along.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pacas.engine.contract import KeyedFrame, NeighbourDiffs, RelationFile, RelationFolder, Source
from pacas.engine.duck.connection import start_duckdb
from pacas.engine.duck.source import create_table, given_deltas
from pacas.engine.files.delta_lake import is_delta
from pacas.engine.files.watched_files import WatchedFiles
from pacas.engine.spark.keyed_frames import KeyedFrames, PlacedRelation, texts
from pacas.engine.spark.row_numbers import BUCKET
from pacas.engine.spark.scan import scan_folder, scan_table
from pacas.engine.spark.session import is_local
from pacas.engine.sql.statements import ROW, column_name, literal
from pacas.errors import InputError, SchemaError

SMALL = 1 << 17
"""Rows of a text file or a table in memory up to which they are handed to Spark as they are."""
LARGEST = 1 << 23
"""Rows up to which they are handed to a cluster, through the driver."""
_HIDDEN = "_metadata"
"""The column by which Spark tells where in a file a row is."""


class SparkSources:
    """Where a session's relations come from."""

    def __init__(self, session: SparkSession, folder: str, bucket: int = BUCKET) -> None:
        self._session = session
        self._local = is_local(session.conf.get("spark.master", ""))
        self._folder = folder
        self._embedded = start_duckdb(folder)
        self._one_at_a_time = threading.Lock()  # a DuckDB connection serves one thread
        self._names = count()
        self._folders: dict[int, tuple[RelationFolder, KeyedFrame]] = {}
        """By the folder itself, not by what it is called: one that is scanned anew may be another one by now."""
        self.frames = KeyedFrames(bucket)

    def close(self) -> None:
        self._embedded.close()

    def place(self, source: Source, columns: Sequence[str]) -> PlacedRelation:
        """A relation's columns, ready to be asked about."""
        SchemaError.check_there(columns, source.columns, source.name)
        if isinstance(source, KeyedFrame):
            return self.frames.place(source, columns)
        if isinstance(source, RelationFolder):
            files = WatchedFiles.of_source(source)
            placed = self.frames.place(self._of_folder(source), columns)
            return replace(placed, check_unchanged=files.check) if is_delta(source.path) else placed
        if (
            isinstance(source, RelationFile)
            and source.format == "parquet"
            and (frame := self._in_place(source, columns))
        ):
            return frame
        return self._handed_over(source, columns)

    # ---- tables and folders ------------------------------------------------------------------------------------------

    def scan(self, table: str, key: tuple[str, ...], format: str | None = None) -> KeyedFrame:
        """A table by its name, or a folder by its path."""
        return self.frames.scanned(lambda: scan_table(self._session, table, key, format))

    def _of_folder(self, folder: RelationFolder) -> KeyedFrame:
        """A folder's frame, the same one whenever it is opened, as what is remembered of it is the frame's."""
        if id(folder) not in self._folders:
            path = self._path(folder.path)
            self._folders[id(folder)] = folder, self.frames.scanned(lambda: scan_folder(self._session, path, folder))
        return self._folders[id(folder)][1]

    # ---- Parquet files --------------------------------------------------------------------------------------------

    def _in_place(self, file: RelationFile, columns: Sequence[str]) -> PlacedRelation | None:
        """A Parquet file as it lies there, unless it holds what Spark does not read."""
        folded = [c.lower() for c in file.columns]
        if len(set(folded)) < len(folded) or _HIDDEN in folded:
            return None
        files = WatchedFiles([file.path], file.name)
        rows = int(pq.read_metadata(file.path).num_rows)
        if rows == 0:
            raise InputError(f"{file.name} has a header but no rows")
        try:
            frame = self._session.read.parquet(self._path(file.path))
            found = texts(frame, columns, file.name)
        except (AnalysisException, SchemaError):
            return None
        placed = frame.select(F.col(f"{_HIDDEN}.row_index").alias(ROW), *found)
        return PlacedRelation(placed, rows, files.check, lambda: None)

    def _path(self, path: Path) -> str:
        """A local file or folder as Spark finds it: under a name that is no pattern, and not hidden."""
        if not self._local:
            return str(path.resolve())
        named = f"{self._folder}/{next(self._names)}.parquet"
        os.symlink(path.resolve(), named)
        return named

    # ---- text files, and tables in memory ---------------------------------------------------------------------------

    def _handed_over(self, source: Source, columns: Sequence[str]) -> PlacedRelation:
        with self._scan(source, columns) as (name, rows):
            if rows <= SMALL or not self._local:
                if rows > LARGEST:
                    raise InputError(
                        f"{source.name} has {rows:,} rows, too many to be handed to a cluster; "
                        "write it as a Parquet folder with a key, where the cluster reads it"
                    )
                frame = self._session.createDataFrame(self._embedded.sql(f"SELECT * FROM {name}").to_arrow_table())
            else:
                path = f"{self._folder}/{name}.parquet"
                self._embedded.execute(f"COPY {name} TO {literal(path)} (FORMAT parquet)")
                listed = "".join(f", {column_name(i)} STRING" for i in range(len(columns)))
                frame = self._session.read.schema(f"{ROW} BIGINT{listed}").parquet(path)
        return PlacedRelation(frame, rows, lambda: None, lambda: None)

    @contextmanager
    def _scan(self, source: Source, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
        name = f"pacas_{next(self._names)}"
        with self._one_at_a_time:
            try:
                rows = create_table(self._embedded, name, source, columns)
                yield name, rows
            finally:
                self._embedded.execute(f"DROP VIEW IF EXISTS {name}")
                self._embedded.execute(f"DROP TABLE IF EXISTS {name}_csv")
                self._embedded.unregister(f"{name}_arrow")

    def delta_texts(self, deltas: NeighbourDiffs, columns: dict[str, str]) -> pa.Table:
        """Deltas (neighbour, sign, …) with texts for values, columns called as in the relation."""
        name = f"pacas_{next(self._names)}"
        with self._one_at_a_time, given_deltas(self._embedded, name, deltas, columns):
            return self._embedded.sql(f"SELECT * FROM {name}").to_arrow_table()


def private_folder() -> tuple[str, Callable[[], None]]:
    """A folder for this user's eyes only, as a provider's values may be written there; and how to take it away."""
    folder = tempfile.mkdtemp(prefix="pacas-")
    return folder, lambda: shutil.rmtree(folder, ignore_errors=True)

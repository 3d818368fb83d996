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
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pacas.engine.contract import Deltas, KeyedFrame, RelationFile, Source
from pacas.engine.duck_source import create_deltas, create_table, drop_deltas, start_duckdb
from pacas.engine.spark_errors import changed
from pacas.engine.spark_numbering import BUCKET, Numbered, numbered
from pacas.engine.spark_session import is_local
from pacas.engine.spark_text import quoted, text_of
from pacas.engine.statements import ROW, column_name, literal
from pacas.errors import InputError, SchemaError

SMALL = 1 << 17
"""Rows of a text file or a table in memory up to which they are handed to Spark as they are."""
LARGEST = 1 << 23
"""Rows up to which they are handed to a cluster, through the driver."""
_HIDDEN = "_metadata"
"""The column by which Spark tells where in a file a row is."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A relation as a frame (row_number, c0, c1, …) of texts."""

    frame: DataFrame
    rows: int
    check_unchanged: Callable[[], None]
    forget: Callable[[], None]
    keys: DataFrame | None = None
    """Where rows are numbered by a key: (row_number, k0, k1, …)."""


class Sources:
    """Where a session's relations come from."""

    def __init__(self, session: SparkSession, folder: str, bucket: int = BUCKET) -> None:
        self._session = session
        self._local = is_local(session.conf.get("spark.master", ""))
        self._folder = folder
        self._bucket = bucket
        self._embedded = start_duckdb(folder)
        self._one_at_a_time = threading.Lock()  # a DuckDB connection serves one thread
        self._names = count()
        self._files: weakref.WeakKeyDictionary[KeyedFrame, _Files] = weakref.WeakKeyDictionary()
        self._seen: weakref.WeakKeyDictionary[KeyedFrame, dict[str, int]] = weakref.WeakKeyDictionary()

    def close(self) -> None:
        self._embedded.close()

    def place(self, source: Source | KeyedFrame, columns: Sequence[str]) -> Placed:
        """A relation's columns, ready to be asked about."""
        for column in columns:
            if column not in source.columns:
                raise SchemaError.missing(column, source.columns, source.name)
        if isinstance(source, KeyedFrame):
            return self._keyed(source, columns)
        if (
            isinstance(source, RelationFile)
            and source.format == "parquet"
            and (frame := self._in_place(source, columns))
        ):
            return frame
        return self._handed_over(source, columns)

    # ---- frames with a key --------------------------------------------------------------------------------------

    def _keyed(self, source: KeyedFrame, columns: Sequence[str]) -> Placed:
        if source not in self._files:
            self._files[source] = _Files.of(source.frame, source.name)
        files = self._files[source]
        files.check()
        texts = _texts(source.frame, columns, source.name)
        keys = {f"k{i}": column for i, column in enumerate(source.key)}
        frame = source.frame.select(*(F.col(quoted(column)).alias(k) for k, column in keys.items()), *texts)
        found = numbered(frame, keys, [column_name(i) for i in range(len(columns))], source.name, self._bucket)
        self._check_seen(source, columns, found)
        files.check()
        return Placed(found.frame, found.rows, files.check, lambda: _forget(found), found.keys)

    def _check_seen(self, source: KeyedFrame, columns: Sequence[str], found: Numbered) -> None:
        """A frame that is opened again must be what it was: the same rows, and the same cells in the columns seen."""
        seen = self._seen.setdefault(source, {})
        now = dict(zip(columns, found.checksums, strict=True)) | {"": found.rows}
        if any(seen.get(column, value) != value for column, value in now.items()):
            _forget(found)
            raise changed(source.name)
        seen.update(now)

    # ---- Parquet files --------------------------------------------------------------------------------------------

    def _in_place(self, file: RelationFile, columns: Sequence[str]) -> Placed | None:
        """A Parquet file as it lies there, unless it holds what Spark does not read."""
        folded = [c.lower() for c in file.columns]
        if len(set(folded)) < len(folded) or _HIDDEN in folded:
            return None
        files = _Files([file.path], file.name)
        path = str(file.path.resolve())
        if self._local:  # under a name that is no pattern, and not hidden
            path = f"{self._folder}/{next(self._names)}.parquet"
            os.symlink(file.path.resolve(), path)
        rows = int(pq.read_metadata(file.path).num_rows)
        if rows == 0:
            raise InputError(f"{file.name} has a header but no rows")
        try:
            frame = self._session.read.parquet(path)
            texts = _texts(frame, columns, file.name)
        except (AnalysisException, SchemaError):
            return None
        placed = frame.select(F.col(f"{_HIDDEN}.row_index").alias(ROW), *texts)
        return Placed(placed, rows, files.check, lambda: None)

    # ---- text files, and tables in memory ---------------------------------------------------------------------------

    def _handed_over(self, source: Source, columns: Sequence[str]) -> Placed:
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
                texts = "".join(f", {column_name(i)} STRING" for i in range(len(columns)))
                frame = self._session.read.schema(f"{ROW} BIGINT{texts}").parquet(path)
        return Placed(frame, rows, lambda: None, lambda: None)

    @contextmanager
    def _scan(self, source: Source, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
        name = f"pacas_{next(self._names)}"
        with self._one_at_a_time:
            try:
                rows, _ = create_table(self._embedded, name, source, columns)
                yield name, rows
            finally:
                self._embedded.execute(f"DROP VIEW IF EXISTS {name}")
                self._embedded.execute(f"DROP TABLE IF EXISTS {name}_csv")
                self._embedded.unregister(f"{name}_arrow")

    def delta_texts(self, deltas: Deltas, columns: dict[str, str]) -> pa.Table:
        """Deltas (neighbour, sign, …) with texts for values, columns called as in the relation."""
        name = f"pacas_{next(self._names)}"
        with self._one_at_a_time:
            try:
                create_deltas(self._embedded, name, deltas, columns)
                return self._embedded.sql(f"SELECT * FROM {name}").to_arrow_table()
            finally:
                drop_deltas(self._embedded, name)


class _Files:
    """The local files that a relation is read from, as they were when it was first opened."""

    def __init__(self, paths: Sequence[Path], called: str) -> None:
        self._paths, self._called = paths, called
        self._before = self._now()

    @classmethod
    def of(cls, frame: DataFrame, called: str) -> _Files:
        """A frame's; files elsewhere are looked at only when the frame is opened again."""
        places = [urlsplit(name) for name in frame.inputFiles()]
        return cls([Path(unquote(p.path)) for p in places if p.scheme in ("", "file")], called)

    def check(self) -> None:
        if self._now() != self._before:
            raise changed(self._called)

    def _now(self) -> list[tuple[int, int] | None]:
        return [_stamp(path) for path in self._paths]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _texts(frame: DataFrame, columns: Sequence[str], where: str) -> list[F.Column]:
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    return [text_of(c, kinds[c], where).alias(column_name(i)) for i, c in enumerate(columns)]


def _forget(found: Numbered) -> None:
    found.held.unpersist()


def private_folder() -> tuple[str, Callable[[], None]]:
    """A folder for this user's eyes only, as a provider's values may be written there; and how to take it away."""
    folder = tempfile.mkdtemp(prefix="pacas-")
    return folder, lambda: shutil.rmtree(folder, ignore_errors=True)

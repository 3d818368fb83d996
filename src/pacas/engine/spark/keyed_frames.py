"""Frames, tables and folders whose rows a key numbers: how they are placed, and found again as they were."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from pacas.engine.contract import KeyedFrame
from pacas.engine.files.watched_files import WatchedFiles, changed
from pacas.engine.spark.row_numbers import BUCKET, NumberedFrame, number_rows
from pacas.engine.spark.text import is_plain, quoted, text_of
from pacas.engine.sql.statements import column_name

ROWS = ""
"""Under which name a frame's number of rows is remembered, beside its columns' checksums."""


@dataclass(frozen=True, slots=True)
class PlacedRelation:
    """A relation as a frame (row_number, c0, c1, …) of texts."""

    frame: DataFrame
    rows: int
    check_unchanged: Callable[[], None]
    forget: Callable[[], None]
    keyed: KeyedFrame | None = None
    """Where a key numbers the rows: the frame that has it."""
    keys: DataFrame | None = None
    """Such rows' keys: (row_number, k0, k1, …)."""


@dataclass(slots=True)
class _SeenFrame:
    """What is remembered of a frame."""

    names: list[str]
    """Its files, wherever they are."""
    files: WatchedFiles
    seen: dict[str, int] = field(default_factory=dict)
    """Checksums of the columns that were placed, and the number of rows."""


class KeyedFrames:
    """The frames that an engine has seen."""

    def __init__(self, bucket: int = BUCKET) -> None:
        self._bucket = bucket
        self._known: weakref.WeakKeyDictionary[KeyedFrame, _SeenFrame] = weakref.WeakKeyDictionary()
        self._again: weakref.WeakKeyDictionary[KeyedFrame, Callable[[], KeyedFrame]] = weakref.WeakKeyDictionary()

    def scanned(self, scan: Callable[[], KeyedFrame]) -> KeyedFrame:
        """A table or folder, which is looked up again when it is opened again."""
        found = scan()
        self._again[found] = scan
        return found

    def place(self, source: KeyedFrame, columns: Sequence[str]) -> PlacedRelation:
        """A frame's columns, its rows numbered."""
        known = self._checked(source)
        keys = {f"k{i}": column for i, column in enumerate(source.key)}
        named = [F.col(quoted(column)).alias(k) for k, column in keys.items()]
        frame = source.frame.select(*named, *texts(source.frame, columns, source.name))
        names = [column_name(i) for i in range(len(columns))]
        found = number_rows(frame, keys, names, source.name, self._bucket, known.seen.get(ROWS))
        self._remember(source, known, columns, found)
        known.files.check()
        return PlacedRelation(found.frame, found.rows, known.files.check, lambda: _forget(found), source, found.keys)

    def check(self, source: KeyedFrame) -> None:
        """Raise if a frame that was placed is another one now, as far as its files tell."""
        self._checked(source)

    def digest(self, source: KeyedFrame) -> str:
        """What a frame is told by: its columns, the number of its rows, and a checksum of each column by key."""
        self._checked(source)
        fields = source.frame.schema.fields
        keyed = F.xxhash64(*(F.col(quoted(k)) for k in source.key))
        sums = [F.bit_xor(F.xxhash64(keyed, _content(f.name, f.dataType))).alias(f"c{i}") for i, f in enumerate(fields)]
        found = source.frame.agg(F.count("*").alias("n"), *sums).toArrow().to_pylist()[0]
        parts = [
            source.key,
            found["n"],
            *((f.name, f.dataType.simpleString(), found[f"c{i}"]) for i, f in enumerate(fields)),
        ]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _checked(self, source: KeyedFrame) -> _SeenFrame:
        """What is known of a frame, whose files must be those that they were."""
        known = self._known.get(source)
        if known is None:
            names = sorted(source.frame.inputFiles())
            self._known[source] = known = _SeenFrame(names, local_files(names, source.name))
        elif (again := self._again.get(source)) and sorted(again().frame.inputFiles()) != known.names:
            raise changed(source.name)
        known.files.check()
        return known

    def _remember(self, source: KeyedFrame, known: _SeenFrame, columns: Sequence[str], found: NumberedFrame) -> None:
        """A frame that is opened again must be what it was: the same rows, and the same cells in the columns seen."""
        now = dict(zip(columns, found.checksums, strict=True)) | {ROWS: found.rows}
        if any(known.seen.get(column, value) != value for column, value in now.items()):
            _forget(found)
            raise changed(source.name)
        known.seen.update(now)


def _content(name: str, kind: DataType) -> Column:
    """A column as it is hashed; what Spark does not hash, such as a map, as JSON."""
    return F.col(quoted(name)) if is_plain(kind) else F.to_json(F.struct(F.col(quoted(name))))


def _forget(found: NumberedFrame) -> None:
    found.held.unpersist()


def local_files(names: Sequence[str], called: str) -> WatchedFiles:
    """Those of Spark's files that are local; others are looked at only when their frame is opened again."""
    places = [urlsplit(name) for name in names]
    return WatchedFiles([Path(unquote(p.path)) for p in places if p.scheme in ("", "file")], called)


def texts(frame: DataFrame, columns: Sequence[str], where: str) -> list[Column]:
    """Columns of a frame as texts, called as in every opened relation."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    return [text_of(c, kinds[c], where).alias(column_name(i)) for i, c in enumerate(columns)]

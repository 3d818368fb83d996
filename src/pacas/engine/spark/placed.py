"""A relation where Spark can ask about it, and the local files that it is read from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyspark.sql import Column, DataFrame

from pacas.engine.contract import KeyedFrame
from pacas.engine.files.watched_files import WatchedFiles
from pacas.engine.spark.text import text_of
from pacas.engine.sql.statements import column_name


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


def local_files(names: Sequence[str], called: str) -> WatchedFiles:
    """Those of Spark's files that are local; others are looked at only when their frame is opened again."""
    places = [urlsplit(name) for name in names]
    return WatchedFiles([Path(unquote(p.path)) for p in places if p.scheme in ("", "file")], called)


def texts(frame: DataFrame, columns: Sequence[str], where: str) -> list[Column]:
    """Columns of a frame as texts, called as in every opened relation."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    return [text_of(c, kinds[c], where).alias(column_name(i)) for i, c in enumerate(columns)]

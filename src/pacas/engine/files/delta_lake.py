"""A Delta table's log: which Parquet files of the folder count now, and what it says of their columns and partitions.

The log is read by delta-rs (`pip install 'pacas[delta]'`). What cannot be read exactly from the files that the log
names is refused: rows that are only marked as deleted, columns under other names, files elsewhere, features that are
not known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from pacas.errors import FileError, InputError, SchemaError

LOG = "_delta_log"
NEWEST_READER = 3
READ_EXACTLY = {"timestampNtz", "v2Checkpoint"}
"""What a table may ask of its readers, beside what it only allows and does not use."""
DELETIONS, MAPPING = "deletionVectors", "columnMapping"

_COMMIT = re.compile(r"\d{20}\.json")
_ELSEWHERE = re.compile(r"/|[A-Za-z][\w+.-]*:/")
_UNKNOWN = re.compile(
    r"Feature '(\w+)' is not supported|Unsupported minimum (reader version \d+)|features required: \[(\w+(?:, \w+)*)\]"
)
"""How delta-rs refuses a table."""
_KINDS = {
    "string": "VARCHAR",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}


@dataclass(frozen=True, slots=True)
class DeltaLog:
    """What a log says of its table."""

    files: dict[Path, dict[str, str | None]]
    """The files that count, by name, and the values of each one's partition as texts."""
    partitions: tuple[str, ...]
    schema: pa.Schema
    """All columns, in the table's order."""
    spelled: str
    """The columns as the log spells them, in JSON, which Spark reads."""

    @property
    def own(self) -> list[pa.Field]:
        """The columns that are in the files."""
        return [field for field in self.schema if field.name not in self.partitions]

    @property
    def kinds(self) -> dict[str, str]:
        """DuckDB's type of each column that holds values, and not values inside values."""
        named = {field["name"]: field["type"] for field in json.loads(self.spelled)["fields"]}
        return {name: kind for name, type_ in named.items() if (kind := _kind(type_))}


def is_delta(folder: Path) -> bool:
    """Whether a folder is a Delta table."""
    return (folder / LOG).is_dir()


def read_log(folder: Path) -> DeltaLog:
    """What the log of a folder says now."""
    return _read(folder, _listed(folder))


def last_commit(folder: Path) -> list[Path]:
    """The file of the log that is newest: another one, when the table has changed in any way."""
    names = [name for name, *_ in _listed(folder) if _COMMIT.fullmatch(name)]
    return [folder / LOG / max(names)] if names else []


def is_as_logged(file: pa.Schema, log: DeltaLog) -> bool:
    """Whether a file has all columns that the log says, and just these, of the very types."""
    return len(file) == len(log.own) and all(
        field.name in file.names and _is_same(file.field(field.name).type, field.type) for field in log.own
    )


def check_logged(file: pa.Schema, log: DeltaLog, called: str) -> None:
    """Raise if a file's columns are not what the log says; one that is not there yet is null."""
    logged = {name.lower(): name for name in log.schema.names}
    for name in file.names:
        if logged.get(name.lower(), name) != name:
            raise SchemaError(f"{called} has column {name!r}, which its Delta log spells {logged[name.lower()]!r}")
    for field in log.own:
        if field.name in file.names and not _reads_as(file.field(field.name).type, field.type):
            raise SchemaError(f"{called} has column {field.name!r} of another type than its Delta log says")


def _listed(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The log's files as they are now."""
    found = []
    try:
        for entry in (folder / LOG).iterdir():
            with suppress(FileNotFoundError):  # one that a writer works on, and gone by now
                found.append((entry.name, entry.stat().st_size, entry.stat().st_mtime_ns))
    except OSError as error:
        raise FileError(f"{folder / LOG} cannot be read ({error.strerror})") from None
    return tuple(sorted(found))


@lru_cache(maxsize=16)
def _read(folder: Path, _as_listed: tuple[tuple[str, int, int], ...]) -> DeltaLog:
    """The log of a folder, read once for as long as its files are the same."""
    with _opened(folder) as table:
        _check_features(folder, table)
        added = pa.table(table.get_add_actions())
        schema, spelled = pa.schema(table.schema()), table.schema().to_json()
        partitions = tuple(table.metadata().partition_columns)
    _check_partitions(folder, schema, partitions)
    if not len(added):
        raise InputError(f"{folder.name} has a header but no rows")
    values = [_texts(added, column) for column in partitions]
    listed = ({c: texts[i] for c, texts in zip(partitions, values, strict=True)} for i in range(len(added)))
    paths = [_path(folder, path) for path in added.column("path").to_pylist()]
    files = dict(zip(paths, listed, strict=True))
    return DeltaLog({path: files[path] for path in sorted(files)}, partitions, schema, spelled)


@contextmanager
def _opened(folder: Path) -> Iterator[Any]:
    """A table, opened by delta-rs; what that says is reworded, as it may be long, and quote a value."""
    try:
        found = import_module("deltalake")
    except ImportError:
        raise InputError(
            f"{folder} is a Delta table, whose log says which of its files count; to read it: pip install "
            "'pacas[delta]', or put Delta's package on the class path of Spark"
        ) from None
    with TemporaryDirectory(prefix="pacas-") as place:  # a folder's own name may be one that delta-rs cannot take
        Path(place, LOG).symlink_to((folder / LOG).absolute(), target_is_directory=True)
        try:
            yield found.DeltaTable(place)
        except (found.exceptions.DeltaError, pa.ArrowException, ValueError, OSError) as error:
            if named := _UNKNOWN.search(str(error)):
                raise _refused(folder, named[named.lastindex or 0].split(", ")) from None
            raise FileError(f"the Delta log of {folder} cannot be read; is {LOG} complete?") from None


def _check_features(folder: Path, table: Any) -> None:
    """Raise if the table is more than its files' rows and its partitions' values."""
    protocol, mapped = table.protocol(), table.metadata().configuration.get("delta.columnMapping.mode", "none")
    if protocol.min_reader_version > NEWEST_READER:
        raise _refused(folder, [f"reader version {protocol.min_reader_version}"])
    asked = set(protocol.reader_features or ()) - READ_EXACTLY - {MAPPING, DELETIONS}
    if mapped != "none":
        asked.add(MAPPING)
    if DELETIONS in (protocol.reader_features or ()) and _has_deletions(table):
        asked.add(DELETIONS)
    if asked:
        raise _refused(folder, sorted(asked))


def _has_deletions(table: Any) -> bool:
    try:
        return len(pa.table(table.deletion_vectors())) > 0
    except (import_module("deltalake").exceptions.DeltaError, pa.ArrowException):  # there is one, and it is damaged
        return True


def _refused(folder: Path, features: Sequence[str]) -> InputError:
    return InputError(
        f"{folder} is a Delta table with {', '.join(features)}, which is not read here; "
        "copy it without, or read it on Spark with Delta's package"
    )


def _check_partitions(folder: Path, schema: pa.Schema, partitions: Sequence[str]) -> None:
    for column in partitions:
        kind = schema.field(column).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise SchemaError(f"{folder.name} has partitions by {column!r}, a column of {kind}; make it text")


def _path(folder: Path, named: str) -> Path:
    """Where a file is that the log names."""
    path = Path(unquote(named))
    if _ELSEWHERE.match(named) or ".." in path.parts:
        raise FileError(
            f"the Delta log of {folder} names files outside of it, as a shallow clone's does; copy the whole table"
        )
    return folder / path


def _texts(added: pa.Table, column: str) -> list[str | None]:
    """The values of a partition's column, one for each file."""
    values = added.column("partition").combine_chunks().field(column)
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    return texts


def _kind(type_: Any) -> str | None:
    if isinstance(type_, str) and type_.startswith("decimal"):
        return type_.upper()
    return _KINDS.get(type_) if isinstance(type_, str) else None


def _is_same(found: pa.DataType, logged: pa.DataType) -> bool:
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_string_view(found) or pa.types.is_large_string(found):
        found = pa.string()  # they are the same in a file
    if pa.types.is_binary_view(found) or pa.types.is_large_binary(found):
        found = pa.binary()
    if pa.types.is_nested(found) and pa.types.is_nested(logged):
        return _has_same_parts(found, logged, _is_same)
    return bool(found == logged)


def _reads_as(found: pa.DataType, logged: pa.DataType) -> bool:
    """Whether a file's column has the values of another type: older writers say less, and know fewer types."""
    if pa.types.is_signed_integer(found) and pa.types.is_signed_integer(logged):
        return bool(found.bit_width <= max(32, logged.bit_width))
    if pa.types.is_timestamp(found) and pa.types.is_timestamp(logged):
        return logged.tz is not None or found.tz is None
    if pa.types.is_nested(found) and pa.types.is_nested(logged):
        return _has_same_parts(found, logged, _reads_as)
    return _is_same(found, logged)


def _has_same_parts(found: pa.DataType, logged: pa.DataType, fits: Callable[[pa.DataType, pa.DataType], bool]) -> bool:
    """Whether values inside values are the same ones; how a file names the parts of a list or of a map is no matter."""
    if pa.types.is_map(found) or pa.types.is_map(logged):
        both = pa.types.is_map(found) and pa.types.is_map(logged)
        return both and fits(found.key_type, logged.key_type) and fits(found.item_type, logged.item_type)
    if pa.types.is_struct(found) or pa.types.is_struct(logged):
        both = pa.types.is_struct(found) and pa.types.is_struct(logged)
        same = both and found.names == logged.names
        return same and all(fits(f.type, g.type) for f, g in zip(found, logged, strict=True))
    return fits(found.value_type, logged.value_type)

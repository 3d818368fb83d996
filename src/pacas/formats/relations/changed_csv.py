"""A table with some cells changed, as a file: in a CSV that stays one of its kind, every other byte is as it was.

Quotes, line ends, delimiter and all.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from pacas.core.relation import Relation
from pacas.engine.contract import RelationFile
from pacas.engine.files.encoding import UTF_8
from pacas.formats.relations.relations import (
    BATCH,
    EXCEL,
    PARQUET,
    create_text,
    kind_to_write,
    open_text,
    write_relation,
)
from pacas.formats.replacing import replacing


class Change(NamedTuple):
    """A cell's new value, and the one that it should have in the file."""

    column: int
    old: str | None
    new: str


class NotAsExpected(Exception):
    """The file does not have the records that the relation has."""


def write_changed(
    file: RelationFile,
    rows: int,
    changes: Mapping[int, Iterable[Change]],
    relation: Callable[[], Relation],
    path: Path,
) -> str | None:
    """Write a file's table with its changes; `path` holds all of it or is as it was.

    A text that stays one of its kind is copied, with the changed cells put in; if that cannot be, it is written anew
    with its own delimiter. `relation` makes the changed table, for what is not copied. A text keeps its encoding, if
    that has a place for every new value; else it is written in UTF-8, and that is returned as a remark.
    """
    kind = kind_to_write(path)
    with replacing(path) as partial:
        if file.format != "csv" or kind in (PARQUET, EXCEL):
            write_relation(relation(), partial)
            return None
        try:
            if not (_is_same_kind(kind, file) and _copied(file, rows, changes, partial)):
                _write_text(relation(), file, path, file.encoding, partial)
        except UnicodeEncodeError:
            _write_text(relation(), file, path, UTF_8, partial)
            return f"{path.name} is in UTF-8: {file.encoding} lacks a character of the new values"
    return None


def _is_same_kind(kind: str, file: RelationFile) -> bool:
    """Whether a text may keep its delimiter: a name that says tabs means them, any other means none."""
    return (kind == "\t") == (file.delimiter == "\t")


def delimiter_to_write(file: RelationFile, path: Path) -> str:
    """The delimiter of a text that is written there: the file's own, unless the name says another kind."""
    kind = kind_to_write(path)
    return file.delimiter if file.format == "csv" and _is_same_kind(kind, file) else kind


def _copied(file: RelationFile, rows: int, changes: Mapping[int, Iterable[Change]], partial: Path) -> bool:
    """Whether the file could be copied: not if its records are not told apart as one would think."""
    try:
        with create_text(partial) as out:
            _patch(file, rows, changes, out)
    except NotAsExpected:
        return False
    return True


def _write_text(relation: Relation, file: RelationFile, path: Path, encoding: str, partial: Path) -> None:
    """A relation of texts, with quotes only where they are needed."""
    delimiter = delimiter_to_write(file, path)
    null = next(iter(file.nulls), "")
    needs_quotes = re.compile(f'[{re.escape(delimiter)}"\\r\\n]').search

    def line(values: Iterable[str | None]) -> str:
        fields = (null if value is None else value for value in values)
        return delimiter.join('"' + f.replace('"', '""') + '"' if needs_quotes(f) else f for f in fields) + "\n"

    with create_text(partial) as out:
        out.write(line(relation.columns).encode(encoding))
        for batch in relation.table.to_batches(BATCH):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            out.write("".join(map(line, rows)).encode(_without_mark(encoding)))


def _without_mark(encoding: str) -> str:
    """The encoding of what follows on a beginning, which alone has a byte order mark."""
    return (
        {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
        if sys.byteorder == "little"
        else encoding
    )


def _patch(file: RelationFile, rows: int, changes: Mapping[int, Iterable[Change]], out: pa.NativeFile) -> None:
    """Copy a file, and put the new values where the changes say."""
    if '",;\t|\n'.encode(file.encoding) != b'",;\t|\n':  # lines and fields are told apart by their bytes
        raise NotAsExpected
    records = _records(file)
    out.write(next(records, b""))
    row = -1
    for record in records:
        if len(file.columns) > 1 and not record.strip(b"\r\n"):  # an empty line is no row
            out.write(record)
            continue
        row += 1
        out.write(_patched(record, changes[row], file) if row in changes else record)
    if row + 1 != rows:
        raise NotAsExpected


def _records(file: RelationFile) -> Iterator[bytes]:
    """The file's records with their line ends; a line break inside quotes ends none."""
    with open_text(file.path) as stream:
        parts: list[bytes] = []
        for line in io.BufferedReader(stream, 1 << 20):
            parts.append(line)
            if line.count(b'"') % 2 == (len(parts) == 1):  # a quote is left open: begun here, or not ended here
                continue
            yield line if len(parts) == 1 else b"".join(parts)
            parts = []
        if parts:
            yield b"".join(parts)


def _patched(record: bytes, changes: Iterable[Change], file: RelationFile) -> bytes:
    delimiter = file.delimiter.encode()
    body = record.rstrip(b"\r\n")
    fields = _fields(body, delimiter)
    if len(fields) != len(file.columns):
        raise NotAsExpected
    for change in changes:
        before = fields[change.column]
        value = _value(before, file.encoding)
        if value != (change.old or "") and (change.old is not None or value not in file.nulls):
            raise NotAsExpected
        fields[change.column] = _field(change.new.encode(file.encoding), delimiter, before.startswith(b'"'))
    return delimiter.join(fields) + record[len(body) :]


def _fields(body: bytes, delimiter: bytes) -> list[bytes]:
    fields: list[bytes] = []
    open_ = b""
    for piece in body.split(delimiter):
        field = open_ + piece
        if field.count(b'"') % 2:
            open_ = field + delimiter
        else:
            fields.append(field)
            open_ = b""
    return fields


def _value(field: bytes, encoding: str) -> str:
    if len(field) > 1 and field.startswith(b'"') and field.endswith(b'"'):
        field = field[1:-1].replace(b'""', b'"')
    return field.decode(encoding, "replace")


def _field(value: bytes, delimiter: bytes, quoted: bool) -> bytes:
    """A value as a field, in quotes if it needs them, or if the one that stood there had them."""
    if quoted or any(special in value for special in (delimiter, b'"', b"\n", b"\r")):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value

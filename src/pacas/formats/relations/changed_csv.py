"""A CSV file with some cells changed and every other byte as it was: quotes, line ends, delimiter and all."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from pacas.engine.contract import RelationFile
from pacas.formats.relations.relations import open_text


class Change(NamedTuple):
    """A cell's new value, and the one that it should have in the file."""

    column: int
    old: str | None
    new: str


class NotAsExpected(Exception):
    """The file does not have the records that the relation has."""


def patch(file: RelationFile, rows: int, changes: Mapping[int, Iterable[Change]], out: pa.NativeFile) -> None:
    """Copy a file, and put the new values where the changes say."""
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
        if _value(before) != (change.old or ""):
            raise NotAsExpected
        fields[change.column] = _field(change.new.encode(), delimiter, before.startswith(b'"'))
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


def _value(field: bytes) -> str:
    if len(field) > 1 and field.startswith(b'"') and field.endswith(b'"'):
        field = field[1:-1].replace(b'""', b'"')
    return field.decode()


def _field(value: bytes, delimiter: bytes, quoted: bool) -> bytes:
    """A value as a field, in quotes if it needs them, or if the one that stood there had them."""
    if quoted or any(special in value for special in (delimiter, b'"', b"\n", b"\r")):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value

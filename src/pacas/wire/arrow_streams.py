"""Tables as Arrow's IPC streams, written and read by both sides; only plain streams are read, whoever sent them.

A plain stream decodes to no more than its own bytes: no buffer is compressed, none is told of twice, and there is no
dictionary that a few bytes could repeat. What its messages say of themselves is read before anything is decoded.
"""

from __future__ import annotations

import struct
from enum import Enum

import pyarrow as pa

COMPRESSED = b"experimental_compression"
"""Part of the key by which metadata V4 says that buffers are compressed; texts stand in a flatbuffer as they are."""
_HEADER, _LENGTH, _BUFFERS, _COMPRESSION = 2, 0, 2, 3
"""The numbers of fields: of Message the first, of RecordBatch the others."""


def written_stream(table: pa.Table) -> bytes:
    """A table as a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read_stream(content: bytes) -> pa.Table | None:
    """The table that a stream holds, every value checked; None if it holds none, or would be larger than it is."""
    try:
        if isinstance(plain_rows(pa.py_buffer(content)), NotPlain):
            return None
        with pa.ipc.open_stream(content) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, EOFError, struct.error, ValueError):
        return None
    return table


class NotPlain(Enum):
    """Why a stream is not read."""

    COMPRESSED = "compressed buffers are not taken; send them plain"
    OTHER_MESSAGES = "dictionaries and tensors are not taken; send text (utf8)"
    OVERLAPPING = "buffers that overlap are not taken; send each on its own"


def plain_rows(buffer: pa.Buffer) -> int | NotPlain:
    """The rows that a stream says it has, if it is plain. Raises what pyarrow and struct do, if it is no stream."""
    rows = 0
    for message in pa.ipc.MessageReader.open_stream(buffer):
        if message.type == "schema":
            continue
        raw = message.metadata.to_pybytes()
        if COMPRESSED in raw:
            return NotPlain.COMPRESSED
        if message.type != "record batch":
            return NotPlain.OTHER_MESSAGES
        batch = _table(raw, struct.unpack_from("<I", raw, 0)[0], _HEADER)
        if batch is None:
            continue
        if _field(raw, batch, _COMPRESSION):
            return NotPlain.COMPRESSED
        body = message.body
        if _told(raw, batch) > (0 if body is None else body.size):
            return NotPlain.OVERLAPPING
        rows += _rows(raw, batch)
    return rows


def _rows(raw: bytes, batch: int) -> int:
    length = _field(raw, batch, _LENGTH)
    return max(0, int(struct.unpack_from("<q", raw, batch + length)[0])) if length else 0


def _told(raw: bytes, batch: int) -> int:
    """The bytes of all buffers of a record batch, each an offset and a length in 16 bytes."""
    buffers = _table(raw, batch, _BUFFERS)
    if buffers is None:
        return 0
    (count,) = struct.unpack_from("<I", raw, buffers)
    if 16 * count > len(raw):
        raise struct.error("cut short")
    lengths = struct.unpack_from(f"<{2 * count}q", raw, buffers + 4)[1::2]
    if min(lengths, default=0) < 0:  # a buffer that is not read could pay for those that are told of twice
        raise struct.error("shorter than nothing")
    return sum(lengths)


def _table(raw: bytes, table: int, field: int) -> int | None:
    """Where the table or vector that a field refers to begins."""
    offset = _field(raw, table, field)
    return table + offset + int(struct.unpack_from("<I", raw, table + offset)[0]) if offset else None


def _field(raw: bytes, table: int, field: int) -> int:
    """Where a field of a flatbuffer's table is, from the table's beginning; 0 if it is not there."""
    vtable = table - struct.unpack_from("<i", raw, table)[0]
    (size,) = struct.unpack_from("<H", raw, vtable)
    slot = 4 + 2 * field
    return int(struct.unpack_from("<H", raw, vtable + slot)[0]) if slot < size else 0

"""Large batches as Arrow's IPC streams: tuples in, a column of prices per level out.

What comes in is checked before it is believed: compressed buffers, which a few bytes could blow up, are refused, and so
is every type but text.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pacas.server.failures import Failure
from pacas.server.limits import check_batch
from pacas.wire.arrow_streams import written_stream
from pacas.wire.shapes import LONGEST_TEXT, MOST_COLUMNS, ErrorCode

_TEXT = (pa.string(), pa.large_string(), pa.null())


def read_tuples(body: bytes, most: int) -> pa.Table:
    """The tuples of a stream, by column; a Failure if it is none, or holds what cannot be asked about."""
    buffer = pa.py_buffer(body)
    try:
        if _is_compressed(buffer):
            raise _refused("compressed buffers are not taken; send them plain")
        return _tuples(buffer, most)
    except (pa.ArrowException, OSError, ValueError, TypeError, struct.error, EOFError):  # its message may quote values
        raise Failure(ErrorCode.BAD_REQUEST, "the body is not an Arrow IPC stream") from None


def ladders_stream(prices: np.ndarray[Any, np.dtype[np.int64]]) -> bytes:
    """Prices and refusals, a column per level."""
    columns = {str(level): np.ascontiguousarray(prices[:, level]) for level in range(prices.shape[1])}
    return written_stream(pa.table(columns))


def _tuples(buffer: pa.Buffer, most: int) -> pa.Table:
    reader = pa.ipc.open_stream(buffer)
    _check_schema(reader.schema)
    batches, rows = [], 0
    for batch in reader:
        rows += batch.num_rows
        check_batch(rows, most)
        batch.validate(full=True)
        batches.append(batch)
    table = pa.Table.from_batches(batches, reader.schema)
    for column in table.columns:
        if not pa.types.is_null(column.type) and (pc.max(pc.utf8_length(column)).as_py() or 0) > LONGEST_TEXT:
            raise _refused(f"a value of more than {LONGEST_TEXT:,} characters")
    return table


def _check_schema(schema: pa.Schema) -> None:
    if not 1 <= len(schema) <= MOST_COLUMNS or len(set(schema.names)) < len(schema):
        raise _refused(f"a stream must have 1 to {MOST_COLUMNS:,} columns with names that differ")
    other = next((field for field in schema if field.type not in _TEXT), None)
    if other is not None:
        raise _refused(f"column {other.name[:50]!r} is of the type {str(other.type)[:50]}; send text (utf8)")


def _refused(message: str) -> Failure:
    return Failure(ErrorCode.UNPROCESSABLE, message)


def _is_compressed(buffer: pa.Buffer) -> bool:
    """Whether some record batch says that its buffers are compressed. Nothing is decompressed to find out."""
    reader = pa.ipc.MessageReader.open_stream(buffer)
    for message in reader:
        if message.type in ("record batch", "dictionary") and _has_compression(message.metadata, message.type):
            return True
    return False


def _has_compression(metadata: pa.Buffer, kind: str) -> bool:
    """Look it up in the message's flatbuffer: Message.header (2) → RecordBatch.compression (3)."""
    raw = metadata.to_pybytes()
    message = struct.unpack_from("<I", raw, 0)[0]
    header = _table(raw, message, 2)
    if header is not None and kind == "dictionary":  # DictionaryBatch.data (1) is a record batch
        header = _table(raw, header, 1)
    return header is not None and _field(raw, header, 3) != 0


def _table(raw: bytes, table: int, field: int) -> int | None:
    """Where the table that a field refers to begins."""
    offset = _field(raw, table, field)
    return table + offset + int(struct.unpack_from("<I", raw, table + offset)[0]) if offset else None


def _field(raw: bytes, table: int, field: int) -> int:
    """Where a field of a flatbuffer's table is, from the table's beginning; 0 if it is not there."""
    vtable = table - struct.unpack_from("<i", raw, table)[0]
    (size,) = struct.unpack_from("<H", raw, vtable)
    slot = 4 + 2 * field
    return int(struct.unpack_from("<H", raw, vtable + slot)[0]) if slot < size else 0

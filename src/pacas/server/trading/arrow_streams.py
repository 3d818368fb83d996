"""Large batches as Arrow's IPC streams: tuples in, a column of prices per level out.

What comes in is checked before it is believed: what a few bytes could blow up is refused before it is decoded, and so
is every type but text.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pacas.server.http.failures import Failure
from pacas.server.limits import check_batch
from pacas.wire.arrow_streams import NotPlain, plain_rows, written_stream
from pacas.wire.shapes.base import LONGEST_TEXT, MOST_COLUMNS
from pacas.wire.shapes.failures import ErrorCode

_TEXT = (pa.string(), pa.large_string(), pa.null())


def read_tuples(body: bytes, most: int) -> pa.Table:
    """The tuples of a stream, by column; a Failure if it is none, or holds what cannot be asked about."""
    buffer = pa.py_buffer(body)
    try:
        reader = pa.ipc.open_stream(buffer)
        _check_schema(reader.schema)
        rows = plain_rows(buffer)
        if isinstance(rows, NotPlain):
            raise _refused(rows.value)
        check_batch(rows, most)
        return _tuples(reader)
    except (pa.ArrowException, OSError, ValueError, TypeError, struct.error, EOFError):  # its message may quote values
        raise Failure(ErrorCode.BAD_REQUEST, "the body is not an Arrow IPC stream") from None


def ladders_stream(prices: np.ndarray[Any, np.dtype[np.int64]]) -> bytes:
    """Prices and refusals, a column per level."""
    columns = {str(level): np.ascontiguousarray(prices[:, level]) for level in range(prices.shape[1])}
    return written_stream(pa.table(columns))


def _tuples(reader: pa.RecordBatchReader) -> pa.Table:
    table = reader.read_all()
    table.validate(full=True)
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

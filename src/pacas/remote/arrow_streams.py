"""Batches on the wire: a client's tuples as Arrow streams that a server takes, and its ladders of quotes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.errors import InputError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import REASONS
from pacas.wire.arrow_streams import read_stream, written_stream


def table_of(tuples: Columns) -> pa.Table:
    """Tuples by column, as text."""
    try:
        return pa.table({name: _text(values) for name, values in tuples.items()})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeError):
        raise InputError("a batch must have columns of one length, with texts and nulls") from None


def texts_of(tuples: Columns) -> dict[str, list[str | None]]:
    """Tuples by column, as lists of texts and nulls, all of one length."""
    listed = {name: values for name, values in tuples.items() if type(values) is list}
    if len(listed) == len(tuples) and len(set(map(len, listed.values()))) == 1:
        return listed
    table = table_of(tuples)
    return {name: table[name].to_pylist() for name in table.column_names}


def bodies(table: pa.Table, most_rows: int, most_bytes: int) -> Iterator[tuple[int, bytes]]:
    """The tuples in parts that are small enough, in number and in size: how many they are, and the part."""
    waiting = [table.slice(at, most_rows) for at in range(0, len(table), most_rows)][::-1]
    while waiting:
        part = waiting.pop()
        body = written_stream(part)
        if len(body) > most_bytes and len(part) > 1:
            half = len(part) // 2
            waiting += [part.slice(half), part.slice(0, half)]
        else:
            yield len(part), body


def prices_of(content: bytes, rows: int, levels: int) -> NDArray[np.int64] | None:
    """The ladders of so many tuples at so many levels; None if the stream does not hold just that."""
    table = read_stream(content)
    if table is None or table.column_names != [str(level) for level in range(levels)] or len(table) != rows:
        return None
    if any(column.type != pa.int64() or column.null_count for column in table.columns):
        return None
    prices = np.empty((rows, levels), dtype=np.int64)
    for level, column in enumerate(table.columns):
        prices[:, level] = column.to_numpy()
    return prices if rows == 0 or prices.min() >= -len(REASONS) else None


def _text(values: object) -> pa.ChunkedArray:
    """A column as Arrow's plain text, whatever Arrow has kept it as."""
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([_array(values)])
    return column.cast(pa.string())


def _array(values: object) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, type=pa.string())

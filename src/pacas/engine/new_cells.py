"""New values for some cells of a column, and how they get into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class NewCells:
    """What a repair writes into one column: row rows[i] gets values[i]."""

    rows: NDArray[np.int64]
    values: Sequence[str | None]


def in_type(values: Sequence[str | None], kind: pa.DataType) -> pa.Array | None:
    """Texts as values of a type, or None if one of them is no such value.

    >>> in_type(["51", None], pa.int64()).to_pylist(), in_type(["[51,60]"], pa.int64())
    ([51, None], None)
    """
    try:
        return pa.array(values, pa.string()).cast(kind)
    except pa.ArrowException:
        return None


def put(column: pa.ChunkedArray, rows: NDArray[np.int64], values: pa.Array) -> pa.ChunkedArray | pa.Array:
    """A column with new values in some rows, of their type; categories become what they stand for.

    >>> put(pa.chunked_array([["a", "b", "c"]]), np.array([0, 2]), pa.array(["x", None])).to_pylist()
    ['x', 'b', None]
    """
    import pyarrow.compute as pc  # here: slow to import, and most questions do without

    plain = column.combine_chunks()
    plain = (plain.dictionary_decode() if pa.types.is_dictionary(plain.type) else plain).cast(values.type)
    of = np.full(len(plain), -1, dtype=np.int64)
    of[rows] = np.arange(len(rows))
    return pc.if_else(of >= 0, values.take(pa.array(of, mask=of < 0)), plain)

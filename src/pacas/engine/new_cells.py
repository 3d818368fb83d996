"""New values for some cells of a column, as the column's own type where all of them have it."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def in_type(values: Sequence[str | None], kind: pa.DataType) -> pa.Array | None:
    """Texts as values of a type, or None if one of them is no such value.

    >>> in_type(["51", None], pa.int64()).to_pylist(), in_type(["[51,60]"], pa.int64())
    ([51, None], None)
    """
    try:
        return pa.array(values, pa.string()).cast(kind)
    except pa.ArrowException:
        return None

"""What a value of a Spark column is: its text, the same that the embedded engine finds in a file of such a column."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, types
from pyspark.sql import functions as F

from pacas.errors import SchemaError

_PLAIN = (
    types.BooleanType,
    types.ByteType,
    types.ShortType,
    types.IntegerType,
    types.LongType,
    types.DateType,
    types.TimestampNTZType,
)


_TEXT = (types.StringType, types.CharType, types.VarcharType)
_FLOAT = (types.FloatType, types.DoubleType)


def is_plain(kind: types.DataType) -> bool:
    """Whether a column of this type holds values, and not values inside values."""
    return isinstance(kind, (*_PLAIN, *_TEXT, *_FLOAT, types.DecimalType, types.TimestampType, types.BinaryType))


def quoted(name: str) -> str:
    """A column's name as Spark writes it."""
    return "`" + name.replace("`", "``") + "`"


def text_of(name: str, kind: types.DataType, where: str) -> Column:
    """A column as text; an empty one is null, and a float's whole numbers are whole numbers."""
    column = F.col(quoted(name))
    if isinstance(kind, _TEXT):
        return F.when(column != "", column)
    if isinstance(kind, _FLOAT):
        return _float_texts()(column)
    if isinstance(kind, _PLAIN):
        return column.cast("string")
    if isinstance(kind, types.DecimalType):
        return _decimal_text(column, kind)
    if isinstance(kind, types.TimestampType):
        since = f"timestampadd(MICROSECOND, unix_micros({quoted(name)}), TIMESTAMP_NTZ '1970-01-01')"
        return F.expr(f"CAST({since} AS STRING) || '+00'")
    raise SchemaError(f"column {name!r} of {where} is of Spark's type {kind.simpleString()}; make it text")


def _decimal_text(column: Column, kind: types.DecimalType) -> Column:
    """A decimal with all its places; one that has nothing but places begins with the point, as DuckDB spells it."""
    text = column.cast("string")
    if kind.scale > 6:  # without ANSI mode, Spark spells what is below a millionth as 1.5E-9
        sign = F.when(text.startswith("-"), "-0.").otherwise("0.")
        digits = F.regexp_replace(text, r"^-|\.|E.*", "")
        text = F.when(text.contains("E"), F.concat(sign, F.lpad(digits, kind.scale, "0"))).otherwise(text)
    return F.regexp_replace(text, r"^(-?)0\.", "$1.") if kind.scale == kind.precision else text


def _float_texts() -> Callable[[Column], Column]:
    """Floats as the shortest text that reads back as them; a column at a time, in Arrow.

    A function inside a function, as such a one travels whole to workers that do not have PACAS.
    """

    def texts(floats: pa.Array) -> pa.Array:
        single = floats.type == pa.float32()

        def text(value: float) -> str | None:
            if math.isnan(value):
                return None
            if abs(value) < 1e15 and value == int(value):
                return str(int(value))
            if not single or math.isinf(value):
                return repr(value)
            if 1e-4 <= abs(value) < 1e16:
                return np.format_float_positional(np.float32(value), unique=True, trim="0")
            return np.format_float_scientific(np.float32(value), unique=True, trim="-", exp_digits=2)

        return pa.array([None if v is None else text(v) for v in floats.to_pylist()], pa.string())

    made: Callable[[Column], Column] = F.arrow_udf(texts, "string")
    return made

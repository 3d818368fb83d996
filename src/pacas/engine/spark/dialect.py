"""Statements in DuckDB's dialect, translated into Spark's."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

_DIGITS = "[0-9]+(_[0-9]+)*"
NUMBER = (
    f"^[ \t\n\x0b\f\r]*([+-]?({_DIGITS}[.]?({_DIGITS})?|[.]{_DIGITS})([eE][+-]?{_DIGITS})?"
    "|[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])[ \t\n\x0b\f\r]*$"
)
"""What DuckDB takes for a number. Spark would take 1d and 0x1p3 too, and no 1_000."""


def to_spark(sql: str) -> str:
    """A statement of DuckDB's as one of Spark's, with the same answer."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    for step in tree.find_all(exp.CTE):
        step.set("materialized", None)  # Spark decides by itself what it computes once
    translated: str = tree.transform(_number).sql(dialect="spark")
    return translated


def _number(node: exp.Expression) -> exp.Expression:
    """A text as a number where DuckDB takes it for one, else null."""
    if not (isinstance(node, exp.TryCast) and node.to.is_type("double")):
        return node
    text = node.this
    digits = exp.func("REPLACE", text.copy(), exp.Literal.string("_"), exp.Literal.string(""))
    is_number = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(NUMBER))
    return exp.TryCast(this=exp.Case().when(is_number, digits), to=node.to, safe=True)

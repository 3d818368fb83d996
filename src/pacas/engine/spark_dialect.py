"""Statements in DuckDB's dialect, translated into Spark's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

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


def in_steps(sql: str, names: Iterator[str]) -> tuple[dict[str, str], str]:
    """A statement of DuckDB's as several: the materialized steps that are read twice or more, by new names, and the rest.

    A step may read those before it, and the rest reads all of them.
    """
    tree = sqlglot.parse_one(sql, read="duckdb")
    read = Counter(table.name for table in tree.find_all(exp.Table))
    shared = [step for step in tree.find_all(exp.CTE) if step.args["materialized"] and read[step.alias] > 1]
    called = {step.alias: next(names) for step in shared}
    for table in list(tree.find_all(exp.Table)):
        if table.name in called:
            table.replace(exp.table_(called[table.name], alias=table.alias_or_name))
    steps = {called[step.alias]: step.pop().this.sql(dialect="duckdb") for step in shared}
    if not tree.args["with_"].expressions:
        tree.set("with_", None)
    return steps, tree.sql(dialect="duckdb")


def _number(node: exp.Expression) -> exp.Expression:
    """A text as a number where DuckDB takes it for one, else null."""
    if not (isinstance(node, exp.TryCast) and node.to.is_type("double")):
        return node
    text = node.this
    digits = exp.func("REPLACE", text.copy(), exp.Literal.string("_"), exp.Literal.string(""))
    is_number = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(NUMBER))
    return exp.TryCast(this=exp.Case().when(is_number, digits), to=node.to, safe=True)

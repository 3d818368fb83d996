"""How the parts of the demonstration look."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.rule import Rule
from rich.text import Text

from pacas.cli.options import out
from pacas.cli.plain_table import plain_table
from pacas.core.relation import Relation

WIDTH = 80


def title(text: str) -> None:
    out.print(Rule(Text(text, style="bold"), align="left"), width=WIDTH)


def show(relation: Relation, marked: Collection[tuple[int, str]] = (), style: str = "red") -> None:
    """A small relation, some of its cells (row, attribute) in another colour."""
    table = plain_table(*relation.columns)
    for number, row in enumerate(relation.table.to_pylist()):
        styles = (style if (number, name) in marked else "" for name in row)
        table.add_row(*(Text(str(value), style=s) for value, s in zip(row.values(), styles, strict=True)))
    out.print(table)


def tuples(rows: Iterable[int]) -> str:
    """Rows as the paper names them.

    >>> tuples([0, 1, 2])
    't1, t2, t3'
    """
    return ", ".join(f"t{row + 1}" for row in rows)

"""A few lines about a result, as a terminal and as a notebook show them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rich import box
from rich.table import Table

Lines = Sequence[tuple[str, str]]
"""What, and how much of it."""


def rich_table(title: str, lines: Lines) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for what, how_much in lines:
        table.add_row(what, how_much)
    return table


def html_table(title: str, lines: Lines) -> str:
    """Lines for a notebook, with no style of their own but the alignment."""
    left = 'style="text-align: left"'
    rows = "".join(
        f'<tr><th scope="row" {left}>{escape(what)}</th><td {left}>{escape(how_much)}</td></tr>'
        for what, how_much in lines
    )
    return f"<table><caption {left}>{escape(title)}</caption><tbody>{rows}</tbody></table>"

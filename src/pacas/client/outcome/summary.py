"""A few lines about a result, as a terminal shows them."""

from __future__ import annotations

from rich import box
from rich.table import Table

from pacas.core.notebook import Lines


def rich_table(title: str, lines: Lines) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for what, how_much in lines:
        table.add_row(what, how_much)
    return table

"""A table as commands print it: without lines, and with numbers to the right."""

from __future__ import annotations

from collections.abc import Collection

from rich.table import Column, Table


def plain_table(*heads: str, numbers: Collection[str] = (), title: str | None = None) -> Table:
    """The columns that hold `numbers` are named once more."""
    columns = (Column(head, justify="right" if head in numbers else "left") for head in heads)
    return Table(*columns, box=None, pad_edge=False, title=title, title_justify="left")

"""Results as a notebook shows them: a little HTML, escaped, without script, and short however large the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import islice

Lines = Sequence[tuple[str, str]]
"""What, and how much of it."""

MOST_ROWS = 20
MOST_LINES = 40
MOST_LABELS = 200
MOST_CHILDREN = 12
LONGEST, LONGEST_LINE = 80, 600
"""Characters of a cell, and of a line."""

_LEFT = 'style="text-align: left"'


def html_lines(title: str, lines: Lines) -> str:
    """A few lines, with no style of their own but the alignment."""
    more = [("…", f"{len(lines) - MOST_LINES:,} lines more")] if len(lines) > MOST_LINES else []
    rows = "".join(
        f'<tr><th scope="row" {_LEFT}>{escape(short(what))}</th><td {_LEFT}>{escape(how_much[:LONGEST_LINE])}</td></tr>'
        for what, how_much in (*lines[:MOST_LINES], *more)
    )
    return f"<table><caption {_LEFT}>{escape(title)}</caption><tbody>{rows}</tbody></table>"


def html_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> str:
    """The first rows of a table that has so many in all; numbers stand on the right.

    >>> html_table("T", ["a"], [["<"]], 1)[-31:]
    '>&lt;</td></tr></tbody></table>'
    """
    top = "".join(f'<th scope="col" {_LEFT}>{escape(head)}</th>' for head in heads)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in islice(rows, MOST_ROWS))
    more = f"; the first {MOST_ROWS} of {total:,}" if total > MOST_ROWS else ""
    caption = f"<caption {_LEFT}>{escape(title + more)}</caption>"
    return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td style="text-align: right">{value:,}</td>'
    return f"<td {_LEFT}>{escape(short(str(value)))}</td>"


def short(text: str) -> str:
    """A text as far as there is room for it.

    >>> short("a" * 3_000_000)[-3:]
    'aa…'
    """
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def html_tree(title: str, root: int, label: Callable[[int], str], children: Callable[[int], Sequence[int]]) -> str:
    """A tree to unfold, down from the root: of many children the first, and of many labels the upper ones."""
    shown = _within_reach(root, children)

    def branch(node: int) -> str:
        text, below = escape(short(label(node))), children(node) if node in shown else ()
        if not below:
            return f"<li>{text}</li>"
        inner = "".join(map(branch, below[:MOST_CHILDREN]))
        more = f"<li><i>{len(below) - MOST_CHILDREN:,} more</i></li>" if len(below) > MOST_CHILDREN else ""
        is_open = " open" if node == root else ""
        return f"<li><details{is_open}><summary>{text} ({len(below):,})</summary><ul>{inner}{more}</ul></details></li>"

    return f"<div><p>{escape(title)}</p><ul>{branch(root)}</ul></div>"


def _within_reach(root: int, children: Callable[[int], Sequence[int]]) -> set[int]:
    """The nodes whose children are shown: level by level, as long as there is room."""
    opened, waiting, room = set[int](), [root], MOST_LABELS
    while waiting and room > 0:
        node = waiting.pop(0)
        below = children(node)[:MOST_CHILDREN]
        opened.add(node)
        room -= len(below)
        waiting += below
    return opened

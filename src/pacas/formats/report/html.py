"""A page of HTML that opens offline, and its pieces: cards, sections, and tables whose text is escaped.

A page has its head, its look, and at most one script, of which it names the hash. Whatever else it might load, its
browser refuses.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template


def page_part(name: str) -> str:
    """A file that pages are made of."""
    return (files(__package__) / "page" / name).read_text("utf-8")


def html_page(
    *, title: str, lead: str, sections: Iterable[str], style: str = "", script: str | None = None, data: str = "null"
) -> str:
    """The whole page. `sections` are HTML; `style` is added to that of all pages; `data` is JSON for the script."""
    allowed, scripts = "", ""
    if script is not None:
        allowed = f"; script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
        scripts = f'<script type="application/json" id="data">{data}</script>\n<script>{script}</script>\n'
    return Template(page_part("page.html")).substitute(
        title=escape(title),
        lead=escape(lead),
        style=page_part("style.css") + style,
        sections="\n".join(sections),
        scripts_allowed=allowed,
        scripts=scripts,
    )


@dataclass(frozen=True, slots=True)
class Card:
    """A number that should be seen first."""

    name: str
    number: str
    note: str
    look: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of a whole, drawn."""

    share: float


def cards(*shown: Card) -> str:
    return '<dl class="cards">' + "".join(map(_card, shown)) + "</dl>"


def _card(card: Card) -> str:
    kind = ' class="look"' if card.look else ""
    number = f"<dd>{escape(card.number)}<small>{escape(card.note)}</small></dd>"
    return f"<div{kind}><dt>{escape(card.name)}</dt>{number}</div>"


def section(title: str, inner: str) -> str:
    """A part of the page with a title; `inner` is HTML."""
    name = "-".join(title.lower().split())
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>{inner}</section>'


def pair(left: str, right: str) -> str:
    """Two sections, side by side where there is room."""
    return f'<div class="pair">{left}{right}</div>'


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    empty: str,
    foot: Sequence[object] | None = None,
    caption: str = "",
) -> str:
    """A table whose first column names the row; numbers stand on the right."""
    if not rows and foot is None:
        return f"<p>{escape(empty)}</p>"
    like = rows[0] if rows else foot or ()
    top = "".join(
        f'<th scope="col"{_kind(cell, at)}>{escape(head)}</th>'
        for at, (head, cell) in enumerate(zip(heads, like, strict=True))
    )
    body = "".join(map(_row, rows))
    bottom = "" if foot is None else f"<tfoot>{_row(foot)}</tfoot>"
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    inner = f"{named}<thead><tr>{top}</tr></thead><tbody>{body}</tbody>{bottom}"
    return f'<div class="scroll"><table>{inner}</table></div>'


def _row(cells: Sequence[object]) -> str:
    first, *rest = cells
    others = "".join(f"<td{_kind(cell, at)}>{_content(cell)}</td>" for at, cell in enumerate(rest, start=1))
    return f'<tr><th scope="row">{escape(str(first))}</th>{others}</tr>'


def _kind(cell: object, at: int) -> str:
    if isinstance(cell, Bar):
        return ' class="bar"'
    is_number = isinstance(cell, int) or (isinstance(cell, str) and _reads_as_number(cell))
    return ' class="number"' if at and is_number else ""


def _reads_as_number(text: str) -> bool:
    return text in ("", "–") or text.replace(",", "").replace(".", "").isdecimal()


def _content(cell: object) -> str:
    if isinstance(cell, Bar):
        percent = f"{100 * cell.share:.1f}"
        return f'<span style="width: {percent}%" role="img" aria-label="{percent} %" title="{percent} %"></span>'
    return escape(f"{cell:,}" if isinstance(cell, int) else str(cell))

"""A page of HTML that opens offline: its head, its look, and at most one script, of which the page names the hash.

Whatever else a page might load, its browser refuses.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
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

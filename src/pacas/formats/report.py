"""A cleaning as one page of HTML: it opens offline, fetches nothing, and shows every cell that was written.

Values come from tables and may hold anything. They are escaped where they stand in HTML, stand in JSON in which no tag
can close, and are put on the page as text; a content security policy allows the page's own script and nothing else.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template

from pacas.client.cleaning import Cleaning
from pacas.client.score import Score
from pacas.errors import FileError
from pacas.formats.replacing import check_writable, replacing
from pacas.formats.report_cells import written_cells
from pacas.formats.report_sections import sections


def write_report(
    path: str | PathLike[str], cleaning: Cleaning, *, score: Score | None = None, subject: str | None = None
) -> None:
    """Write the page; `subject` is what was cleaned, such as a file's name."""
    check_writable(Path(path))
    page = report_page(cleaning, score=score, subject=subject)
    with replacing(Path(path)) as partial:
        partial.write_text(page, "utf-8", newline="\n")


def check_report(path: Path) -> None:
    """Raise if a report could not be written there. Its name says that it is a page, so that no table is lost to it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{path}: a report is a page of HTML; give it a name such as report.html")
    check_writable(path)


def report_page(cleaning: Cleaning, *, score: Score | None = None, subject: str | None = None) -> str:
    """The page's text."""
    parts = files("pacas.formats") / "report_page"
    script = (parts / "script.js").read_text("utf-8")
    fds = "; ".join(map(str, cleaning.fds)) or "none, only cells that were named"
    columns = len(cleaning.relation.columns)
    return Template((parts / "page.html").read_text("utf-8")).substitute(
        title=escape("What was cleaned" + (f": {subject}" if subject else "")),
        lead=escape(f"{len(cleaning.relation):,} rows, {columns:,} columns. Dependencies: {fds}."),
        style=(parts / "style.css").read_text("utf-8"),
        sections="\n".join(sections(cleaning, score)),
        data=written_cells(cleaning).json(),
        script=script,
        script_hash=f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
    )

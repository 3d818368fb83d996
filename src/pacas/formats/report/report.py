"""A cleaning as one page of HTML: it opens offline, fetches nothing, and shows every cell that was written.

Values come from tables and may hold anything. They are escaped where they stand in HTML, stand in JSON in which no tag
can close, and are put on the page as text; a content security policy allows the page's own script and nothing else.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.score import Score
from pacas.errors import FileError
from pacas.formats.replacing import check_writable, replacing
from pacas.formats.report.cells import written_cells
from pacas.formats.report.sections import sections
from pacas.formats.report.shell import html_page, page_part


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
    fds = "; ".join(map(str, cleaning.fds)) or "none, only cells that were named"
    columns = len(cleaning.columns)
    return html_page(
        title="What was cleaned" + (f": {subject}" if subject else ""),
        lead=f"{cleaning.rows:,} rows, {columns:,} columns. Dependencies: {fds}.",
        sections=[*sections(cleaning, score), page_part("cells.html")],
        script=page_part("script.js"),
        data=written_cells(cleaning).json(),
    )

"""A cleaning as one page of HTML: it opens offline, fetches nothing, and shows every cell that was written.

Values come from tables and may hold anything. They are escaped where they stand in HTML, stand in JSON in which no tag
can close, and are put on the page as text; a content security policy allows the page's own script and nothing else.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.hindsight import Hindsight
from pacas.client.outcome.score import Score
from pacas.client.outcome.steps import Look, Repair, looks
from pacas.core.money import credits_text
from pacas.errors import FileError
from pacas.formats.replacing import check_writable, replacing
from pacas.formats.report.sections import sections
from pacas.pages.assets import assets
from pacas.pages.environment import page_environment, standalone_page

T = TypeVar("T")


def write_report(
    path: str | PathLike[str],
    cleaning: Cleaning,
    *,
    score: Score | None = None,
    hindsight: Hindsight | None = None,
    subject: str | None = None,
) -> None:
    """Write the page; `subject` is what was cleaned, such as a file's name.

    Where the truth is known, `score` is how near it came, and `hindsight` what else there is to know.
    """
    check_writable(Path(path))
    page = report_page(cleaning, score=score, hindsight=hindsight, subject=subject)
    with replacing(Path(path)) as partial:
        partial.write_text(page, "utf-8", newline="\n")


def check_report(path: Path) -> None:
    """Raise if a report could not be written there. Its name says that it is a page, so that no table is lost to it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{path}: a report is a page of HTML; give it a name such as report.html")
    check_writable(path)


def report_page(
    cleaning: Cleaning,
    *,
    score: Score | None = None,
    hindsight: Hindsight | None = None,
    subject: str | None = None,
) -> str:
    """The page's text."""
    fds = "; ".join(map(str, cleaning.fds)) or "none, only cells that were named"
    columns = len(cleaning.columns)
    return standalone_page(
        page_environment(__package__),
        "cleaning.html",
        script=assets(__package__)["cells.js"].text,
        data=written_cells(cleaning),
        subject=subject,
        lead=f"{cleaning.rows:,} rows, {columns:,} columns. Dependencies: {fds}.",
        **sections(cleaning, score, hindsight),
    )


# ---- the cells that were written, for the page's script ----------------------------------------------------


def written_cells(cleaning: Cleaning) -> dict[str, object]:
    """The written cells, with each value and repair once."""
    names, values = _Numbered[str](), _Numbered[str | None]()
    repairs: dict[str, list[object]] = {
        key: [] for key in ("attribute", "new", "bought", "level", "price", "why", "cells")
    }
    said: list[int | None] = []
    rows: list[int] = []
    old: list[int] = []
    look: list[Look] = []
    unsure = _unsure(cleaning)
    for repair in cleaning.repairs:
        bought = repair.purchases[-1] if repair.purchases else None
        repairs["attribute"].append(names[repair.attribute])
        repairs["new"].append(values[repair.new])
        repairs["bought"].append(None if bought is None else values[bought.value])
        repairs["level"].append(None if bought is None else bought.level)
        repairs["price"].append(credits_text(sum(purchase.price for purchase in repair.purchases)))
        if cleaning.panel is not None:
            said.append(values[_said(repair)] if repair.purchases else None)
        repairs["why"].append(repair.why.value)
        repairs["cells"].append(len(repair.written))
        rows += repair.written.tolist()
        before = repair.old
        old += [values[before[at]] for at in np.searchsorted(repair.rows, repair.written).tolist()]
        look += [
            Look.UNSURE if (repair.attribute, row) in unsure else seen
            for row, seen in zip(repair.written.tolist(), looks(repair), strict=True)
        ]
    return {
        "attributes": list(names),
        "values": list(values),
        "repairs": repairs if cleaning.panel is None else {**repairs, "from": said},
        "row": rows,
        "old": old,
        "flag": "".join(map(str, map(int, look))),
    }


def _said(repair: Repair) -> str:
    """Who of several has sold what a repair is written by, each with its answer where there are more than one."""
    bought = repair.purchases
    if len(bought) == 1:
        return str(bought[0].provider)
    return "; ".join(f"{purchase.provider}: {purchase.value}" for purchase in bought)


def _unsure(cleaning: Cleaning) -> set[tuple[str, int]]:
    """The cells that a client who weighs has written without being sure."""
    doubtful = () if cleaning.weighing is None else cleaning.weighing.doubtful
    return {(cell.attribute, cell.row) for cell in doubtful if cell.written}


class _Numbered(dict[T, int], Generic[T]):
    """Things in order of first appearance: asking for one's number gives it one."""

    def __missing__(self, thing: T) -> int:
        self[thing] = number = len(self)
        return number

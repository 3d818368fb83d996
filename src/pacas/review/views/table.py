"""The table page: one screen of rows, with what is wrong, what is written, and a way to those of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np

from pacas.core.histogram import Ints
from pacas.pages.pieces import Card
from pacas.pages.typed_number import typed_number
from pacas.review.screen import LOOKS, ROWS, Facets, search, shown_rows
from pacas.review.session import ReviewSession


def table_page(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    """All of the page: the cards, the facets, and a screen."""
    ready = session.outlook.marks is not None and session.outlook.view is not None
    return {**cards_part(session), "choices": _choices(session), "ready": ready, **screen_part(session, asked)}


def screen_part(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    """A screen: by its page, or, where a text is looked for, by the row to look on from."""
    facets, text = Facets.of(asked), asked.get("q", "")
    marks, written = session.outlook.marks, session.written()
    rows = facets.rows(marks, written)
    table, engine = session.job.table, session.job.engine
    chosen = {name: getattr(facets, name) for name in facets.__slots__ if getattr(facets, name)}
    names = _columns(session)
    shown = {"columns": names, "facets": facets, "q": text, "total": len(table), "found": None, "look_on": None}
    if text:
        first, have = _number(asked.get("from"), 0, len(table)), _number(asked.get("have"), 0, ROWS)
        found = search(engine, table, text, rows, first, max(ROWS - have, 1))
        on = chosen | {"q": text, "from": str(found.next)}
        full = have + len(found.rows) >= ROWS
        return shown | {
            "rows": shown_rows(engine, table, found.rows, names, marks, written),
            "look_on": None if found.next is None or full else urlencode(on | {"have": have + len(found.rows)}),
            "more": urlencode(on) if found.next is not None and full else None,
            "looked_through": found.next or len(table),
            "again": f"/table/rows?{urlencode(chosen | {'q': text, 'from': first})}",
        }
    count = len(table) if rows is None else len(rows)
    pages = max(-(-count // ROWS), 1)
    page = min(max(_page(asked, rows), 1), pages)
    numbers = np.arange((page - 1) * ROWS, min(page * ROWS, count))
    return shown | {
        "rows": shown_rows(engine, table, numbers if rows is None else rows[numbers], names, marks, written),
        "more": None,
        "looked_through": None,
        "found": count,
        "pages": pages,
        "page": page,
        "query": urlencode(chosen | {"page": ""}),
        "again": f"/table/rows?{urlencode(chosen)}&page={page}",
    }


def _columns(session: ReviewSession) -> list[str]:
    """The key, then what dependencies are about, then all others: what matters is seen without scrolling."""
    job = session.job
    named = {attribute for fd in job.cleaner.fds for attribute in fd.attributes}
    told = [column for column in job.table.columns if column in named]
    return list(dict.fromkeys([*job.key, *told, *job.table.columns]))


def _page(asked: Mapping[str, str], rows: Ints | None) -> int:
    """The page that is asked for, or the one that a row is on."""
    if row := asked.get("row", ""):
        number = _number(row, 0, 1 << 62)
        return int(number if rows is None else np.searchsorted(rows, number)) // ROWS + 1
    return _number(asked.get("page"), 1, 1 << 62)


def _number(text: str | None, otherwise: int, most: int) -> int:
    found = typed_number(text)
    return otherwise if found is None else min(found, most)


def cards_part(session: ReviewSession) -> dict[str, Any]:
    return {"cards": _cards(session)}


def violations_card(name: str, violations: int | None, told: str) -> Card:
    """How many violations are left; after an edit they are counted beside the page."""
    if violations is None:
        return Card(name, "…", "being counted")
    return Card(name, f"{violations:,}", told, violations > 0)


def _cards(session: ReviewSession) -> list[Card]:
    check, written = session.outlook.check, session.written()
    table = session.job.table
    cards = [Card("Rows", f"{len(table):,}", f"{len(table.columns):,} columns")]
    if check is None:
        return [*cards, Card("Violations", "…", "being counted")]
    cards.append(Card("Violations given", f"{check.violations:,}", f"in {len(check.classes):,} classes"))
    if written is None:
        return [*cards, Card("Repairs", "…", "being weighed")]
    cards.append(violations_card("Violations left", written.violations, "if you stop here"))
    changed = sum(map(len, written.cleaning.changes.values()))
    told = f"{written.free:,} for nothing, {written.paid:,} bought, {written.pinned:,} by hand"
    cards.append(Card("Cells changed", f"{changed:,}", told))
    doubtful = written.to_look_at
    cards.append(Card("To look at", f"{doubtful:,}", "cells in doubt", doubtful > 0))
    return cards


def _choices(session: ReviewSession) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Per facet: its name, what it is called, and what may be chosen, with how many rows that has."""
    marks, written = session.outlook.marks, session.written()
    if marks is None:
        return []
    looks = {"standing_out": marks.standing_out, "violating": marks.violating}
    reasons: dict[str, Ints] = {}
    if written is not None:
        looks |= {"changed": written.changed_rows, "doubtful": written.doubtful_rows, "hand": written.hand_rows}
        reasons = dict(written.by_reason)
    by_dependency = {str(fd): rows for fd, rows in marks.by_dependency.items()}
    found = [
        ("look", "Rows", _counted({name: looks[name] for name in looks}, LOOKS)),
        ("attribute", "Attribute", _counted(marks.by_attribute)),
        ("fd", "Dependency", _counted(by_dependency)),
        ("size", "Class size", _counted({f"{size}": rows for size, rows in marks.by_size.items()})),
        ("reason", "Left because", _counted(reasons, {name: name.replace("_", " ") for name in reasons})),
    ]
    return [facet for facet in found if facet[2]]


def _counted(rows: Mapping[str, Ints], called: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    named = called or {}
    return [(name, f"{named.get(name, name)} ({len(found):,})") for name, found in rows.items() if len(found)]

"""Why a cell has what it has: its class, the values there, own evidence, quotes by level, what would be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.explain import explain, in_words
from pacas.core.histogram import Ints
from pacas.errors import InputError, PacasError
from pacas.pages.typed_number import typed_number
from pacas.protocol.messages import Quote
from pacas.review.session import ReviewSession

VALUES = 12
"""Of a class that are listed."""
MEMBERS = 100_000
"""Of a class that are counted."""


def cell_part(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    row, attribute = cell_asked(session, asked)
    marks, written = session.outlook.marks, session.written()
    of_class = None if marks is None else marks.class_of(attribute, row)
    story = None if written is None else explain(written.cleaning, row, attribute)
    view = session.outlook.view
    return {
        "row": row,
        "attribute": attribute,
        "given": session.job.engine.rows(session.job.table, np.array([row]), [attribute]).column(0)[0].as_py(),
        "words": [] if story is None else in_words(story)[1:],
        "known": story is not None,
        "now": None if story is None else story.value,
        "state": None if written is None else written.states(attribute, np.array([row]))[0],
        "is_written": written is not None and written.new(attribute, np.array([row])) != [None],
        "members": 0 if of_class is None else len(of_class.rows),
        "errors": 0 if of_class is None else of_class.errors,
        "values": [] if of_class is None else class_values(session, attribute, of_class.rows),
        "planned": None if view is None or view.plan is None else _planned(view.plan, attribute, row, written),
        "ladders": [
            (provider, ladder)
            for provider in session.job.sellers
            if (ladder := quotes_of(session, attribute, row, provider))
        ],
    }


def cell_asked(session: ReviewSession, asked: Mapping[str, str]) -> tuple[int, str]:
    """The row and attribute of a form or an address; a problem, if there is no such cell."""
    row, attribute = typed_number(asked.get("row")), asked.get("attribute", "")
    table = session.job.table
    if attribute not in table.columns:
        raise InputError("the table has no such column")
    if row is None or row >= len(table):
        raise InputError(f"the table has rows 0 to {len(table) - 1:,}")
    return row, attribute


def class_values(session: ReviewSession, attribute: str, rows: Ints) -> list[tuple[str | None, int]]:
    """What the cells of a class hold, the most frequent first."""
    texts = session.job.engine.rows(session.job.table, rows[:MEMBERS], [attribute]).column(0).to_pylist()
    return Counter(texts).most_common(VALUES)


def quotes_of(session: ReviewSession, attribute: str, row: int, provider: str | None) -> list[dict[str, Any]]:
    """Per level: its price, or why it is refused; nothing where the provider does not sell it, or does not answer."""
    try:
        ladder = session.ladder(attribute, row, provider)
    except PacasError:
        return []
    if ladder is None:
        return []
    offered = session.job.sellers[provider].offers[attribute]
    return [
        {
            "level": level,
            "called": _called(level, len(ladder)),
            "price": quote.price if isinstance(quote, Quote) else None,
            "refused": None if isinstance(quote, Quote) else quote.reason.value.replace("_", " "),
            "open": level in offered.levels and isinstance(quote, Quote) and quote.price <= session.remaining,
        }
        for level, quote in enumerate(ladder)
    ]


def _called(level: int, levels: int) -> str:
    return "exact" if level == 0 else "tells nothing" if level == levels - 1 else "coarser"


def _planned(plan: Cleaning, attribute: str, row: int, written: Any) -> str | None:
    """What the plan expects to write into a cell, where that is another value than stands there now."""
    changes = plan.changes.get(attribute)
    at = -1 if changes is None else int(np.searchsorted(changes.rows, row))
    if changes is None or at >= len(changes) or int(changes.rows[at]) != row:
        return None
    now = None if written is None else written.new(attribute, np.array([row]))[0]
    return changes.new[at] if changes.new[at] != now else None

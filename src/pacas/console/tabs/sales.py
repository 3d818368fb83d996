"""Sales: over time, and by attribute, level and account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from pacas.console.board import Board
from pacas.console.sales_sums import DAY, Key, Summed
from pacas.console.visits import Visit, Visits
from pacas.core.money import in_credits, rounded_text
from pacas.pages.pieces import Bar
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.refusals import HOUR

DAYS = 90
"""Days that the chart goes back at the most."""
BY_HOUR = 3
"""Days up to which it has a bar for each hour."""
MOST = 200
"""Lines of a table."""

Line = tuple[str, int, str, str, Bar]


def routes(board: Board, visits: Visits) -> list[Route]:
    async def sales(visit: Visit) -> Response:
        summed = await board.ask(board.sales.now)
        return board.page(
            visit,
            "sales.html",
            chart=sales_chart(summed, int(board.clock())),
            total=summed.total(),
            untimed=summed.untimed(),
            entries=summed.entries,
            by_attribute=_lines(summed, lambda key: key[2]),
            by_level=_lines(summed, lambda key: f"{key[2]} at level {key[3]}"),
            by_account=_lines(summed, lambda key: key[1]),
            most=MOST,
        )

    return [visits.get("/sales", sales)]


def sales_chart(summed: Summed, now: int) -> dict[str, Any] | None:
    """Purchases and credits over the days that anything was sold in, or over the hours if these are few."""
    timed = {key[0] * DAY: total for key, total in _by_day(summed).items()}
    if not timed:
        return None
    first = max(min(timed), (now // DAY - DAYS + 1) * DAY)
    if now - first < BY_HOUR * DAY:
        timed, step = {hour * HOUR: total for hour, total in summed.by_hour.items()}, HOUR
        first = max(min(timed), first)
    else:
        step = DAY
    times = range(first, now // step * step + 1, step)
    shown = [timed.get(time, Total()) for time in times]
    unit = "hour" if step == HOUR else "day"
    return {
        "x": {"label": f"{unit} (UTC)", "values": list(times), "time": True},
        "y": {"label": f"purchases in a{'n' * (step == HOUR)} {unit}"},
        "right": {"label": "credits"},
        "series": [
            {"label": "purchases", "values": [total.purchases for total in shown], "kind": "bars"},
            {"label": "credits", "values": [in_credits(total.spent) for total in shown], "right": True},
        ],
        "height": 240,
    }


def _by_day(summed: Summed) -> Mapping[tuple[int], Total]:
    return {(day,): total for day, total in summed.by(lambda key: key[0]).items() if day is not None}


def _lines(summed: Summed, name: Callable[[Key], str]) -> list[Line]:
    """Per attribute, level or account: purchases, credits, the mean price, and the share of all credits."""
    found = sorted(summed.by(name).items(), key=lambda one: (-one[1].spent, one[0]))[:MOST]
    everything = max(summed.total().spent, 1)
    return [
        (
            named,
            total.purchases,
            rounded_text(total.spent),
            rounded_text(total.spent // max(total.purchases, 1)),
            Bar(total.spent / everything),
        )
        for named, total in found
    ]

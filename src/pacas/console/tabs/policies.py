"""Policies: how far each X-group stands above its bound, and the groups behind a bar.

What groups have in X is masked; to reveal it is an act of its own, one page at a time, and the log names who did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from pacas.console.board import SOON, Board
from pacas.console.figures import Figures
from pacas.console.visits import Visit, Visits
from pacas.core.criteria.distinct import DistinctValues
from pacas.errors import InputError
from pacas.provider.audit import PolicyAudit

CUT = 20
"""Margins from here on share a bar, unless it is the last."""
PAGE = 25
"""Groups that are shown at once."""
HIGHEST = 10**15
"""A margin that nothing exceeds."""


class MarginBar(NamedTuple):
    """The groups whose margin is from `low` to `high`, their share of all, and how long their bar is."""

    low: int
    high: int
    label: str
    groups: int
    share: float
    length: float
    """Beside the longest one."""


class PolicyShown(NamedTuple):
    """A policy in words, and its histogram."""

    number: int
    found: PolicyAudit
    bars: list[MarginBar]
    counts_values: bool
    """Whether a margin is a number of values, and not just whether a criterion holds."""
    kept: list[str]


def routes(board: Board, visits: Visits) -> list[Route]:
    async def policies(visit: Visit) -> Response:
        maker = board.figures
        figures = await board.ask(lambda: maker.current(SOON))
        head = await board.ask(board.service.provider.ledger.head)
        return board.page(
            visit,
            "policies.html",
            figures=figures,
            shown=[] if figures is None else _shown(figures),
            since=0 if figures is None else head.entries - figures.entries,
            is_running=maker.is_running,
            problem=maker.problem,
        )

    async def groups(visit: Visit) -> Response:
        return await _groups(board, visit, revealed=False)

    async def reveal(visit: Visit) -> Response:
        return await _groups(board, visit, revealed=True)

    return [
        visits.get("/policies", policies),
        visits.get("/policies/groups", groups),
        visits.post("/policies/reveal", reveal),
    ]


async def _groups(board: Board, visit: Visit, *, revealed: bool) -> Response:
    """A page of the groups behind a bar."""
    figures, number = await board.ask(lambda: board.figures.current(SOON)), visit.number("policy")
    if figures is None or not 1 <= number <= len(figures.audit.policies):
        raise InputError("there is no such policy; load the page again")
    policy = figures.audit.policies[number - 1]
    low, high = visit.number("low"), visit.number("high", most=HIGHEST)
    start = max(0, visit.number("start"))
    behind = sum(groups for margin, groups in policy.margins.items() if low <= margin <= high)
    found = await board.ask(lambda: policy.behind.page(low, high, start, PAGE))
    if revealed:
        board.note(visit, "reveal", policy=number, low=low, high=high, start=start, groups=len(found))
    shown: Mapping[str, Any] = {
        "number": number,
        "x": policy.policy.x,
        "low": low,
        "high": high,
        "start": start,
        "page": PAGE,
        "behind": behind,
        "groups": [(group.x if revealed else None, group.rows, group.margin) for group in found],
        "revealed": revealed,
    }
    if visit.is_part:
        return board.part(visit, "groups.html", **shown)
    return board.page(visit, "groups_page.html", **shown)


def _shown(figures: Figures) -> list[PolicyShown]:
    return [
        PolicyShown(
            number,
            found,
            margin_bars(found.margins),
            found.policy.must_hold.name == DistinctValues.name,
            [] if found.kept_back is None else list(found.kept_back.words(figures.audit.rows)),
        )
        for number, found in enumerate(figures.audit.policies, start=1)
    ]


def margin_bars(margins: Mapping[int, int]) -> list[MarginBar]:
    """A bar for each margin, those from CUT on together.

    >>> [(bar.label, bar.groups) for bar in margin_bars({0: 2, 3: 1, 25: 4, 31: 1})]
    [('0', 2), ('3', 1), ('20 or more', 5)]
    """
    near = [(margin, margin, str(margin), groups) for margin, groups in sorted(margins.items()) if margin < CUT]
    far = sum(groups for margin, groups in margins.items() if margin >= CUT)
    found = [*near, *([(CUT, HIGHEST, f"{CUT} or more", far)] if far else ())]
    in_all, most = sum(margins.values()), max((groups for *_, groups in found), default=1)
    return [MarginBar(low, high, label, groups, groups / in_all, groups / most) for low, high, label, groups in found]

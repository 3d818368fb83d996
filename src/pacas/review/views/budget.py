"""The budget page: what a budget would bring, by dry runs, and where more of it begins to bring less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacas.core.money import credits_text, in_credits, nanocredits
from pacas.core.words import counted
from pacas.errors import InputError
from pacas.review.outlook import CurvePoint
from pacas.review.run import DONE
from pacas.review.session import ReviewSession

STEPS = 200
"""Of the slider."""


def budget_page(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    session.outlook.want_curve(session.job.cleaner.budget)
    return curve_part(session, asked)


def curve_part(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    """The curve as far as it is known, and what one budget brings."""
    curve, budget = session.outlook.curve, _asked(session, asked)
    fixed = session.run.has_paid
    if not fixed:
        session.outlook.want_curve(budget)
    points = curve.ordered
    step = max(-(-max((point.spent for point in points), default=0) // STEPS), 1)  # the last one buys all
    return {
        "fixed": fixed,
        "done": session.run.state == DONE,
        "spent": session.spent,
        "at": budget,
        "point": curve.points.get(budget),
        "points": points,
        "most": STEPS * step,
        "step": step,
        "knee": curve.knee,
        "ready": curve.full is not None,
        "whole": curve.is_whole,
        "charts": _charts(points, curve.knee),
        "current": session.job.cleaner.budget,
        "command": session.job.command,
        "error": session.outlook.error,
    }


def _asked(session: ReviewSession, asked: Mapping[str, str]) -> int:
    try:
        return max(nanocredits(asked.get("budget", ""), "the budget"), 0)
    except InputError:
        return session.job.cleaner.budget


def _charts(points: list[CurvePoint], knee: int | None) -> list[tuple[dict[str, Any], str]]:
    """By what is spent: what stays wrong, and the cells that are written, for nothing and for money.

    Beginning with no money, which what is said of them is about: until that was tried, there are none.
    """
    by_money = {point.spent: point for point in points}
    if len(by_money) < 2 or points[0].budget:
        return []
    shown = [by_money[spent] for spent in sorted(by_money)]
    marks: list[dict[str, Any]] = [{"input": "#budget-slider", "label": "your budget"}]
    marks += [] if knee is None else [{"x": in_credits(knee), "label": "knee"}]
    around = {
        "x": {"label": "credits spent", "values": [in_credits(point.spent) for point in shown]},
        "marks": marks,
        "height": 280,
    }
    left = {
        "y": {"label": "violations left"},
        "series": [{"label": "violations left", "values": [point.violations for point in shown]}],
    }
    if all(point.expected is not None for point in shown):
        left["right"] = {"label": "expected error, bits"}
        error = {"label": "expected error, bits", "values": [p.expected for p in shown], "right": True, "dashed": True}
        left["series"] = [*left["series"], error]
    cells = {
        "y": {"label": "cells written"},
        "series": [
            {"label": "for nothing", "values": [point.free for point in shown]},
            {"label": "by what is bought", "values": [point.paid for point in shown]},
        ],
    }
    return [(around | left, _said(points, knee)), (around | cells, _said_of_cells(points))]


def _said_of_cells(points: list[CurvePoint]) -> str:
    first, last = points[0], points[-1]
    told = f"{counted(first.free, 'cell')} written for nothing without money"
    return f"{told}; for {_money(last.spent)}, {last.free:,} for nothing and {last.paid:,} by what is bought."


def _said(points: list[CurvePoint], knee: int | None) -> str:
    first, last = points[0], points[-1]
    told = f"{counted(first.violations, 'violation')} left for nothing, {last.violations:,} for {_money(last.spent)}"
    return f"{told}; the knee is at {_money(knee)}." if knee is not None else f"{told}."


def _money(amount: int) -> str:
    return f"{float(credits_text(amount)):,.3g} credits"


def set_budget(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.set_budget(nanocredits(form.get("budget", ""), "the budget"))

"""The orders page: what waits for somebody, what is planned, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacas.client.outcome.approved_ahead import PlannedOrder
from pacas.client.outcome.steps import BoughtValue, Order
from pacas.core.histogram import Ints
from pacas.core.money import nanocredits, rounded_text
from pacas.core.words import counted
from pacas.errors import InputError
from pacas.pages.pieces import Card
from pacas.pages.typed_number import typed_number
from pacas.review.run import DONE, FAILED
from pacas.review.session import ReviewSession
from pacas.review.views.cell import class_values, quotes_of

SHOWN = 100
"""Lines of the plan, and of what was decided."""


def orders_page(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    return {**cards_part(session), **waiting_part(session), **plan_part(session)}


def providers_part(session: ReviewSession) -> dict[str, Any]:
    """What each of several providers has sold, would sell, and is known for."""
    view = session.outlook.view
    panel = None if view is None else view.now.panel
    bought, plan = session.run.recalled.purchases, session.whole_plan()
    sold = {one.provider for one in bought}
    away, learnt = ({}, {}) if panel is None else (panel.away, panel.reliabilities)
    names = [] if not session.job.is_panel else dict.fromkeys([*map(str, session.job.sellers), *away])
    return {
        "providers": [
            {
                "name": name,
                "bought": sum(one.provider == name for one in bought),
                "spent": sum(one.price for one in bought if one.provider == name),
                "planned": sum(order.provider == name for order in plan),
                "plan_cost": sum(order.ceiling for order in plan if order.provider == name),
                "right": [(a, rates[name]) for a, rates in learnt.items() if name in rates and name in sold],
                "away": away.get(name),
            }
            for name in names
        ]
    }


def waiting_part(session: ReviewSession) -> dict[str, Any]:
    """The order that waits, with all that helps to decide."""
    waiting, run = session.waiting, session.run
    shown: dict[str, Any] = {
        "waiting": None,
        "failed": run.error if run.state == FAILED else None,
        "done": run.state == DONE,
        "output": str(session.job.output),
        "paying": None if run.pays is None else _line(session, run.pays),
        "no_more": session.approvals.ahead.buys_no_more,
    }
    if waiting is None:
        return shown
    order = waiting.order
    return shown | {
        "waiting": _line(session, order)
        | {
            "key": order.key,
            "cells": len(waiting.rows),
            "tuple": dict(order.request.tuple),
            "values": class_values(session, order.attribute, waiting.rows),
            "ladder": quotes_of(session, order.attribute, order.row, order.provider),
            "worth": session.worth_of(order),
            "errors": _errors(session, order),
        }
    }


def plan_part(session: ReviewSession) -> dict[str, Any]:
    plan, outlook = session.plan(), session.outlook
    lines = [
        _line(session, one.order)
        | {
            "cells": len(one.rows),
            "worth": one.worth,
            "errors": _errors(session, one.order),
            "approved": PlannedOrder.of(one.order) in session.approvals.ahead,
        }
        for one in plan[:SHOWN]
    ]
    return {
        "done": session.run.state == DONE,
        "plan": lines,
        "planned": len(plan),
        "plan_cost": sum(order.ceiling for order in session.whole_plan()),
        "one_waits": session.waiting is not None,
        "plan_is_current": outlook.is_current,
        "plan_error": outlook.error,
        "weighs": session.job.cleaner.strategy == "weigh",
        "allowance": session.approvals.ahead.allowance,
        "approved_ahead": len(session.approvals.ahead),
        "decided": _decided(session),
        **providers_part(session),
        "steps": session.version,
    }


def _line(session: ReviewSession, order: Order) -> dict[str, Any]:
    return {
        "attribute": order.attribute,
        "row": order.row,
        "level": order.request.level,
        "price": order.ceiling,
        "provider": order.provider,
    }


def _errors(session: ReviewSession, order: Order) -> int | None:
    """The violating pairs that the order's class takes part in."""
    marks = session.outlook.marks
    found = None if marks is None else marks.class_of(order.attribute, order.row)
    return None if found is None else found.errors


def _decided(session: ReviewSession) -> list[dict[str, Any]]:
    """The last steps, the latest first."""
    outcomes = session.run.recalled.outcomes
    found = []
    for step in range(len(outcomes) - 1, max(len(outcomes) - SHOWN, 0) - 1, -1):
        outcome = outcomes[step]
        bought = isinstance(outcome, BoughtValue)
        found.append(
            {
                "step": step,
                "attribute": outcome.attribute,
                "cells": len(outcome.rows),
                "row": outcome.row if isinstance(outcome, BoughtValue) else _first(outcome.rows),
                "bought": outcome.value if isinstance(outcome, BoughtValue) else None,
                "provider": outcome.provider if isinstance(outcome, BoughtValue) else None,
                "level": outcome.level if isinstance(outcome, BoughtValue) else None,
                "reason": None if isinstance(outcome, BoughtValue) else outcome.reason.replace("_", " "),
                "price": outcome.price,
                "is_bought": bought,
            }
        )
    return found


def _first(rows: Ints) -> int:
    return int(rows[0])


def cards_part(session: ReviewSession) -> dict[str, Any]:
    return {"cards": _cards(session)}


def _cards(session: ReviewSession) -> list[Card]:
    run, budget = session.run, session.job.cleaner.budget
    bought = len(run.recalled.purchases)
    ahead = session.approvals.ahead
    planned = [f"{len(ahead):,} of the plan"] if len(ahead) else []
    for_what = [*planned, *(["credits for whatever comes"] if ahead.allowance else [])]
    cards = [
        Card("Budget", rounded_text(budget), "credits"),
        Card("Spent", rounded_text(session.spent), f"on {counted(bought, 'value')}; it cannot be undone"),
        Card("Left", rounded_text(session.remaining), _left(session)),
    ]
    if run.state != DONE:
        told = " and ".join(for_what) or "nothing is approved ahead"
        cards.append(Card("Approved ahead", rounded_text(ahead.allowance), told))
    return cards


def _left(session: ReviewSession) -> str:
    aside = session.kept_aside
    return f"credits; {rounded_text(aside)} kept aside, as an order was not answered" if aside else "credits"


# ---- what somebody decides ----------------------------------------------------------------------------------------


def approve(session: ReviewSession, form: Mapping[str, str]) -> str:
    level = _number(form, "level")
    most = _number(form, "most" if level is None else f"most-{level}")
    return session.approve(form.get("key", ""), level, most)


def reject(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.reject(form.get("key", ""))


def pin_instead(session: ReviewSession, form: Mapping[str, str]) -> str:
    if not form.get("value"):
        raise InputError("say which value to write")
    return session.pin_instead(form.get("key", ""), form["value"], whole_class=form.get("whose") != "row")


def approve_plan(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.approve_plan(_number(form, "most"))


def reject_planned(session: ReviewSession, form: Mapping[str, str]) -> str:
    asked = form.get("attribute", ""), form.get("row", ""), form.get("provider") or None
    orders = (one.order for one in session.plan())
    known = next((o for o in orders if (o.attribute, str(o.row), o.provider) == asked), None)
    if known is None:
        raise InputError("that order is not in the plan any more")
    return session.reject_ahead(known.attribute, known.row, known.provider)


def approve_planned(session: ReviewSession, form: Mapping[str, str]) -> str:
    row, level = _number(form, "row"), _number(form, "level")
    if row is None or level is None:
        raise InputError("say which order of the plan, by its row and level")
    provider = form.get("provider") or None
    return session.approve_ahead(form.get("attribute", ""), row, level, _number(form, "most"), provider)


def _number(form: Mapping[str, str], name: str) -> int | None:
    """A number of the form; None if it is not there."""
    given = form.get(name, "")
    if (number := typed_number(given)) is None and given:
        raise InputError(f"{name.partition('-')[0]} is no whole number; load the page again")
    return number


def allow(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.allow(nanocredits(form.get("credits", ""), "the amount"))


def withdraw(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.withdraw()


def buy_no_more(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.buy_no_more()


def try_again(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.try_again()

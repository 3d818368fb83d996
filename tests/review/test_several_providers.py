"""A review that buys from several: who sells is said, approved, rejected, paid and recorded with each order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest
from panel_shops import FD, JobShop, departments
from reviewed_offices import review_job, reviewing, settled, until

import pacas
from pacas.client.outcome.approved_ahead import PlannedOrder
from pacas.client.outcome.steps import AWAY, PINNED
from pacas.errors import InputError
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.review.job import ReviewJob
from pacas.review.session import ReviewSession
from pacas.review.views import orders
from pacas.review.views.cell import cell_part
from pacas.review.views.receipts import receipts_page

TRUTH, DIRTY = departments(12, stale=0.5)
ALL = 10**9


def panel(**wrong: float) -> dict[str, JobShop]:
    """Two that know most departments, at different prices."""
    return {
        "A": JobShop(TRUTH, seed=1, covers=0.8, price=100, wrong=wrong.get("A", 0.0)),
        "B": JobShop(TRUTH, seed=2, covers=0.8, price=70, wrong=wrong.get("B", 0.3)),
    }


def panel_job(folder: Path, shops: Any, **more: Any) -> ReviewJob:
    if not (folder / "offices.csv").exists():
        pa_csv.write_csv(DIRTY, folder / "offices.csv")
    return review_job(folder, shops, fds=(FD,), budget=0.00001, key=("DEPT",), **more)


def bought(session: ReviewSession) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in session.run.recalled.purchases:
        found[str(one.provider)] = found.get(str(one.provider), 0) + one.price
    return found


@pytest.mark.parametrize("strategy", ["weigh", "paper"])
def test_what_was_approved_is_what_clean_buys_and_each_is_paid_what_it_sold(tmp_path: Path, strategy: str) -> None:
    shops = panel()
    with reviewing(panel_job(tmp_path, shops, strategy=strategy)) as session:
        settled(session)
        assert session.waiting is not None and session.waiting.order.provider in shops and not any_sold(shops)
        assert {one.order.provider for one in session.plan()} <= {*shops}
        session.allow(ALL)
        until(lambda: session.run.state == "done")
        assert bought(session) == {name: shop.earned for name, shop in shops.items() if shop.earned}
        assert sum(bought(session).values()) == session.spent and len(bought(session)) == 2
        final = session.run.final
    alone = pacas.SafeClean([FD], 0.00001, strategy=strategy).clean(DIRTY, panel())
    assert final is not None and final.relation.table.equals(alone.relation.table)
    assert [(p.provider, p.value, p.price) for p in final.purchases] == [
        (p.provider, p.value, p.price) for p in alone.purchases
    ]


def any_sold(shops: dict[str, JobShop]) -> bool:
    return any(shop.sold for shop in shops.values())


def test_a_line_that_was_approved_for_one_is_not_paid_to_another(tmp_path: Path) -> None:
    order = _first_order(tmp_path)
    other = order._replace(provider="B" if order.provider == "A" else "A")
    journal = Journal(tmp_path / "journal", {})
    journal.approve_ahead([PlannedOrder.of(order)])
    assert journal.ahead.answer(order) == order and journal.ahead.answer(other) is None
    journal.reject(order.attribute, order.row, other.provider)
    assert len(journal.ahead) == 1 and journal.ahead.answer(order) == order, "only the other one was rejected"
    journal.close()
    recorded = recorded_run(tmp_path / "journal")
    assert recorded is not None and recorded.ahead.orders == [PlannedOrder.of(order)]
    assert recorded.rejections == [(order.attribute, order.row, other.provider)]


def _first_order(folder: Path) -> Any:
    with reviewing(panel_job(folder, panel())) as session:
        settled(session)
        assert session.waiting is not None
        return session.waiting.order


def test_whom_somebody_rejects_is_not_asked_and_another_may_be(tmp_path: Path) -> None:
    shops = panel()
    with reviewing(panel_job(tmp_path, shops, strategy="paper")) as session:
        settled(session)
        first = session.waiting.order if session.waiting else None
        assert first is not None
        told = session.reject(first.key)
        what = f"JOB of row {first.row} from {first.provider}"
        assert told == f"rejected: nothing is bought for {what}; another provider may still be asked"
        until(lambda: session.waiting is not None and session.waiting.order.key != first.key)
        assert session.waiting is not None
        second = session.waiting.order
        assert (second.provider, second.request.tuple) != (first.provider, first.request.tuple)
        session.allow(ALL)
        until(lambda: session.run.state == "done")
        paid = [(one.provider, one.row) for one in session.run.recalled.purchases]
    assert paid and (first.provider, first.row) not in paid


def test_who_writes_a_class_by_hand_is_asked_about_it_by_no_provider(tmp_path: Path) -> None:
    shops = panel()
    with reviewing(panel_job(tmp_path, shops, strategy="paper")) as session:
        settled(session)
        assert session.waiting is not None
        first, rows = session.waiting
        session.pin_instead(first.key, "x1", whole_class=True)
        settled(session)
        assert session.waiting is not None and not set(session.waiting.rows.tolist()) & set(rows.tolist())
        assert not any(set(one.rows.tolist()) & set(rows.tolist()) for one in session.plan())
        reasons = [getattr(outcome, "reason", None) for outcome in session.run.recalled.outcomes]
        assert reasons and set(reasons) == {PINNED}


def test_another_level_is_that_of_the_provider_who_is_asked(tmp_path: Path) -> None:
    shops = panel()
    with reviewing(panel_job(tmp_path, shops)) as session:
        settled(session)
        shown = orders.waiting_part(session)["waiting"]
        price = shops[shown["provider"]].price
        assert [step["price"] for step in shown["ladder"]] == [price, price // 2, 0]
        session.approve(shown["key"], 1, price // 2)
        until(lambda: session.run.recalled.purchases)
        one = session.run.recalled.purchases[0]
        assert (one.provider, one.level, one.price) == (shown["provider"], 1, price // 2)
    with reviewing(panel_job(tmp_path, shops)) as session:
        settled(session)
        assert [p.key for p in session.run.recalled.purchases] == [one.key], "and it is taken up so"


def test_pages_tell_by_provider(tmp_path: Path) -> None:
    shops = panel()
    with reviewing(panel_job(tmp_path, shops, strategy="paper")) as session:
        settled(session)
        plan = orders.plan_part(session)
        assert {line["provider"] for line in plan["plan"]} == {"A", "B"}
        by_name = {one["name"]: one for one in plan["providers"]}
        assert sum(one["plan_cost"] for one in by_name.values()) == plan["plan_cost"]
        row = session.waiting.order.row if session.waiting else 0
        ladders = cell_part(session, {"row": str(row), "attribute": "JOB"})["ladders"]
        assert [name for name, _ in ladders] == ["A", "B"]
        session.allow(ALL)
        until(lambda: session.run.state == "done" and session.outlook.is_current)
        done = orders.plan_part(session)
        assert {one["name"]: one["spent"] for one in done["providers"]} == {n: s.earned for n, s in shops.items()}
        assert all(one["right"] for one in done["providers"])
        assert {one["provider"] for one in done["decided"] if one["is_bought"]} == {"A", "B"}
        page = receipts_page(session, {})
        assert {line["provider"] for line in page["lines"]} == {"A", "B"} and len(page["providers"]) == 2


def test_one_that_goes_away_costs_a_line_and_its_order_is_asked_about_as_it_was_approved(tmp_path: Path) -> None:
    """At another level, which the strategy knows nothing of; the review is closed and taken up in between."""
    shops = panel()
    with reviewing(panel_job(tmp_path, shops, strategy="paper")) as session:
        settled(session)
        assert session.waiting is not None
        first = session.waiting.order
        gone = shops[str(first.provider)]
        paid = gone.pay

        def lost(request: Any, ceiling: int, key: str) -> Any:
            paid(request, ceiling, key)  # it is paid, and the answer is lost
            gone.fails = lambda what: True
            gone.asked.append("lost")
            raise pacas.RemoteError("the answer was lost")

        gone.pay = lost  # type: ignore[method-assign]
        session.approve(first.key, 1, gone.price // 2)
        settled(session)
        assert session.run.state == "waiting" and session.waiting.order.provider != first.provider
        assert session.kept_aside == gone.price // 2 and session.remaining == 10_000 - gone.price // 2
        state = {one["name"]: one["away"] for one in orders.plan_part(session)["providers"]}
        assert state[str(first.provider)] and not state[str(session.waiting.order.provider)]
        assert "kept aside" in orders.cards_part(session)["cards"][2].note
    gone.pay, gone.fails = paid, lambda what: False  # type: ignore[method-assign]
    with reviewing(panel_job(tmp_path, shops, strategy="paper")) as session:
        settled(session)
        assert session.kept_aside == gone.price // 2
        session.buy_no_more()
        until(lambda: session.run.state == "done")
        outcomes = session.run.recalled.outcomes
        assert [getattr(one, "reason", None) for one in outcomes].count(AWAY) == 1
        (again,) = session.run.recalled.purchases
        assert (again.key, again.provider, again.level) == (first.key, first.provider, 1)
        assert session.kept_aside == 0 and session.spent == gone.earned == gone.price // 2


def test_a_review_and_clean_go_on_with_each_others_runs(tmp_path: Path) -> None:
    shops = panel()
    job = panel_job(tmp_path, shops, strategy="paper")
    with reviewing(job) as session:
        settled(session)
        session.allow(120)
        until(lambda: session.run.state == "waiting" and session.spent)
    resumed = Journal(job.journal, job.parts(job.cleaner), resume=True)
    cleaning = job.cleaner.clean(job.source, shops, run=resumed.run, observer=resumed, engine=job.engine)
    resumed.close()
    assert cleaning.spent_nanocredits == sum(shop.earned for shop in shops.values())
    with reviewing(panel_job(tmp_path, shops, strategy="paper")) as session:
        until(lambda: session.run.state == "done")
        assert session.spent == cleaning.spent_nanocredits == sum(shop.earned for shop in shops.values())


def test_another_order_of_the_plan_is_not_meant_by_a_form_without_its_provider(tmp_path: Path) -> None:
    with reviewing(panel_job(tmp_path, panel())) as session:
        settled(session)
        line = orders.plan_part(session)["plan"][0]
        form = {"attribute": "JOB", "row": str(line["row"]), "level": str(line["level"]), "most": str(line["price"])}
        for act in (orders.approve_planned, orders.reject_planned):
            with pytest.raises(InputError, match="not in the plan"):
                act(session, form)
        told = orders.approve_planned(session, form | {"provider": line["provider"]})
        assert f"from {line['provider']}" in told
        assert [one["approved"] for one in orders.plan_part(session)["plan"]].count(True) == 1

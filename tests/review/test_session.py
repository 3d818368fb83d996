"""A review in this process: nothing is paid before an approval, and the ledger holds exactly what was approved."""

from __future__ import annotations

from pathlib import Path
from threading import Event, current_thread
from typing import Any

import numpy as np
import pytest
from interrupted_offices import Watched, dirty
from reviewed_offices import review_job, reviewing, settled, shop, until

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.core.money import nanocredits
from pacas.errors import FileError, InputError
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.protocol.messages import Quote
from pacas.review.session import ReviewSession
from pacas.review.views import table
from pacas.review.views.repairs import repairs_page, undo


def sold(market: Watched) -> int:
    return len(market.shop.keys)


def waiting(session: ReviewSession) -> str:
    settled(session)
    assert session.waiting is not None
    return session.waiting.order.key


def test_nothing_is_paid_before_an_approval(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        assert session.run.state == "waiting" and session.waiting is not None
        assert sold(market) == 0 and session.spent == 0 and not session.run.has_paid
        assert session.plan() and session.written() is not None
    assert sold(market) == 0
    assert not (tmp_path / "offices.clean.csv").exists()
    assert not (tmp_path / "offices.clean.csv.journal").exists(), "nothing was decided, and nothing is left behind"


def test_what_is_approved_is_what_is_sold_and_no_more(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        first = session.waiting.order if waiting(session) and session.waiting else None
        assert first is not None
        session.approve(first.key)
        until(lambda: session.waiting is not None and session.waiting.order.key != first.key)
        assert list(market.shop.keys) == [first.key]
        assert session.spent == market.shop.keys[first.key].price <= first.ceiling
        with pytest.raises(InputError, match="decided on already"):
            session.approve(first.key)
    assert list(market.shop.keys) == [first.key]


def test_the_plan_is_approved_as_a_whole_and_then_nothing_else_is_bought(tmp_path: Path) -> None:
    market = shop("sealed")
    with reviewing(review_job(tmp_path, market)) as session:
        waiting(session)
        planned = {(one.order.attribute, one.order.row) for one in session.plan()}
        planned.add((session.waiting.order.attribute, session.waiting.order.row) if session.waiting else ("", 0))
        session.approve_plan(10**12)
        until(lambda: session.run.state in ("waiting", "done") and not session.run.pays)
        bought = {(p.attribute, p.row) for p in session.run.recalled.purchases}
        assert bought and bought <= planned


def test_an_allowance_is_spent_and_not_exceeded(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        waiting(session)
        session.allow(4000)
        until(lambda: session.run.state == "waiting" and session.waiting and session.approvals.ahead.allowance < 1100)
        assert sold(market) > 2 and session.spent <= 4000
        left = session.approvals.ahead.allowance
        assert session.waiting is not None and session.waiting.order.ceiling > left


def test_a_rejected_order_is_not_bought_and_a_changed_level_is(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        key = waiting(session)
        assert session.waiting is not None
        order = session.waiting.order
        ladder = session.ladder(order.attribute, order.row)
        other = next(at for at, q in enumerate(ladder or []) if isinstance(q, Quote) and at != order.request.level)
        quoted = ladder[other] if ladder is not None else None
        assert isinstance(quoted, Quote)
        session.approve(key, other, quoted.price)
        until(lambda: session.waiting is not None and session.waiting.order.key != key)
        assert market.shop.keys[key].level == other
        rejected = waiting(session)
        session.reject(rejected)
        until(lambda: session.waiting is not None and session.waiting.order.key != rejected)
        assert rejected not in market.shop.keys


def test_a_pin_takes_the_place_of_a_purchase(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        key = waiting(session)
        assert session.waiting is not None
        rows = session.waiting.rows
        session.pin_instead(key, "x1", whole_class=True)
        settled(session)
        assert not market.shop.keys
        session.buy_no_more()
        until(lambda: session.run.state == "done")
    written = pacas.scan_relation(tmp_path / "offices.clean.csv")
    table = pacas.check(written, "OFFICE -> JOB")
    jobs = table.engine.rows(table.engine.open(written, ["JOB"]), rows, ["JOB"]).column(0).to_pylist()
    assert set(jobs) == {"x1"} and sold(market) == 0


def test_a_run_that_buys_no_more_comes_to_its_end_and_writes(tmp_path: Path) -> None:
    market = shop()
    job = review_job(tmp_path, market)
    with reviewing(job) as session:
        waiting(session)
        session.buy_no_more()
        until(lambda: session.run.state == "done")
        assert job.output.exists() and sold(market) == 0
        recorded = recorded_run(job.journal)
        assert recorded is not None and recorded.is_done
        written = settled(session).written()
        assert written is not None
        row = int(written.cleaning.changes["JOB"].rows[0])
        session.edit("JOB", np.array([row]), None)
        assert not session.run.is_written
    lines = job.output.read_text().splitlines()
    given = dirty().to_pylist()[row]
    assert given["JOB"] in lines[row + 1], "what was undone after the end is written when the review closes"


def test_edits_are_seen_kept_and_undone(tmp_path: Path) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        written = settled(session).written()
        assert written is not None
        cell = written.listed(written.cells)[0]
        session.edit(cell.attribute, np.array([cell.row]), None)
        after = session.written()
        assert after is not None
        found = after.cell(cell.attribute, cell.row)
        assert (
            found is not None and found.state == "undone" and after.new(cell.attribute, np.array([cell.row])) == [None]
        )
        session.edit(cell.attribute, np.array([cell.row]), cell.new)
        again = session.written()
        assert again is not None
        back = again.cell(cell.attribute, cell.row)
        assert back is not None and (back.state, back.new, back.look) == ("kept", cell.new, None)
        session.edit(cell.attribute, np.array([cell.row]), "zz")
        pinned = session.written()
        assert (
            pinned is not None
            and pinned.states(cell.attribute, np.array([cell.row])) == ["pinned"]
            and pinned.pinned == 1
        )


def test_the_budget_may_change_until_something_is_paid(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        waiting(session)
        session.edit("JOB", np.array([0]), "zz")
        session.set_budget(nanocredits("3", "b"))
        key = waiting(session)
        assert session.job.cleaner.budget == 3 * 10**9 and len(session.run.journal.edits) == 1
        session.approve(key)
        until(lambda: session.run.has_paid)
        with pytest.raises(InputError, match="something was paid"):
            session.set_budget(1)
    recorded = recorded_run(tmp_path / "offices.clean.csv.journal")
    assert recorded is not None and recorded.header.parts["budget"] == 3 * 10**9


def test_a_review_takes_up_what_another_left(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        first = waiting(session)
        session.approve(first)
        until(lambda: session.waiting is not None and session.waiting.order.key != first)
        second = waiting(session)
        session.reject(second)
        settled(session)
        session.edit("JOB", np.array([3]), "zz")
    with reviewing(review_job(tmp_path, market)) as again:
        third = waiting(again)
        assert third not in (first, second) and len(again.run.journal.edits) == 1
        assert list(market.shop.keys) == [first] and again.spent == market.shop.keys[first].price
        with pytest.raises(FileError, match="another run is writing it"):
            Journal(tmp_path / "offices.clean.csv.journal", {}, resume=True)


def test_another_run_begins_only_when_this_one_is_done(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        session.approve(waiting(session))
        until(lambda: session.run.has_paid and session.run.state == "waiting")
    with pytest.raises(FileError, match="is of a run that is not done"):
        ReviewSession(review_job(tmp_path, market), anew=True)
    with reviewing(review_job(tmp_path, market)) as session:
        waiting(session)
        session.buy_no_more()
        until(lambda: session.run.state == "done")
    with reviewing(review_job(tmp_path, market, budget=9), anew=True) as session:
        waiting(session)
        assert session.spent == 0


def test_a_provider_that_fails_is_tried_again_from_the_journal(tmp_path: Path) -> None:
    market = shop()
    pay = market.shop.pay

    def broken(*_: Any) -> Any:
        raise pacas.PacasError("nobody answers")

    with reviewing(review_job(tmp_path, market)) as session:
        key = waiting(session)
        market.shop.pay = broken
        session.approve(key)
        until(lambda: session.run.state == "failed")
        assert session.run.error == "nobody answers" and sold(market) == 0
        market.shop.pay = pay
        session.try_again()
        until(lambda: session.run.state == "waiting" and session.waiting)
        assert list(market.shop.keys) == [key], "it was approved, and is paid under its key"


def test_the_curve_of_budgets_falls_and_has_a_knee(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        waiting(session)
        session.outlook.want_curve(2000)
        curve = session.outlook.curve
        until(lambda: curve.is_whole)
        points = curve.ordered
        assert len(points) > 4 and 2000 in curve.points and sold(market) == 0
        assert points[0].budget == 0 == points[0].spent and points[-1].spent == max(p.spent for p in points)
        assert points[-1].violations <= points[0].violations and all(p.spent <= p.budget for p in points)
        assert curve.knee is not None and 0 < curve.knee <= points[-1].spent


@pytest.mark.parametrize("choices", [{"strategy": "paper"}, {"strategy": "weigh", "look_further": True}])
def test_other_ways_to_clean_are_reviewed_too(tmp_path: Path, choices: dict[str, Any]) -> None:
    market = shop("sealed")
    with reviewing(review_job(tmp_path, market, **choices)) as session:
        key = waiting(session)
        session.approve(key)
        until(lambda: len(session.run.recalled.purchases) == 1)
        session.buy_no_more()
        until(lambda: session.run.state == "done")
        assert session.run.final is not None and len(session.run.final.purchases) == 1


def test_no_page_waits_until_violations_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_count, counters = Event(), list[str]()
    count = Cleaning.count_violations

    def held(self: Cleaning) -> int:
        counters.append(current_thread().name)
        assert may_count.wait(60)
        return count(self)

    monkeypatch.setattr(Cleaning, "count_violations", held)
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        before = session.written()
        assert before is not None and before.violations is not None
        undo(session, {"whose": "attribute", "attribute": "JOB"})
        pages = [table.table_page(session, {}), repairs_page(session, {})]
        shown = [card for page in pages for card in page["cards"] if card.name == "Violations left"]
        assert [(card.number, card.note) for card in shown] == [("…", "being counted")] * 2
        version = session.version
        may_count.set()
        until(lambda: session.version > version and (found := session.written()) and found.violations is not None)
        after = session.written()
        assert after is not None and after.violations == after.cleaning.violations_before > before.violations
        assert set(counters) == {"review outlook"}

"""What was approved ahead is on the journal: a crash loses nothing of it, and nothing is paid that was not approved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interrupted_offices import ENGINE, Watched, dirty
from reviewed_offices import review_job, reviewing, settled, shop, until

import pacas
from pacas.client.outcome.approved_ahead import ApprovedAhead, PlannedOrder
from pacas.client.outcome.steps import REJECTED, Order
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.formats.journal.recorded import read_lines
from pacas.protocol.messages import Request
from pacas.review.session import ReviewSession
from pacas.review.views.orders import plan_part

JOURNAL = "offices.clean.csv.journal"


def order(ceiling: int, *, level: int = 0, row: int = 3) -> Order:
    return Order(0, "JOB", row, Request({"PERSON": "p003"}, "JOB", level), ceiling, "key")


def places(session: ReviewSession) -> list[tuple[str, int]]:
    return [(one.attribute, one.row) for one in session.run.recalled.purchases]


def test_nothing_is_paid_that_was_not_approved_at_that_level_and_price() -> None:
    ahead = ApprovedAhead()
    ahead.decide([PlannedOrder("JOB", 3, 0, 10)])
    assert ahead.answer(order(10)) == order(10) and ahead.answer(order(9)) == order(9)
    assert [ahead.answer(one) for one in (order(11), order(10, level=1), order(10, row=4))] == [None] * 3
    ahead.decide(allowance=20)
    assert ahead.answer(order(20, row=4)) == order(20, row=4)._replace(allowed=True)
    assert ahead.answer(order(21, row=4)) is None
    ahead.ordered(order(15, row=4)._replace(allowed=True))
    assert (ahead.allowance, len(ahead)) == (5, 1)
    ahead.ordered(order(10))
    assert (ahead.allowance, len(ahead)) == (5, 0), "what the plan approved does not come off the amount"
    ahead.decide(withdrawn=True)
    assert ahead.answer(order(1)) is None and ahead.answer(order(0)) is None
    ahead.decide([PlannedOrder("JOB", 3, 0, 10)], no_more=True)
    assert ahead.answer(order(10)) == REJECTED


def test_a_plan_may_ask_about_a_row_twice_first_coarser_and_then_finer() -> None:
    ahead = ApprovedAhead()
    ahead.decide([PlannedOrder("JOB", 3, 2, 5), PlannedOrder("JOB", 3, 1, 10)])
    assert len(ahead) == 2 and ahead.answer(order(5, level=2)) == order(5, level=2)
    ahead.ordered(order(5, level=2))
    assert ahead.answer(order(10, level=1)) == order(10, level=1) and ahead.answer(order(5, level=2)) is None
    ahead.decide([PlannedOrder("JOB", 3, 2, 5)])
    ahead.ordered(order(20))
    assert len(ahead) == 0, "who has bought the finer level is not asked for a coarser one"
    ahead.decide([PlannedOrder("JOB", 3, 2, 5), PlannedOrder("JOB", 3, 1, 10), PlannedOrder("JOB", 4, 1, 10)])
    ahead.take_back("JOB", 3)
    assert ahead.orders == [PlannedOrder("JOB", 4, 1, 10)]


def test_either_line_of_a_row_in_the_plan_can_be_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        first = session.plan()[0]
        coarser = first.order._replace(
            request=replace(first.order.request, level=first.order.request.level + 1), ceiling=1
        )
        plan = (replace(first, order=coarser), first)
        monkeypatch.setattr(session, "plan", lambda: plan)
        for one in plan:
            line = PlannedOrder.of(one.order)
            session.approve_ahead(line.attribute, line.row, line.level, line.most)
        assert [shown["approved"] for shown in plan_part(session)["plan"]] == [True, True]


def test_a_line_of_the_plan_stays_approved_when_the_program_has_ended(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        line = PlannedOrder.of(session.plan()[0].order)
        session.approve_ahead(line.attribute, line.row, line.level, line.most)
    assert not market.shop.keys and (tmp_path / JOURNAL).exists()
    with reviewing(review_job(tmp_path, market)) as again:
        settled(again)
        assert again.approvals.ahead.orders == [line] and again.waiting is not None
        first = again.waiting.order
        again.approve(first.key, most=first.ceiling)
        until(lambda: len(again.run.recalled.purchases) == 2 and again.run.state == "waiting")
        assert places(again) == [(first.attribute, first.row), (line.attribute, line.row)]
        assert len(again.approvals.ahead) == 0 and again.run.recalled.purchases[1].price <= line.most


def test_an_amount_is_spent_once_wherever_the_journal_was_cut_off(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        session.allow(4000)
        until(lambda: session.run.state == "waiting" and session.waiting and session.approvals.ahead.allowance < 1100)
        left = session.approvals.ahead.allowance
    lines = (tmp_path / JOURNAL).read_bytes().splitlines(keepends=True)
    allowances = []
    for cut in range(1, len(lines) + 1):
        recorded = read_lines(b"".join(lines[:cut]), JOURNAL)
        assert recorded is not None
        paid = sum(one.price for one in recorded.outcomes)
        paid += sum(one.ceiling for one in recorded.pending if isinstance(one, Order))
        assert recorded.ahead.allowance + paid <= 4000
        allowances.append(recorded.ahead.allowance)
    assert allowances[-1] == left < 1100 and 4000 in allowances
    with reviewing(review_job(tmp_path, market)) as again:
        settled(again)
        assert again.approvals.ahead.allowance <= left and again.spent <= 4000
        again.withdraw()
    with reviewing(review_job(tmp_path, market)) as third:
        settled(third)
        assert third.approvals.ahead.allowance == 0 and third.spent == again.spent


def test_an_approval_is_on_disk_before_the_run_hears_of_it(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        assert session.waiting is not None
        first = session.waiting.order
        on_disk = []
        settle = session.approvals._settle

        def settling(answer: Order | str) -> None:
            recorded = recorded_run(tmp_path / JOURNAL)
            on_disk.append(recorded is not None and PlannedOrder.of(first) in recorded.ahead)
            settle(answer)

        session.approvals._settle = settling  # type: ignore[method-assign]
        session.approve(first.key, most=first.ceiling)
        until(lambda: session.run.recalled.purchases)
        assert on_disk == [True] and len(session.approvals.ahead) == 0


def test_who_buys_no_more_does_not_buy_on_the_command_line_either(tmp_path: Path) -> None:
    market = shop()
    job = review_job(tmp_path, market)
    parts = job.parts(job.cleaner)
    journal = Journal(job.journal, parts)
    journal.approve_ahead(no_more=True)
    journal.close()  # and the program was killed
    resumed = Journal(job.journal, parts, resume=True)
    cleaning = pacas.SafeClean(["OFFICE -> JOB"], 20).clean(dirty(), market, observer=resumed, engine=ENGINE)
    resumed.close()
    assert not market.shop.keys and not cleaning.purchases and cleaning.changes, "own evidence repairs for nothing"


def test_another_budget_takes_over_what_was_approved(tmp_path: Path) -> None:
    market = Watched("falling")
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        line = PlannedOrder.of(session.plan()[0].order)
        session.approve_ahead(line.attribute, line.row, line.level, line.most)
        session.edit("JOB", np.array([3]), "x1")
        session.set_budget(10 * 10**9)
        assert session.approvals.ahead.orders == [line]
        settled(session)
        session.reject_ahead(line.attribute, line.row)
        assert len(session.approvals.ahead) == 0
    recorded = recorded_run(tmp_path / JOURNAL)
    assert recorded is not None and len(recorded.ahead) == 0 and len(recorded.edits) == 1

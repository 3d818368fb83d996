"""A review pays what somebody saw and approved, and never loses the record of it, whatever is done at the same time."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import Mock

import pytest
from interrupted_offices import Watched
from reviewed_offices import PATIENCE, review_job, reviewing, settled, shop, until

from pacas.client.outcome.edits import edited
from pacas.errors import FileError, InputError
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.protocol.messages import Quote
from pacas.review.approvals import Approvals, Stopped
from pacas.review.session import ReviewSession
from pacas.review.views import orders
from pacas.review.views.budget import curve_part
from pacas.review.views.repairs import keep

OTHER = 10 * 10**9
"""Another budget."""


def sold(market: Watched) -> int:
    return len(market.shop.keys)


def recorded_purchases(folder: Path) -> int:
    recorded = recorded_run(folder / "offices.clean.csv.journal")
    return 0 if recorded is None else len([one for one in recorded.outcomes if one.price])


def bought_one(session: ReviewSession) -> str:
    settled(session)
    assert session.waiting is not None
    key = session.waiting.order.key
    session.approve(key)
    until(lambda: session.waiting is not None and session.waiting.order.key != key)
    return key


# ---- the budget ---------------------------------------------------------------------------------------------------


def test_a_run_that_is_taken_up_knows_at_once_that_it_has_paid(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        bought_one(session)
    again = ReviewSession(review_job(tmp_path, market))
    try:
        assert again.run.has_paid, "it has replayed nothing yet"
        with pytest.raises(InputError, match="something was paid"):
            again.set_budget(OTHER)
    finally:
        again.close()
    assert recorded_purchases(tmp_path) == sold(market) == 1


def test_a_budget_that_comes_while_an_order_is_on_its_way_comes_too_late(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        assert session.waiting is not None
        first, end, key = session.run, session.run._end, session.waiting.order.key

        def approved_meanwhile() -> None:
            session.approve(key)
            end()

        first._end = approved_meanwhile  # type: ignore[method-assign]
        with pytest.raises(InputError, match="something was paid"):
            session.set_budget(OTHER)
        settled(session)
        assert session.job.cleaner.budget != OTHER and session.run is not first, "it goes on from its journal"
        assert [one.key for one in session.run.recalled.purchases] == list(market.shop.keys) == [key]
    assert recorded_purchases(tmp_path) == 1


def test_a_review_that_ends_buys_nothing_of_what_was_approved_beforehand(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "of another run", {})
    approvals = Approvals(journal)
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        assert session.waiting is not None
        order, rows = session.waiting
    approvals.allow(OTHER)
    approvals.close()
    with pytest.raises(Stopped):
        approvals.ask(order, rows)
    assert approvals.ahead.allowance == OTHER
    journal.close()


def test_the_journal_of_what_was_paid_is_not_discarded(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        bought_one(session)
        with pytest.raises(FileError, match="the record of what was paid"):
            session.run.journal.discard()
    job = review_job(tmp_path, market)
    journal = Journal(job.journal, job.parts(job.cleaner), resume=True)
    with pytest.raises(FileError, match="the record of what was paid"):
        journal.discard()
    journal.close()
    assert recorded_purchases(tmp_path) == 1


def test_another_budget_buys_again_after_no_more_was_bought(tmp_path: Path) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        session.buy_no_more()
        until(lambda: session.run.state == "done")
        session.set_budget(OTHER)
        settled(session)
        assert session.waiting is not None and not session.approvals.ahead.buys_no_more


def test_another_budget_after_the_end_begins_another_run_only_where_that_is_said(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        bought_one(session)
        session.buy_no_more()
        until(lambda: session.run.state == "done")
    before = (tmp_path / "offices.clean.csv.journal").read_bytes()
    with pytest.raises(FileError, match="which is done: budget differs; begin a new one with --new"):
        ReviewSession(review_job(tmp_path, market, budget=9))
    assert (tmp_path / "offices.clean.csv.journal").read_bytes() == before
    with reviewing(review_job(tmp_path, market, budget=9), anew=True) as session:
        settled(session)
        session.set_budget(OTHER)
        settled(session)
        assert session.job.cleaner.budget == OTHER and session.spent == 0
    assert (tmp_path / "offices.clean.csv.journal").read_bytes() == before, "nothing was decided in the new one"


def test_what_was_rejected_in_the_plan_stays_rejected_in_the_next_review(tmp_path: Path) -> None:
    market = shop()
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        unwanted = session.plan()[1].order.row
        session.reject_ahead("JOB", unwanted)
        session.set_budget(OTHER)
    with reviewing(review_job(tmp_path, market, budget=10)) as session:
        settled(session)
        assert session.run.journal.is_rejected("JOB", unwanted)
        assert unwanted not in {one.order.row for one in session.plan()}
        session.allow(OTHER)
        until(lambda: session.run.state == "done")
    assert sold(market) and unwanted not in {one.row for one in session.run.recalled.purchases}


# ---- prices that somebody saw -------------------------------------------------------------------------------------


class Rising:
    """A provider whose prices can rise."""

    def __init__(self, market: Watched) -> None:
        self._market, self.times = market, 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._market, name)

    def quote(self, request: Any) -> Any:
        quoted = self._market.quote(request)
        return Quote(quoted.price * self.times) if isinstance(quoted, Quote) else quoted


def test_another_level_is_not_bought_for_more_than_was_shown(tmp_path: Path) -> None:
    market = Rising(shop())
    with reviewing(review_job(tmp_path, market)) as session:
        settled(session)
        shown = orders.waiting_part(session)["waiting"]
        other = next(one for one in shown["ladder"] if one["level"] != shown["level"] and one["open"])
        form = {"key": shown["key"], "level": str(other["level"]), f"most-{other['level']}": str(other["price"])}
        market.times = 2
        with pytest.raises(InputError, match="nothing is approved"):
            orders.approve(session, form)
        with pytest.raises(InputError, match="the page did not show"):
            orders.approve(session, {"key": shown["key"], "level": str(other["level"])})
        with pytest.raises(InputError, match="nothing is approved"):
            orders.approve(session, {"key": shown["key"], "most": str(shown["price"] - 1)})
        assert session.waiting is not None and sold(market._market) == 0
        market.times = 1
        orders.approve(session, form)
        until(lambda: session.spent)
        assert session.spent <= other["price"]


def test_the_plan_and_its_lines_are_not_approved_for_more_than_was_shown(tmp_path: Path) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        shown = orders.plan_part(session)
        assert session.waiting is not None and shown["one_waits"]
        assert shown["plan_cost"] == session.waiting.order.ceiling + sum(o.order.ceiling for o in session.plan())
        first = shown["plan"][0]
        line = {"attribute": "JOB", "row": str(first["row"]), "level": str(first["level"])}
        for refused in (
            lambda: orders.approve_plan(session, {"most": str(shown["plan_cost"] - 1)}),
            lambda: orders.approve_plan(session, {}),
            lambda: orders.approve_planned(session, line | {"most": str(first["price"] - 1)}),
            lambda: orders.approve_planned(session, line | {"most": str(first["price"]), "level": "9"}),
        ):
            with pytest.raises(InputError):
                refused()
        assert len(session.approvals.ahead) == 0 and session.waiting is not None
        orders.approve_planned(session, line | {"most": str(first["price"])})
        assert len(session.approvals.ahead) == 1
        orders.approve_plan(session, {"most": str(shown["plan_cost"])})
        until(lambda: session.spent)


def test_the_slider_reaches_a_budget_that_buys_all(tmp_path: Path) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        session.outlook.want_curve()
        until(lambda: session.outlook.curve.is_whole)
        full, shown = session.outlook.curve.full, curve_part(session, {})
        assert full is not None and shown["most"] % shown["step"] == 0
        assert full.spent <= shown["most"] < full.spent + 200


def test_what_no_money_brings_is_told_once_it_was_tried(tmp_path: Path) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        session.outlook.want_curve()
        until(lambda: session.outlook.curve.is_whole)
        points = session.outlook.curve.points
        assert curve_part(session, {})["charts"]
        del points[0]
        assert len(points) > 1 and not curve_part(session, {})["charts"], "the first that was tried costs something"


# ---- many cells ---------------------------------------------------------------------------------------------------


def test_all_of_an_attribute_is_kept_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        written = settled(session).written()
        assert written is not None
        changes = written.cleaning.changes["JOB"]
        made = Mock(wraps=edited)
        recorded = Mock(wraps=session.run.journal._file.record)
        monkeypatch.setattr("pacas.review.written.edited", made)
        monkeypatch.setattr(session.run.journal._file, "record", recorded)
        keep(session, {"attribute": "JOB", "whose": "attribute"})
        after = session.written()
        assert after is not None and len({*changes.new}) > 2
        assert {
            cell.state for cell in after.listed(after.cells) if cell.attribute == "JOB" and cell.state != "left"
        } == {"kept"}
        assert made.call_count == recorded.call_count == 1


def test_a_class_is_kept_as_a_whole(tmp_path: Path) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        written = settled(session).written()
        assert written is not None
        cell = next(
            one for one in written.listed(written.cells) if one.repair is not None and len(one.repair.written) > 1
        )
        assert cell.repair is not None
        told = keep(session, {"attribute": cell.attribute, "row": str(cell.row), "whose": "class"})
        after = session.written()
        assert after is not None and told == f"{len(cell.repair.written)} cells of JOB: kept as written"
        assert {*after.states("JOB", cell.repair.written)} == {"kept"}


# ---- windows ------------------------------------------------------------------------------------------------------


def test_who_is_told_of_a_decision_may_wait_for_another_thread_that_asks(tmp_path: Path) -> None:
    free = []

    def told() -> None:
        asking = Thread(target=lambda: approvals.waiting, daemon=True)
        asking.start()
        asking.join(PATIENCE / 10)
        free.append(not asking.is_alive())

    journal = Journal(tmp_path / "journal", {})
    approvals = Approvals(journal, told)
    approvals.allow(1)
    approvals.buy_no_more()
    approvals.withdraw()
    approvals.approve_planned([])
    journal.close()
    assert free == [True] * 4


def test_nothing_is_written_instead_of_an_order_that_was_decided_on_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        assert session.waiting is not None
        order, checked = session.waiting.order, session._checked

        def meanwhile(*what: Any) -> Any:
            session.approve(order.key)
            return checked(*what)

        monkeypatch.setattr(session, "_checked", meanwhile)
        with pytest.raises(InputError, match="decided on already"):
            session.pin_instead(order.key, "x1", whole_class=True)
        assert not session.run.journal.edits

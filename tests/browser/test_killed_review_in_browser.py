"""A review is killed in the middle of a payment, and taken up again, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from killed_reviews import sold, started, write_files
from review_pages import watch
from reviewed_offices import PATIENCE, until

from pacas.formats.journal.journal import recorded_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_was_approved_is_paid_once_after_a_kill_and_what_was_not_is_asked_about(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    with started(moment) as (process, url):
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.get_by_role("link", name="Orders").click()
        first = page.locator("section[data-order]").get_attribute("data-order", timeout=PATIENCE * 1000)
        page.locator("#plan form[action='/orders/approve-planned'] button").first.click()
        page.locator(".notice", has_text="approved:").wait_for()
        assert sold(tmp_path) == []
        page.get_by_role("button", name="Approve and pay").click(no_wait_after=True)
        assert process.wait(PATIENCE) == -9
        context.close()
    assert sold(tmp_path) == ([("local", 1)] if moment == "after" else [])
    ahead = recorded_run(tmp_path / "client.clean.csv.journal")
    assert ahead is not None and ahead.pending is not None and len(ahead.ahead) == 1
    with started("never") as (_, url):
        context = browser.new_context()
        page = context.new_page()
        complaints = watch(page, url.partition("/?")[0])
        page.goto(url)
        page.get_by_role("link", name="Orders").click()
        until(lambda: sold(tmp_path) == [("local", 2)])  # the one on its way, and the one approved ahead
        waits = page.locator("section[data-order]")
        waits.wait_for(timeout=PATIENCE * 1000)
        assert waits.get_attribute("data-order") != first
        page.get_by_role("button", name="Reject", exact=True).first.click()
        page.locator(".notice", has_text="rejected:").wait_for()
        page.get_by_role("link", name="Receipts").click()
        page.locator(".lead", has_text="2 values bought").wait_for()
        assert sold(tmp_path) == [("local", 2)] and complaints == []
        context.close()

"""A person with OpenRefine and an address, click by click as the how-to says: the price is seen before it is paid."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openrefine
import pytest
from running_service import KEY, served, with_account

from pacas import example
from pacas.core.anonymity import Policy
from pacas.provider.ledger.accounts import MemoryAccounts, Role
from pacas.provider.provider import Provider
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not openrefine.is_installed(), reason="OpenRefine is not installed: apt install openrefine, or PACAS_OPENREFINE"
    ),
]


def menu(page: Page, column: str, first: str, second: str) -> None:
    """A command of a column's menu."""
    page.locator(f"th:has-text('{column}') .column-header-menu").first.click()
    page.get_by_text(first, exact=True).first.hover()
    page.get_by_text(second).first.click()


def ok(page: Page) -> None:
    page.locator(".dialog-container button:has-text('OK')").last.click()


def test_the_price_is_seen_then_paid_and_the_column_filled(browser: Browser, tmp_path: Path) -> None:
    accounts = MemoryAccounts()
    token = with_account(accounts, "refine", role=Role.RECONCILE, credit=5 * 10**9)
    policy = Policy(("GEN",), ("MED",), {"MED": 0}, k=2, allow_linkage=True)
    sold: dict[str, Any] = {"match": {"MED": example.md}, "hierarchies": example.hierarchies, "policies": [policy]}
    provider = Provider(example.provider, total=6, **sold)
    app = create_app(provider, accounts, ServiceSettings(reconcile=True), KEY, log=make_log(io.StringIO()))
    with served(app) as url, openrefine.running(tmp_path) as refine:
        refine.open("GEN,AGE\nmale,51\nmale,79\nfemale,32\nfemale,99\n")
        page = browser.new_page()
        page.goto(str(refine.client.base_url.join(f"/project?project={refine.project}")))
        menu(page, "GEN", "Reconcile", "Start reconciling")
        page.get_by_text("Add standard service").first.click()
        page.locator("input[bind=input]").last.fill(f"{url}/reconcile/{token}")
        page.get_by_text("Add service", exact=True).first.click()
        page.get_by_text("GEN, with AGE as property").first.wait_for()
        page.locator("input[name=include][columnname=AGE]").check()  # and nothing is written beside it
        page.get_by_text("Start reconciling").last.click()
        page.get_by_text("AGE is missing in this row: send that column along as property AGE").nth(3).wait_for()
        menu(page, "GEN", "Reconcile", "Start reconciling")
        page.locator(".recon-dialog-service-selector:has-text('PACAS: MED')").click()
        page.locator("input[name=include][columnname=AGE]").check()
        page.locator("input[name=property][columnname=AGE]").press_sequentially("y")  # as for years
        page.locator(".fbs-item:has-text('rows are found by it, with GEN')").click()
        page.get_by_text("Start reconciling").last.click()
        page.get_by_text("Choose new match").nth(2).wait_for()
        menu(page, "GEN", "Edit column", "Add columns from reconciled values")
        page.locator(".suggested-property a").first.click()
        page.get_by_text("1 credit at level 0, ").first.wait_for()
        page.get_by_text("not sold (unsafe)").wait_for()
        assert provider.ledger.total("refine").purchases == 0
        page.get_by_text("configure", exact=True).click()
        page.locator("input[name=pay]").check()
        page.locator("input[name=ceiling]").fill("0,7")
        ok(page)
        page.get_by_text("the most to pay must be a number of credits, not '0,7'").first.wait_for()
        assert provider.ledger.total("refine").purchases == 0
        page.get_by_text("configure", exact=True).click()
        page.locator("input[name=ceiling]").fill("1")
        ok(page)
        page.get_by_text("ibuprofen").first.wait_for()
        assert provider.ledger.total("refine") == (2, 2 * 10**9)
        ok(page)
        page.locator("th:has-text('MED')").first.wait_for()
        page.close()
        filled = [line.split(",")[1] for line in refine.exported().splitlines()]
    assert filled == ["MED", "ibuprofen", "", "naproxen", ""]
    assert provider.ledger.total("refine") == (2, 2 * 10**9)  # what was previewed is not charged again

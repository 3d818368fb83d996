"""The provider's console in a real browser: every page and action, with nothing said to the browser's console."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from certificates import Authority
from page_looks import beside_the_window, is_wider_than_the_window, pale_texts
from served_console import FAMILIES, FOUND, HOSTILE, ID, MED, WARD, ServedConsole, served_console

from pacas.console.figures import OwnFindings
from pacas.console.sessions import IDLE
from pacas.provider.ledger.accounts import token_hash

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = ("", "/stock", "/policies", "/ladder", "/accounts", "/sales", "/ledger")
WATCH = (
    "document.addEventListener('securitypolicyviolation', (event) => console.error('policy', event.violatedDirective))"
)


@pytest.fixture
def console(browser: Browser, tmp_path: Path) -> Iterator[ServedConsole]:
    """After the browser, so that it is skipped where there is none."""
    with served_console(tmp_path) as served:
        yield served


@contextmanager
def visiting(browser: Browser, console: ServedConsole, **options: Any) -> Iterator[Page]:
    """A page of a browser whose console must stay empty, and which asks nobody else."""
    context = browser.new_context(**options)
    context.add_init_script(WATCH)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith(console.url) else None)
    yield page
    context.close()
    assert [line for line in complaints if not line.startswith("data:")] == []


def log_in(page: Page, console: ServedConsole, path: str = "") -> None:
    page.goto(f"{console.url}/console{path}")
    page.get_by_label("Operator's token").fill("token-of-olga")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{console.url}/console{path}")


def test_in_through_every_page_and_out(browser: Browser, console: ServedConsole) -> None:
    with visiting(browser, console) as page:
        log_in(page, console, "/ledger")
        for text in ("Overview", "Stock", "Policies", "Price ladder", "Accounts", "Sales", "Ledger"):
            page.get_by_role("navigation", name="Pages").get_by_role("link", name=text, exact=True).click()
            page.wait_for_load_state("networkidle")
            assert page.locator("h1").inner_text() == text
            assert page.locator('[aria-current="page"]').inner_text() == text
        page.goto(f"{console.url}/console/sales")
        page.wait_for_selector("figure canvas")
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{console.url}/console/login")
        page.goto(f"{console.url}/console/accounts")
        assert "/console/login" in page.url


def test_a_clients_token_is_refused(browser: Browser, console: ServedConsole) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{console.url}/console")
    page.get_by_label("Operator's token").fill("token-of-ann")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_selector(".notice.bad")
    assert "no operator's token" in page.locator(".notice.bad").inner_text()
    assert context.cookies() == []
    context.close()


def test_a_session_that_expired_leads_back_to_the_login_also_from_a_part(
    browser: Browser, console: ServedConsole
) -> None:
    context = browser.new_context()
    page = context.new_page()
    log_in(page, console, "/policies")
    console.clock.now += IDLE + 1
    page.get_by_role("link", name="Groups").first.click()
    page.wait_for_url(f"{console.url}/console/login")
    log_in(page, console)
    console.accounts.revoke("olga")
    page.get_by_role("link", name="Ledger").first.click()
    page.wait_for_url("**/console/login**")
    context.close()


def test_a_form_with_another_secret_is_refused(browser: Browser, console: ServedConsole) -> None:
    context = browser.new_context()
    page = context.new_page()
    log_in(page, console, "/accounts")
    page.evaluate("document.querySelectorAll('[name=csrf]').forEach((field) => { field.value = 'forged' })")
    page.locator("summary", has_text="Add").click()
    page.get_by_label("Name").fill("mallory")
    page.get_by_role("button", name="Add").click()
    page.wait_for_selector(".notice.bad")
    assert "not one of this session's" in page.locator(".notice.bad").inner_text()
    assert "mallory" not in [account.name for account in console.accounts.list()]
    context.close()


def test_an_account_is_added_changed_and_revoked_by_keyboard_alone(browser: Browser, console: ServedConsole) -> None:
    with visiting(browser, console) as page:
        page.goto(f"{console.url}/console/accounts")
        page.keyboard.type("token-of-olga")  # the field has the focus
        page.keyboard.press("Enter")
        page.wait_for_url(f"{console.url}/console/accounts")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.locator("summary", has_text="Add").focus()
        page.keyboard.press("Enter")
        _tab_to(page, "[name=name][maxlength]")
        page.keyboard.type("carl <b>")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.type("5")
        page.keyboard.press("Enter")
        page.wait_for_selector(".secret")
        token = page.locator(".secret").inner_text()
        (carl,) = [account for account in console.accounts.list() if account.name == "carl <b>"]
        assert (carl.credit, carl.token_hash) == (5 * 10**9, token_hash(token))
        page.goto(f"{console.url}/console/accounts")
        assert token not in page.content()
        row = page.locator("tr", has_text="carl <b>")
        row.locator("summary", has_text="Credit").focus()
        page.keyboard.press("Enter")
        _tab_to(page, "details[open] [name=credit]")
        page.keyboard.press("Control+a")
        page.keyboard.type("7.5")
        page.keyboard.press("Enter")
        page.wait_for_selector(".notice.ok")
        assert "carl <b> may now spend 7.5 credits in all." in page.locator(".notice.ok").inner_text()
        row = page.locator("tr", has_text="carl <b>")
        row.locator("summary", has_text="Rate").focus()
        page.keyboard.press("Enter")
        _tab_to(page, "details[open] [name=rate]")
        page.keyboard.type("600")
        page.keyboard.press("Enter")
        page.wait_for_selector(".notice.ok")
        row = page.locator("tr", has_text="carl <b>")
        row.locator("summary", has_text="Revoke").focus()
        page.keyboard.press("Enter")
        assert not console.accounts.list()[3].revoked, "it is asked first"
        _tab_to(page, "details[open] button")
        page.keyboard.press("Enter")
        page.wait_for_selector(".notice.ok")
        (carl,) = [account for account in console.accounts.list() if account.name == "carl <b>"]
        assert (carl.credit, carl.quotes_per_minute, carl.revoked) == (7_500_000_000, 600, True)


def _tab_to(page: Page, selector: str) -> None:
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no way to {selector} by keyboard")


def test_groups_open_masked_and_a_reveal_is_logged(browser: Browser, console: ServedConsole) -> None:
    with visiting(browser, console) as page:
        log_in(page, console, "/policies")
        page.get_by_role("link", name="Groups").first.click()
        page.wait_for_selector(".masked")
        assert not any(value in page.content() for value in console.values)
        assert console.lines("console")[-1]["done"] != "reveal"
        page.get_by_role("button", name=re.compile("Reveal")).click()
        page.wait_for_selector("text=secret-ward-0")
        shown = {value for value in console.values if value in page.content()}
        assert shown and shown <= {f"secret-ward-{n}" for n in range(6)}
        line = console.lines("console")[-1]
        assert (line["done"], line["operator"], line["policy"]) == ("reveal", "olga", 1)
        assert line["groups"] == len(shown) and not any(value in json.dumps(line) for value in console.values)
        page.reload()
        page.get_by_role("link", name="Groups").first.click()
        page.wait_for_selector(".masked")
        assert "secret-ward" not in page.content()


def test_entries_and_groups_are_paged(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.console.tabs.policies.PAGE", 2)
    monkeypatch.setattr("pacas.console.tabs.ledger.PAGE", 8)
    with served_console(tmp_path) as console, visiting(browser, console) as page:
        log_in(page, console, "/ledger")
        entries, pages = console.provider.ledger.head().entries - 1, page.get_by_label("Pages of entries")
        first = page.locator("#entries ~ .lines tbody th")
        assert first.first.inner_text() == str(entries) and first.count() == 8
        pages.get_by_role("link", name="Next").press("Enter")
        page.wait_for_url("**/ledger?page=2")
        assert first.first.inner_text() == str(entries - 8)
        pages.get_by_role("link", name="Previous").click()
        page.wait_for_url("**/ledger?page=1")
        assert first.first.inner_text() == str(entries)
        page.goto(f"{console.url}/console/policies")
        page.get_by_role("link", name="Groups").first.click()
        groups, shown = page.get_by_label("Pages of groups"), page.locator("[id^=groups-] tbody tr")
        groups.get_by_text("1 to 2 of").wait_for()
        groups.get_by_role("link", name="Next").press("Enter")
        groups.get_by_text("3 to 4 of").wait_for()
        page.get_by_role("button", name="Reveal these 2 groups").press("Enter")
        page.wait_for_selector("text=secret-ward")
        assert shown.count() == 2 and (console.lines("console")[-1]["start"], page.locator("h1").count()) == (2, 1)
        groups.get_by_role("link", name="Previous").click()
        groups.get_by_text("1 to 2 of").wait_for()
        assert page.locator(".masked").count() == 2 and "secret-ward" not in page.content()


def test_figures_that_take_long_come_by_themselves(browser: Browser, tmp_path: Path) -> None:
    may_go_on = Event()

    def look() -> OwnFindings:
        may_go_on.wait(60)
        return FOUND

    with served_console(tmp_path, look=look) as console, visiting(browser, console) as page:
        try:
            log_in(page, console, "/policies")
            assert "being worked out" in page.locator("main").inner_text()
            assert page.get_by_role("button", name="Renew").is_disabled()
        finally:
            may_go_on.set()
        page.wait_for_selector("text=As of entry")
        page.get_by_role("link", name="Groups").first.click()
        page.wait_for_selector(".masked")
        assert page.locator("h1").count() == 1


def test_a_large_tree_unfolds_where_it_is_opened(browser: Browser, tmp_path: Path) -> None:
    with served_console(tmp_path, leaves=250) as console, visiting(browser, console) as page:
        log_in(page, console, "/stock")
        assert page.locator(".tree li").count() == 1
        page.locator(".tree summary").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".tree ul summary")
        assert page.locator(".tree li").count() == 4
        assert FAMILIES[0] in page.locator(".tree").inner_text()
        page.locator(".tree ul summary").first.click()
        page.wait_for_selector("text=150 more")
        page.get_by_role("button", name="150 more").click()
        page.wait_for_selector("text=50 more")
        assert page.locator(".tree li").count() == 4 + 201


def test_a_ladder_is_asked_for_and_hostile_names_are_text(browser: Browser, console: ServedConsole) -> None:
    with visiting(browser, console) as page:
        log_in(page, console, "/ladder")
        page.locator("#column-0").fill("secret-id-41")
        page.get_by_label("For whom").select_option(HOSTILE)
        page.get_by_role("button", name="Show the ladder").click()
        page.wait_for_selector("#ladder ~ .scroll tbody tr")
        assert page.locator("#ladder ~ .scroll tbody tr").count() == 3
        assert page.get_by_label("For whom").input_value() == HOSTILE
        assert MED in page.locator("#ladder").inner_text()
        page.locator("#column-0").fill("nobody")
        page.get_by_role("button", name="Show the ladder").click()
        page.wait_for_selector("text=no row matches")
        page.goto(f"{console.url}/console/policies")
        page.get_by_role("link", name="Groups").first.click()
        page.wait_for_selector(".masked")
        assert WARD in page.locator("main").inner_text()
        page.goto(f"{console.url}/console/accounts")
        assert HOSTILE in page.locator("main").inner_text()
        assert page.locator("main img, main script").count() == 0


def test_the_ledger_is_verified_and_a_head_and_a_receipt_compared(browser: Browser, console: ServedConsole) -> None:
    bought = httpx.post(
        f"{console.url}/v1/purchases",
        headers={"Authorization": "Bearer token-of-ann", "Idempotency-Key": "k"},
        json={"request": {"tuple": {ID: "secret-id-40"}, "attribute": MED, "level": 1}, "ceiling": 10**12},
    ).json()["purchase"]
    head = console.provider.ledger.head()
    with visiting(browser, console) as page:
        log_in(page, console, "/ledger")
        page.get_by_role("button", name="Verify now").click()
        page.wait_for_selector(".notice.ok")
        assert f"All {head.entries} entries" in page.locator(".notice.ok").inner_text()
        for pasted, kind in (
            (f"{head.entries}:{head.hash}", "ok"),
            (f"{head.entries}:{'0' * 64}", "bad"),
            (json.dumps(bought["receipt"]), "ok"),
            (json.dumps(bought["receipt"] | {"level": 0}), "bad"),
        ):
            page.locator("#pasted").fill(pasted)
            page.get_by_role("button", name="Compare").click()
            page.wait_for_selector(f".notice.{kind}")
            assert page.locator(".notice").count() == 1
        assert page.locator("#entries ~ .lines tbody tr").count() == head.entries - 1
        page.goto(f"{console.url}/console")
        page.get_by_role("button", name="Renew").click()
        page.wait_for_url(f"{console.url}/console")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_no_page_is_wider_than_the_window_and_text_can_be_read(
    browser: Browser, console: ServedConsole, width: int, scheme: Any
) -> None:
    with visiting(browser, console, viewport={"width": width, "height": 800}, color_scheme=scheme) as page:
        log_in(page, console)
        for path in PAGES:
            page.goto(f"{console.url}/console{path}")
            if path == "/policies":
                page.get_by_role("link", name="Groups").first.click()
                page.wait_for_selector(".masked")
            if path == "/stock":
                for _ in range(2):
                    page.locator(".tree details:not([open]) > summary").first.click()
                    page.wait_for_load_state("networkidle")
            if path == "/accounts":
                for summary in page.locator(".changes summary").all()[:3]:
                    summary.click()
            page.wait_for_load_state("networkidle")
            assert pale_texts(page) == [] and not is_wider_than_the_window(page), path
            assert beside_the_window(page) == [], path


def test_over_tls_it_is_the_same_and_the_cookie_is_for_tls_alone(browser: Browser, tmp_path: Path) -> None:
    files = Authority(tmp_path).sign("server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    with (
        served_console(tmp_path, context=context) as console,
        visiting(browser, console, ignore_https_errors=True) as page,
    ):
        log_in(page, console, "/accounts")
        (cookie,) = page.context.cookies()
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
        page.locator("summary", has_text="Add").click()
        page.get_by_label("Name").fill("dora")
        page.get_by_role("button", name="Add").click()
        page.wait_for_selector(".secret")

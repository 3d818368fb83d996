"""`pacas review` in a real browser: every page and every action; the ledger holds exactly what was approved."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from interrupted_offices import Watched
from page_looks import beside_the_window, is_wider_than_the_window, pale_texts
from panel_shops import FD, JobShop, departments
from pyarrow.csv import write_csv
from review_pages import PAGES, Seen, next_order, review_in_browser, watch
from reviewed_offices import review_job, settled, shop, until

from pacas.errors import PacasError
from pacas.protocol.messages import Quote
from pacas.review.doorkeeper import entrance

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


@pytest.fixture
def market() -> Watched:
    return shop()


@pytest.fixture
def seen(browser: Browser, tmp_path: Path, market: Watched) -> Iterator[Seen]:
    with review_in_browser(browser, review_job(tmp_path, market)) as found:
        yield found


def key_of(seen: Seen) -> str:
    assert seen.session.waiting is not None
    return seen.session.waiting.order.key


def row(page: Page, number: int) -> Locator:
    return page.locator("table.data tbody tr th", has_text=re.compile(f"^{number}$"))


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# ---- pages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_every_page_can_be_read_and_fits(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    window = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with review_in_browser(browser, review_job(tmp_path, shop()), **window) as seen:
        for name in PAGES:
            page = seen.open(name)
            page.locator("h1").wait_for()
            if name == "budget":
                page.locator(".uplot").first.wait_for(timeout=30_000)
            assert page.locator(".top nav [aria-current]").inner_text() == name.capitalize()
            assert_looks(page, name)
        page = seen.open("table")
        page.locator("button.cell").first.click()
        page.locator("#cell h2").wait_for()
        assert_looks(page, "a cell")
        seen.session.allow(20 * 10**9)
        until(lambda: seen.session.run.state == "done" and seen.session.outlook.is_current)
        for name in ("orders", "repairs", "receipts"):
            page = seen.open(name)
            page.locator("main tbody tr").first.wait_for()
            assert_looks(page, f"{name}, after the end")


def assert_looks(page: Page, name: str) -> None:
    assert pale_texts(page) == [] and not is_wider_than_the_window(page), name
    assert beside_the_window(page) == [], name


def test_the_table_shows_classes_and_tells_why(seen: Seen) -> None:
    page = seen.page
    assert page.url.endswith("/table")
    assert page.locator("table.data tbody tr").count() == 50
    assert page.locator("td[class*=class-]").count() > 5
    page.select_option("select[name=look]", "standing_out")
    page.locator("#rows .note", has_text=" of 99").wait_for()
    assert page.locator("td.wrong").count() >= page.locator("table.data tbody tr").count()
    page.locator("td.wrong button").first.click()
    told = page.locator("#cell")
    told.locator("h2").wait_for()
    assert "that should agree, in" in told.inner_text() and "What an answer costs" in told.inner_text()
    assert "Quotes are free" in told.inner_text()


def test_the_table_is_searched_and_paged(seen: Seen) -> None:
    page = seen.open("table")
    page.get_by_role("link", name="Next").click()
    row(page, 98).wait_for()
    page.fill("#q", "P007")
    row(page, 7).wait_for()
    page.locator("text=all rows were looked through").wait_for()
    assert page.locator("table.data tbody tr").count() == 1
    page.fill("#q", "nothing like it")
    page.locator("text=There is no such row").wait_for()
    page.fill("#q", "")
    page.fill("input[name=row]", "70")
    page.press("input[name=row]", "Enter")
    row(page, 70).wait_for()


def test_a_cell_is_written_and_undone_where_it_stands(seen: Seen) -> None:
    page = seen.open("table")
    page.locator("button.cell", has_text="p003").click()
    page.locator("#cell h2", has_text="Row 3").wait_for()
    page.fill("#cell input[name=value]", "=2+3")
    seen.press("Write by hand", within="#cell")
    page.locator("#cell .badge", has_text="pinned").wait_for()
    page.locator("table.data ins", has_text="=2+3").wait_for()
    assert [edit.value for edit in seen.session.run.journal.edits] == ["=2+3"]
    seen.press("Undo", within="#cell")
    page.locator("#cell .badge", has_text="undone").wait_for()
    page.locator("table.data ins", has_text="=2+3").wait_for(state="detached")
    assert [edit.value for edit in seen.session.run.journal.edits] == ["=2+3", None]


def test_the_budget_is_chosen_by_what_it_brings(browser: Browser, tmp_path: Path, market: Watched) -> None:
    with review_in_browser(browser, review_job(tmp_path, market, budget=0.000001)) as seen:
        choose_a_budget(seen, market)


def choose_a_budget(seen: Seen, market: Watched) -> None:
    page = seen.open("budget")
    until(lambda: seen.session.outlook.curve.is_whole)
    page.locator("#curve > section:first-child:not([hx-get])").wait_for()  # all is tried, and shown by itself
    assert page.get_by_role("button", name="Take this budget").is_disabled(), "it is the one that was chosen still"
    assert page.locator("figure .uplot").count() == 2
    assert "knee" in page.inner_text("main")
    page.locator("#budget-slider").focus()
    page.keyboard.press("End")
    page.locator("text=violations left").first.wait_for()
    most = seen.session.outlook.curve.full
    assert most is not None
    page.locator("dl.words dd", has_text="by what is bought").wait_for()
    page.locator("button.main:enabled", has_text="Take this budget").wait_for()
    seen.press("Take this budget")
    seen.said("the budget is")
    assert seen.session.job.cleaner.budget == pytest.approx(most.spent, rel=0.02) and not market.shop.keys
    settled(seen.session)
    seen.session.approve(key_of(seen))
    until(lambda: seen.session.run.has_paid)
    assert "stays what it is" in seen.open("budget").inner_text("main")
    assert "--new --budget" in page.inner_text("pre")


# ---- orders -------------------------------------------------------------------------------------------------------


def test_an_approved_order_is_paid_and_nothing_else(seen: Seen, market: Watched) -> None:
    page = seen.open("orders")
    assert "Nothing is paid before you approve it" in page.inner_text("main") and not market.shop.keys
    key = key_of(seen)
    seen.press("Approve and pay")
    seen.said("approved:")
    next_order(seen, key)
    assert list(market.shop.keys) == [key]
    page.locator("text=What was decided").wait_for()
    page.locator("#plan td", has_text="bought").first.wait_for()
    assert seen.session.spent == market.shop.keys[key].price


def test_an_order_is_rejected(seen: Seen, market: Watched) -> None:
    seen.open("orders")
    key = key_of(seen)
    seen.press("Reject", within="#waiting")
    seen.said("rejected:")
    next_order(seen, key)
    assert not market.shop.keys


def test_an_order_is_paid_at_another_level(seen: Seen, market: Watched) -> None:
    page = seen.open("orders")
    waiting = seen.session.waiting
    assert waiting is not None
    order = waiting.order
    ladder = seen.session.ladder(order.attribute, order.row) or []
    other = next(at for at, quote in enumerate(ladder) if isinstance(quote, Quote) and at != order.request.level)
    page.check(f"input[name=level][value='{other}']")
    seen.press("Approve and pay")
    next_order(seen, order.key)
    assert market.shop.keys[order.key].level == other


def test_a_value_is_written_instead_of_bought(seen: Seen, market: Watched) -> None:
    page = seen.open("orders")
    waiting = seen.session.waiting
    assert waiting is not None
    page.fill("#waiting input[name=value]", "by hand <b>")
    seen.press("Write by hand")
    next_order(seen, waiting.order.key)
    assert not market.shop.keys
    settled(seen.session)
    written = seen.session.written()
    assert written is not None and set(written.new("JOB", waiting.rows)) == {"by hand <b>"}


def test_the_plan_is_approved_line_by_line_or_as_a_whole(seen: Seen, market: Watched) -> None:
    page = seen.open("orders")
    planned = [one.order.row for one in seen.session.plan()]
    page.locator("#plan form[action='/orders/reject-planned'] button").first.click()
    seen.said("rejected:")
    assert seen.session.run.journal.is_rejected("JOB", planned[0])
    page.locator("#plan form[action='/orders/approve-planned'] button").first.click()
    seen.said("approved:")
    assert len(seen.session.approvals.ahead) == 1 and not market.shop.keys
    seen.press("Take back what is approved ahead")
    seen.said("taken back")
    page.locator("summary", has_text="Approve the plan").click()
    seen.press("Approve the plan", within="details[open]")
    seen.said("of the plan")
    until(lambda: len(market.shop.keys) >= 2)


def test_an_allowance_is_spent_then_the_run_is_ended(seen: Seen, market: Watched) -> None:
    page = seen.open("orders")
    page.fill("input[name=credits]", "0.000003")
    seen.press("Approve", within="form[action='/orders/allow']")
    seen.said("whatever comes, up to")
    until(lambda: market.shop.keys and seen.session.run.state == "waiting")
    assert 0 < seen.session.spent <= 3000
    sold = dict(market.shop.keys)
    page.locator("summary", has_text="Buy no more").click()
    seen.press("Buy no more", within="details[open]")
    page.locator("text=the table is written:").wait_for(timeout=30_000)
    assert market.shop.keys == sold and seen.session.job.output.exists()


def test_a_form_without_our_secret_does_nothing(seen: Seen, market: Watched) -> None:
    page, key = seen.open("orders"), key_of(seen)
    answer = page.request.post(f"{seen.url}/orders/approve", form={"key": key, "csrf": "guessed"})
    assert answer.status == 403
    other = page.request.post(
        f"{seen.url}/orders/approve", form={"key": key}, headers={"Origin": "http://elsewhere.example"}
    )
    assert other.status == 403
    assert key_of(seen) == key and not market.shop.keys


def test_nobody_gets_in_without_the_key_or_by_another_name(seen: Seen, browser: Browser) -> None:
    stranger = browser.new_context()
    assert stranger.request.get(f"{seen.url}/table").status == 403
    assert stranger.request.get(f"{seen.url}/?key=wrong").status == 403
    named = seen.page.request.get(f"{seen.url}/table", headers={"Host": "review.example"})
    assert named.status == 421
    stranger.close()


def test_the_file_that_a_browser_is_started_with_leads_in(seen: Seen, browser: Browser) -> None:
    (cookie,) = seen.page.context.cookies()
    another = browser.new_context()
    page = another.new_page()
    with entrance(f"{seen.url}/?key={cookie['value']}") as file:
        page.goto(file.as_uri())
        page.wait_for_url(f"{seen.url}/table")
    page.get_by_role("link", name="Orders").wait_for()
    another.close()


def test_two_windows_on_one_run_decide_once(seen: Seen, market: Watched) -> None:
    first = seen.open("orders")
    second = first.context.new_page()
    complaints = watch(second, seen.url)
    second.goto(f"{seen.url}/orders")
    key = key_of(seen)
    seen.press("Approve and pay")
    next_order(seen, key)
    second.evaluate(
        """([key]) => { const form = document.querySelector("form[action='/orders/approve']");
        form.querySelector("[name=key]").value = key; form.submit(); }""",
        [key],
    )
    second.locator(".notice", has_text="decided on already").wait_for()
    assert list(market.shop.keys) == [key]
    second.goto(f"{seen.url}/table")
    session = seen.session
    session.edit("JOB", np.array([5]), "from elsewhere")
    second.reload()
    second.locator("table.data ins", has_text="from elsewhere").wait_for()
    assert complaints == []


def test_a_window_sees_what_another_does_without_a_reload(seen: Seen) -> None:
    page = seen.open("orders")
    key = key_of(seen)
    seen.session.reject(key)
    after = next_order(seen, key)
    page.locator(f"section[data-order='{after}']").wait_for(timeout=20_000)
    page.locator("#plan td", has_text="rejected").first.wait_for(timeout=20_000)


# ---- repairs ------------------------------------------------------------------------------------------------------


def test_repairs_are_kept_and_undone_one_by_one_by_class_and_by_attribute(seen: Seen) -> None:
    page = seen.open("repairs")
    written = seen.session.written()
    assert written is not None and len(written.cells.row)
    line = page.locator("#list tbody tr", has=page.get_by_role("button", name="Keep", exact=True)).first
    name = line.get_attribute("data-cell")
    same = page.locator(f"tr[data-cell='{name}']")
    line.get_by_role("button", name="Keep", exact=True).click()
    same.locator(".badge", has_text="kept").wait_for()
    same.get_by_role("button", name="Undo", exact=True).click()
    same.locator(".badge", has_text="undone").wait_for()
    same.get_by_role("button", name="Write it again").click()
    same.locator(".badge", has_text="kept").wait_for()
    assert len(seen.session.run.journal.edits) == 3
    page.locator("summary", has_text="Undo all").first.click()
    seen.press("Undo all", within="details[open]")
    seen.said("money does not come back")
    after = seen.session.written()
    assert after is not None and not after.cleaning.changes
    given = after.cleaning.violations_before
    page.locator("#cards dd", has_text=f"{given:,}of {given:,} violations given").wait_for()  # counted beside the page
    seen.press("Keep all")
    again = seen.session.written()
    assert again is not None and again.cleaning.changes.keys() == written.cleaning.changes.keys()
    page.select_option("select[name=state]", "kept")
    page.locator("#list .badge", has_text="kept").first.wait_for()


def test_a_class_is_kept_and_undone_and_a_guess_is_taken(browser: Browser, tmp_path: Path, market: Watched) -> None:
    with review_in_browser(browser, review_job(tmp_path, market, budget=0, careful=0.99)) as seen:
        keep_and_undo_a_class(seen)


def keep_and_undo_a_class(seen: Seen) -> None:
    page = seen.open("repairs")
    page.get_by_role("button", name=re.compile(r"Keep its class \(")).first.click()
    seen.said("kept as written")
    page.get_by_role("button", name=re.compile(r"Undo its class \(")).first.click()
    seen.said("put back")
    page.locator("form[action='/cell/guess'] button").first.click()
    page.locator("#list .badge", has_text="by hand").first.wait_for()
    assert [edit.value is None for edit in seen.session.run.journal.edits] == [False, True, False]


def test_a_class_is_decided_on_where_one_of_its_cells_stands(seen: Seen) -> None:
    page = seen.open("table")
    page.select_option("select[name=look]", "changed")
    page.locator("td:has(ins) button").first.click()
    edits = seen.session.run.journal
    for button, state in (
        ("Keep", "kept"),
        ("Undo", "undone"),
        ("Write it again", "kept"),
        ("Undo its class", "undone"),
        ("Write it again", "kept"),
    ):
        seen.press(button, within="#cell")
        page.locator("#cell .badge", has_text=state).wait_for()
    page.locator("td:has(.badge)", has_text="kept").first.wait_for()  # the rows are those of after the last edit
    page.locator("td:has(ins):not(:has(.badge)) button").first.click()
    seen.press("Keep its class", within="#cell")
    seen.said("kept as written")
    page.select_option("select[name=look]", "standing_out")
    page.locator("td.wrong:not(:has(.badge)) button").first.click()
    page.get_by_label("cells of the class").check()
    page.fill("#cell input[name=value]", "all alike")
    seen.press("Write by hand", within="#cell")
    page.locator("#cell .badge", has_text="pinned").wait_for()
    assert len(edits.edits[-1].rows) > 1 and edits.edits[-1].value == "all alike" and len(edits.edits) == 7


def test_a_run_that_has_failed_is_tried_again_and_the_table_written_again(seen: Seen, market: Watched) -> None:
    page, key, sold = seen.open("orders"), key_of(seen), market.shop.keys

    def no_answer_once_it_is_sold() -> None:
        if sold:
            market.moment = lambda: None
            raise PacasError("the provider does not answer")

    market.moment = no_answer_once_it_is_sold
    seen.press("Approve and pay")
    page.locator("h2", has_text="The run has stopped").wait_for(timeout=20_000)
    seen.press("Try again")
    seen.said("going on from the journal")
    next_order(seen, key)
    assert list(sold) == [key], "it was paid under its key, once"
    page.locator("summary", has_text="Buy no more").click()
    seen.press("Buy no more", within="details[open]")
    page.locator("text=the table is written:").wait_for(timeout=30_000)
    settled(seen.session)
    seen.session.edit("JOB", np.array([3]), "by hand")
    page = seen.open("repairs")
    seen.said("lacks your last edits")
    seen.press("Write the table again")
    seen.said("written")
    page.locator(".notice", has_text="lacks your last edits").wait_for(state="detached")
    assert lines_of(seen.session.job.output)[3]["JOB"] == "by hand"


def test_all_is_exported_as_it_stands(seen: Seen, tmp_path: Path) -> None:
    page = seen.open("table")
    seen.session.edit("JOB", np.array([3]), "=2+3")
    seen.session.edit("JOB", np.array([4]), "-5")
    page = seen.open("repairs")
    files: dict[str, Path] = {}
    for name, neutral in (("Cleaned table", False), ("changes.csv", False), ("Report", False), ("changes.csv", True)):
        page.set_checked("input[name=neutral]", neutral)
        with page.expect_download() as download:
            seen.press(name)
        files[f"{name}{neutral}"] = tmp_path / f"{name}{neutral}"
        download.value.save_as(files[f"{name}{neutral}"])
    table = lines_of(files["Cleaned tableFalse"])
    assert (table[3]["JOB"], table[4]["JOB"]) == ("=2+3", "-5")
    changes = {(line["row"], line["attribute"]): line for line in lines_of(files["changes.csvFalse"])}
    pinned = changes["3", "JOB"]
    assert (pinned["new"], pinned["why"], pinned["key"]) == ("=2+3", "pinned", "p003")
    plain = {(line["row"], line["attribute"]): line for line in lines_of(files["changes.csvTrue"])}
    assert plain["3", "JOB"]["new"] == "'=2+3" and plain["4", "JOB"]["new"] == "-5"
    assert "What was cleaned" in files["ReportFalse"].read_text()
    page.set_checked("input[name=neutral]", True)
    with page.expect_download() as download:
        seen.press("Cleaned table")
    download.value.save_as(tmp_path / "neutral.csv")
    neutral_table = lines_of(tmp_path / "neutral.csv")
    assert (neutral_table[3]["JOB"], neutral_table[4]["JOB"]) == ("'=2+3", "-5")
    assert len(neutral_table) == len(table)


# ---- keyboard -----------------------------------------------------------------------------------------------------


def test_all_is_reached_by_keyboard(seen: Seen, market: Watched) -> None:
    page = seen.open("table")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("button.cell").first.focus()
    for arrow in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(arrow)
    page.keyboard.press("Enter")
    page.locator("#cell h2", has_text="Row 1, JOB").wait_for()
    page = seen.open("orders")
    key = key_of(seen)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Approve and pay":
            break
    page.keyboard.press("Enter")
    next_order(seen, key)
    assert list(market.shop.keys) == [key]


@pytest.mark.parametrize("width", [1400, 390])
def test_a_review_of_several_providers_says_whose_each_order_and_purchase_is(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    truth, dirty = departments(12, stale=0.5)
    write_csv(dirty, tmp_path / "offices.csv")
    shops = {"registry": JobShop(truth, seed=1, covers=0.7), "lab-of-the-north": JobShop(truth, seed=2, price=70)}
    job = review_job(tmp_path, shops, fds=(FD,), budget=0.00001, key=("DEPT",), strategy="paper")
    with review_in_browser(browser, job, viewport={"width": width, "height": 800}) as seen:
        page = seen.open("orders")
        first = seen.session.waiting
        assert first is not None
        told = page.locator("#waiting dd", has_text=str(first.order.provider))
        told.wait_for()
        assert_looks(page, "orders")
        seen.press("Approve", within="#plan tbody tr:first-child")
        page.locator(".notice", has_text=f"from {seen.session.plan()[0].order.provider}").wait_for()
        page.locator("#plan .badge", has_text="approved").wait_for()
        seen.press("Reject", within="#waiting")
        seen.said(f"from {first.order.provider}; another provider may still be asked")
        page = seen.open("table")
        page.locator("td.wrong button").first.click()
        page.locator("#cell h4", has_text="lab-of-the-north").wait_for()
        assert_looks(page, "a cell")
        seen.session.allow(10**9)
        until(lambda: seen.session.run.state == "done" and seen.session.outlook.is_current)
        for name in ("orders", "receipts"):
            page = seen.open(name)
            page.locator("main tbody tr").first.wait_for()
            assert_looks(page, f"{name}, after the end")
            by_name = {row.split()[0]: row for row in page.locator("#providers ~ div tbody tr").all_inner_texts()}
            assert set(by_name) == {"registry", "lab-of-the-north"}
        assert sum(shop.earned for shop in shops.values()) == seen.session.spent > 0
        assert (first.order.provider, first.order.row) not in {
            (one.provider, one.row) for one in seen.session.run.recalled.purchases
        }

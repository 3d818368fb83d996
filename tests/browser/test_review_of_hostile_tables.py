"""Whatever a table holds is text on a review's pages, and nothing of a provider's is on them before it was bought."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from interrupted_offices import provider
from review_pages import PAGES, next_order, review_in_browser
from reviewed_offices import review_job, until
from running_service import service

import pacas
from pacas.cli.market.named_provider import KeepingReceipts
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.relations.relations import scan_relation
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Refusal, Request
from pacas.remote.verifying import verify
from pacas.review.job import ReviewJob, opened_once

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = [
    "<script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "javascript:document.title='broken'",
    '=HYPERLINK("http://elsewhere.example")',
    "abc\u202e\u2066def\u200f",
    "{{ 7 * 7 }}",
    "'\"&amp;</td>",
    "x" * 3_000_000,
]
SECRET = "<b>what only the provider knows</b>"


class Teller:
    """Sells one value, which nobody else has."""

    def __init__(self) -> None:
        self.keys: dict[str, Answer] = {}

    def catalogue(self) -> dict[str, Offer]:
        return {"B": Offer("B", ("K",), Hierarchy.flat([SECRET, *HOSTILE]))}

    def quote(self, request: Request) -> Quote | Refusal:
        return Quote(1000 if request.level == 0 else 0)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.array([[1000, 0]] * len(tuples["K"])))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        return self.keys.setdefault(key, Answer(SECRET, request.level, 1000))


def hostile_job(folder: Path, shop: Teller) -> ReviewJob:
    path = folder / "<i>hostile&amp;.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["K", "A", "B", "<u>note</u>"])
        for number in range(16):
            lines.writerow([f"k{number}", f"a{number // 4}", HOSTILE[number % 8], HOSTILE[(number + 3) % 7]])
    engine, source = opened_once(DuckEngine(threads=1)), scan_relation(path)
    cleaner = pacas.SafeClean("A -> B", 1, strategy="paper", repair="replace")
    return ReviewJob(
        source=source,
        cleaner=cleaner,
        choices=cleaner.choices,
        output=folder / "out.csv",
        journal=folder / "out.csv.journal",
        key=("K",),
        engine=engine,
        digest=engine.digest(source),
        markets=shop,
        buyer="ann",
        receipts=dict,
        receipts_folder=None,
        verify={},
        command="pacas review",
    )


def test_hostile_values_are_text_and_secrets_are_none_of_the_pages_before_they_are_bought(
    browser: Browser, tmp_path: Path
) -> None:
    market = Teller()
    with review_in_browser(browser, hostile_job(tmp_path, market)) as seen:
        seen.session.edit("B", np.array([5]), "=1+1")
        for name in PAGES:
            page = seen.open(name)
            assert SECRET not in page.content() and "only the provider knows" not in page.content()
            assert (
                page.title() != "broken"
                and page.locator("main img, main script, main b, main i:not(.empty)").count() == 0
            )
            assert len(page.content()) < 600_000, "a cell of three megabytes is cut"
        page = seen.open("table")
        shown = page.locator("table.data").inner_text()
        assert HOSTILE[0] in shown and HOSTILE[2] in shown and "U+202E" in shown and "3,000,000 characters" in shown
        assert "49" not in shown
        page.locator("button.cell", has_text="onerror").first.click()
        page.locator("#cell h2").wait_for()
        assert page.title() != "broken" and SECRET not in page.content()
        assert seen.session.waiting is not None
        key = seen.session.waiting.order.key
        seen.open("orders")
        seen.press("Approve and pay")
        next_order(seen, key)
        page = seen.open("orders")
        page.locator("#plan td bdi", has_text=SECRET).wait_for()
        page = seen.open("receipts")
        assert SECRET in page.inner_text("main") and page.locator("main b").count() == 0
        answer = page.request.get(f"{seen.url}/export/changes.csv?neutral=on")
        assert "attachment" in answer.headers["content-disposition"] and SECRET in answer.text()
        assert "'=1+1" in answer.text() and ",=1+1" not in answer.text()
        report = page.request.get(f"{seen.url}/export/report.html").text()
        assert "<script>document.title" not in report
    assert list(market.keys) == [key]


def test_a_review_over_http_keeps_and_verifies_its_receipts(browser: Browser, tmp_path: Path) -> None:
    with (
        service(provider(quotes="sealed")) as (url, token),
        pacas.RemoteProvider(url, token) as remote,
    ):
        folder = tmp_path / "receipts"
        folder.mkdir()
        keeping = KeepingReceipts(remote, folder)
        job = review_job(tmp_path, keeping, receipts=keeping.kept, receipts_folder=folder, verify=_verifying(url))
        with review_in_browser(browser, job) as seen:
            key = seen.session.waiting.order.key if seen.session.waiting else ""
            seen.open("orders")
            seen.press("Approve and pay")
            next_order(seen, key)
            until(lambda: len(seen.session.run.recalled.purchases) == 1)
            assert remote.balance().spent == seen.session.spent > 0
            page = seen.open("receipts")
            seen.press("Verify all receipts")
            seen.said("All receipts hold")
            assert page.locator(".badge", has_text="holds").count() == 1
            with page.expect_download() as download:
                page.get_by_role("link", name="download").click()
            download.value.save_as(tmp_path / "got.json")
            assert verify(tmp_path / "got.json", f"{url}/v1/key").holds
            file = next(folder.iterdir())
            file.write_text(file.read_text().replace('"level": ', '"level": 1'))
            page.reload()
            seen.said("Not what the provider signed")


def _verifying(url: str) -> Any:
    return lambda files: verify(files, f"{url}/v1/key")


@pytest.mark.parametrize("text", ["<script>", "U+202E"])
def test_a_search_for_what_is_hostile_does_nothing_else(browser: Browser, tmp_path: Path, text: str) -> None:
    with review_in_browser(browser, hostile_job(tmp_path, Teller())) as seen:
        page = seen.open(f"table?q={text}")
        page.locator("#rows .note").wait_for()
        assert page.title() != "broken"

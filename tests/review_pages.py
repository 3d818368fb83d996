"""A review in a real browser: its pages say nothing to the console, break no policy, and ask nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reviewed_offices import reviewing, settled, until
from running_service import served

from pacas.review.app import ReviewConsole
from pacas.review.job import ReviewJob
from pacas.review.session import ReviewSession

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = ("table", "budget", "orders", "repairs", "receipts")


@dataclass
class Seen:
    """A review, and a browser that looks at it."""

    session: ReviewSession
    url: str
    page: Page
    complaints: list[str]

    def open(self, name: str) -> Page:
        self.page.goto(f"{self.url}/{name}")
        return self.page

    def press(self, name: str, *, within: str = "main") -> None:
        """A button, by what it says."""
        self.page.locator(within).get_by_role("button", name=name, exact=True).first.click()

    def said(self, text: str) -> None:
        self.page.locator(".notice", has_text=text).first.wait_for(timeout=20_000)


@contextmanager
def review_in_browser(browser: Browser, job: ReviewJob, **window: Any) -> Iterator[Seen]:
    """A review that waits for somebody; what its pages should not have done is found at the end."""
    with reviewing(job) as session:
        settled(session)
        console = ReviewConsole(session)
        with served(console.door) as url:
            context = browser.new_context(**({"viewport": {"width": 1400, "height": 900}} | window))
            page = context.new_page()
            complaints = watch(page, url)
            page.goto(f"{url}/?key={console.door.key}")
            page.wait_for_url(f"{url}/table")
            yield Seen(session, url, page, complaints)
            context.close()
            assert complaints == []


def watch(page: Page, url: str) -> list[str]:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: complaints.append(request.url) if not request.url.startswith((url, "data:")) else None,
    )
    return complaints


def next_order(seen: Seen, before: str) -> str:
    """The order that waits once another one was decided on."""

    def other() -> str | None:
        waiting = seen.session.waiting
        return waiting.order.key if waiting is not None and waiting.order.key != before else None

    return str(until(other))

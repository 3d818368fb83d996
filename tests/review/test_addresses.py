"""The review's addresses and forms, as a client calls them that is no browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from reviewed_offices import review_job, reviewing, settled, shop, until
from running_service import served

from pacas.review.app import ReviewConsole

LONG = "1" * 5000


@pytest.fixture
def console(tmp_path: Path) -> Iterator[ReviewConsole]:
    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        yield ReviewConsole(session)


@pytest.fixture
def client(console: ReviewConsole) -> Iterator[httpx.Client]:
    with served(console.door) as url, httpx.Client(base_url=url, trust_env=False, follow_redirects=True) as found:
        assert found.get("/", params={"key": console.door.key}).status_code == 200
        yield found


@pytest.mark.parametrize(
    "path", ["/table?page=", "/table?row=", "/table?q=x&from=", "/receipts?page=", "/repairs?page="]
)
def test_a_page_that_has_too_many_digits_is_the_first(client: httpx.Client, path: str) -> None:
    answer = client.get(path + LONG)
    assert (answer.status_code, answer.text) == (200, client.get(path + "no number").text)


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/cell/pin", {"row": LONG, "attribute": "JOB", "value": "x"}),
        ("/budget", {"budget": LONG}),
        ("/orders/approve", {"key": "waiting", "level": LONG}),
    ],
)
def test_a_form_that_has_too_many_digits_is_told_so(
    client: httpx.Client, console: ReviewConsole, path: str, form: dict[str, str]
) -> None:
    answer = client.post(path, data={"csrf": console.door.csrf, **form}, headers={"HX-Request": "true"})
    assert answer.status_code == 400 and len(answer.text.splitlines()) == 1


@pytest.mark.parametrize("path", ["/table", "/table?attribute=JOB", "/repairs", "/repairs?attribute=JOB&why=free"])
def test_a_link_to_another_page_is_that_of_a_whole_page(
    client: httpx.Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in ("table", "repairs"):
        monkeypatch.setattr(f"pacas.review.views.{room}.ROWS", 2)
    shown = client.get(path).text
    links = re.findall(r'<a class="button" href="([^"]+)" hx-get="([^"]+)"', shown)
    assert links
    for whole, part in links:
        page, exchanged = (client.get(unescape(address)).text for address in (whole, part))
        assert page.startswith("<!doctype html>") and not exchanged.lstrip().startswith("<!doctype html>")


def test_a_run_that_is_done_offers_nothing_to_pay(client: httpx.Client, console: ReviewConsole) -> None:
    assert "whatever comes" in client.get("/orders").text
    console.session.allow(10**12)
    assert "credits for whatever comes" in client.get("/orders/cards").text
    until(lambda: console.session.run.state == "done")
    for path in ("/orders", "/orders/plan", "/orders/cards"):
        assert "whatever comes" not in client.get(path).text
    assert "Buy no more" not in client.get("/budget").text

"""The review's addresses and forms, as a client calls them that is no browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from reviewed_offices import review_job, reviewing, settled, shop
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

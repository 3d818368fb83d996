"""`pacas review` as a command, killed in the middle of a payment: what was approved is paid once, whoever goes on."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from killed_reviews import COMMAND, sold, started, write_files
from reviewed_offices import PATIENCE

from pacas.cli.main import run

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Pages:
    """A review as a browser would use it, without one."""

    def __init__(self, url: str) -> None:
        address, _, _ = url.partition("/?")
        self.client = httpx.Client(base_url=address, trust_env=False, follow_redirects=True, timeout=30)
        assert self.client.get(url).status_code == 200

    def waiting(self, *, beside: str = "") -> str:
        """The key of the order that waits, once it is another than one that is known."""
        end = time.monotonic() + PATIENCE
        while True:
            found = re.search(r'data-order="([^"]+)"', self.client.get("/orders").text)
            if found is not None and found[1] != beside:
                return found[1]
            assert time.monotonic() < end, "no order comes"
            time.sleep(0.1)

    def send(self, path: str, **form: str) -> httpx.Response:
        secret = re.search(r'"X-CSRF-Token":"([^"]+)"', self.client.get("/orders").text)
        assert secret is not None
        return self.client.post(path, data={"csrf": secret[1], "back": "/orders", **form})


@contextmanager
def review(moment: str, browser: str = "--no-browser") -> Iterator[tuple[subprocess.Popen[str], Pages]]:
    with started(moment, browser) as (process, url):
        pages = Pages(url)
        yield process, pages
        pages.client.close()


def test_a_browser_is_started_with_nothing_that_others_may_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, told = folder / "browser", folder / "told"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{told}.new" && mv "{told}.new" "{told}"\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with review("never", "--browser") as (_, pages):
        end = time.monotonic() + PATIENCE
        while not told.exists():
            assert time.monotonic() < end, "no browser is started"
            time.sleep(0.1)
        page = Path(told.read_text().removeprefix("file://"))
        address = re.search(r'href="(http[^"]+)"', page.read_text())
        assert address is not None and "key=" in address[1] and "key" not in told.read_text()
        assert (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        pages.client.cookies.clear()
        assert pages.client.get("/table").status_code == 403
        assert pages.client.get(address[1]).status_code == pages.client.get("/table").status_code == 200
    assert not page.parent.exists()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_was_approved_is_paid_once_whoever_goes_on(folder: Path, moment: str) -> None:
    with review(moment) as (process, pages):
        first = pages.waiting()
        with pytest.raises(httpx.HTTPError):  # the answer, or the page after it, does not come any more
            for _ in range(600):
                pages.send("/orders/approve", key=first)
                time.sleep(0.1)
        assert process.wait(PATIENCE) == -9
    with review("never") as (process, pages):
        second = pages.waiting(beside=first)
        assert sold(folder) == [("local", 1)], "the order was approved: it is paid, once"
        pages.send("/orders/reject", key=second)
        third = pages.waiting(beside=second)
        pages.send("/cell/pin", row="0", attribute="B", value="by hand")
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert third and sold(folder) == [("local", 1)]
    assert run(["clean", *COMMAND, "--resume"]) == 0
    lines = (folder / "client.clean.csv").read_text().splitlines()
    assert lines[1] == "k0,h0,by hand"
    wrong = [line for line in lines if "wrong" in line]
    assert len(wrong) == 1, "the rejected class alone stays as it was"
    assert sold(folder) == [("local", 11)]


def test_a_review_takes_up_what_the_command_line_has_done(folder: Path) -> None:
    assert run(["clean", *COMMAND]) == 0
    bought = sold(folder)
    with review("never") as (process, pages):
        end = time.monotonic() + PATIENCE
        while "the table is written:" not in pages.client.get("/orders").text:
            assert time.monotonic() < end
            time.sleep(0.1)
        while "written for nothing" not in (shown := pages.client.get("/repairs").text.lower()):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert "wrong1" in shown
        answer = pages.send("/cell/undo", row="1", attribute="B")
        assert answer.status_code == 200
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert (folder / "client.clean.csv").read_text().splitlines()[2] == "k1,h0,wrong1"
    assert sold(folder) == bought

"""A page in a real browser that says nothing to the console and asks nothing of the network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@contextmanager
def watched_page(browser: Browser, file: Path) -> Iterator[Page]:
    """The page of a file; what it should not have done is found when it is closed."""
    opened = browser.new_page(viewport={"width": 1100, "height": 900})
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
    opened.goto(file.as_uri())
    yield opened
    opened.close()
    assert complaints == []

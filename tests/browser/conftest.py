"""A real browser, where there is one: Debian's `chromium`, or the one that PACAS_CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")  # while it is open, playwright keeps an event loop running in this thread
def browser() -> Iterator[Browser]:
    api: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("PACAS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium here; install Debian's chromium, or name one with PACAS_CHROMIUM")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield launched
        launched.close()

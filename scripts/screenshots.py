"""Take the pictures of both consoles for the documentation, from the pages themselves, into docs/images.

    python scripts/screenshots.py

It starts `pacas demo --consoles`, does what a steward and an operator would, and needs Chromium (PACAS_CHROMIUM names
one) and playwright. A picture is kept as small as a palette of 256 colours makes it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
MOST_BYTES = 300_000
PACAS = [sys.executable, "-c", "from pacas.cli.main import main; main()"]


@contextmanager
def consoles() -> Iterator[dict[str, str]]:
    """Both consoles while they run: their addresses, and the operator's token."""
    running = subprocess.Popen([*PACAS, "demo", "--consoles", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        yield json.loads(running.stdout.readline())
    finally:
        running.terminate()
        running.wait()


def take(page: Page, name: str) -> None:
    """What the window shows, as a picture."""
    drawn = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    path = IMAGES / f"{name}.png"
    drawn.save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{path.name} has more than {MOST_BYTES:,} bytes")


def review(browser: Browser, address: str) -> None:
    """A steward looks at a cell, at the budget, approves an order and then the plan, and looks at the repairs."""
    page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
    page.goto(address)
    page.wait_for_selector("text=Violations left", timeout=120_000)
    page.locator("td.wrong button").first.click()
    page.wait_for_selector("#cell dl")
    take(page, "review-table")
    visit(page, "Budget")
    page.wait_for_selector("#curve > section:first-child:not([hx-get])", timeout=180_000)  # all budgets are tried
    page.wait_for_selector(".uplot canvas")
    take(page, "review-budget")
    visit(page, "Orders")
    page.wait_for_selector("text=Approve the plan", timeout=120_000)
    take(page, "review-orders")
    page.fill("input[name=credits]", "40")
    page.keyboard.press("Enter")
    page.wait_for_selector(".account .badge:has-text('done')", timeout=180_000)
    visit(page, "Repairs")
    take(page, "review-repairs")
    page.close()


def watch(browser: Browser, address: str, token: str) -> None:
    """An operator logs in, and looks at what was sold, and at the ledger."""
    page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
    page.goto(address)
    page.fill("input[name=token]", token)
    page.keyboard.press("Enter")
    page.wait_for_selector(".top nav a")
    take(page, "console-overview")
    for name in ("Sales", "Ledger"):
        visit(page, name)
        take(page, f"console-{name.lower()}")
    page.close()


def visit(page: Page, name: str) -> None:
    page.click(f".top nav a:has-text('{name}')")
    page.wait_for_selector(f".top nav [aria-current=page]:has-text('{name}')")
    page.wait_for_timeout(300)  # charts are drawn


def main() -> None:
    program: Any = os.environ.get("PACAS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    IMAGES.mkdir(exist_ok=True)
    with consoles() as at, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        review(browser, at["client"])
        watch(browser, at["provider"], at["token"])
        browser.close()


if __name__ == "__main__":
    main()

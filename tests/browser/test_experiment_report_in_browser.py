"""The evaluation's report in a real browser: figures are seen, by day and by night, and nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fabricated_runs import all_runs
from watched_page import watched_page

from pacas.experiments.claim import Judged
from pacas.experiments.plots.draw import draw
from pacas.experiments.plots.report import write_report
from pacas.experiments.runs.figures import FIGURES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NASTY = "</script><img src=x onerror=\"document.title='broken'\">"
SHOWN = (FIGURES["side"], FIGURES["modules"])


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    folder, runs = tmp_path_factory.mktemp("evaluation"), all_runs("side", "modules")
    for figure in SHOWN:
        draw(figure, runs, folder)
    return write_report(folder, SHOWN, runs, [Judged(NASTY, "side", False, NASTY, NASTY)])


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    with watched_page(browser, report) as opened:
        yield opened


def test_figures_are_as_wide_as_there_is_room(page: Page) -> None:
    boxes = [figure.bounding_box() for figure in page.locator("figure > svg").all()]
    assert len(boxes) == 2
    assert all(box is not None and 600 < box["width"] < 1100 and box["height"] > 200 for box in boxes)
    page.set_viewport_size({"width": 400, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_figures_turn_dark_with_the_page(page: Page) -> None:
    def paper() -> str:
        found: str = page.evaluate("getComputedStyle(document.querySelector('#side-patch_1 path')).fill")
        return found

    page.emulate_media(color_scheme="light")
    assert paper() == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    assert paper() == "rgb(26, 30, 34)"


def test_the_means_open_below_a_figure(page: Page) -> None:
    table = page.locator("details table").first
    assert not table.is_visible()
    page.locator("summary").first.click()
    assert table.is_visible()


def test_a_claim_leads_to_its_figure_and_does_nothing_else(page: Page) -> None:
    assert page.locator(".claims th[scope=row]").inner_text() == NASTY
    assert page.locator("img").count() == 0
    assert page.title() == "The evaluation of PACAS"
    page.click(".claims a")
    assert page.url.endswith("#figure-side")
    assert page.locator("#figure-side").is_visible()

"""The report in a real browser: it searches, sorts and turns pages, runs nothing else, and fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from page_looks import pale_texts
from watched_page import watched_page

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.report.report import write_report
from pacas.provider.provider import Provider

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NASTY = "</script><img src=x onerror=\"document.title='broken'\">"
CLASSES = 150


def cleaned() -> Cleaning:
    """150 classes of three rows, one of which is wrong; one value would like to be HTML, one is empty."""
    n = 3 * CLASSES
    truth = {
        "K": [f"k{i}" for i in range(n)],
        "A": [f"a{i // 3}" for i in range(n)],
        "B": [f"b{i // 3 % 9}" for i in range(n)],
    }
    dirty = truth | {"B": [f"wrong {i}" if i % 3 == 2 else v for i, v in enumerate(truth["B"])]}
    dirty["B"][2], dirty["B"][5] = NASTY, ""
    tree = Hierarchy.from_rows([(f"b{i}", f"g{i // 3}", "*") for i in range(9)])
    provider = Provider(truth, hierarchies={"B": tree}, match={"B": "K = K"}, total=n, seed=1)
    return SafeClean("A -> B", n, strategy="paper").clean(dirty, provider, engine=DuckEngine(threads=1))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    result = cleaned()
    assert result.written == CLASSES
    write_report(path, result, subject=NASTY, score=result.score(result.relation))
    return path


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    with watched_page(browser, report) as opened:
        yield opened


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"#cells tbody td:nth-child({number})").all_inner_texts()


def found(page: Page, text: str) -> None:
    page.locator("#found", has_text=re.compile(f"^{text}$")).wait_for(timeout=20_000)


def test_it_shows_a_page_of_cells_and_turns_to_the_next(page: Page) -> None:
    assert page.inner_text("#found") == "150 of 150 cells"
    assert (len(column(page, 1)), page.inner_text("#page")) == (50, "page 1 of 3")
    first = column(page, 1)
    page.click("#next")
    assert page.inner_text("#page") == "page 2 of 3"
    assert not set(first) & set(column(page, 1))
    page.click("#next")
    assert page.is_disabled("#next")
    page.click("#previous")
    assert page.inner_text("#page") == "page 2 of 3"


def test_the_search_box_filters(page: Page) -> None:
    page.fill("#search", "WRONG 44")
    found(page, "5 of 150 cells")  # of the third rows of classes: 44, 440, 443, 446, 449
    assert all("wrong 44" in old for old in column(page, 3))
    page.fill("#search", "nothing like it")
    found(page, "0 of 150 cells")
    page.fill("#search", "")
    found(page, "150 of 150 cells")


def test_columns_sort_both_ways_and_numbers_as_numbers(page: Page) -> None:
    head = page.locator("#cells th", has_text="Row")
    page.click("button[data-key=row]")
    assert head.get_attribute("aria-sort") == "ascending"
    assert [int(row) for row in column(page, 1)] == list(range(2, 150, 3))
    page.click("button[data-key=row]")
    assert head.get_attribute("aria-sort") == "descending"
    assert int(column(page, 1)[0]) == 449
    page.click("button[data-key=old]")
    assert head.get_attribute("aria-sort") is None
    shown = [old for old in column(page, 3) if old.startswith("wrong")]
    assert shown == sorted(shown, key=lambda old: int(old.split()[1]))


def test_values_that_look_like_html_are_shown_and_do_nothing(page: Page) -> None:
    page.fill("#search", "onerror")
    found(page, "1 of 150 cells")
    assert column(page, 3) == [NASTY]
    assert page.inner_text("h1") == f"What was cleaned: {NASTY}"
    assert page.locator("img").count() == 0
    assert page.title() != "broken"


def test_a_row_is_found_by_its_number_and_an_empty_cell_is_told_from_the_word(page: Page) -> None:
    page.fill("#search", "5")
    found(page, r"\d\d of 150 cells")
    assert "5" in column(page, 1)
    assert page.locator("#cells td.empty").inner_text() == "empty"


def test_a_row_is_found_by_its_number_as_the_page_writes_it(browser: Browser, tmp_path: Path) -> None:
    n = 2500
    dirty = {"K": [f"k{i}" for i in range(n)], "A": [f"a{i // 2}" for i in range(n)], "B": ["x"] * (n - 1) + ["y"]}
    tree = Hierarchy.flat(["x", "y", "z"])
    sold = {"K": dirty["K"][-2:], "B": ["z", "z"]}
    provider = Provider(sold, hierarchies={"B": tree}, match={"B": "K = K"}, total=1, seed=1)
    result = SafeClean("A -> B", 1, strategy="paper").clean(dirty, provider, engine=DuckEngine(threads=1))
    write_report(tmp_path / "report.html", result)
    opened = browser.new_page()
    opened.goto((tmp_path / "report.html").as_uri())
    assert column(opened, 1) == ["2,498", "2,499"]
    for text in ("2,498", "2498"):
        opened.fill("#search", text)
        found(opened, "1 of 2 cells")
        assert column(opened, 1) == ["2,498"]
    opened.close()


def test_the_attribute_and_the_flag_filter(page: Page) -> None:
    page.select_option("#attribute", label="B")
    assert page.inner_text("#found") == "150 of 150 cells"
    page.check("#flagged")
    assert page.inner_text("#found") == "0 of 150 cells"


@pytest.mark.parametrize("width", [380, 1200])
def test_it_fits_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1200:
        cut_off = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length"
        assert page.evaluate(cut_off) == 0


def test_on_a_narrow_window_sentences_and_the_curve_can_be_read(browser: Browser, tmp_path: Path) -> None:
    """A sentence is not squeezed into a column of single words; the curve's labels do not shrink with it."""
    table = {"A": ["a", "a", "c", "c"], "B": ["b", "x", "d", "y"], "C": ["e", "z", "f", "f"]}
    provider = Provider({"A": ["a", "c"], "B": ["b", "d"]}, match={"B": "A = A"}, total=2, seed=1)
    result = SafeClean(["A -> B", "A -> C"], 2, strategy="paper").clean(table, provider, engine=DuckEngine(threads=1))
    write_report(tmp_path / "report.html", result)
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.goto((tmp_path / "report.html").as_uri())
    sentence = opened.locator("td", has_text="nobody offers the attribute").bounding_box()
    label = opened.locator("svg text", has_text="credits spent").bounding_box()
    opened.close()
    assert sentence is not None and sentence["width"] > 150
    assert label is not None and label["height"] > 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    assert pale_texts(page) == []


def test_long_and_invisible_values_are_cut_and_marked(browser: Browser, tmp_path: Path) -> None:
    dirty = {"A": ["a", "a", "a"], "B": ["b", "x" * 3_000_000, "b\u202etxt"]}
    provider = Provider({"A": ["a"], "B": ["b"]}, match={"B": "A = A"}, total=1, seed=1)
    result = SafeClean("A -> B", 1, strategy="paper").clean(dirty, provider, engine=DuckEngine(threads=1))
    assert result.written == 2
    write_report(tmp_path / "report.html", result)
    with watched_page(browser, tmp_path / "report.html") as opened:
        assert column(opened, 3) == ["x" * 240 + "… 3,000,000 characters", "bU+202Etxt"]

"""The report of an evaluation: one page that holds what was run and every figure, and nothing that runs or loads."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fabricated_runs import all_runs, runs_of

from pacas.experiments.claim import Judged
from pacas.experiments.plots import style
from pacas.experiments.plots.draw import draw
from pacas.experiments.plots.report import PAGE_COLOURS, report_page, write_report
from pacas.experiments.runs.figures import FIGURES
from pacas.pages.assets import assets

NASTY = "</table><script>alert(1)</script>"
CLAIMS = (
    Judged("error falls with |S|", "support", True, "0.5, 0.4", "as the paper says"),
    Judged("time grows with k", "k", False, NASTY, f"because & {NASTY}"),
    Judged("error grows with e", "errors", None, "not run", "–"),
)
SHOWN = (FIGURES["k"], FIGURES["side"])

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The tags, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags = Counter[str]()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, *names: str) -> list[str]:
        return [value for name, value in self.attributes if name in names]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two figures were drawn."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path_factory.mktemp("evaluation")
    for figure in SHOWN:
        draw(figure, all_runs(figure.name), path)
    return path


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    path = write_report(folder, SHOWN, all_runs("k", "side"), CLAIMS)
    assert path == folder / "report.html"
    return path.read_text("utf-8")


def test_it_needs_nothing_but_itself(html: str) -> None:
    page = Page(html)
    assert not {"script", "img", "link", "iframe", "object", "image"} & set(page.tags)
    assert "http://" not in html and "https://" not in html and "@import" not in html
    assert re.findall(r"url\((?!#)[^)]*\)", html) == []
    outside = {href for href in page.all("href", "xlink:href") if not href.startswith("#")}
    assert outside == {"k.svg", "k.png", "side.svg", "side.png", "results.csv"}
    assert "default-src 'none'" in html


def test_each_figure_is_there_once_with_names_of_its_own(html: str) -> None:
    page = Page(html)
    assert page.tags["svg"] == page.tags["figure"] == 2
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    used = {href[1:] for href in page.all("xlink:href", "href") if href.startswith("#")}
    used |= set(re.findall(r"url\(#([^)]+)\)", html))
    assert used <= set(ids)
    assert FIGURES["k"].title in page.all("aria-label")


def test_the_figures_have_the_colours_of_the_page(html: str) -> None:
    drawing = html[html.index("<svg") :]
    assert "fill: var(--card)" in drawing and "var(--ink)" in drawing
    assert "#ffffff" not in drawing


def test_claims_are_judged_and_escaped(html: str) -> None:
    page = Page(html)
    rows = re.findall(r'<tr><th scope="row">(.*?)</th><td class="verdicts"><span [^>]*>(.*?)</span>', html)
    assert rows == [
        ("error falls with |S|", "agrees"),
        ("time grows with k", "disagrees"),
        ("error grows with e", "not run"),
    ]
    assert page.text.count(NASTY) == 2
    assert '<a href="#figure-k">k</a>' in html  # the others are not on the page
    assert "#figure-support" not in html


def test_what_was_run_is_said(html: str) -> None:
    text = Page(html).text
    assert "Scale: small; version 0.1.0; commit 0123456789ab." in text
    assert "Claims that agree1of 2 judged" in text
    assert "Runs" in text and "none missing" in text
    assert "Discharges" in text and "2,000" in text


def test_the_means_stand_below_a_figure(html: str) -> None:
    details = html[html.index("<details>") : html.index("</details>")]
    assert '<th scope="col">Data set</th>' in details
    cells = re.findall(r"<(?:td|th)[^>]*>(.*?)</(?:td|th)>", details[details.index("<tbody>") :])
    assert cells[:7] == ["Discharges", "replace", "linked", "1", "4", "0.515", "2.02"]


def test_without_runs_and_drawings_there_is_still_a_page(tmp_path: Path) -> None:
    page = Page(report_page(tmp_path, tuple(FIGURES.values()), runs_of([]), ()))
    assert page.text.count("It was not drawn.") == len(FIGURES)
    assert page.tags["svg"] == 0
    assert "No claim was judged." in page.text


def test_missing_runs_are_counted(tmp_path: Path) -> None:
    page = Page(report_page(tmp_path, (FIGURES["side"],), all_runs("side", keep=lambda s: s.seed > 1), ()))
    assert "45 missing" in page.text  # of 3 sides, 5 methods, 3 data sets, the first of 4 seeds
    assert "45 of 180 runs missing." in page.text


def test_what_is_drawn_stands_out_on_a_dark_page() -> None:
    """Colours that do not turn with the page have a contrast of 3 at least with a dark card, as AA asks of figures."""
    dark = re.findall(r"--card: (#\w{6})", assets()["pacas.css"].text)[-1]
    drawn = {name: value for name, value in vars(style).items() if re.fullmatch("#[0-9a-f]{6}", str(value))}
    fixed = {name: value for name, value in drawn.items() if value not in PAGE_COLOURS}
    assert len(fixed) > 5
    assert {name for name, value in fixed.items() if (_light(value) + 0.05) / (_light(dark) + 0.05) < 3} == set()


def _light(colour: str) -> float:
    """The relative luminance of a colour."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

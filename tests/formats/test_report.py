"""The report of a cleaning: one page that holds what happened, and nothing that runs, loads or breaks out."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from panel_shops import FD, JOBS, JobShop, departments

from pacas import example
from pacas.client.outcome import steps
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import Why
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import FileError
from pacas.formats.report.report import report_page, write_report
from pacas.formats.report.sections import REASONS
from pacas.pages.assets import assets
from pacas.protocol.messages import Reason
from pacas.provider.provider import Provider

ENGINE = DuckEngine(threads=1)

NASTY = "</script><img src=x onerror=alert(1)>"
TRUTH = {"MED": ["ibuprofen"] * 3 + ["naproxen", "tylenol", "dolex", "appaprtin", "dolex"]}


@cache
def cleaned(budget: str = "2") -> Cleaning:
    provider = Provider(example.provider, hierarchies=example.hierarchies, match={"MED": example.md}, total=6, seed=7)
    return SafeClean([example.fd], budget, strategy="paper").clean(example.client, provider, engine=ENGINE)


@cache
def nasty() -> Cleaning:
    """Values, names of columns and bought values that would like to be HTML."""
    name = f"B{NASTY}"
    table: dict[str, list[str | None]] = {"K": ["k", "l", "m"], "A": ["a", "a", "a"], name: [NASTY, "&amp;", None]}
    tree = Hierarchy.flat([NASTY, "&amp;", "'\"<b>"])
    provider = Provider(
        {"K": ["k"], name: ["'\"<b>"]}, hierarchies={name: tree}, match={name: "K = K"}, total=1, seed=1
    )
    return SafeClean(f'A -> "{name}"', 1, strategy="paper").clean(table, provider, engine=ENGINE)


class Page(HTMLParser):
    """The tags, the text outside scripts, and the data."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data + " "

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0])


def test_the_counts_are_those_of_the_cleaning() -> None:
    result = cleaned()
    page = Page(report_page(result, subject="client.csv"))
    text = " ".join(page.text.split())
    assert "What was cleaned: client.csv" in text
    assert "Violations after 0 pairs of rows; 4 before" in text
    assert "Spent 2 of 2 credits" in text
    assert "Cells written 3" in text
    assert "Classes unrepaired 0" in text
    assert "GEN, DIAG -> MED" in text


def test_every_cell_that_was_written_is_in_the_data() -> None:
    result = cleaned()
    data = Page(report_page(result)).data
    assert len(data["row"]) == len(data["old"]) == len(data["flag"]) == result.written == sum(data["repairs"]["cells"])
    values, repairs = data["values"], data["repairs"]
    repair_of = [r for r, n in enumerate(repairs["cells"]) for _ in range(n)]
    cells = [
        (row, values[old], values[repairs["new"][r]], repairs["level"][r], repairs["price"][r])
        for row, old, r in zip(data["row"], data["old"], repair_of, strict=True)
    ]
    assert cells == [
        (1, "intropes", "ibuprofen", 0, "1"),
        (2, "addaprin", "ibuprofen", 0, "1"),
        (3, "naproxen", "tylenol", 0, "1"),
    ]
    assert data["flag"] == "010"  # t3 is nobody whom the provider knows


def test_of_several_providers_it_is_told_who_said_what_of_each_cell() -> None:
    truth, dirty = departments(30, seed=7, stale=0.5)
    markets = {"left": JobShop(truth, seed=1, wrong=0.3), "right": JobShop(truth, seed=2, wrong=0.3, price=70)}
    result = SafeClean(FD, "0.0001", strategy="paper", hierarchies={"JOB": JOBS}).clean(dirty, markets, engine=ENGINE)
    page = report_page(result)
    data = Page(page).data
    told = [None if at is None else data["values"][at] for at in data["repairs"]["from"]]
    opinions = [[(p.provider, p.value) for p in repair.purchases] for repair in result.repairs]
    assert told == [
        said[0][0] if len(said) == 1 else "; ".join(f"{who}: {value}" for who, value in said) or None
        for said in opinions
    ]
    assert {len(said) for said in opinions} >= {1, 2} and 'data-key="from"' in page
    alone = report_page(cleaned())
    assert "from" not in Page(alone).data["repairs"] and 'data-key="from"' not in alone


def test_money_and_levels_are_summed() -> None:
    page = report_page(cleaned())
    row = '<tr><th scope="row">MED</th><td class="number">0</td><td class="number">2</td><td class="number">3</td>'
    assert row in page
    assert "100.0 %" in page


def test_the_score_is_shown_where_there_is_one() -> None:
    result = cleaned()
    assert "Against the truth" not in report_page(result)
    text = Page(report_page(result, score=result.score(TRUTH, engine=ENGINE))).text
    assert "Against the truth" in text and "0.667" in text and "0.800" in text


def test_what_was_not_repaired_is_told_with_its_reason() -> None:
    text = Page(report_page(cleaned("0"))).text
    assert "budget_spent" in text and "the money was gone before its turn came" in text
    assert "Nothing was bought." in text and "No cell was written." in text
    assert "Every class was repaired." in Page(report_page(cleaned())).text


def test_every_reason_and_every_source_of_a_value_is_in_words() -> None:
    script = assets("pacas.formats.report")["cells.js"].text
    assert [why for why in Why if f"{why.value}:" not in script] == []
    known = [value for name, value in vars(steps).items() if name.isupper() and isinstance(value, str)]
    assert len(known) > 5 and [reason for reason in known if reason not in REASONS] == []
    quoted = {Reason.CREDIT}  # `credit_used_up` says it
    assert [reason for reason in Reason if reason.value not in REASONS and reason not in quoted] == []


def test_values_stay_text() -> None:
    result = nasty()
    assert result.written == 3
    html = report_page(result, subject=NASTY, score=result.score(result.dirty, engine=ENGINE))
    assert "<img" not in html and "<b>" not in html
    page = Page(html)
    assert page.tags.count("script") == 2
    assert set(page.data["values"]) == {NASTY, "&amp;", None, "'\"<b>"}
    assert page.data["attributes"] == [f"B{NASTY}"]
    assert f"What was cleaned: {NASTY}" in page.text


def test_nothing_is_fetched_and_only_its_own_script_may_run() -> None:
    html = report_page(cleaned())
    page = Page(html)
    assert not [value for name, value in page.attributes if name in ("src", "href", "srcset", "action")]
    assert not re.search(r"url\(|@import|https?:", html)
    policy = next(value for name, value in page.attributes if name == "content" and value and "default-src" in value)
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy


def test_every_table_has_headers_and_every_section_a_name() -> None:
    result = cleaned()
    html = report_page(result, score=result.score(TRUTH, engine=ENGINE))
    assert html.count("<table") == html.count("<thead>")
    assert not re.search(r"<th(?! scope)[ >]", html)
    for name in re.findall(r'aria-labelledby="([^"]+)"', html):
        assert html.count(f'id="{name}"') == 1


def test_very_many_purchases_make_a_curve_of_few_points() -> None:
    n = 900
    table = {"K": [f"k{i}" for i in range(2 * n)], "A": [f"a{i // 2}" for i in range(2 * n)], "B": ["x", "y"] * n}
    truth = table | {"B": ["x"] * 2 * n}
    provider = Provider(truth, hierarchies={"B": Hierarchy.flat("xyz")}, match={"B": "K = K"}, total=2 * n, seed=1)
    result = SafeClean("A -> B", 2 * n, strategy="paper").clean(table, provider, engine=ENGINE)
    assert len(result.purchases) == n
    curve = re.search(r'class="curve" d="([^"]+)"', report_page(result))
    assert curve is not None
    assert 100 < curve[1].count("H") <= 400


def test_a_page_is_written_and_a_path_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    write_report(tmp_path / "report.html", cleaned(), subject="client.csv")
    assert (tmp_path / "report.html").read_text("utf-8") == report_page(cleaned(), subject="client.csv")
    with pytest.raises(FileError, match="is a folder; give the name of a file"):
        write_report(tmp_path, cleaned())

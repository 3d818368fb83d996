"""The pieces of pages in a real browser, under the policy of consoles: narrow and wide, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import pytest
from page_looks import is_wider_than_the_window, pale_texts
from running_service import served
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from pacas.pages.answers import PAGE_HEADERS, assets_route
from pacas.pages.environment import page_environment
from pacas.pages.pieces import Bar, Card

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<img src=x onerror=\"document.title='broken'\">\u202e<script>document.title='broken'</script>"
ENVIRONMENT = page_environment("pacas.pages")
GALLERY = """{% extends "pages/base.html" %}{% import "pages/parts.html" as parts %}
{% block title %}Every piece{% endblock %}
{% block account %}<span>operator</span><form method="post"><button class="small">Log out</button></form>{% endblock %}
{% block content %}
<h1>Every piece</h1><p class="lead">What pages are made of, {{ hostile }}.</p>
{{ parts.notice("All went well.") }}{{ parts.notice("Look at this.", "warn") }}{{ parts.notice("That failed.", "bad") }}
{{ parts.cards(cards) }}
<div class="beside"><div>
{% call parts.section("A table", note="With a note.") %}
<div class="tools"><label>Search <input type="search" placeholder="a value"></label>
<label>Attribute <select><option>all</option></select></label><label><input type="checkbox"> doubtful</label></div>
{{ parts.table(["Name", "Count", "Share", "Says"], rows, foot=("Total", 3, bar, "")) }}
{{ parts.pager(2, 4000, "/part?page=") }}
{% endcall %}
{% call parts.section("Cells") %}
{% call parts.frame(["Row", "City", "State"], numbers=(0,), said="Cells") %}
{% for n in range(1, 9) %}<tr><td class="number">{{ n }}</td>
<td class="class-{{ n }} wrong">{{ parts.value(hostile) }}</td>
<td>{{ parts.changed("Montreall", "Montreal") }} {{ parts.changed("flu", none) }}</td></tr>{% endfor %}
{% endcall %}{% endcall %}
</div><div>
{% call parts.section("Actions") %}
<p>{% for kind in ("quiet", "info", "ok", "warn", "bad") %}{{ parts.badge(kind, kind) }} {% endfor %}</p>
<div class="actions"><button class="main">Approve</button>
<button>Change the level</button><button class="danger small">Reject</button>
<button disabled>Off</button>
{{ parts.confirm("/post", "Revoke", "token", {"name": hostile}, sure="Really?", kind="danger") }}</div>
<p class="field"><label for="budget">Budget</label><input id="budget" type="range" min="0" max="10" value="4"></p>
<button id="swap" hx-get="/part" hx-target="#here">More</button>
<button id="fail" hx-get="/fail" hx-target="#here">Fail</button>
<div id="here"></div>{% endcall %}
{% call parts.section("A chart") %}{{ parts.chart(chart, "Violations fall with money.") }}{% endcall %}
</div></div>{% endblock %}"""
PART = """{% import "pages/parts.html" as parts %}<p id="came">{{ hostile }}</p>
{{ parts.chart(chart, "Sales by hour") }}
<script>document.title = "broken"</script>"""
CHART = {
    "x": {"label": "credits", "values": [0, 2, 4, 6, 8, 10]},
    "y": {"label": "violations left"},
    "right": {"label": "cells"},
    "series": [
        {"label": "violations", "values": [900, 500, 260, 200, 190, 188], "kind": "steps"},
        {"label": "expected", "values": [900, 520, 280, 210, 195, 188], "dashed": True},
        {"label": "cells", "values": [0, 30, 44, 52, 55, 56], "kind": "points", "right": True},
    ],
    "marks": [{"x": 6, "label": "knee"}, {"label": "budget", "input": "#budget"}],
}
SALES = {
    "x": {"label": "hour", "values": [1.8e9 + 3600 * n for n in range(6)], "time": True},
    "y": {"label": "sold"},
    "series": [{"label": "sold", "values": [3, 9, 4, 0, 7, 5], "kind": "bars"}],
}


def answer(template: str, **shown: object) -> HTMLResponse:
    text = ENVIRONMENT.from_string(template).render(hostile=HOSTILE, bar=Bar(1), **shown)
    return HTMLResponse(text, headers=dict(PAGE_HEADERS))


async def gallery(request: Request) -> Response:
    cards = [
        Card("Violations", "12,345", "pairs of rows"),
        Card("Spent", "3.25", "of 10 credits"),
        Card("Doubtful", "17", "3 of them written", True),
        Card("Head", "12:9f3c", "verified a minute ago"),
    ]
    rows = [("Toronto", 1, Bar(0.2), "a line that says a little more about it"), (HOSTILE, 2, Bar(0.8), HOSTILE)]
    nav = [("/", "Table", True), *((f"/{n}", n, False) for n in ("Budget", "Orders", "Repairs", "Receipts"))]
    shown = {"cards": cards, "rows": rows, "nav": nav, "party": "client.toml", "csrf": "token", "chart": CHART}
    return answer(GALLERY, **shown)


async def part(request: Request) -> Response:
    return answer(PART, chart=SALES)


async def fail(request: Request) -> Response:
    return PlainTextResponse("the budget is fixed", 409)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    app = Starlette(routes=[assets_route("pacas.pages")])
    for path, shown in (("/", gallery), ("/part", part), ("/fail", fail)):
        app.add_route(path, shown)
    with served(app) as url:
        yield url


Scheme = Literal["light", "dark"]


@contextmanager
def opened(browser: Browser, address: str, width: int = 1400, scheme: Scheme = "light") -> Iterator[Page]:
    """The gallery, which says nothing to the console when all is well."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.wait_for_selector(".uplot canvas")
    yield page
    title = page.title()
    page.close()
    assert (title, complaints) == ("Every piece", [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_it_reads_well(browser: Browser, address: str, width: int, scheme: Scheme) -> None:
    with opened(browser, address, width, scheme) as page:
        page.click("summary")
        assert pale_texts(page) == []
        assert not is_wider_than_the_window(page)
        assert page.locator(".uplot").bounding_box()["width"] <= width  # type: ignore[index]


def test_parts_come_by_htmx_with_their_charts_and_without_their_scripts(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.click("#swap")
        page.wait_for_selector("#here .uplot canvas")
        assert not is_wider_than_the_window(page)
        assert page.inner_text("#came") == HOSTILE
        assert page.locator("#here script").count() == 0
        assert page.locator(".uplot").count() == 2


def test_a_chart_follows_its_field_and_the_scheme(browser: Browser, address: str) -> None:
    picture = "document.querySelector('.uplot canvas').toDataURL()"
    with opened(browser, address) as page:
        before = page.evaluate(picture)
        page.fill("#budget", "8")
        page.wait_for_function(f"before => {picture} !== before", arg=before)
        before = page.evaluate(picture)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"before => {picture} !== before", arg=before)


def test_by_keyboard_the_first_stop_leads_past_the_head(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_what_fails_is_said_on_the_page(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    page.click("#fail")
    page.wait_for_selector("#notices .bad")
    assert page.inner_text("#notices") == "the budget is fixed"
    page.click("#swap")
    page.wait_for_selector("#came")
    assert page.inner_text("#notices") == ""
    page.close()

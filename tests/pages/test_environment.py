"""Pages are made in one way: what they are given stays text, and what they forgot is an error."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from html import unescape

import httpx
import pytest
from jinja2 import UndefinedError
from starlette.applications import Starlette

from pacas.pages.answers import POLICY, assets_route, page_answer
from pacas.pages.assets import assets
from pacas.pages.environment import page_environment, standalone_page
from pacas.pages.pieces import Bar, Card

ENVIRONMENT = page_environment("pacas.pages")
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "'><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "</script><!--",
    "</title></style>",
    '=HYPERLINK("x")',
]
PARTS = '{% import "pages/parts.html" as parts %}'


def drawn(source: str, **shown: object) -> str:
    return ENVIRONMENT.from_string(PARTS + source).render(shown)


def tags(page: str) -> list[str]:
    return re.findall(r"<[a-z/!][^>]*>", page)


EVERY_PIECE = {
    "value": "{{ parts.value(it) }}",
    "changed": "{{ parts.changed(it, 'x') }}{{ parts.changed('x', it) }}{{ parts.changed(it, it ~ 'x') }}",
    "cards": "{{ parts.cards([card]) }}",
    "section": "{% call parts.section(it, note=it) %}{{ it }}{% endcall %}",
    "table": "{{ parts.table([it, it], [(it, it)], foot=(it, it), caption=it) }}{{ parts.table([], [], empty=it) }}",
    "frame": "{% call parts.frame([it], caption=it, id=it, said=it) %}{% endcall %}",
    "badge": "{{ parts.badge(it, it) }}",
    "notice": "{{ parts.notice(it, it) }}",
    "pager": "{{ parts.pager(2, 3, it, target=it, part=it) }}",
    "confirm": "{{ parts.confirm(it, it, it, {it: it}, sure=it, kind=it, target=it) }}",
    "chart": "{{ parts.chart({'x': {'label': it}}, it) }}",
}


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("piece", EVERY_PIECE)
def test_whatever_it_is_given_a_piece_has_the_same_tags(piece: str, hostile: str) -> None:
    """Its own tags and attributes, that is: none begins or ends in what it shows."""

    def names(given: str) -> list[list[str]]:
        page = drawn(EVERY_PIECE[piece], it=given, card=Card(given, given, given, True))
        return [
            [re.split(r"[\s>]", tag)[0], *re.findall(r"\s([\w-]+)=", re.sub(r'"[^"]*"|\'[^\']*\'', "", tag))]
            for tag in tags(page)
        ]

    assert names(hostile) == names("x" * len(hostile))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_was_given_can_be_read_back(hostile: str) -> None:
    assert hostile in unescape(drawn("{{ parts.value(it) }}", it=hostile))
    held = re.search(r"data-chart='([^']*)'", drawn("{{ parts.chart({'label': it}, 'words') }}", it=hostile))
    assert held and json.loads(unescape(held[1])) == {"label": hostile}


def test_null_and_long_and_invisible_values_are_seen() -> None:
    assert drawn("{{ parts.value(none) }}") == '<i class="empty">empty</i>'
    long = drawn("{{ parts.value(it) }}", it="y" * 3_000_000)
    assert len(long) < 600 and "3,000,000 characters" in long
    assert "U+202E" in drawn("{{ parts.value(it) }}", it="a\u202eb")


def test_changed_characters_are_marked() -> None:
    page = drawn("{{ parts.changed('Montreall', 'Montreal') }}{{ parts.changed(none, 'x') }}")
    assert re.search(r"<del><bdi[^>]*>l</bdi></del>", page)
    assert '<del><i class="empty">empty</i></del>' in page


def test_a_table_puts_numbers_right_and_draws_shares() -> None:
    page = drawn("{{ parts.table(heads, rows) }}", heads=["a", "b", "c"], rows=[("x", 20_000, Bar(0.25))])
    assert '<td class="number">20,000</td>' in page
    assert 'aria-label="25.0 %"' in page and 'rect width="25.00"' in page
    assert "style=" not in page


def test_a_table_without_rows_says_so() -> None:
    assert "Nobody has bought." in drawn("{{ parts.table(['a'], [], empty='Nobody has bought.') }}")


def test_what_a_template_was_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        drawn("{{ nothing }}")


def test_money_counts_shares_and_times_are_for_people() -> None:
    money = "{{ 1500000000 | money }}, {{ 345678912 | credits }}, {{ 1 | exact_credits }}"
    assert drawn(money).endswith("1.5 credits, 0.3457, 0.000000001")
    others = "{{ 2000 | counted('cell') }}, {{ 0.5 | percent }}, {{ 0 | moment }}"
    assert drawn(others).endswith("2,000 cells, 50.0 %, 1970-01-01 00:00:00 UTC")


# ---- as a console answers ----------------------------------------------------------------------------------------


Get = Callable[[str], httpx.Response]


@pytest.fixture
def get() -> Get:
    async def page(request):
        nav = [("/", "Table", True), ("/orders", "Orders", False)]
        return page_answer(ENVIRONMENT, "pages/base.html", party="<b>party", nav=nav, csrf="to'ken")

    app = Starlette(routes=[assets_route("pacas.pages")])
    app.add_route("/", page)

    async def asked(path: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://console") as client:
            return await client.get(path)

    return lambda path: asyncio.run(asked(path))


def test_a_page_says_what_its_browser_may_do(get: Get) -> None:
    answer = get("/")
    assert answer.headers["content-security-policy"] == POLICY
    assert POLICY.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;")
    assert "unsafe" not in POLICY and POLICY.endswith("frame-ancestors 'none'; base-uri 'none'")
    assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == ("no-store", "nosniff")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "<b>" not in answer.text and "&lt;b&gt;party" in answer.text
    assert 'href="/" aria-current="page"' in answer.text


def test_the_token_against_forgery_goes_with_every_request_of_htmx(get: Get) -> None:
    held = re.search(r"hx-headers='([^']*)'", get("/").text)
    assert held and json.loads(held[1]) == {"X-CSRF-Token": "to'ken"}


def test_htmx_evaluates_nothing_and_stores_nothing(get: Get) -> None:
    held = re.search(r"name=\"htmx-config\" content='([^']*)'", get("/").text)
    assert held
    config = json.loads(held[1])
    off = ("allowEval", "allowScriptTags", "includeIndicatorStyles", "historyCacheSize")
    assert not any(config[name] for name in off)
    assert config["selfRequestsOnly"] is True


def test_all_that_a_page_loads_is_there_and_may_be_kept(get: Get) -> None:
    loaded = re.findall(r'(?:src|href)="(/assets/[^"]+)"', get("/").text)
    assert len(loaded) == 6
    for address in loaded:
        answer = get(address)
        name, _, digest = address.rpartition("/")[2].partition("?v=")
        assert answer.content == assets()[name].content and assets()[name].digest.startswith(digest)
        assert "immutable" in answer.headers["cache-control"]
    assert get("/assets/..%2fenvironment.py").status_code == 404
    assert get("/assets/no.js").status_code == 404


# ---- a page as a file --------------------------------------------------------------------------------------------


def test_a_page_of_its_own_holds_its_look_and_names_its_script_by_its_hash() -> None:
    page = standalone_page(ENVIRONMENT, "pages/standalone.html", script="const a = 1 < 2;", data={"a": "</script>"})
    assert assets()["pacas.css"].text in page
    assert "script-src 'sha256-" in unescape(page) and "<script>const a = 1 < 2;</script>" in page
    assert '{"a":"\\u003c/script\\u003e"}' in page
    assert "src=" not in page and "href=" not in page


def test_a_page_without_a_script_allows_none() -> None:
    page = standalone_page(ENVIRONMENT, "pages/standalone.html")
    assert "script" not in re.sub(r"<style>.*</style>", "", page, flags=re.DOTALL)

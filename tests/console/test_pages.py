"""The console over HTTP: who comes in, what each page shows and does, and what no page shows."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import httpx
import pytest
from served_console import FAMILIES, HOSTILE, ID, MED, NOW, WARD, ServedConsole, served_console

from pacas.console.sessions import IDLE
from pacas.core.money import rounded_text
from pacas.core.rates.schedule import Schedule
from pacas.pages.answers import POLICY
from pacas.provider.ledger.accounts import token_hash
from pacas.provider.ledger.refusals import HOUR

PAGES = ("", "/stock", "/policies", "/ladder", "/accounts", "/sales", "/ledger")
FORMS = (
    "/logout",
    "/renew",
    "/policies/reveal",
    "/ladder",
    "/accounts/add",
    "/accounts/credit",
    "/accounts/rate",
    "/accounts/revoke",
    "/ledger/verify",
    "/ledger/compare",
)
BEHIND = "/policies/groups?policy=1&low=-1000&high=1000"


@pytest.fixture(params=["sealed", "paper"])
def console(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ServedConsole]:
    with served_console(tmp_path, quotes=request.param) as served:
        yield served


@pytest.fixture
def sealed(tmp_path: Path) -> Iterator[ServedConsole]:
    with served_console(tmp_path) as served:
        yield served


def text_of(page: str) -> str:
    """What a page says, without its marks."""
    plain = re.sub(r"</?(bdi|span|small|a|code)\b[^>]*>", "", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", plain)).split())


# ---- who comes in ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_without_a_session_every_page_leads_to_the_login(sealed: ServedConsole, path: str) -> None:
    answer = sealed.client.get(f"/console{path}")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/console/login?next=%2Fconsole")
    assert "secret" not in answer.text


def test_without_a_session_no_form_does_anything(sealed: ServedConsole) -> None:
    before = sealed.accounts.list()
    for path in FORMS:
        answer = sealed.client.post(f"/console{path}", data={"name": "ann", "credit": "1"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/login")
    assert sealed.accounts.list() == before


@pytest.mark.parametrize("token", ["", "nobody", "token-of-ann", "token-of-eve", "x" * 5000])
def test_only_an_operators_token_lets_in_and_the_others_are_not_told_apart(sealed: ServedConsole, token: str) -> None:
    with_eve = sealed.accounts
    answer = sealed.log_in(token)
    assert answer.status_code == 401
    assert "no operator&#39;s token" in answer.text
    assert "set-cookie" not in answer.headers
    assert with_eve.by_token(token_hash("token-of-ann")) is not None


def test_an_operator_comes_in_where_it_wanted_to_and_out_again(sealed: ServedConsole) -> None:
    answer = sealed.client.post("/console/login?next=/console/ledger?page=1", data={"token": " token-of-olga\n"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/ledger?page=1")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/console" in cookie
    assert "secure" not in cookie
    assert "olga, operator" in text_of(sealed.page())
    kept = dict(sealed.client.cookies)
    assert sealed.send("/logout").headers["location"] == "/console/login"
    assert sealed.client.get("/console").status_code == 303
    sealed.client.cookies.update(kept)
    assert sealed.client.get("/console").status_code == 303, "the cookie is worth nothing any more"
    assert [line["done"] for line in sealed.lines("console")][:1] == ["log in"]


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/console/", "//evil.example/console/", "/v1/key", "javascript:x", "http://["]
)
def test_a_login_leads_nowhere_else(sealed: ServedConsole, elsewhere: str) -> None:
    answer = sealed.client.post("/console/login", params={"next": elsewhere}, data={"token": "token-of-olga"})
    assert answer.headers["location"] == "/console"


def test_a_form_from_somewhere_else_logs_nobody_in(sealed: ServedConsole) -> None:
    for origin in ("https://evil.example", "http://[", "evil"):
        answer = sealed.client.post("/console/login", data={"token": "token-of-olga"}, headers={"Origin": origin})
        assert answer.status_code == 403 and "sent from somewhere else" in answer.text


def test_a_session_that_has_expired_or_whose_operator_was_revoked_has_ended(sealed: ServedConsole) -> None:
    sealed.log_in()
    sealed.clock.now += IDLE + 1
    assert sealed.client.get("/console").status_code == 303
    sealed.log_in()
    part = sealed.client.get("/console/policies", headers={"HX-Request": "true"})
    assert part.status_code == 200
    sealed.accounts.revoke("olga")
    part = sealed.client.get("/console/policies", headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["hx-redirect"]) == (403, "/console/login")
    assert sealed.client.get("/console").status_code == 303


def test_a_form_of_another_page_is_refused(sealed: ServedConsole) -> None:
    sealed.log_in()
    own = sealed.csrf()
    for path in FORMS:
        for csrf, headers in (
            ("", {}),
            ("x" * 43, {}),
            (own, {"Origin": "https://evil.example"}),
            (own, {"Sec-Fetch-Site": "cross-site"}),
            (own, {"Sec-Fetch-Site": "same-site"}),
        ):
            answer = sealed.client.post(f"/console{path}", data={"csrf": csrf, "name": "ann"}, headers=headers)
            assert answer.status_code == 403, path
    wrong = sealed.client.post(
        "/console/login", data={"token": "token-of-olga"}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (403, False)
    assert not sealed.accounts.list()[1].revoked


def test_forms_that_are_none_are_refused(sealed: ServedConsole) -> None:
    sealed.log_in()
    own = sealed.csrf()
    headers = {"X-CSRF-Token": own, "Content-Type": "application/x-www-form-urlencoded"}
    large = sealed.client.post("/console/ledger/compare", content=b"pasted=" + b"x" * (2 << 20), headers=headers)
    assert large.status_code == 413
    other = sealed.client.post("/console/ledger/compare", json={"csrf": own}, headers={"X-CSRF-Token": own})
    assert other.status_code == 415
    fields = b"&".join(b"a%d=" % n for n in range(2000))
    assert sealed.client.post("/console/ledger/compare", content=fields, headers=headers).status_code == 422
    assert sealed.client.post("/console/ledger/compare", content=b"pasted=%ff\xff", headers=headers).status_code == 422


def test_every_answer_has_the_headers_and_what_is_not_there_is_a_page(sealed: ServedConsole) -> None:
    sealed.log_in()
    for path in (*PAGES, "/login", "/nothing", BEHIND):
        answer = sealed.client.get(f"/console{path}")
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert sealed.client.get("/console/nothing").status_code == 404
    slashed = sealed.client.get("/console/", follow_redirects=False)
    assert (slashed.status_code, slashed.headers["location"]) == (303, "/console")
    assert sealed.client.get("/console/assets/nothing.js").status_code == 404
    assert sealed.client.get("/console/assets/pacas.css").status_code == 200


# ---- what no page shows ----------------------------------------------------------------------------------------------


def test_no_page_holds_a_value_of_the_table_before_it_is_revealed(console: ServedConsole) -> None:
    console.log_in()
    bought = httpx.post(
        f"{console.url}/v1/purchases",
        headers={"Authorization": "Bearer token-of-ann", "Idempotency-Key": "k"},
        json={"request": {"tuple": {ID: "secret-id-40"}, "attribute": MED, "level": 1}, "ceiling": 10**12},
    ).json()
    receipt = json.dumps(bought["purchase"]["receipt"])
    shown = [console.page(path) for path in (*PAGES, "/stock?attribute=0", "/ledger?page=2", BEHIND)]
    part = console.client.get(f"/console{BEHIND}", headers={"HX-Request": "true"})
    told = [
        console.send("/ledger/verify"),
        console.send("/ledger/compare", pasted=receipt),
        console.send("/ledger/compare", pasted=receipt.replace("secret", "other")),
        console.send("/accounts/credit", name="ann", credit="7"),
        console.send("/renew"),
        console.send("/ladder", attribute="0", **{"column-0": "somebody"}),
    ]
    assert [answer.status_code for answer in told] == [303, 200, 200, 303, 303, 200]
    for page in (*shown, part.text, *(answer.text for answer in told)):
        found = [value for value in console.values if value in html.unescape(page)]
        assert found == []
    assert not any(value in console.log.getvalue() for value in console.values)
    revealed = console.send("/policies/reveal", policy=1, low=-1000, high=1000, start=0)
    assert {value for value in console.values if value in revealed.text} == {f"secret-ward-{n}" for n in range(6)}
    (line,) = [line for line in console.lines("console") if line["done"] == "reveal"]
    assert (line["operator"], line["policy"], line["groups"]) == ("olga", 1, 6)
    assert not any(value in console.log.getvalue() for value in console.values)


def test_hostile_names_are_text_on_every_page(console: ServedConsole) -> None:
    console.log_in()
    for path in (*PAGES, BEHIND, "/stock/tree?attribute=0&node=0"):
        page = console.page(path)
        for hostile in (MED, WARD, HOSTILE, *FAMILIES[:2]):
            assert hostile not in page, path
        assert "\u202e" not in page, path
        assert "says <b>so</b>" not in page
    assert MED in text_of(console.page("/stock")) and HOSTILE in text_of(console.page("/accounts"))
    assert WARD in text_of(console.page(BEHIND))
    assert "U+202E" in console.page("/stock")


def test_a_tree_is_what_is_published_and_unfolds_in_parts(tmp_path: Path) -> None:
    with served_console(tmp_path, leaves=250) as console:
        console.log_in()
        tree = console.provider.shop.terms.hierarchies[MED]
        assert all(label not in html.unescape(console.page("/stock")) for label in tree.ground_labels)
        family = next(code for code in range(len(tree)) if tree.label(code) == FAMILIES[0])
        first = console.page(f"/stock/tree?attribute=0&node={family}")
        assert first.count("<li>") == 101 and "150 more" in first
        following = re.search(r'hx-get="([^"]+start=100)"', first)
        assert following is not None
        second = console.page(html.unescape(following[1]).removeprefix("/console"))
        assert second.count("<li>") == 101 and "50 more" in second
        last = console.page(f"/stock/tree?attribute=0&node={family}&start=200")
        assert last.count("<li>") == 50 and "more" not in last
        listed = re.findall(r"secret-med-0-\d+", first + second + last)
        assert sorted(listed) == sorted(label for label in tree.ground_labels if label.startswith("secret-med-0-"))
        for wrong in ("attribute=7&node=0", "attribute=0&node=999999", "attribute=0&node=-1", "attribute=x&node=y"):
            assert console.client.get(f"/console/stock/tree?{wrong}").status_code in (200, 422)


# ---- what pages show -------------------------------------------------------------------------------------------------


def test_the_overview_says_what_was_sold_and_what_to_look_at(console: ServedConsole) -> None:
    console.log_in()
    totals = console.provider.ledger.totals()
    told = text_of(console.page())
    assert str(sum(total.purchases for total in totals.values())) in told
    head = console.provider.ledger.head()
    assert f"{head.entries}:{head.hash}" in told
    assert "bob has 0 of" in told, "credit nearly spent"
    assert "Free quotes tell the MED of 12.0%" in told
    assert "The linter has 1 warning: rare-groups." in told
    assert "Policy 1 allows linkage" in told
    assert ("neighbours" in text_of(console.page("/stock"))) == (console.provider.shop.neighbours > 0)


def test_refusals_are_counted_by_reason_and_so_are_those_who_were_turned_away(tmp_path: Path) -> None:
    with served_console(tmp_path, quotes_per_minute=4) as console:

        def ask(who: str, *ids: str) -> int:
            asked = [{"tuple": {ID: one}, "attribute": MED, "level": 2} for one in ids]
            headers = {"Authorization": f"Bearer token-of-{who}"}
            return httpx.post(f"{console.url}/v1/quotes", headers=headers, json={"requests": asked}).status_code

        assert ask("ann", "nobody-1", "nobody-2") == 200
        assert ask("ann", "nobody-3") == 200
        assert ask("ann", "nobody-4", "nobody-5") == 429
        assert ask("nobody", "x") == 401
        console.log_in("wrong")
        console.log_in()
        told = text_of(console.page())
        assert "no_match 3 3" in told
        assert "unauthorized 2 2" in told and "rate_limited 1 1" in told
        assert "2 calls without a valid token in the last 24 hours (401)." in told
        assert "ann: 1 call over its rate in the last 24 hours (429)." in told
        assert not any(f"nobody-{n}" in console.page(path) for n in range(1, 6) for path in PAGES)
        console.clock.now += 25 * HOUR
        console.log_in()
        told = text_of(console.page())
        assert "no_match 0 3" in told and "401" not in told.replace("401 and 429", "")


def test_figures_say_as_of_which_entry_they_are_and_are_renewed(sealed: ServedConsole) -> None:
    sealed.log_in()
    entries = sealed.provider.ledger.head().entries
    assert f"As of entry {entries - 1}" in text_of(sealed.page("/policies"))
    from pacas.protocol.messages import Answer, Request

    sold = sealed.provider.pay(Request({ID: "secret-id-50"}, MED, 2), 10**12, "later", buyer="ann")
    assert isinstance(sold, Answer)
    assert sealed.send("/renew", page="policies").headers["location"] == "/console/policies"
    assert f"As of entry {entries}" in text_of(sealed.page("/policies"))


def test_no_page_asks_the_store_on_the_event_loop(sealed: ServedConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    head, places = sealed.provider.ledger.head, []

    def watched() -> Any:
        places.append(asyncio._get_running_loop())
        return head()

    sealed.log_in()
    sealed.page()  # figures are made
    monkeypatch.setattr(sealed.provider.ledger, "head", watched)
    for path in (*PAGES, BEHIND):
        sealed.page(path)
    assert places and set(places) == {None}


def test_groups_behind_a_margin_come_in_pages(console: ServedConsole) -> None:
    console.log_in()
    page = text_of(console.page(BEHIND))
    assert "6 groups" in page and "•••••" in page
    console.page("/policies")
    for wrong in ("policy=0&low=0&high=0", "policy=9&low=0&high=0", "policy=x"):
        assert console.client.get(f"/console/policies/groups?{wrong}").status_code == 422
    past = console.page("/policies/groups?policy=1&low=-1000&high=1000&start=999")
    assert "•••••" not in past


def test_a_ladder_shows_prices_and_true_reasons(console: ServedConsole) -> None:
    console.log_in()
    before = console.provider.ledger.head()
    for tuple_id, buyer in (("secret-id-41", ""), ("secret-id-41", "ann"), ("nobody", "bob")):
        page = console.send("/ladder", attribute="0", buyer=buyer, **{"column-0": tuple_id}).text
        ladder = console.provider.quote_batch(MED, {ID: [tuple_id]}, buyer=buyer or "somebody new")[0]
        for quoted in ladder:
            told = getattr(quoted, "reason", None)
            if told is not None:
                assert told.value in page
    assert "no_match" in page
    assert console.provider.ledger.head() == before
    assert not any("secret-id-41" in line for line in console.log.getvalue().splitlines())


def test_sales_are_shown_over_time_and_by_attribute_level_and_account(sealed: ServedConsole) -> None:
    sealed.log_in()
    page = sealed.page("/sales")
    found = re.search(r"data-chart='([^']+)'", page)
    assert found is not None
    chart = json.loads(html.unescape(found[1]))
    sold = sum(total.purchases for total in sealed.provider.ledger.totals().values())
    assert sum(chart["series"][0]["values"]) == sold
    assert chart["x"]["values"][-1] <= NOW
    assert all(name in text_of(page) for name in ("ann", "bob", HOSTILE))


# ---- what forms do ---------------------------------------------------------------------------------------------------


def test_an_account_is_added_its_token_shown_once_and_it_works(sealed: ServedConsole) -> None:
    sealed.log_in()
    page = sealed.send("/accounts/add", name="carl", role="client", credit="2.5", rate="1,000").text
    token = re.search(r'class="secret" tabindex="0">([\w-]{43})<', page)
    assert token is not None
    (carl,) = [account for account in sealed.accounts.list() if account.name == "carl"]
    assert (carl.credit, carl.quotes_per_minute, carl.token_hash) == (2_500_000_000, 1000, token_hash(token[1]))
    assert token[1] not in sealed.page("/accounts") and token[1] not in sealed.log.getvalue()
    answer = httpx.get(f"{sealed.url}/v1/account", headers={"Authorization": f"Bearer {token[1]}"})
    assert answer.json()["account"] == "carl"
    (line,) = [line for line in sealed.lines("console") if line["done"] == "add account"]
    assert (line["operator"], line["about"], line["role"]) == ("olga", "carl", "client")
    again = sealed.send("/accounts/add", name="carl")
    assert again.status_code == 422 and "there is an account" in again.text


@pytest.mark.parametrize(
    "form",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"name": "x", "credit": "-1"},
        {"name": "x", "credit": "much"},
        {"name": "x", "rate": "0"},
        {"name": "x", "rate": "fast"},
        {"name": "x", "rate": "1" * 5000},
        {"name": "x", "credit": "1" * 5000},
        {"name": "\u202ex"},
    ],
)
def test_an_account_that_is_none_is_not_added(sealed: ServedConsole, form: dict[str, Any]) -> None:
    sealed.log_in()
    before = sealed.accounts.list()
    assert sealed.send("/accounts/add", **form).status_code == 422
    assert sealed.accounts.list() == before


def test_credit_and_rate_are_set_and_an_account_revoked(sealed: ServedConsole) -> None:
    sealed.log_in()

    def ann() -> Any:
        return next(account for account in sealed.accounts.list() if account.name == "ann")

    assert sealed.send("/accounts/credit", name="ann", credit="12.25").status_code == 303
    assert ann().credit == 12_250_000_000
    assert "ann may now spend 12.25 credits in all." in text_of(sealed.page("/accounts"))
    sealed.send("/accounts/credit", name="ann", credit="")
    assert ann().credit is None
    sealed.send("/accounts/rate", name="ann", rate="5")
    assert ann().quotes_per_minute == 5
    sealed.send("/accounts/rate", name="ann", rate="")
    assert ann().quotes_per_minute is None
    sealed.send("/accounts/revoke", name="ann")
    assert ann().revoked
    assert sealed.send("/accounts/revoke", name="nobody").status_code == 422
    done = [line["done"] for line in sealed.lines("console")]
    assert done == ["log in", "set credit", "set credit", "set rate", "set rate", "revoke"]


def test_terms_list_credits_and_what_was_asked_for_are_shown(sealed: ServedConsole) -> None:
    sealed.clock.now = time()  # by which offers stand
    sealed.log_in()
    assert "by the list" not in text_of(sealed.page("/accounts")) and "Offers" not in text_of(sealed.page("/accounts"))
    wish = {"rate": 6250, "prepaid": 4 * 10**9, "days": 30}
    asked = sealed.client.post("/v1/offers", json=wish, headers={"Authorization": "Bearer token-of-ann"})
    assert asked.status_code == 200
    sealed.provider.till.agree("offer/1", Schedule.parse("0:50"), 400 * 10**9, 9, buyer="ann")
    shown, id = text_of(sealed.page("/accounts")), asked.json()["offer"]["id"]
    assert f"{id} ann asked 62.5 % of the list" in shown
    listed = sealed.provider.till.tab("ann").listed
    assert listed == sealed.provider.ledger.total("ann").spent > 0
    assert f"of {rounded_text(listed)} by the list" in shown
    assert "on its own terms: 50 % of the list, 400 of 400 prepaid left, until " in shown
    assert "ann terms accepted" in text_of(sealed.page("/ledger"))
    sealed.send("/ledger/verify")
    assert "are as they were written" in text_of(sealed.page("/ledger"))


def test_who_revokes_itself_is_out(sealed: ServedConsole) -> None:
    sealed.log_in()
    assert "This is you" in text_of(sealed.page("/accounts"))
    sealed.send("/accounts/revoke", name="olga")
    assert sealed.client.get("/console").status_code == 303


def test_the_ledger_is_verified_and_compared_with_what_others_have(sealed: ServedConsole) -> None:
    sealed.log_in()
    sealed.send("/ledger/verify")
    assert "entries are as they were written" in text_of(sealed.page("/ledger"))
    head = sealed.provider.ledger.head()
    noted = f" {head.entries}:{head.hash.upper()} "

    def told(pasted: str) -> str:
        answer = sealed.send("/ledger/compare", pasted=pasted)
        assert answer.status_code == 200
        (line,) = re.findall(r'<p class="notice \w+"[^>]*>(.*?)</p>', answer.text)
        return html.unescape(line)

    assert "still has this head" in told(noted)
    assert "It does not" in told(f"{head.entries}:{'0' * 64}")
    assert "It does not" in told(f"{head.entries + 5}:{head.hash}")
    bought = httpx.post(
        f"{sealed.url}/v1/purchases",
        headers={"Authorization": "Bearer token-of-ann", "Idempotency-Key": "k"},
        json={"request": {"tuple": {ID: "secret-id-40"}, "attribute": MED, "level": 1}, "ceiling": 10**12},
    ).json()["purchase"]
    assert "the very same" in told(json.dumps(bought))
    assert "altered" in told(json.dumps(bought["receipt"] | {"price": 1}))
    for wrong in ("hello", "{}", "[" * 5000):
        answer = sealed.send("/ledger/compare", pasted=wrong)
        assert answer.status_code == 422 and "ENTRIES:HASH" in answer.text


def test_a_broken_ledger_is_told_in_red(tmp_path: Path) -> None:
    import sqlite3

    with served_console(tmp_path) as console:
        console.log_in()
        with sqlite3.connect(tmp_path / "provider.ledger.db") as connection:
            connection.execute("UPDATE entry SET price = price + 1 WHERE sequence = 3")
        connection.close()
        console.send("/ledger/verify")
        assert "The ledger does not hold: entry 3 is altered" in text_of(console.page("/ledger"))
        assert "The ledger does not hold" in text_of(console.page())

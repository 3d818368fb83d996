"""The reconciliation API: what OpenRefine is told, what it buys, and what nobody learns from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from example_shop import OpenShop, Shop, error_of, example_provider, med
from reconcile_client import ReconcileClient, paid
from running_service import with_account

from pacas import example
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.provider.ledger.accounts import Role
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.server.reconcile.routes import LARGEST_FORM
from pacas.server.reconcile.row_ids import RowIds
from pacas.server.signing_key import SigningKey

DIAGNOSES = Hierarchy.from_rows([(name, "*") for name in ("osteoarthritis", "tendinitis", "migraine", "ulcer")])
TWO_SOLD: dict[str, Any] = {"policies": [], "hierarchies": {**example.hierarchies, "DIAG": DIAGNOSES}}
GEN, AGE = "GEN, with AGE as property", "AGE, with GEN as property"
CREDIT = 10**9


def sealed_provider(**more: Any) -> Provider:
    policy = Policy(("GEN",), ("MED",), {"MED": 0}, k=2, allow_linkage=True)
    told: dict[str, Any] = {"match": {"MED": example.md}, "policies": [policy], "hierarchies": example.hierarchies}
    told |= {"total": 6}
    return Provider(example.provider, **(told | more))


Connected = Callable[..., tuple[Shop, ReconcileClient]]


@pytest.fixture
def connect(open_shop: OpenShop) -> Iterator[Connected]:
    """A shop that OpenRefine may buy from, and a client with an account of 1 credit, or another."""
    with ExitStack() as stack:

        def connected(
            provider: Provider | None = None, credit: int = CREDIT, **settings: Any
        ) -> tuple[Shop, ReconcileClient]:
            shop = open_shop(provider or sealed_provider(), **{"reconcile": True} | settings)
            client = ReconcileClient(
                shop.url, with_account(shop.accounts, "refine", role=Role.RECONCILE, credit=credit)
            )
            stack.callback(client.close)
            return shop, client

        yield connected


def row(gender: str, age: Any, **more: Any) -> dict[str, Any]:
    """A row as OpenRefine asks about it when GEN is reconciled, and AGE comes along."""
    return {"query": gender, "type": GEN, "properties": [{"pid": "AGE", "v": age}], **more}


def id_of(client: ReconcileClient, gender: str = "male", age: str = "51") -> str:
    (candidate,) = client.queries(q0=row(gender, age))["q0"]
    return candidate["id"]


def spent(shop: Shop) -> tuple[int, int]:
    total = shop.provider.ledger.total("refine")
    return total.purchases, total.spent


# ---- who may call -------------------------------------------------------------------------------------------------


def test_it_is_off_unless_it_is_asked_for(open_shop: OpenShop) -> None:
    shop = open_shop()
    with_account(shop.accounts, "refine", role=Role.RECONCILE, credit=1)
    for path in ("", "/properties", "/columns"):
        path = f"/reconcile/token-of-refine{path}"
        assert error_of(shop.call("GET", path))[:2] == (404, "not_found")
    assert "access-control-allow-origin" not in shop.call("GET", "/reconcile/token-of-refine").headers


def test_its_tokens_open_nothing_else_and_no_other_token_opens_it(connect: Connected) -> None:
    shop, _ = connect()
    for path in ("/v1/catalogue", "/v1/account", "/v1/accounts", "/metrics", "/v1/purchases/k"):
        assert error_of(shop.call("GET", path, "refine"))[:2] == (403, "forbidden"), path
    assert error_of(shop.quotes(med("male", "51"), who="refine"))[:2] == (403, "forbidden")
    assert error_of(shop.buy("k", med("male", "51", 1), who="refine"))[:2] == (403, "forbidden")
    for who, status in (("ann", 403), ("olga", 403), ("eve", 401), ("nobody", 401)):
        for path in ("", "/properties", "/columns"):
            assert shop.call("GET", f"/reconcile/token-of-{who}{path}", None).status_code == status
    assert error_of(shop.call("GET", "/reconcile/" + "x" * 1001, None))[0] == 401


def test_a_revoked_token_buys_nothing_more(connect: Connected) -> None:
    shop, client = connect()
    id_ = id_of(client)
    shop.accounts.revoke("refine")
    told = client.send(data={"extend": json.dumps({"ids": [id_], "properties": [paid("MED")]})})
    assert told.status_code in (200, 401)  # it is believed for 100 ms, but for no sale
    assert spent(shop) == (0, 0)


def test_the_log_and_the_metrics_hold_no_token_and_no_value(connect: Connected) -> None:
    shop, client = connect()
    client.manifest()
    client.extend([id_of(client), "x"], paid("MED"))
    client.send("GET", "/elsewhere")
    client.send(data={"extend": "{"})
    log, metrics = shop.log.getvalue(), shop.call("GET", "/metrics", "olga").text
    assert {line["route"] for line in shop.log_lines()} >= {"/reconcile/{token}", "unknown"}
    assert {line["account"] for line in shop.log_lines() if line["route"].startswith("/reconcile")} == {"refine"}
    for text in (log, metrics):
        assert ("token-of" not in text and "51" not in text.replace("0.51", "")) or "ibuprofen" not in text
        assert "ibuprofen" not in text


def test_pages_of_any_origin_may_call_it_and_nothing_else(connect: Connected) -> None:
    shop, client = connect()
    asked = (client.send("GET"), client.send("GET", "/properties"), client.send(data={}), client.send("GET", "/no"))
    for response in (*asked, shop.call("GET", "/reconcile/unknown", None)):
        assert response.headers["access-control-allow-origin"] == "*", response.url
        assert response.headers["cache-control"] == "no-store"
    preflight = client.send("OPTIONS", headers={"Access-Control-Request-Method": "POST", "Origin": "http://x"})
    assert preflight.status_code == 204 and preflight.headers["access-control-allow-methods"] == "GET, POST"
    for path in ("/v1/catalogue", "/v1/health", "/v1/openapi.json", "/reconcile"):
        assert "access-control-allow-origin" not in shop.call("GET", path).headers, path
    assert shop.call("OPTIONS", "/v1/catalogue").status_code == 405


# ---- what it says of itself ---------------------------------------------------------------------------------------


def test_the_manifest_says_what_there_is_and_offers_no_search(connect: Connected) -> None:
    _, client = connect()
    told = client.manifest()
    assert not {"preview", "view", "feature_view"} & told.keys()
    assert told["suggest"] == {"property": {"service_url": client.address, "service_path": "/columns"}}  # no entity
    assert [one["id"] for one in told["defaultTypes"]] == [f"{GEN}: MED", f"{AGE}: MED"]
    assert told["extend"]["propose_properties"]["service_url"] == client.address
    level, pay, ceiling = told["extend"]["property_settings"]
    assert [one["value"] for one in level["choices"]] == ["finest", "0", "1", "2"]
    assert (pay["name"], pay["default"], ceiling["name"]) == ("pay", False, "ceiling")
    assert client.send("GET", "/").json() == told  # as people paste it


def test_the_address_is_the_one_that_its_owner_gives(connect: Connected) -> None:
    _, client = connect(reconcile="https://pacas.example.org/shop")
    service = client.manifest()["extend"]["propose_properties"]["service_url"]
    assert service == "https://pacas.example.org/shop/reconcile/token-of-refine"


def test_what_is_sold_is_proposed_for_the_rows_that_have_its_columns(connect: Connected) -> None:
    _, client = connect(sealed_provider(match={"MED": example.md, "DIAG": "AGE = AGE"}, **TWO_SOLD))
    types = [one["id"] for one in client.manifest()["defaultTypes"]]
    assert types == [f"{GEN}: MED, DIAG", f"{AGE}: MED, DIAG", "AGE: DIAG"]
    assert client.properties(type="AGE") == {"type": "AGE", "properties": [{"id": "DIAG", "name": "DIAG"}]}
    both = [{"id": name, "name": name} for name in ("MED", "DIAG")]
    assert client.properties(type=GEN)["properties"] == both == client.properties(type="other")["properties"]
    assert client.properties(limit=1)["properties"] == both[:1]


def test_names_of_columns_are_suggested_as_far_as_the_catalogue_publishes_them(connect: Connected) -> None:
    _, client = connect(sealed_provider(match={"MED": example.md, "DIAG": "AGE = AGE"}, **TWO_SOLD))
    of_all = {"GEN": "rows are found by it", "AGE": "rows are found by it", "MED": "is sold", "DIAG": "is sold"}
    assert client.suggested() == of_all
    assert [*client.suggested(prefix="ag")] == ["AGE", "DIAG", "GEN", "MED"]
    assert client.suggested(prefix="years", type=f"{GEN}: MED, DIAG") == {"AGE": "rows are found by it, with GEN"}
    assert client.suggested(type="AGE") == {} and client.suggested(type="no type of ours") == of_all


def test_no_column_is_suggested_that_is_in_the_table_alone(connect: Connected) -> None:
    _, client = connect()
    assert client.suggested().keys() == {"GEN", "AGE", "MED"} < set(example.provider.columns)


# ---- queries ------------------------------------------------------------------------------------------------------


def test_a_row_is_found_by_its_match_columns(connect: Connected) -> None:
    shop, client = connect()
    told = client.queries(
        found=row("male", "51"),
        number=row("male", 51),
        other_way={"query": "51", "type": AGE, "properties": [{"pid": "GEN", "v": "male"}]},
        several_types={"query": "51", "type": [AGE, "?"], "properties": [{"pid": "GEN", "v": ["male"]}]},
        by_name={
            "query": "row 7",
            "properties": [{"pid": "GEN", "v": {"id": "x", "name": "male"}}, {"pid": "AGE", "v": "51"}],
        },
        nobody=row("male", "99"),
    )
    ids = {key: [one["id"] for one in found] for key, found in told.items()}
    assert ids["found"] == ids["number"] == ids["other_way"] == ids["several_types"] == ids["by_name"]
    assert len(ids["found"]) == 1 and ids["nobody"] == []
    (candidate,) = told["found"]
    assert (candidate["match"], candidate["score"], candidate["name"]) == (True, 100, "male")
    assert candidate["description"] == "GEN male, AGE 51" and candidate["type"][0]["id"] == f"{GEN}: MED"
    assert told["by_name"][0]["name"] == "row 7"  # what OpenRefine writes in its place is what was there
    assert spent(shop) == (0, 0)


def test_what_does_not_say_all_columns_is_about_no_row_and_says_so(connect: Connected) -> None:
    """OpenRefine shows candidates and nothing else, so the one that is shown is what is missing."""
    shop, client = connect()
    told = client.queries(
        no_type={"query": "male", "properties": [{"pid": "AGE", "v": "51"}]},
        guessed={"query": "male", "limit": 3},
        unknown_type=row("male", "51") | {"type": "person"},
        other_name={"query": "male", "type": GEN, "properties": [{"pid": "years", "v": "51"}]},
        blank=row("male", ""),
        two_values=row("male", ["51", "52"]),
        nothing={"query": "", "type": GEN, "properties": [{"pid": "AGE", "v": "51"}]},
        none_wanted=row("male", "51", limit=0),
    )
    assert told.pop("none_wanted") == []
    said = {key: one["name"] for key, (one,) in told.items()}
    choose = f"choose a type to reconcile against, such as {GEN}: MED"
    assert said.pop("no_type") == said.pop("guessed") == said.pop("unknown_type") == choose
    assert said.pop("nothing") == "GEN is missing in this row: send that column along as property GEN"
    lacking = "AGE is missing in this row: send that column along as property AGE"
    assert said == dict.fromkeys(("other_name", "blank", "two_values"), lacking)
    assert {(one["match"], one["score"]) for (one,) in told.values()} == {(False, 100)}
    bought = client.extend([one["id"] for (one,) in told.values()], paid("MED"))
    assert {row["MED"] for row in bought.values()} == {None} and spent(shop) == (0, 0)


def test_all_columns_that_are_missing_are_named(connect: Connected) -> None:
    _, client = connect(sealed_provider(match={"MED": "GEN = GEN, AGE = AGE, ZIP = ZIP"}))
    (told,) = client.queries(q={"query": "male", "type": "GEN, with AGE and ZIP as properties"})["q"]
    assert told["name"] == "AGE and ZIP are missing in this row: send them along as properties"


def test_one_column_that_is_all_needs_no_type(connect: Connected) -> None:
    _, client = connect(sealed_provider(match={"MED": "AGE = AGE"}))
    assert len(client.queries(q={"query": "51"})["q"]) == 1


def test_a_text_whose_column_nobody_knows_hides_no_type(connect: Connected) -> None:
    """OpenRefine asks about texts alone, and shows no types but those of what it is answered."""
    _, client = connect(sealed_provider(match={"MED": example.md, "DIAG": "AGE = AGE"}, **TWO_SOLD))
    (told,) = client.queries(q={"query": "51", "limit": 3})["q"]
    assert told["type"] == []
    told = client.queries(short={"query": "51", "type": "AGE"}, shown={"query": "51", "type": "AGE: DIAG"})
    assert len(told["short"]) == 1 and told["short"] == told["shown"]


def test_columns_may_be_named_in_other_capitals(connect: Connected) -> None:
    _, client = connect()
    ages = [[{"pid": "AGE", "v": "51"}], [{"pid": "Age", "v": "51"}]]
    ages.append([*ages[0], {"pid": "age", "v": "99"}])  # the column's own name goes first
    told = client.queries(**{f"q{i}": {"query": "male", "type": GEN, "properties": age} for i, age in enumerate(ages)})
    assert told["q0"] == told["q1"] == told["q2"] != []


def test_rows_that_differ_are_no_certain_match(connect: Connected) -> None:
    _, client = connect(sealed_provider(match={"MED": "GEN = GEN"}, policies=[]))
    (candidate,) = client.queries(q={"query": "male"})["q"]
    assert (candidate["match"], candidate["score"]) == (False, 50)
    (told,) = client.extend([candidate["id"]], {"id": "MED"}).values()
    assert told == {"MED": "not sold (ambiguous)"}


def test_where_refusals_do_not_say_why_every_tuple_is_a_candidate(connect: Connected) -> None:
    """Or `queries` would tell for free who is in the table."""
    _, client = connect(example_provider())
    told = client.queries(found=row("male", "51"), nobody=row("male", "99"))
    assert [len(found) for found in told.values()] == [1, 1]
    assert told["found"][0].keys() == told["nobody"][0].keys()
    nobody = client.extend(
        [told["nobody"][0]["id"]],
        {"id": "MED"},
    )
    assert [*nobody.values()] == [{"MED": "not sold (refused)"}]


def test_ids_are_opaque_the_same_everywhere_and_nobody_elses() -> None:
    key, other = SigningKey.generate(), SigningKey.generate()
    ids, again = RowIds(key), RowIds(key)
    told = ids.of({"GEN": "Maja", "AGE": "51"})
    assert told == again.of({"AGE": "51", "GEN": "Maja"}) != RowIds(other).of({"GEN": "Maja", "AGE": "51"})
    assert again.row(told) == {"GEN": "Maja", "AGE": "51"}
    assert "Maja" not in told and told.replace("-", "").replace("_", "").replace("=", "").isalnum()
    for wrong in (told[:-4], told + "AAAA", "", "Q42", "é", told.swapcase(), "A" * 200):
        assert ids.row(wrong) is None
    assert RowIds(other).row(told) is None


# ---- extend -------------------------------------------------------------------------------------------------------


def test_without_settings_prices_are_told_and_nothing_is_bought(connect: Connected) -> None:
    shop, client = connect()
    id_ = id_of(client)
    price = "1 credit at level 0, 0.722222222 credits at level 1, 0.444444444 credits at level 2"
    for settings in ({}, {"pay": "on"}, {"ceiling": "1"}, {"pay": "", "ceiling": "1"}, {"pay": False, "ceiling": 1}):
        assert client.extend([id_], {"id": "MED", "settings": settings}) == {id_: {"MED": price}}, settings
    assert (
        client.extend([id_], {"id": "MED", "settings": {"level": "2"}})[id_]["MED"] == "0.444444444 credits at level 2"
    )
    assert (
        client.extend([id_], {"id": "MED", "settings": {"level": 7}})[id_]["MED"]
        == "not sold at level 7 (no such level)"
    )
    assert spent(shop) == (0, 0)
    told = client.send(data={"extend": json.dumps({"ids": [id_], "properties": [{"id": "MED"}]})}).json()
    assert told["meta"] == [{"id": "MED", "name": "MED (price; configure to buy)"}]  # a price is not taken for a value


def test_with_pay_and_a_ceiling_the_finest_within_it_is_bought(connect: Connected) -> None:
    shop, client = connect()
    id_ = id_of(client)
    assert client.extend([id_], paid("MED", "0.44"))[id_] == {"MED": None}
    assert spent(shop) == (0, 0)
    assert client.extend([id_], paid("MED", "0.75"))[id_] == {"MED": "NSAID"}
    assert spent(shop) == (1, 722_222_222)


@pytest.mark.parametrize(
    ("ceiling", "said"),
    [
        ("0,7", "the most to pay must be a number of credits, not '0,7'"),
        ("0.7 credits", "the most to pay must be a number of credits, not '0.7 credits'"),
        ("-1", "the most to pay must not be negative; 0 buys what is free"),
        ("1e9999", "the most to pay must be a finite number of credits, not '1e9999'"),
    ],
)
def test_a_ceiling_that_cannot_be_read_buys_nothing_and_is_told_where_it_is_seen(
    connect: Connected, ceiling: str, said: str
) -> None:
    """In the column's name: of an error OpenRefine shows its own words, whatever the answer says."""
    shop, client = connect()
    id_ = id_of(client)
    told = client.send(data={"extend": json.dumps({"ids": [id_], "properties": [paid("MED", ceiling)]})}).json()
    assert told["meta"] == [{"id": "MED", "name": f"MED (price; {said})"}]
    assert told["rows"][id_]["MED"][0]["str"].startswith("1 credit at level 0, ")
    assert spent(shop) == (0, 0)


def test_a_call_buys_for_ten_rows_at_most(connect: Connected) -> None:
    """OpenRefine adds a column with ten ids a call, and previews a page of up to a thousand rows in one."""
    shop, client = connect(credit=50 * CREDIT)
    id_, others = id_of(client), [f"no-id-{n}" for n in range(10)]
    asked = paid("MED", "1")
    told = client.extend([id_, *others], asked)
    assert told[id_]["MED"].startswith("1 credit at level 0, ") and spent(shop) == (0, 0)
    sent = {"extend": json.dumps({"ids": [id_, *others], "properties": [asked, {"id": "DIAG"}]})}
    assert client.send(data=sent).status_code == 422  # and what cannot be asked is told as ever
    sent = {"extend": json.dumps({"ids": [id_, *others], "properties": [asked]})}
    assert client.send(data=sent).json()["meta"] == [{"id": "MED", "name": "MED (price; OK buys it)"}]
    assert client.extend([id_, *others[1:]], asked)[id_] == {"MED": "ibuprofen"}
    assert client.extend([id_, id_, *others[1:]], asked)[id_] == {"MED": "ibuprofen"}
    assert spent(shop) == (1, CREDIT)


def test_the_manifest_says_how_many_queries_a_call_takes(connect: Connected) -> None:
    two = sealed_provider(match={"MED": example.md, "DIAG": example.md}, **TWO_SOLD)
    _, client = connect(two, quotes_per_minute=25)
    most = client.manifest()["batchSize"]
    assert most == 12
    assert len(client.queries(**{f"q{n}": row("male", "51") for n in range(most)})) == most
    assert connect(two)[1].manifest()["batchSize"] == 1000


def test_a_call_that_is_sent_again_is_charged_once(connect: Connected) -> None:
    """Also where what was bought makes a finer level affordable: that is another purchase, and nobody asked for it."""
    shop, client = connect(credit=5 * CREDIT)
    id_ = id_of(client)
    told = [client.extend([id_], paid("MED", "0.75"))[id_]["MED"] for _ in range(4)]
    assert told == ["NSAID"] * 4 and spent(shop) == (1, 722_222_222)
    assert client.extend([id_], paid("MED", level="0"))[id_]["MED"] == "ibuprofen"
    assert client.extend([id_], paid("MED", level="0"))[id_]["MED"] == "ibuprofen"
    assert spent(shop) == (2, CREDIT)
    again = client.extend([id_, id_], paid("MED", "0.75"))
    assert again[id_]["MED"] == "NSAID" and spent(shop) == (2, CREDIT)


def test_two_processes_charge_once(connect: Connected) -> None:
    ledger = MemoryLedger()
    one_shop, one = connect(sealed_provider(ledger=ledger))
    _, two = connect(sealed_provider(ledger=ledger))
    id_ = id_of(one)
    assert one.extend([id_], paid("MED", "0.75"))[id_]["MED"] == two.extend([id_], paid("MED", "0.75"))[id_]["MED"]
    assert spent(one_shop) == (1, 722_222_222)


def test_no_more_is_spent_than_the_credit(connect: Connected) -> None:
    shop, client = connect(credit=CREDIT)
    ids = [id_of(client, "male", "51"), id_of(client, "female", "32")]
    told = client.extend(ids, paid("MED"))
    assert [told[id_]["MED"] for id_ in ids] == ["ibuprofen", None]
    assert spent(shop) == (1, CREDIT)


def test_every_property_is_answered_for_every_row(connect: Connected) -> None:
    _, client = connect(sealed_provider(match={"MED": example.md, "DIAG": "ZIP = ZIP"}, **TWO_SOLD))
    ids = [id_of(client), "no-id-of-ours", id_of(client, "female", "32")]
    told = client.extend(ids, {"id": "MED"}, {"id": "DIAG"})
    assert [list(row) for row in told.values()] == [["MED", "DIAG"]] * 3
    assert told["no-id-of-ours"] == {"MED": None, "DIAG": None} and told[ids[0]]["DIAG"] is None


def test_each_question_counts_and_what_was_bought_before_does_not(connect: Connected) -> None:
    _, client = connect(quotes_per_minute=4)
    id_ = id_of(client)
    client.extend([id_], paid("MED"))
    for _ in range(5):
        client.extend([id_], paid("MED"))
    client.extend([id_], {"id": "MED"})
    client.extend([id_], {"id": "MED"})
    told = client.send(data={"extend": json.dumps({"ids": [id_], "properties": [{"id": "MED"}]})})
    assert error_of(told)[:2] == (429, "rate_limited") and int(told.headers["retry-after"]) > 0
    assert error_of(client.send(data={"queries": json.dumps({"q": row("male", "51")})}))[0] == 429


# ---- what cannot be answered --------------------------------------------------------------------------------------

EXTEND: list[tuple[Any, str]] = [
    ("{", "extend is not JSON"),
    ("[" * 100_000, "extend is not JSON"),
    ([], "extend: a JSON object is expected"),
    ({"ids": "x", "properties": []}, "ids: a list is expected"),
    ({"ids": [1.5, None], "properties": []}, "an id: a text is expected"),
    ({"ids": [], "properties": [{"id": "MEDS"}]}, "'MEDS' is not for sale; did you mean 'MED'?"),
    ({"ids": [], "properties": [{"id": "MED"}, {"id": "MED"}]}, "properties: one comes twice"),
    ({"ids": ["\ud800"], "properties": []}, "an id: half a character"),
    (
        {"ids": [], "properties": [{"id": "MED", "settings": {"level": "deep"}}]},
        "level: give a whole number, or finest",
    ),
    ({"ids": [], "properties": [{"id": "MED", "settings": 3}]}, "settings: a JSON object is expected"),
]


@pytest.mark.parametrize(("asked", "said"), EXTEND, ids=[said for _, said in EXTEND])
def test_one_line_says_what_is_wrong(connect: Connected, asked: Any, said: str) -> None:
    shop, client = connect()
    told = error_of(client.send(data={"extend": asked if isinstance(asked, str) else json.dumps(asked)}))
    assert told[0] in (400, 422) and told[2].startswith(said), told
    assert spent(shop) == (0, 0)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"q": {"query": "x" * 10_001}}, "query: more than 10,000 characters"),
        ({"q": {"query": 3, "type": {"id": "x"}}}, "type: a list is expected"),
        ({"q": []}, "a query: a JSON object is expected"),
        ({"q": {"query": "a", "properties": [{"v": "x"}]}}, "pid: a text is expected"),
    ],
)
def test_bad_queries_are_told(connect: Connected, asked: Any, said: str) -> None:
    _, client = connect()
    status, _, message = error_of(client.send(data={"queries": json.dumps(asked)}))
    assert status == 422 and message.startswith(said), message


def test_bodies_that_are_too_large_or_no_forms(connect: Connected) -> None:
    _, client = connect(max_body_bytes=2000, max_batch=3)
    assert error_of(client.send(data={"queries": "x" * 2000}))[0] == 413
    assert error_of(client.send(data={"queries": json.dumps({f"{n}": {"query": ""} for n in range(4)})}))[0] == 413
    many = {"ids": ["a", "b"], "properties": [{"id": "MED"}, {"id": "X"}]}
    assert error_of(client.send(data={"extend": json.dumps(many)}))[0] == 413
    assert error_of(client.send(json={"queries": {}}))[0] == 415
    assert error_of(client.send(data={"other": "x"}))[2] == "the form has neither queries nor extend"
    form = {"content-type": "application/x-www-form-urlencoded"}
    for body in (b"queries=%FF", b"\xff\xfe=1", b"a&" * 200):
        assert error_of(client.send(content=body, headers=form))[0] == 400, body
    assert error_of(client.send("PUT"))[0] == 405


def test_a_body_counts_by_its_bytes_and_is_never_large(connect: Connected) -> None:
    _, client = connect(quotes_per_minute=100)
    nothing = {"queries": "x" * 80_000}
    assert error_of(client.send(data=nothing))[0] == 400, "no JSON, and read to say so"
    assert error_of(client.send(data=nothing))[:2] == (429, "rate_limited")
    assert error_of(client.send(data={"queries": "x" * LARGEST_FORM}))[0] == 413


def test_queries_may_come_behind_a_question_mark_and_purchases_may_not(connect: Connected) -> None:
    shop, client = connect()
    told = client.send("GET", params={"queries": json.dumps({"q": row("male", "51")})}).json()
    id_ = told["q"]["result"][0]["id"]
    asked = {"extend": json.dumps({"ids": [id_], "properties": [paid("MED")]})}
    assert "versions" in client.send("GET", params=asked).json()
    assert spent(shop) == (0, 0)


# ---- other people's clients ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, which it has not kept up with
def test_the_reconciler_package_finds_rows(connect: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client from PyPI, as its own documentation calls it."""
    pandas = pytest.importorskip("pandas")
    reconciler = pytest.importorskip("reconciler")
    monkeypatch.setattr("reconciler.webutils.http.trust_env", False)
    _, client = connect()
    dirty = pandas.DataFrame({"AGE": ["51", "32"], "GEN": ["male", "female"]})
    told = reconciler.reconcile(
        dirty["AGE"], type_id=AGE, property_mapping={"GEN": dirty["GEN"]}, reconciliation_endpoint=client.address
    )
    assert told["input_value"].tolist() == ["51", "32"] and told["match"].all()
    assert told["id"].tolist() == [id_of(client, "male", "51"), id_of(client, "female", "32")]


def test_answers_at_sealed_quotes_have_one_length(connect: Connected) -> None:
    _, client = connect(credit=10 * CREDIT)

    def length(**form: Any) -> int:
        return len(client.send(data={key: json.dumps(value) for key, value in form.items()}).content)

    assert length(queries={"q": row("male", "51")}) == length(queries={"q": row("male", "99")})
    ids = [id_of(client, "male", "51"), id_of(client, "male", "79")]
    for asked in ({"id": "MED"}, {"id": "MED", "settings": {"level": "1"}}, paid("MED", "0.75"), paid("MED")):
        assert len({length(extend={"ids": [id_], "properties": [asked]}) for id_ in ids}) == 1, asked

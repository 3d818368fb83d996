"""Price lists over HTTP: what the catalogue says of them, who gets them, and how long they may be kept."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from example_shop import OpenShop, Shop, error_of

import pacas
from pacas import example
from pacas.provider.quoter.declared import Sealing
from pacas.wire.shapes.base import ARROW

POLICY = pacas.Policy(("GEN",), ("MED",), {"MED": 0}, k=2, allow_linkage=True)


def sealed(**more: Any) -> pacas.Provider:
    how: dict[str, Any] = {"match": {"MED": example.md}, "policies": [POLICY], "sealing": Sealing(), "total": 6}
    return pacas.Provider(example.provider, hierarchies=example.hierarchies, **(how | more))


@pytest.fixture
def shop(open_shop: OpenShop) -> Shop:
    return open_shop(sealed())


def offered(shop: Shop) -> Any:
    return shop.call("GET", "/v1/catalogue").json()["attributes"][0]["prices"]


def test_the_catalogue_says_what_most_keys_cost(shop: Shop) -> None:
    told = offered(shop)
    assert (told["keys"], told["linked"]) == (6, ["MED"])
    ladder = shop.provider.quote_batch("MED", {"GEN": ["male"], "AGE": ["51"]}).prices[0].tolist()
    assert {tuple(one["prices"]) for one in told["ladders"]} == {(10**9, *ladder[1:])}
    assert {one["floor"]: one["keys"] for one in told["ladders"]} == {0: 4, 3: 2}


def test_a_list_may_be_kept_for_ever_under_the_name_that_the_catalogue_gives(shop: Shop) -> None:
    path = offered(shop)["path"]
    answer = shop.call("GET", path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, ARROW)
    assert "immutable" in answer.headers["cache-control"]
    etag = answer.headers["etag"]
    plain = shop.call("GET", "/v1/prices/MED")
    assert plain.content == answer.content
    assert (plain.headers["cache-control"], plain.headers["etag"]) == ("private, no-cache", etag)
    again = shop.call("GET", "/v1/prices/MED", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert shop.call("GET", "/v1/prices/MED", headers={"If-None-Match": '"other"'}).status_code == 200


def test_nobody_is_named_in_a_list(shop: Shop) -> None:
    content = shop.call("GET", "/v1/prices/MED").content
    columns = (*example.provider.columns,)
    texts = {value for column in columns for value in example.provider.table[column].to_pylist()}
    assert not [text for text in texts if len(text) > 2 and text.encode() in content]
    table = pa.ipc.open_stream(content).read_all()
    assert (table.num_rows, table.column_names) == (6, ["digest", "unit", "kind", "floor"])


def test_who_gets_a_list(shop: Shop) -> None:
    assert error_of(shop.call("GET", "/v1/prices/MED", None))[:2] == (401, "unauthorized")
    assert error_of(shop.call("GET", "/v1/prices/MED", "olga"))[:2] == (403, "forbidden")
    assert error_of(shop.call("GET", "/v1/prices/DIAG"))[:2] == (404, "not_found")


@pytest.mark.parametrize(
    ("provider", "settings"),
    [({}, {"publish_prices": False}), ({"sealing": None, "policies": (), "quotes": "paper"}, {})],
    ids=["the owner does not publish them", "the paper's quotes follow values"],
)
def test_where_there_is_none(open_shop: OpenShop, provider: dict[str, Any], settings: dict[str, Any]) -> None:
    shop = open_shop(sealed(**provider), **settings)
    assert offered(shop) is None
    assert error_of(shop.call("GET", "/v1/prices/MED"))[:2] == (404, "not_found")


def test_another_table_has_another_version(open_shop: OpenShop) -> None:
    fewer = pacas.Provider(
        {column: example.provider.table[column].to_pylist()[:5] for column in example.provider.columns},
        match={"MED": example.md},
        policies=[POLICY],
        hierarchies=example.hierarchies,
        total=6,
        sealing=Sealing(),
    )
    assert offered(open_shop(fewer))["path"] != offered(open_shop(sealed()))["path"]
    assert offered(open_shop(sealed()))["path"] == offered(open_shop(sealed()))["path"]

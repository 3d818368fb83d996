"""What an operator can watch: logs, metrics, health and readiness, and the catalogue that all can read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from example_shop import OpenShop, Shop, error_of, med

from pacas import example
from pacas.core.hierarchy import Hierarchy
from pacas.errors import StorageError
from pacas.provider.ledger.chain import Head
from pacas.provider.ledger.entry import Entry
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.wire.shapes.catalogue import Catalogue

VALUES = sorted(
    {str(value) for column in ("MED", "DIAG", "ZIP") for value in example.provider.table[column].to_pylist()}
)


def use(shop: Shop) -> None:
    """All kinds of calls."""
    shop.quotes(med("male", "51", 1), med("male", "45", 1))
    shop.quotes(med("secret-gender", "secret-age", 1))
    shop.quotes(med("male", "51", 9))
    shop.buy("secret-key", med("male", "51", 1))
    shop.call("GET", "/v1/purchases/secret-key")
    shop.call("GET", "/v1/account?after=0&limit=7")
    shop.call("GET", "/v1/secret-path?secret-query=1")
    shop.call("GET", "/v1/account", "secret-token")
    shop.call("PROPFIND", "/v1/account")
    shop.call("GET", "/metrics", "olga")


def test_a_line_per_call_and_nothing_secret_in_it(shop: Shop) -> None:
    use(shop)
    lines = shop.log_lines()
    told = [(line["method"], line["route"], line["status"], line.get("account")) for line in lines]
    assert told == [
        ("POST", "/v1/quotes", 200, "ann"),
        ("POST", "/v1/quotes", 200, "ann"),
        ("POST", "/v1/quotes", 422, "ann"),
        ("POST", "/v1/purchases", 200, "ann"),
        ("GET", "/v1/purchases/{id}", 200, "ann"),
        ("GET", "/v1/account", 200, "ann"),
        ("GET", "unknown", 404, None),
        ("GET", "/v1/account", 401, None),
        ("other", "/v1/account", 405, None),
        ("GET", "/metrics", 200, "olga"),
    ]
    assert all(line["event"] == "request" and line["ms"] >= 0 and line["timestamp"] for line in lines)
    log = shop.log.getvalue()
    assert "secret" not in log and "token-of" not in log
    assert not [value for value in [*VALUES, "NSAID", "male"] if value in log]


def test_metrics_count_and_name_nobody(shop: Shop) -> None:
    use(shop)
    text = shop.call("GET", "/metrics", "olga").text
    for line in (
        'pacas_requests_total{method="POST",route="/v1/quotes",status="200"} 2.0',
        'pacas_requests_total{method="GET",route="unknown",status="404"} 1.0',
        'pacas_request_seconds_count{route="/v1/quotes"} 3.0',
        'pacas_refusals_total{of="quote"} 2.0',
        "pacas_purchases_total 1.0",
        "pacas_credits_sold_total 0.7",
    ):
        assert line in text.splitlines(), line
    assert float(re.findall(r"^pacas_quotes_total (.*)$", text, re.MULTILINE)[0]) >= 1
    assert not [word for word in ("ann", "olga", "secret", "PROPFIND", *VALUES) if word in text]


def test_a_retry_is_no_sale(shop: Shop) -> None:
    for _ in range(3):
        shop.buy("k", med("male", "51", 1))
    shop.buy("l", med("male", "51", 0))
    text = shop.call("GET", "/metrics", "olga").text.splitlines()
    assert "pacas_purchases_total 3.0" in text
    assert "pacas_credits_sold_total 0.7" in text
    assert 'pacas_refusals_total{of="purchase"} 1.0' in text


def test_it_is_ready_while_the_ledger_can_be_reached(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> Any:
        raise StorageError("the ledger is away")

    def until(status: int) -> None:
        for _ in range(5000):
            answer = shop.call("GET", "/v1/ready", None)
            if answer.status_code == status:
                return
        raise AssertionError(f"never {status}")

    until(200)
    with monkeypatch.context() as broken:
        broken.setattr(shop.provider.ledger, "after", away)
        until(503)
        assert error_of(shop.call("GET", "/v1/ready", None))[1] == "unavailable"
        assert shop.call("GET", "/v1/health", None).json() == {"status": "ok"}
    until(200)
    events = [line["event"] for line in shop.log_lines() if line["event"] != "request"]
    assert events == ["ledger is away", "ledger is back"], "said once, not every time"


def test_a_ledger_that_has_not_grown_is_not_read_again(open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    after = MemoryLedger.after

    def counted(ledger: MemoryLedger, known: Head) -> list[Entry]:
        entries = after(ledger, known)
        found.append(len(entries))
        return entries

    shop = open_shop()
    monkeypatch.setattr(MemoryLedger, "after", counted)
    for more in (0, 1):
        if more:
            shop.buy("k", med("male", "51", 1))
        seen = len(found)
        while len(found) < seen + 3:
            shop.call("GET", "/v1/health", None)
    assert sum(found) <= 1, "what was sold here is known here, if not by the refresh that was faster"


def test_the_catalogue_tells_the_terms(open_shop: OpenShop) -> None:
    shop = open_shop(max_batch=7, max_body_bytes=5000, quotes_per_minute=100, reasons=True)
    document = shop.call("GET", "/v1/catalogue").json()
    catalogue = Catalogue.model_validate(document)
    (offer,) = catalogue.attributes
    assert (offer.attribute, offer.columns, offer.height) == ("MED", ["GEN", "AGE"], 3)
    assert document["limits"] == {"max_body_bytes": 5000, "max_batch": 7, "max_run": 7, "quotes_per_minute": 100}
    assert (document["reasons"], document["currency"]) == (True, "nanocredits")
    assert offer.hierarchy is not None
    rebuilt = Hierarchy.from_rows(offer.hierarchy.levels, numeric=offer.hierarchy.numeric)
    assert rebuilt.labels == example.med.labels and rebuilt.ancestors.tolist() == example.med.ancestors.tolist()


def test_values_that_stand_in_no_hierarchy_are_not_published(open_shop: OpenShop) -> None:
    match = {"DIAG": "GEN = GEN, AGE = AGE"}
    provider = Provider(example.provider, match=match, hierarchies={"AGE": example.age}, quotes="paper")
    answer = open_shop(provider).call("GET", "/v1/catalogue")
    (offer,) = answer.json()["attributes"]
    assert offer == {"attribute": "DIAG", "columns": ["GEN", "AGE"], "height": 1, "hierarchy": None} | {
        "may_be_absent": False,
        "prices": None,
        "costs": None,
        "bounds": None,
        "is_sealed": False,
        "floor": 0,
    }
    assert not [value for value in VALUES if value in answer.text]


def test_a_numeric_hierarchy_is_published_as_one(open_shop: OpenShop) -> None:
    provider = Provider(example.provider, match={"AGE": "GEN = GEN, ZIP = ZIP"}, hierarchies={"AGE": example.age})
    (offer,) = Catalogue.model_validate(open_shop(provider).call("GET", "/v1/catalogue").json()).attributes
    assert offer.hierarchy is not None and offer.hierarchy.numeric == example.age.numeric
    rebuilt = Hierarchy.from_rows(offer.hierarchy.levels, numeric=offer.hierarchy.numeric)
    assert rebuilt.labels == example.age.labels

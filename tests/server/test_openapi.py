"""The OpenAPI document: every path, every answer, and the one shape of errors; and the service keeps to it."""

from __future__ import annotations

from typing import Any

import pytest
from example_shop import Shop, med

from pacas.server.openapi import OPERATIONS
from pacas.wire.shapes.accounts import AccountAnswer, AccountLine
from pacas.wire.shapes.purchases import PastPurchase, PurchasesAnswer
from pacas.wire.shapes.quotes import QuotesAnswer
from pacas.wire.shapes.receipts import KeyAnswer

PATHS = {
    "/v1/catalogue": ["get"],
    "/v1/quotes": ["post"],
    "/v1/quotes/{attribute}": ["post"],
    "/v1/prices/{attribute}": ["get"],
    "/v1/purchases": ["post"],
    "/v1/runs": ["post"],
    "/v1/purchases/{id}": ["get"],
    "/v1/circle/{key}": ["get", "put"],
    "/v1/offers": ["get", "post"],
    "/v1/offers/{id}/accept": ["post"],
    "/v1/offers/{id}/withdraw": ["post"],
    "/v1/account": ["get"],
    "/v1/accounts": ["get"],
    "/v1/log": ["get"],
    "/v1/log/proofs": ["post"],
    "/v1/key": ["get"],
    "/v1/health": ["get"],
    "/v1/ready": ["get"],
    "/metrics": ["get"],
}


@pytest.fixture(scope="module")
def document(shop_of_all: Shop) -> Any:
    return shop_of_all.call("GET", "/v1/openapi.json", None).json()


def references(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [node["$ref"]] if "$ref" in node else [r for part in node.values() for r in references(part)]
    return [r for part in node for r in references(part)] if isinstance(node, list) else []


def test_every_path_is_there(document: Any) -> None:
    assert {path: list(operations) for path, operations in document["paths"].items()} == PATHS
    assert len(OPERATIONS) == sum(map(len, PATHS.values()))


def test_every_reference_leads_somewhere(document: Any) -> None:
    schemas = document["components"]["schemas"]
    found = references(document)
    assert found
    assert {r.removeprefix("#/components/schemas/") for r in found} <= set(schemas)
    assert "HTTPValidationError" not in schemas


def test_every_failure_has_the_one_shape(document: Any) -> None:
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert {"200", "500"} <= set(operation["responses"]), path
            for status, response in operation["responses"].items():
                if status != "200":
                    schema = response["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ErrorBody"}, (path, status)
    assert "Retry-After" in document["paths"]["/v1/quotes"]["post"]["responses"]["429"]["headers"]


def test_it_says_who_needs_a_token_and_what_is_sent(document: Any) -> None:
    open_paths = {path for path, ops in document["paths"].items() for op in ops.values() if op["security"] == []}
    assert open_paths == {"/v1/key", "/v1/health", "/v1/ready"}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            has_body = method in ("post", "put") and not path.startswith("/v1/offers/")
            assert ("requestBody" in operation) == has_body, path
            assert ("401" in operation["responses"]) == (path not in open_paths), path
            named = [p["name"] for p in operation.get("parameters", []) if p["in"] == "path"]
            assert named == [part[1:-1] for part in path.split("/") if part.startswith("{")]
    (key,) = document["paths"]["/v1/purchases"]["post"]["parameters"]
    assert (key["name"], key["in"], key["required"]) == ("Idempotency-Key", "header", True)


def test_answers_are_what_the_document_says(shop: Shop) -> None:
    QuotesAnswer.model_validate_json(shop.quotes(med("male", "51"), med("male", "51", 1), med("m", "1", 1)).content)
    PurchasesAnswer.model_validate_json(shop.buy_many("k", med("male", "51", 1), med("male", "51", 0)).content)
    PastPurchase.model_validate_json(shop.call("GET", "/v1/purchases/k/0").content)
    AccountAnswer.model_validate_json(shop.call("GET", "/v1/account").content)
    KeyAnswer.model_validate_json(shop.call("GET", "/v1/key", None).content)
    for line in shop.call("GET", "/v1/accounts", "olga").json():
        AccountLine.model_validate(line)

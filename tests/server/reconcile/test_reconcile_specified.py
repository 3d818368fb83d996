"""What we promise is no looser than the specification, and what that lets a client ask is answered as it says."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import pytest
from example_shop import OpenShop
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from lanes import many_examples
from published_schemas import FOLDER, VARIABLE, published
from reconcile_client import ReconcileClient, paid
from reconcile_schemas import EXTENSION, PROMISED, RESULTS, check
from running_service import with_account
from specified_schemas import VALIDATORS

from pacas.provider.ledger.accounts import Role

GEN = "GEN, with AGE as property"
QUERIES: dict[str, Any] = {
    "q0": {"query": "male", "type": GEN, "limit": 3, "properties": [{"pid": "AGE", "v": 51}], "type_strict": "any"},
    "q1": {"query": "x", "type": [GEN, "?"], "properties": [{"pid": "AGE", "v": [{"id": "51", "name": "51"}, True]}]},
    "q2": {"properties": [{"pid": "GEN", "v": "male"}, {"pid": "AGE", "v": "51"}]},
}
CELLS: list[Any] = [
    {},
    {"str": "x"},
    {"float": 0.5},
    {"int": 1},
    {"date": "2016-05-23T00:00:00Z"},
    {"id": "x", "name": "x"},
]
SETTING = {"label": "x", "name": "x", "help_text": "x"}
KNOWN: dict[str, list[Any]] = {
    "manifest": [
        {
            **{"versions": ["0.1", "0.2"], "name": "x", "identifierSpace": "x", "schemaSpace": "x", "logo": "x"},
            **{"documentation": "x", "serviceVersion": "1", "view": {"url": "x/{{id}}"}},
            "feature_view": {"url": "x/{{id}}"},
            "defaultTypes": [{"id": "x", "name": "x", "description": "x", "broader": [{"id": "y", "name": "y"}]}],
            "suggest": {
                "entity": {"service_url": "x", "service_path": "x"},
                "type": {"flyout_service_url": "x", "flyout_service_path": "x${id}"},
            },
            "preview": {"url": "x/{{id}}", "width": 1, "height": 2},
            "extend": {
                "propose_properties": {"service_url": "x", "service_path": "x"},
                "property_settings": [
                    {"type": "number", "default": 1.5, **SETTING},
                    {"type": "text", "default": "x", **SETTING},
                    {"type": "checkbox", "default": True, **SETTING},
                    {"type": "select", "default": "x", "choices": [{"value": "x", "name": "x"}], **SETTING},
                ],
            },
        }
    ],
    "reconciliation-query-batch": [QUERIES],
    "reconciliation-result-batch": [
        {
            "q0": {
                "result": [
                    {
                        **{"id": "x", "name": "x", "score": 0.5, "description": "x", "match": False},
                        "features": [{"id": "x", "value": True}, {"id": "y", "value": 0.5}],
                        "type": ["x", {"id": "x", "name": "x"}],
                    }
                ]
            }
        }
    ],
    "data-extension-query": [{"ids": ["x"], "properties": [{"id": "x", "settings": {"y": 1}}]}],
    "data-extension-response": [
        {
            "meta": [{"id": "x", "name": "x", "type": {"id": "x", "name": "x"}, "service": "https://x.example"}],
            "rows": {"y": {"x": CELLS}},
        }
    ],
    "suggest-properties-response": [{"result": [{"id": "x", "name": "x", "description": "x"}]}],
}
"""One of each kind that says all that may be said."""
ODD: list[Any] = [None, True, 0, -1, 2.5, "", "0.2", "any", "é\n", [], {}, [{}], {"id": "x"}, {"str": "x"}, ["0.2"]]
NAMES = ["id", "name", "str", "type", "limit", "view", "query", "pid", "v", "result", "default", "date", "extra"]
TRIED = many_examples(2000, suppress_health_check=[HealthCheck.too_slow])
ASKED = many_examples(300, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def client(open_shop_for_all: OpenShop) -> Iterator[ReconcileClient]:
    shop = open_shop_for_all(reconcile=True, reasons=True, quotes_per_minute=10**6)
    token = with_account(shop.accounts, "refine", role=Role.RECONCILE, credit=5 * 10**9)
    opened = ReconcileClient(shop.url, token)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def documents(client: ReconcileClient) -> dict[str, list[Any]]:
    """One or two of each kind that are right, as they go over the wire."""
    (row,) = client.queries(q0=QUERIES["q0"])["q0"]
    extensions = [{"ids": [row["id"], "?"], "properties": [asked]} for asked in ({"id": "MED"}, paid("MED"))]
    return {
        "manifest": [client.manifest()],
        "reconciliation-query-batch": [QUERIES],
        "reconciliation-result-batch": [client.send(data={"queries": json.dumps(QUERIES)}).json()],
        "data-extension-query": extensions,
        "data-extension-response": [client.send(data={"extend": json.dumps(sent)}).json() for sent in extensions],
        "suggest-properties-response": [client.send("GET", "/columns").json()],
    }


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Where something stands in a document: a container, and its key there."""
    for key in [*document] if isinstance(document, dict) else range(len(document)):
        yield document, key
        if isinstance(document[key], dict | list):
            yield from places(document[key])


def spoilt(document: Any, draw: Callable[..., Any]) -> Any:
    """The document with up to three things left out, put in another's place, called otherwise or added."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(0, 3))):
        within, key = draw(st.sampled_from([*places(changed)]))
        match draw(st.sampled_from(["left out", "another", "added"])):
            case "another":
                within[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "added" if isinstance(within, dict):
                within[draw(st.sampled_from(NAMES))] = within[key]
            case "added":
                within.append(within[key])
            case _:
                del within[key]
        if not changed:
            break
    return changed


@ASKED
@given(data=st.data())
def test_what_we_promise_is_as_specified(documents: dict[str, list[Any]], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*PROMISED]))
    document = spoilt(data.draw(st.sampled_from(documents[name])), data.draw)
    if jsonschema_rs.is_valid(PROMISED[name], document, validate_formats=True):
        VALIDATORS[name].validate(document)


@pytest.mark.parametrize("name", KNOWN)
def test_all_that_may_be_said_may_be(name: str) -> None:
    VALIDATORS[name].check_schema(VALIDATORS[name].schema)
    VALIDATORS[name].validate(KNOWN[name][0])


@pytest.mark.skipif(
    FOLDER is None, reason=f"{VARIABLE} names no folder that holds 0.2/schemas of github.com/reconciliation-api/specs"
)
@TRIED
@given(data=st.data())
def test_the_published_schemas_let_the_same_pass(documents: dict[str, list[Any]], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*KNOWN]))
    document = spoilt(data.draw(st.sampled_from(documents[name] + KNOWN[name])), data.draw)
    assert VALIDATORS[name].is_valid(document) == published(name).is_valid(document)


@ASKED
@given(data=st.data())
def test_whatever_may_be_asked_is_answered(
    client: ReconcileClient, documents: dict[str, list[Any]], data: st.DataObject
) -> None:
    """But for settings that we know and cannot read, and what is not for sale: those are told."""
    name = data.draw(st.sampled_from(["reconciliation-query-batch", "data-extension-query"]))
    document = spoilt(data.draw(st.sampled_from(documents[name])), data.draw)
    assume(VALIDATORS[name].is_valid(document))
    is_query = name == "reconciliation-query-batch"
    told = client.send(data={"queries" if is_query else "extend": json.dumps(document)})
    if is_query or told.status_code == 200:
        assert told.status_code == 200, told.text
        check(told.json(), RESULTS if is_query else EXTENSION)
    else:
        said = told.json()["error"]["message"]
        assert told.status_code == 422 and said.split()[0] in {"level:", "ceiling", "properties:"} | {
            word for word in said.split()[:1] if "is not for sale" in said
        }, said

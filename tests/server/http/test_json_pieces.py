"""Large bodies are read piece by piece: what is read is the same, and a mistake is told where it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from example_shop import OpenShop, med
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.server.http.failures import Failure
from pacas.server.http.json_pieces import LARGEST_OBJECT, PIECE, read_pieces
from pacas.wire.shapes.quotes import quotes_reader

JSON_BODY = {"Content-Type": "application/json"}
READ = quotes_reader(100_000)
ODD = ["},{", '},{"', '},{"tuple":{"a', "\\", '\\"', "]}", "\\},{", "é", "", " } , { "]


def read(body: bytes, most: int = 100_000) -> list[Any]:
    return [one for some in read_pieces(body, "requests", most, lambda piece: READ(piece).requests) for one in some]


@examples(40)
@given(st.lists(st.sampled_from(ODD), min_size=3, max_size=3), st.sampled_from([(",", ":"), (" ,\n", " : ")]))
def test_pieces_are_the_whole_whatever_is_in_the_texts(texts: list[str], separators: tuple[str, str]) -> None:
    key, value, attribute = texts
    request = {"tuple": {key or "k": value, "x": value + key}, "attribute": attribute or "a", "level": 1}
    requests = [request, {"tuple": {}, "attribute": "b"}] * (4 * PIECE // len(json.dumps(request)))
    body = json.dumps({"requests": requests}, separators=separators).encode()
    assert read(body) == READ(body).requests


def test_no_piece_is_large() -> None:
    sizes: list[int] = []

    def note(piece: bytes) -> list[Any]:
        sizes.append(len(piece))
        return READ(piece).requests

    body = json.dumps({"requests": [med("male", "51", 1)] * 20_000}).encode()
    assert sum(map(len, read_pieces(body, "requests", 100_000, note))) == 20_000
    assert max(sizes) < 2 * PIECE and sum(sizes) > len(body) * 0.95


def test_a_mistake_in_a_large_body_is_told_where_it_is(open_shop: OpenShop) -> None:
    shop = open_shop()
    requests: list[Any] = [med("male", "51", 1)] * 2000
    requests[1234] = med("male", "51", -1)
    told = shop.quotes(*requests)
    assert told.status_code == 422 and "requests.1234.level" in told.text
    whole = json.dumps({"requests": [med("male", "51", 1)] * 2000}).encode()
    between = whole.index(b"}, {", 50_000) + 1
    wrong = whole[:between] + b"?" + whole[between:]
    said = shop.call("POST", "/v1/quotes", headers=JSON_BODY, content=wrong)
    assert said.status_code == 400 and "counted from byte" in said.text
    assert shop.quotes(*[med("male", "51", 1)] * 2000).status_code == 200


@pytest.mark.attack
@pytest.mark.parametrize(
    "body",
    [
        b'{"requests":[' + b"0," * LARGEST_OBJECT + b"0]}",
        b'{"other":[' + b"0," * LARGEST_OBJECT + b'0],"requests":[]}',
        b'{"requests":[{"tuple":{' + b'"a":"b",' * LARGEST_OBJECT + b'"c":"d"},"attribute":"MED"}]}',
        b'{"requests":' + b"[" * 2 * LARGEST_OBJECT + b"}",
        b"{" + b" " * 2 * LARGEST_OBJECT + b"}",
        b"]}" * LARGEST_OBJECT,
    ],
    ids=["numbers", "another list", "one large tuple", "brackets", "spaces", "ends"],
)
def test_what_cannot_be_cut_is_not_taken_apart(body: bytes) -> None:
    pieces: list[int] = []

    def note(piece: bytes) -> list[Any]:
        pieces.append(len(piece))
        return READ(piece).requests

    with pytest.raises(Failure):
        list(read_pieces(body, "requests", 100_000, note))
    assert sum(pieces) <= LARGEST_OBJECT


def test_too_many_are_refused_before_all_are_read() -> None:
    body = json.dumps({"requests": [med("male", "51", 1)] * 20_000}).encode()
    with pytest.raises(Failure, match="more than the 500 requests"):
        read(body, 500)


def test_a_large_call_of_many_purchases_is_read_in_pieces(open_shop: OpenShop) -> None:
    shop = open_shop()
    asked = [{"request": med("male", "51", 1), "ceiling": 0}] * 4000
    asked[3456] = asked[0] | {"ceiling": -1}
    body = json.dumps({"purchases": asked}).encode()
    assert len(body) > LARGEST_OBJECT
    told = shop.call("POST", "/v1/purchases", headers=JSON_BODY | {"Idempotency-Key": "k"}, content=body)
    assert told.status_code == 422 and "purchases.3456.ceiling" in told.text
    assert shop.provider.ledger.total("ann").purchases == 0

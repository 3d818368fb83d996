"""Quotes over HTTP: one, many, all levels, in JSON and in Arrow."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_streams import compressed_by_metadata
from example_shop import OpenShop, Shop, error_of, med

from pacas import example
from pacas.protocol.messages import Reason, refused
from pacas.provider.provider import Provider
from pacas.wire.shapes.base import ARROW

LADDER = [{"refused": "refused"}, {"price": 700_000_000}, {"price": 400_000_000}, {"price": 0}]


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, **options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def ask_arrow(shop: Shop, table: pa.Table | bytes, attribute: str = "MED") -> Any:
    body = table if isinstance(table, bytes) else stream(table)
    return shop.call("POST", f"/v1/quotes/{attribute}", headers={"Content-Type": ARROW}, content=body)


def test_one_request_at_one_level(shop_of_all: Shop) -> None:
    answer = shop_of_all.quotes(med("male", "51", 1))
    assert (answer.status_code, answer.json()) == (200, {"quotes": [{"price": 700_000_000}]})


def test_without_a_level_all_levels_are_quoted(shop_of_all: Shop) -> None:
    assert shop_of_all.quotes(med("male", "51")).json() == {"quotes": [{"levels": LADDER}]}


def test_many_are_answered_in_their_order(shop_of_all: Shop) -> None:
    asked = [med("male", "51", 2), med("male", "45", 1), med("male", "51"), med("female", "45", 3)]
    told = shop_of_all.quotes(*asked).json()["quotes"]
    assert told == [{"price": 400_000_000}, {"refused": "refused"}, {"levels": LADDER}, {"price": 0}]
    assert shop_of_all.quotes().json() == {"quotes": []}


def test_a_large_batch_gets_what_each_request_alone_gets(shop_of_all: Shop) -> None:
    asked = [med(gender, str(age), level) for gender in ("male", "female") for age in range(30, 80) for level in (1, 2)]
    alone = [shop_of_all.quotes(one).json()["quotes"][0] for one in asked]
    assert shop_of_all.quotes(*asked).json()["quotes"] == alone


def test_a_null_matches_nothing_and_is_no_mistake(shop_of_all: Shop) -> None:
    request = {"tuple": {"GEN": None, "AGE": "51"}, "attribute": "MED", "level": 1}
    assert shop_of_all.quotes(request).json() == {"quotes": [{"refused": "refused"}]}


def test_refusals_say_why_only_where_the_provider_wants_it(open_shop: OpenShop) -> None:
    asked = med("male", "51", 0), med("male", "45", 1)
    assert open_shop().quotes(*asked).json()["quotes"] == [{"refused": "refused"}] * 2
    assert open_shop(reasons=True).quotes(*asked).json()["quotes"] == [{"refused": "unsafe"}, {"refused": "no_match"}]


def test_quotes_follow_what_the_account_has_bought(shop: Shop) -> None:
    shop.buy("a", med("male", "51", 1))
    assert shop.quotes(med("male", "51", 1)).json() == {"quotes": [{"price": 0}]}
    assert shop.quotes(med("male", "51", 1), who="bob").json() == {"quotes": [{"price": 700_000_000}]}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"tuple": {"GEN": "m"}, "attribute": "MED", "level": 1}, "the match needs column 'AGE'"),
        ({"tuple": {}, "attribute": "DIAG", "level": 1}, "'DIAG' is not for sale; there is MED"),
        ({"tuple": {}, "attribute": "MEDS"}, "did you mean 'MED'?"),
        (med("m", "51", 4), "no level 4 in the hierarchy of 'MED'"),
        (
            {"tuple": {"GEN": "m", "AGE": "51", "FOO": None}, "attribute": "MED", "level": 1},
            "column 'FOO' is not one that the match of MED needs; it needs GEN, AGE",
        ),
        ({"tuple": {"GEN": "m", "age": "51"}, "attribute": "MED"}, "column 'age' is not one"),
    ],
)
@pytest.mark.parametrize("more", [0, 1, 200], ids=["alone", "beside another", "in a large batch"])
def test_what_the_provider_does_not_have_is_said(shop_of_all: Shop, request_: Any, said: str, more: int) -> None:
    status, code, message = error_of(shop_of_all.quotes(*[med("male", "51", 1)] * more, request_))
    assert (status, code) == (422, "unprocessable")
    assert said in message


# ---- Arrow ----------------------------------------------------------------------------------------------------------


def test_arrow_in_arrow_out(open_shop: OpenShop) -> None:
    tuples = pa.table({"GEN": ["male", "male", None], "AGE": ["51", "45", "51"]})
    answer = ask_arrow(open_shop(reasons=True), tuples)
    assert answer.headers["content-type"] == ARROW
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.schema == pa.schema([(str(level), pa.int64()) for level in range(4)])
    none = refused(Reason.NO_MATCH)
    assert table.to_pydict() == {
        "0": [refused(Reason.UNSAFE), none, none],
        "1": [700_000_000, none, none],
        "2": [400_000_000, none, none],
        "3": [0, none, none],
    }


def test_in_arrow_too_a_refusal_says_no_more_than_that(shop_of_all: Shop) -> None:
    tuples = pa.table({"GEN": ["male", "male"], "AGE": ["51", "45"]})
    prices = np.array(pa.ipc.open_stream(ask_arrow(shop_of_all, tuples).content).read_all().to_pydict()["0"])
    assert prices.tolist() == [refused(Reason.REFUSED)] * 2


def test_no_tuples_no_prices(shop_of_all: Shop) -> None:
    empty = pa.table({"GEN": pa.array([], pa.string()), "AGE": pa.array([], pa.large_string())})
    table = pa.ipc.open_stream(ask_arrow(shop_of_all, empty).content).read_all()
    assert (table.num_rows, table.column_names) == (0, ["0", "1", "2", "3"])


def test_a_column_of_nothing_but_nulls(shop_of_all: Shop) -> None:
    nulls = pa.table({"GEN": pa.nulls(2), "AGE": ["51", "45"]})
    assert pa.ipc.open_stream(ask_arrow(shop_of_all, nulls).content).read_all()["3"].to_pylist() == [-6, -6]


def dictionary_stream() -> bytes:
    return stream(pa.table({"GEN": pa.array(["male"]).dictionary_encode(), "AGE": ["51"]}))


def compressed_stream(codec: str) -> bytes:
    table = pa.table({"GEN": ["male"] * 1000, "AGE": ["51"] * 1000})
    return stream(table, options=pa.ipc.IpcWriteOptions(compression=codec))


def sharing_buffers() -> bytes:
    """A stream that says of a buffer that it begins where another does: both are read, and sent once."""
    table = pa.table({"GEN": ["m" * 5000], "AGE": ["9" * 5000]})
    content = stream(table)
    *_, batch = pa.ipc.MessageReader.open_stream(content)
    end = content.index(b"9" * 5000)
    begin = content.index(b"m" * 5000)
    start = content.index(batch.body.to_pybytes())
    told = struct.pack("<qq", end - start, 5000)
    content = content.replace(told, struct.pack("<qq", begin - start, 5000))
    content = content.replace(struct.pack("<q", batch.body.size), struct.pack("<q", end - start), 1)
    return content[:end] + content[start + batch.body.size :]


def hidden_sharing() -> bytes:
    """The same, and of a buffer that nobody reads (no cell is null) it says that it is shorter than nothing."""
    content = sharing_buffers()
    first = struct.pack("<qq", 0, 0)  # the nulls of the first column, before its offsets
    place = content.index(first + struct.pack("<qq", 0, 8))
    return content[:place] + struct.pack("<qq", 0, -10_000) + content[place + len(first) :]


@pytest.mark.parametrize("sharing", [sharing_buffers, hidden_sharing])
def test_arrow_itself_reads_a_buffer_as_often_as_it_is_told_of(sharing: Callable[[], bytes]) -> None:
    assert pa.ipc.open_stream(sharing()).read_all()["AGE"].to_pylist() == ["m" * 5000]


PLAIN = stream(pa.table({"GEN": ["male"], "AGE": ["51"]}))


@pytest.mark.attack
@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "not an Arrow IPC stream"),
        (b"not arrow at all", 400, "not an Arrow IPC stream"),
        (PLAIN[: len(PLAIN) // 2], 400, "not an Arrow IPC stream"),
        (stream(pa.table({"GEN": ["male"]})), 422, "the match needs column 'AGE'"),
        (stream(pa.table({"GEN": ["male"], "AGE": ["51"], "FOO": ["x"]})), 422, "column 'FOO' is not one"),
        (stream(pa.table({"GEN": ["male"], "AGE": [51]})), 422, "column 'AGE' is of the type int64; send text"),
        (stream(pa.Table.from_arrays([pa.array(["m"])] * 2, ["GEN", "GEN"])), 422, "names that differ"),
        (stream(pa.table({"GEN": ["m" * 10_001], "AGE": ["51"]})), 422, "more than 10,000 characters"),
        (dictionary_stream(), 422, "column 'GEN' is of the type dictionary"),
        (compressed_stream("lz4"), 422, "compressed buffers are not taken"),
        (compressed_stream("zstd"), 422, "compressed buffers are not taken"),
        (compressed_by_metadata("lz4"), 422, "compressed buffers are not taken"),
        (compressed_by_metadata("zstd"), 422, "compressed buffers are not taken"),
        (compressed_by_metadata("zstd", pa.ipc.MetadataVersion.V5), 422, "compressed buffers are not taken"),
        (sharing_buffers(), 422, "buffers that overlap are not taken"),
        (hidden_sharing(), 400, "not an Arrow IPC stream"),
        (stream(pa.table({"GEN": pa.nulls(10**7), "AGE": pa.nulls(10**7)})), 413, "10,000,000 requests"),
    ],
)
def test_streams_that_are_not_taken(shop_of_all: Shop, body: bytes, status: int, said: str) -> None:
    found, _, message = error_of(ask_arrow(shop_of_all, body))
    assert found == status
    assert said in message


@pytest.mark.parametrize("place", range(0, len(PLAIN), 7))
def test_a_damaged_stream_is_refused_or_read_and_nothing_worse(shop_of_all: Shop, place: int) -> None:
    damaged = PLAIN[:place] + bytes([PLAIN[place] ^ 0xFF]) + PLAIN[place + 1 :]
    assert ask_arrow(shop_of_all, damaged).status_code in (200, 400, 413, 422)


def test_an_attribute_that_is_not_for_sale(shop_of_all: Shop) -> None:
    status, _, message = error_of(ask_arrow(shop_of_all, PLAIN, "x" * 3000))
    assert status == 422
    assert "is not for sale" not in message or len(message) <= 200


@pytest.mark.parametrize(
    ("match", "history", "at_once"),
    [
        ("GEN = GEN, AGE = AGE", "pooled", True),
        ("GEN = GEN, AGE = AGE", "per_buyer", False),
        ("GEN = GEN, AGE ~ AGE within 1", "pooled", False),
    ],
)
def test_only_quotes_that_are_kept_are_told_by_the_event_loop_itself(
    open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch, match: str, history: str, at_once: bool
) -> None:
    provider = Provider(
        example.provider, match={"MED": match}, hierarchies=example.hierarchies, total=6, seed=7, history=history
    )
    shop = open_shop(provider)
    threads: list[str] = []
    quote = provider.quote

    def noted(*given: Any, **more: Any) -> Any:
        threads.append(threading.current_thread().name)
        return quote(*given, **more)

    monkeypatch.setattr(provider, "quote", noted)
    for _ in range(20):
        assert shop.quotes(med("male", "51", 1)).status_code == 200
    assert {name.startswith("pacas-quotes") for name in threads} == {not at_once}

"""What is told of a request of a sealed provider has one length, whatever is told; a paper provider pads nothing."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from example_shop import OpenShop, Shop, example_provider, med

import pacas
from pacas.protocol.messages import Offer
from pacas.provider.quoter.declared import Sealing
from pacas.server.trading.answer_writers import Widest
from pacas.wire.shapes.base import ARROW

LABELS = ["a", "long enough to be seen from outside", 'in "quotes" \\ and\nlines', "ünïcödé ✓✓✓"]
TREE = pacas.Hierarchy.from_rows([(label, "f" * (1 + i % 2), "*") for i, label in enumerate(LABELS)])
WHO = [f"p{number}" for number in range(4)]


def sealed(total: int = 10) -> pacas.Provider:
    return pacas.Provider(
        {"WHO": WHO, "X": ["x"] * 4, "A": LABELS},
        match={"A": "WHO = WHO"},
        hierarchies={"A": TREE},
        policies=[pacas.Policy(("X",), ("A",), {"A": 0}, 2, allow_linkage=True)],
        total=total,
        sealing=Sealing(),
    )


def a(who: str, level: int | None = None) -> dict[str, Any]:
    return {"tuple": {"WHO": who}, "attribute": "A"} | ({} if level is None else {"level": level})


@pytest.fixture
def shop(open_shop: OpenShop) -> Shop:
    return open_shop(sealed())


def lengths(answers: Any) -> set[int]:
    assert {answer.status_code for answer in answers} == {200}
    return {len(answer.content) for answer in answers}


def test_a_price_is_as_long_as_a_refusal(shop: Shop) -> None:
    shop.buy("free from now on", a("p0", 1))
    answers = [shop.quotes(a(who, level)) for who in [*WHO, "px"] for level in (0, 1, 2)]
    told = [answer.json()["quotes"][0] for answer in answers]
    assert {"refused": "unsafe"} in told and {"refused": "no_match"} in told and {"price": 0} in told
    assert lengths(answers) == {len(answers[0].content)}


def test_a_ladder_and_a_batch_are_as_long_as_another(shop: Shop) -> None:
    assert len(lengths([shop.quotes(a(who)) for who in [*WHO, "px"]])) == 1
    assert len(lengths([shop.quotes(a(who), a("p0", 1), a(who, 0)) for who in [*WHO, "px"]])) == 1


def test_an_arrow_batch_is_as_long_as_another(shop: Shop) -> None:
    def ask(*who: str) -> Any:
        table, sink = pa.table({"WHO": list(who)}), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return shop.call("POST", "/v1/quotes/A", headers={"Content-Type": ARROW}, content=bytes(sink.getvalue()))

    assert len(lengths([ask("p0", "p1"), ask("p2", "p3"), ask("px", "py"), ask("p3", "px")])) == 1


def test_a_purchase_is_as_long_whatever_was_bought_and_if_nothing_was(shop: Shop) -> None:
    answers = [shop.buy(f"key-{number}", a(who, 0)) for number, who in enumerate([*WHO, "px"])]
    answers.append(shop.buy("key-5", a("p0", 1), ceiling=0, who="bob"))
    told = [answer.json()["purchase"] for answer in answers]
    assert len({one["answer"] for one in told if "answer" in one}) == 3
    assert {one["refused"] for one in told if "refused" in one} == {"unsafe", "no_match", "ceiling"}
    assert len(lengths(answers)) == 1


def test_many_purchases_are_as_long_as_others(shop: Shop) -> None:
    assert len(lengths([shop.buy_many("k1", a("p0", 1), a("p1", 1)), shop.buy_many("k2", a("p2", 0), a("px", 0))])) == 1


def test_what_was_bought_is_told_again_in_one_length(shop: Shop) -> None:
    for number, who in enumerate(WHO):
        shop.buy(f"key-{number}", a(who, 1))
    assert len(lengths([shop.call("GET", f"/v1/purchases/key-{number}") for number in range(4)])) == 1
    pages = [shop.call("GET", "/v1/account", params={"after": str(number), "limit": "1"}) for number in range(3)]
    assert [page.json()["purchases"][0]["answer"] for page in pages] == ["f", "ff", "f"]
    assert len(lengths(pages)) == 1


def test_sealed_reasons_are_told_unless_the_provider_says_otherwise(open_shop: OpenShop) -> None:
    asked = a("px", 0)
    for shop, word in (
        (open_shop(sealed()), "no_match"),
        (open_shop(sealed(), reasons=True), "no_match"),
        (open_shop(sealed(), reasons=False), "refused"),
    ):
        assert shop.quotes(asked).json()["quotes"] == [{"refused": word}]
        assert shop.call("GET", "/v1/catalogue").json()["reasons"] is (word == "no_match")


def test_a_paper_provider_pads_nothing(open_shop: OpenShop) -> None:
    shop = open_shop(example_provider())
    for answer in (
        shop.quotes(med("male", "51"), med("x", "51", 1)),
        shop.buy("k", med("male", "51", 1)),
        shop.buy("k2", med("x", "51", 1)),
        shop.call("GET", "/v1/account"),
        shop.call("GET", "/v1/purchases/k"),
    ):
        assert b" " not in answer.content


def test_where_a_row_may_be_absent_that_may_be_the_longest_answer() -> None:
    offers = {may: Offer("A", ("WHO",), pacas.Hierarchy.flat(["x", "yy"]), may) for may in (False, True)}
    assert Widest.of(1, {str(may): offer for may, offer in offers.items()}).labels == {"False": "yy", "True": "absent"}

"""What every marketplace must do, wherever its provider runs: the suite for `Marketplace`.

A new implementation adds itself to MARKETPLACES: a function from a `Shop` to a context with the marketplace of a buyer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Barrier, Thread
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from running_service import service

from pacas import example
from pacas.client.buying.own_names import OwnNames
from pacas.core.anonymity import Policy
from pacas.core.relation import Relation
from pacas.errors import HierarchyError, InputError, KeyReusedError
from pacas.protocol.marketplace import Marketplace, SellingMany, most_at_once, pay_in_order, published_by
from pacas.protocol.messages import Answer, Payment, Quote, QuotedLadder, Reason, Refusal, Request, refused
from pacas.provider.provider import Provider
from pacas.provider.quoter.declared import Sealing
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.support.edits import Neighbour
from pacas.provider.support.support_set import GivenSupport
from pacas.remote.remote_provider import RemoteProvider

CREDIT = 10**9


@dataclass(frozen=True)
class Shop:
    """A provider to open: the running example, or a relation of a test's own."""

    relation: Relation = field(default_factory=lambda: example.provider)
    match: Mapping[str, str] = field(default_factory=lambda: {"MED": "GEN = GEN, AGE = AGE"})
    policies: tuple[Policy, ...] = ()
    max_matches: int = 1000
    how: Mapping[str, Any] = field(default_factory=lambda: {"seed": 7})
    """What makes it give the paper's quotes, or sealed ones."""

    def open(self) -> Provider:
        hierarchies = {a: h for a, h in example.hierarchies.items() if a in self.relation.columns}
        return Provider(
            self.relation,
            match=self.match,
            policies=self.policies,
            hierarchies=hierarchies,
            max_matches=self.max_matches,
            **self.how,
        )


Open = Callable[[Shop, str], AbstractContextManager[Marketplace]]


@contextmanager
def in_process(shop: Shop, buyer: str) -> Iterator[Marketplace]:
    """The provider itself."""
    provider = shop.open()
    yield provider if buyer == "local" else provider.as_buyer(buyer)


@contextmanager
def over_http(shop: Shop, buyer: str) -> Iterator[Marketplace]:
    """A service on a loopback port, asked by a client."""
    with service(shop.open(), buyer) as (url, token), RemoteProvider(url, token) as remote:
        yield remote


@contextmanager
def by_own_names(shop: Shop, buyer: str) -> Iterator[Marketplace]:
    """The provider itself, who calls the columns of a tuple by other names than the client does."""
    match = {a: md.replace("GEN =", "sex =").replace("AGE =", "years =") for a, md in shop.match.items()}
    called = {"GEN": "sex", "AGE": "years"}
    with in_process(replace(shop, match=match), buyer) as marketplace:
        yield OwnNames(marketplace, {own: name for own, name in called.items() if name in "".join(match.values())})


MARKETPLACES: dict[str, Open] = {"in process": in_process, "over HTTP": over_http, "by own names": by_own_names}


@pytest.fixture(params=MARKETPLACES.values(), ids=list(MARKETPLACES))
def open_(request: pytest.FixtureRequest) -> Open:
    opened: Open = request.param
    return opened


QUOTES: dict[str, Mapping[str, Any]] = {"paper": {"seed": 7}, "sealed": {"quotes": "sealed"}}


@pytest.fixture(params=QUOTES.values(), ids=list(QUOTES))
def quotes(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    how: Mapping[str, Any] = request.param
    return how


@pytest.fixture
def market(open_: Open, quotes: Mapping[str, Any]) -> Iterator[Marketplace]:
    with open_(Shop(how=quotes), "local") as marketplace:
        yield marketplace


def medication(gender: str, age: str | None, level: int = 0) -> Request:
    return Request({"GEN": gender, "AGE": age}, "MED", level)


FIRST = medication("male", "51")


def test_the_catalogue_says_what_is_sold_and_what_a_tuple_needs(market: Marketplace) -> None:
    offers = market.catalogue()
    assert list(offers) == ["MED"]
    assert offers["MED"].columns == ("GEN", "AGE")
    assert offers["MED"].hierarchy.height == 3
    assert sorted(offers["MED"].hierarchy.ground_labels) == sorted(example.med.ground_labels)


def test_a_provider_publishes_no_dependency_unless_it_says_so(open_: Open) -> None:
    with open_(Shop(), "local") as market:
        assert tuple(published_by(market)) == ()
    with open_(Shop(how={"published": ["DIAG, GEN -> MED", "ID -> ZIP"]}), "local") as market:
        assert [fd.rhs for fd in published_by(market)] == ["MED", "ZIP"]


def test_a_quote_is_a_price_that_falls_with_the_level_and_changes_nothing(market: Marketplace) -> None:
    quotes = [market.quote(medication("male", "51", level)) for level in range(4)]
    prices = [quote.price for quote in quotes if isinstance(quote, Quote)]
    assert len(prices) == 4
    assert prices[0] > prices[1] > prices[2] > prices[3] == 0
    assert [market.quote(medication("male", "51", level)) for level in range(4)] == quotes


def test_a_batch_quotes_all_levels_of_all_tuples_as_single_quotes_do(market: Marketplace) -> None:
    tuples: dict[str, list[str | None]] = {
        "GEN": ["male", "female", "male", "nobody", "male"],
        "AGE": ["51", "32", "51", "1", None],
    }
    ladders = market.quote_batch("MED", tuples)
    assert len(ladders) == 5
    for i, (gender, age) in enumerate(zip(tuples["GEN"], tuples["AGE"], strict=True)):
        assert ladders[i] == [market.quote(medication(str(gender), age, level)) for level in range(4)]


def test_a_batch_comes_as_lists_or_as_arrow_and_may_be_empty_or_have_more_columns(market: Marketplace) -> None:
    plain = market.quote_batch("MED", {"AGE": ["51"], "GEN": ["male"], "NAME": ["x"]})
    arrow = market.quote_batch("MED", {"GEN": pa.array(["male"]), "AGE": pa.chunked_array([["51"]])})
    assert plain[0] == arrow[0]
    assert market.quote_batch("MED", {"GEN": [], "AGE": []}).prices.shape == (0, 4)


def test_paying_returns_the_value_at_the_level_and_charges_the_quoted_price(market: Marketplace) -> None:
    for level, value in ((2, "analgesic"), (1, "NSAID"), (0, "ibuprofen")):
        quoted = market.quote(medication("male", "51", level))
        assert isinstance(quoted, Quote)
        assert market.pay(medication("male", "51", level), quoted.price, f"key {level}") == Answer(
            value, level, quoted.price
        )


def test_what_was_bought_costs_nothing_again_and_lowers_the_price_of_what_is_finer(market: Marketplace) -> None:
    before = market.quote(FIRST)
    coarse = market.pay(medication("male", "51", 1), CREDIT, "a")
    assert isinstance(before, Quote) and isinstance(coarse, Answer)
    assert market.quote(medication("male", "51", 1)) == Quote(0)
    assert market.quote(FIRST) == Quote(before.price - coarse.price)


def test_a_purchase_above_the_ceiling_is_refused_and_changes_nothing(market: Marketplace) -> None:
    quoted = market.quote(FIRST)
    assert isinstance(quoted, Quote)
    assert market.pay(FIRST, quoted.price - 1, "a") == Refusal(Reason.CEILING)
    assert market.quote(FIRST) == quoted
    assert isinstance(market.pay(FIRST, quoted.price, "a"), Answer)


def test_the_same_purchase_retried_gets_the_same_answer_and_is_charged_once(market: Marketplace) -> None:
    first = market.pay(FIRST, CREDIT, "once")
    assert market.pay(FIRST, CREDIT, "once") == first
    assert market.pay(FIRST, 0, "once") == first, "its ceiling was met when it was made"
    assert market.pay(FIRST, CREDIT, "another") == Answer("ibuprofen", 0, 0)


def test_a_key_belongs_to_one_request(market: Marketplace) -> None:
    market.pay(FIRST, CREDIT, "once")
    with pytest.raises(KeyReusedError):
        market.pay(medication("female", "32"), CREDIT, "once")


@pytest.mark.parametrize("request_", [medication("nobody", "51"), medication("male", None), medication("", "51")])
def test_who_is_not_there_is_refused(market: Marketplace, request_: Request) -> None:
    assert market.quote(request_) == Refusal(Reason.NO_MATCH)
    assert market.pay(request_, CREDIT, "a") == Refusal(Reason.NO_MATCH)


def test_a_request_with_several_answers_is_ambiguous_up_to_the_level_where_they_agree(open_: Open) -> None:
    with open_(Shop(match={"MED": "GEN = GEN"}), "local") as market:
        assert [type(quote) for quote in market.quote_batch("MED", {"GEN": ["female"]})[0]] == [
            Refusal,
            Refusal,
            Quote,
            Quote,
        ]
        assert market.quote(Request({"GEN": "female"}, "MED", 1)) == Refusal(Reason.AMBIGUOUS)
        assert isinstance(market.pay(Request({"GEN": "female"}, "MED", 2), CREDIT, "a"), Answer)


def test_sealed_a_request_that_finds_several_is_ambiguous_whatever_they_have(open_: Open) -> None:
    with open_(Shop(match={"MED": "GEN = GEN"}, how=QUOTES["sealed"]), "local") as market:
        ambiguous = Refusal(Reason.AMBIGUOUS)
        assert market.quote_batch("MED", {"GEN": ["female"]})[0] == [ambiguous, ambiguous, ambiguous, Quote(0)]
        assert market.pay(Request({"GEN": "female"}, "MED", 2), CREDIT, "a") == ambiguous


def test_too_many_matches_are_ambiguous_at_every_level(open_: Open, quotes: Mapping[str, Any]) -> None:
    with open_(Shop(match={"MED": "GEN = GEN"}, max_matches=2, how=quotes), "local") as market:
        assert market.quote_batch("MED", {"GEN": ["male"]})[0] == [Refusal(Reason.AMBIGUOUS)] * 4
        assert market.quote(Request({"GEN": "male"}, "MED", 3)) == Refusal(Reason.AMBIGUOUS)


@pytest.mark.parametrize(
    ("request_", "error", "says"),
    [
        (Request({"GEN": "male", "AGE": "51"}, "DIAG", 0), InputError, "'DIAG' is not for sale"),
        (Request({"GEN": "male"}, "MED", 0), InputError, "needs column 'AGE'"),
        (medication("male", "51", 4), HierarchyError, "level 4"),
        (medication("male", "51", -1), HierarchyError, "level -1"),
    ],
)
def test_bad_input_is_an_error(market: Marketplace, request_: Request, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        market.quote(request_)
    with pytest.raises(error, match=says):
        market.pay(request_, CREDIT, "a")


def test_a_batch_for_what_is_not_sold_or_without_a_column_is_an_error(market: Marketplace) -> None:
    with pytest.raises(InputError, match="not for sale"):
        market.quote_batch("DIAG", {"GEN": ["male"], "AGE": ["51"]})
    with pytest.raises(InputError, match="needs column 'AGE'"):
        market.quote_batch("MED", {"GEN": ["male"]})


@pytest.mark.parametrize("key", ["", "a\nb", "x" * 300])
def test_an_idempotency_key_is_a_short_printable_text(market: Marketplace, key: str) -> None:
    with pytest.raises(InputError, match="idempotency key"):
        market.pay(FIRST, CREDIT, key)
    assert market.pay(FIRST, 0, "ok") == Refusal(Reason.CEILING), "nothing was bought"


# ---- safety -------------------------------------------------------------------------------------------------------

TWO = Relation.of({"ID": ["1", "2"], "GEN": ["f", "f"], "MED": ["dolex", "dolex"]})
EITHER: dict[str, Mapping[str, Any]] = {
    "paper": {"support": GivenSupport([Neighbour({row: {"MED": "ibuprofen"}}) for row in (0, 1)])},
    "sealed": {"sealing": Sealing(reserve=Reserve.LAST)},
}


@pytest.fixture(params=EITHER.values(), ids=list(EITHER))
def fragile(request: pytest.FixtureRequest) -> Shop:
    """Either medication may be sold; after it, the other must not be."""
    policy = Policy(("GEN",), ("MED",), {}, 2, allow_linkage=True)
    return Shop(TWO, {"MED": "ID = ID"}, (policy,), how=request.param)


def of(patient: str) -> Request:
    return Request({"ID": patient}, "MED", 0)


def test_what_would_break_a_policy_is_refused(open_: Open, fragile: Shop) -> None:
    with open_(fragile, "local") as market:
        assert isinstance(market.pay(of("1"), CREDIT, "a"), Answer)
        assert market.quote(of("2")) == Refusal(Reason.UNSAFE)
        assert market.pay(of("2"), CREDIT, "b") == Refusal(Reason.UNSAFE)
        assert market.quote(of("1")) == Quote(0), "what was sold stays sold"


RACES: dict[Open, int] = {in_process: 20, over_http: 5, by_own_names: 5}


def race(market: Marketplace) -> list[Answer | Refusal]:
    """Both patients' medications are bought at the same moment."""
    outcomes: list[Answer | Refusal] = []
    start = Barrier(2)

    def buy(patient: str) -> None:
        start.wait()
        outcomes.append(market.pay(of(patient), CREDIT, patient))

    threads = [Thread(target=buy, args=(patient,)) for patient in ("1", "2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_of_two_threads_that_race_for_the_last_safe_sale_one_is_refused(open_: Open, fragile: Shop) -> None:
    for _ in range(RACES[open_]):
        with open_(fragile, "local") as market:
            outcomes = race(market)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Answer", "Refusal"]
        assert Refusal(Reason.UNSAFE) in outcomes


def test_a_buyer_of_another_name_is_served_alike(open_: Open, quotes: Mapping[str, Any]) -> None:
    with open_(Shop(how=quotes), "ann") as market:
        assert isinstance(market.pay(FIRST, CREDIT, "a"), Answer)
        assert market.quote(FIRST) == Quote(0)


# ---- several purchases in one step ----------------------------------------------------------------------------------


@pytest.fixture
def selling(open_: Open) -> Iterator[SellingMany]:
    with open_(Shop(), "local") as marketplace:
        yield cast(SellingMany, marketplace)


def price(selling: SellingMany, request: Request) -> int:
    quoted = selling.quote(request)
    assert isinstance(quoted, Quote)
    return quoted.price


def quoted(selling: SellingMany, request: Request) -> QuotedLadder:
    ladder = selling.quote_batch(request.attribute, {name: [value] for name, value in request.tuple.items()})
    return QuotedLadder(request.attribute, request.tuple, tuple(ladder.prices[0].tolist()))


OTHER = medication("female", "45")


def test_all_that_costs_what_was_planned_is_sold(selling: SellingMany) -> None:
    assert most_at_once(selling) > 1
    payments = [
        Payment(FIRST, price(selling, FIRST), "a"),
        Payment(OTHER, price(selling, OTHER), "b", (quoted(selling, OTHER),)),
    ]
    told = selling.pay_many(payments)
    assert [answer.price for answer in told if isinstance(answer, Answer)] == [one.ceiling for one in payments]
    assert selling.pay_many(payments) == told, "under the same keys they are told again"
    assert selling.pay(FIRST, 10**12, "a") == told[0]


def test_a_quote_that_another_purchase_has_changed_ends_the_run_before_it(selling: SellingMany) -> None:
    coarse = medication("male", "51", 2)
    planned = quoted(selling, FIRST)
    payments = [Payment(coarse, price(selling, coarse), "a"), Payment(FIRST, planned.prices[0], "b", (planned,))]
    assert [type(one) for one in selling.pay_many(payments)] == [Answer]
    assert selling.quote(FIRST) == Quote(planned.prices[0] - payments[0].ceiling)


def test_a_price_below_its_ceiling_and_a_refusal_end_the_run_after_it(selling: SellingMany) -> None:
    cheaper = Payment(FIRST, price(selling, FIRST) + 1, "a")
    assert [type(one) for one in selling.pay_many([cheaper, Payment(OTHER, price(selling, OTHER), "b")])] == [Answer]
    nobody = Payment(medication("nobody", "1"), 0, "c")
    assert [type(one) for one in selling.pay_many([nobody, Payment(OTHER, price(selling, OTHER), "d")])] == [Refusal]
    assert isinstance(selling.quote(OTHER), Quote) and price(selling, OTHER) > 0


def test_a_key_of_another_request_ends_the_run_or_is_told_of(selling: SellingMany) -> None:
    selling.pay(FIRST, 10**12, "a")
    wrong = Payment(OTHER, price(selling, OTHER), "a")
    with pytest.raises(KeyReusedError):
        selling.pay_many([wrong])
    free = medication("male", "51", 1)
    assert selling.pay_many([Payment(free, 0, "b"), wrong]) == [selling.pay(free, 0, "b")]


def test_a_refusal_that_was_told_without_a_reason_stands_for_any(selling: SellingMany) -> None:
    levels = selling.catalogue()["MED"].hierarchy.height + 1
    absent = QuotedLadder("MED", {"GEN": "nobody", "AGE": "1"}, [refused(Reason.REFUSED)] * levels)
    assert len(selling.pay_many([Payment(FIRST, price(selling, FIRST), "a", (absent,))])) == 1
    sold = QuotedLadder("MED", OTHER.tuple, [refused(Reason.REFUSED)] * levels)
    assert selling.pay_many([Payment(OTHER, price(selling, OTHER), "b", (sold,))]) == []


ASKED = st.tuples(
    st.sampled_from([("male", "51"), ("female", "45"), ("nobody", "1")]),
    st.integers(0, 3),
    st.sampled_from([0, 0, 0, 1, -1]),
    st.booleans(),
)


def _same(open_: Open, how: Mapping[str, Any], asked: list[tuple[Any, int, int, bool]]) -> None:
    with ExitStack() as stack:
        opened = (stack.enter_context(open_(Shop(how=how), "local")) for _ in range(2))
        together, apart = (cast(SellingMany, one) for one in opened)
        payments = []
        for number, (values, level, more, checks) in enumerate(asked):
            request = medication(values[0], values[1], level)
            told = together.quote(request)
            ceiling = max(told.price + more, 0) if isinstance(told, Quote) else 0
            ladders = (quoted(together, request),) if checks else ()
            payments.append(Payment(request, ceiling, str(number), ladders))
        assert together.pay_many(payments) == pay_in_order(apart, payments)
        for (gender, age), level, _, _ in asked:
            assert together.quote(medication(gender, age, level)) == apart.quote(medication(gender, age, level))


@examples(40)
@given(st.lists(ASKED, max_size=6), st.sampled_from(sorted(QUOTES)))
def test_a_run_is_what_one_by_one_is_up_to_the_first_surprise(asked: list[Any], how: str) -> None:
    _same(MARKETPLACES["in process"], QUOTES[how], asked)

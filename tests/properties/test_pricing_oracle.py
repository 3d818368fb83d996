"""Which laws of pricing the literal algorithms have, and where they stop.

A refusal counts as an infinite price. Laws are drawn at random; where one does not hold as it is stated, the smallest
case that shows it stands here as a test of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.matching import SIMILARITIES, Clause, alike
from oracles.pricing import (
    UNSAFE,
    LiteralProvider,
    Neighbour,
    Policy,
    Purchase,
    Question,
    Request,
    bundle,
    materialise,
    price,
    safe_price,
    short_groups,
)
from oracles.tree import Tree
from oracles.worlds import AGES, PLACES, World, determined_pairs, fragile_worlds, queries, requests, worlds

SOME = examples(25)
MANY = examples(50)


def sales(world: World, provider: LiteralProvider) -> Iterator[tuple[str, Request, Purchase]]:
    """What the world's buyers get, one purchase after the other."""
    for buyer, request in world.requests:
        bought = provider.buy(request, buyer)
        if isinstance(bought, Purchase):
            yield buyer, request, bought


def charge(quoted: int | str) -> float:
    return UNSAFE if isinstance(quoted, str) else quoted


# ---- laws that hold -----------------------------------------------------------------------------------------------


@SOME
@given(worlds(max_requests=4))
def test_coarser_is_never_dearer_and_never_refused_where_finer_is_not(world: World) -> None:
    """From ground to root: ambiguous, then unsafe, then prices that never rise. No price is negative."""
    provider = world.provider()
    for buyer, request in world.requests:
        quotes = provider.quote_levels(request.values, request.attribute, buyer)
        charges = [charge(q) for q in quotes]
        assert charges == sorted(charges, reverse=True)
        assert min(charges) >= 0
        reasons = [q for q in quotes if isinstance(q, str)]
        assert reasons == sorted(reasons, key=["no_match", "ambiguous", "unsafe"].index)
        assert "no_match" not in reasons or reasons == ["no_match"] * len(quotes)
        provider.buy(request, buyer)


@examples(50)
@given(st.data())
def test_a_query_that_determines_another_costs_at_least_as_much(data: st.DataObject) -> None:
    """Coarser levels, fewer columns, a selection on what is shown, a part of a bundle, a product of its parts."""
    world = data.draw(worlds(max_requests=2))
    stronger, weaker = data.draw(determined_pairs(world))
    provider = world.provider()
    list(sales(world, provider))
    assert charge(provider.quote(weaker, "ann")) <= charge(provider.quote(stronger, "ann"))


@st.composite
def bundles(draw: st.DrawFn) -> tuple[World, LiteralProvider, list[Question]]:
    """A provider that has sold something, and one to three further questions."""
    world = draw(fragile_worlds() | worlds(max_requests=3))
    provider = world.provider()
    list(sales(world, provider))
    asked = st.builds(provider.question, requests(world)) | st.builds(lambda q: q.question(world), queries(world))
    return world, provider, draw(st.lists(asked, min_size=1, max_size=3))


@SOME
@given(bundles())
def test_a_bundle_that_is_not_refused_costs_at_most_its_parts(
    case: tuple[World, LiteralProvider, list[Question]],
) -> None:
    world, provider, parts = case
    left = provider.surviving("ann")
    whole = price(bundle(*parts), world.rows, left, world.weights())
    assert whole <= sum(price(part, world.rows, left, world.weights()) for part in parts)
    quoted = provider.quote(bundle(*parts), "ann")
    if isinstance(quoted, int):
        assert quoted == whole <= sum(charge(provider.quote(part, "ann")) for part in parts) < UNSAFE


@SOME
@given(bundles())
def test_a_sequence_costs_exactly_what_the_bundle_does(case: tuple[World, LiteralProvider, list[Question]]) -> None:
    """It is sold to its end just where the bundle is, whatever others bought before."""
    _, provider, parts = case
    quoted, before = provider.quote(bundle(*parts), "ann"), provider.spent("ann")
    sold = [isinstance(provider.buy(part, "ann"), Purchase) for part in parts]
    assert all(sold) == isinstance(quoted, int)
    if all(sold):
        assert provider.spent("ann") - before == quoted


@MANY
@given(fragile_worlds() | worlds())
def test_buying_twice_costs_nothing_the_second_time(world: World) -> None:
    """Nor is it refused, whatever anybody bought in between; and it changes nothing."""
    provider = world.provider()
    bought = list(sales(world, provider))
    left = provider.surviving_all()
    for buyer, request, purchase in bought:
        assert provider.buy(request, buyer, ceiling=0) == Purchase(0, purchase.answer)
    assert provider.surviving_all() == left


@MANY
@given(fragile_worlds() | worlds())
def test_everything_costs_at_most_the_total_and_buyers_save_nothing_by_sharing(world: World) -> None:
    provider = world.provider()
    asked = [provider.question(request) for _, request, _ in sales(world, provider)]
    for buyer in ("ann", "bob", "cyd"):
        assert 0 <= provider.spent(buyer) <= provider.total
    whole = price(bundle(*asked), world.rows, provider.support, provider.weights)
    assert provider.spent("ann", "bob", "cyd") >= whole


@SOME
@given(fragile_worlds() | worlds(max_requests=5))
def test_a_quote_is_never_exceeded_later(world: World) -> None:
    """A buyer's price never rises, and what is refused stays refused: a ceiling at the quoted price always suffices."""
    provider = world.provider()
    before = {n: provider.quote(request, buyer) for n, (buyer, request) in enumerate(world.requests)}
    for _ in sales(world, provider):
        now = {n: provider.quote(request, buyer) for n, (buyer, request) in enumerate(world.requests)}
        for n, quoted in now.items():
            assert quoted == "unsafe" or charge(quoted) <= charge(before[n])
            assert not isinstance(before[n], str) or quoted == before[n]
        before = now


@MANY
@given(fragile_worlds() | worlds())
def test_after_any_purchase_all_buyers_together_know_no_more_than_a_policy_allows(world: World) -> None:
    """By the definition, on what is left when every answer of every buyer is compared anew; and for each coalition."""
    provider = world.provider()
    asked: list[tuple[str, Question]] = []
    for buyer, request, _ in sales(world, provider):
        asked.append((buyer, provider.question(request)))
        for size in (1, 2, 3):
            for coalition in combinations(("ann", "bob", "cyd"), size):
                known = [ask for who, ask in asked if who in coalition]
                left = {n: t for n, t in world.support().items() if all(ask(t) == ask(world.rows) for ask in known)}
                assert left == provider.surviving(*coalition)
                assert not short_groups(world.rows, left, world.policies, world.trees)


@MANY
@given(fragile_worlds() | worlds())
def test_judged_per_buyer_each_buyer_alone_is_held_to_the_policies(world: World) -> None:
    provider = world.provider(per_buyer=True)
    for buyer, _, _ in sales(world, provider):
        assert not short_groups(world.rows, provider.surviving(buyer), world.policies, world.trees)


@MANY
@given(fragile_worlds() | worlds())
def test_for_one_buyer_a_quote_is_algorithm_2_over_what_is_left(world: World) -> None:
    for per_buyer in (False, True):
        provider = world.provider(per_buyer=per_buyer)
        for _, request in world.requests:
            quoted, left = provider.quote(request, "ann"), provider.surviving("ann")
            if quoted in ("no_match", "ambiguous"):
                continue
            ask = provider.question(request)
            assert charge(quoted) == safe_price(ask, world.rows, left, world.weights(), world.policies, world.trees)
            provider.buy(request, "ann")


# ---- laws that do not hold as stated ------------------------------------------------------------------------------

MED = Tree([["ibuprofen", "NSAID", "*"], ["naproxen", "NSAID", "*"], ["dolex", "other", "*"]])
FIND = {"MED": (Clause("ID", "ID"),)}
TWO = [{"ID": "1", "GEN": "f", "MED": "dolex"}, {"ID": "2", "GEN": "f", "MED": "dolex"}]
ONE_EACH = [Neighbour(({"set": row, "values": {"MED": "ibuprofen"}},), 100) for row in (0, 1)]
BY_GENDER = Policy(("GEN",), {"MED": 0}, 2)


def two_patients(*neighbours: Neighbour, policy: Policy | None = BY_GENDER, **options: bool) -> LiteralProvider:
    return LiteralProvider(TWO, {"MED": MED}, FIND, [policy] if policy else [], neighbours, **options)


def medication(patient: int, level: int = 0) -> Request:
    return Request({"ID": str(patient)}, "MED", level)


def test_a_bundle_may_be_refused_although_its_parts_are_not() -> None:
    """Either medication leaves one neighbour with two values; both together leave no neighbour at all."""
    provider = two_patients(*ONE_EACH)
    both = bundle(provider.question(medication(1)), provider.question(medication(2)))
    assert [provider.quote(medication(1), "ann"), provider.quote(medication(2), "ann")] == [100, 100]
    assert provider.quote(both, "ann") == "unsafe"
    provider.buy(medication(1), "ann")
    assert provider.quote(medication(2), "ann") == "unsafe", "so the sequence ends, too"


def test_a_bundle_may_be_refused_even_where_one_value_is_enough() -> None:
    """The smallest case: one row, k = 1."""
    rows = [{"G": "g", "A": "a", "B": "b"}]
    neighbours = [Neighbour(({"set": 0, "values": {c: "z"}},), 100) for c in "AB"]
    matches = {c: (Clause("G", "G"),) for c in "AB"}
    provider = LiteralProvider(rows, {}, matches, [Policy(("G",), {"A": 0}, 1)], neighbours)
    parts = [Request({"G": "g"}, c, 0) for c in "AB"]
    assert [provider.quote(part, "ann") for part in parts] == [100, 100]
    assert provider.quote(bundle(*map(provider.question, parts)), "ann") == "unsafe"


def test_pooled_purchases_break_a_policy_that_is_judged_per_buyer() -> None:
    provider = two_patients(*ONE_EACH, per_buyer=True)
    assert isinstance(provider.buy(medication(1), "ann"), Purchase)
    assert isinstance(provider.buy(medication(2), "bob"), Purchase)
    assert not short_groups(TWO, provider.surviving("ann"), provider.policies, provider.trees)
    assert not short_groups(TWO, provider.surviving("bob"), provider.policies, provider.trees)
    assert short_groups(TWO, provider.surviving("ann", "bob"), provider.policies, provider.trees) == {(0, ("f",)): 0}
    judged_together = two_patients(*ONE_EACH)
    judged_together.buy(medication(1), "ann")
    assert judged_together.buy(medication(2), "bob") == "unsafe"


@pytest.mark.parametrize("neighbours", [[], ONE_EACH[:1]], ids=["none", "one"])
def test_asking_nothing_is_free_by_algorithm_1_and_refused_by_algorithm_2_if_the_support_set_is_short(
    neighbours: list[Neighbour],
) -> None:
    """So not asking must not be priced by asking for nothing."""
    provider = two_patients(*neighbours, policy=BY_GENDER._replace(k=3))
    assert price(bundle(), TWO, provider.support, provider.weights) == 0
    assert provider.quote(bundle(), "ann") == "unsafe"
    assert short_groups(TWO, provider.support, provider.policies, provider.trees)


@given(worlds(max_requests=1))
@examples(20)
def test_asking_nothing_is_free_just_where_no_group_is_short(world: World) -> None:
    short = short_groups(world.rows, world.support(), world.policies, world.trees)
    assert world.provider().quote(bundle(), "ann") == ("unsafe" if short else 0)


def test_the_root_is_not_always_free() -> None:
    """That there is such a patient is worth something, if some neighbour has none."""
    provider = two_patients(Neighbour(({"delete": 0},), 100), *ONE_EACH, policy=None)
    assert provider.quote_levels({"ID": "1"}, "MED", "ann") == [200, 200, 100]
    assert provider.quote_levels({"ID": "2"}, "MED", "ann") == [100, 100, 0]


def test_requests_that_match_the_same_row_may_differ_in_price() -> None:
    """For they match other rows in a neighbour that changes what is matched."""
    rows = [{"AGE": "51", "MED": "dolex"}]
    match = {"MED": (Clause("AGE", "AGE", "within", 1),)}
    provider = LiteralProvider(rows, {}, match, [], [Neighbour(({"set": 0, "values": {"AGE": "52"}},), 100)])
    assert [provider.quote(Request({"AGE": age}, "MED", 0), "ann") for age in ("50", "51")] == [100, 0]


def test_what_one_buyer_bought_may_get_another_refused_but_never_changes_their_price() -> None:
    third = Neighbour(({"set": 0, "values": {"MED": "naproxen"}},), 700)
    provider = two_patients(*ONE_EACH, third)
    assert [provider.quote(medication(1), b) for b in ("ann", "bob")] == [800, 800]
    provider.buy(medication(1, level=1), "ann")
    assert [provider.quote(medication(1), b) for b in ("ann", "bob")] == [0, 800]
    assert [provider.quote(medication(2), b) for b in ("ann", "bob")] == ["unsafe", "unsafe"]


# ---- what the definitions say about odd cases ---------------------------------------------------------------------


def test_the_relation_itself_is_no_neighbour() -> None:
    """R shows two values; without a neighbour to show them, nothing can be sold."""
    rows = [{"ID": "1", "GEN": "f", "MED": "dolex"}, {"ID": "2", "GEN": "f", "MED": "naproxen"}]
    same = Neighbour(({"set": 0, "values": {"MED": "dolex"}},), 100)
    for neighbours, quoted in (([], "unsafe"), ([same], 0)):
        provider = LiteralProvider(rows, {"MED": MED}, FIND, [BY_GENDER], neighbours)
        assert provider.quote(medication(1), "ann") == quoted


def test_values_are_counted_at_the_policys_levels() -> None:
    """Ibuprofen and naproxen are two values, but one kind of medication."""
    kinds = [
        Neighbour(tuple({"set": row, "values": {"MED": m}} for row in (0, 1)), 100) for m in ("ibuprofen", "naproxen")
    ]
    count = bundle(lambda instance: len(instance))
    assert two_patients(*kinds).quote(count, "ann") == 0
    assert two_patients(*kinds, policy=Policy(("GEN",), {"MED": 1}, 2)).quote(count, "ann") == "unsafe"


def test_a_row_with_a_null_in_x_is_in_no_group() -> None:
    """Taken by the letter it would be linked to nothing, and nothing could ever be sold."""
    rows = [{"ID": "1", "GEN": None, "MED": "dolex"}]
    neighbours = [Neighbour(({"set": 0, "values": {"MED": "naproxen"}},), 100)]
    provider = LiteralProvider(rows, {"MED": MED}, FIND, [BY_GENDER], neighbours)
    assert provider.quote_levels({"ID": "1"}, "MED", "ann") == [100, 100, 0]


def test_the_same_answer_from_another_row_is_no_conflict() -> None:
    """Answers are sets: one of two equal rows may go, and two rows may change places."""
    rows = [{"ID": "1", "GEN": "f", "MED": m} for m in ("dolex", "dolex")]
    gone = Neighbour(({"delete": 0},), 100)
    instead = Neighbour(({"delete": 1}, {"insert": {"ID": "1", "MED": "dolex"}}, {"delete": 0}), 200)
    provider = LiteralProvider(rows, {"MED": MED}, FIND, [], [gone, instead])
    assert provider.quote(medication(1), "ann") == 0


def test_checks_come_in_order_and_a_ceiling_last() -> None:
    rows = [{"ID": "1", "GEN": "f", "MED": m} for m in ("dolex", "naproxen", "ibuprofen")]
    provider = LiteralProvider(rows, {"MED": MED}, FIND, [BY_GENDER], [])
    assert provider.quote_levels({"ID": "1"}, "MED", "ann") == ["ambiguous", "ambiguous", "unsafe"]
    assert provider.quote_levels({"ID": None}, "MED", "ann") == ["no_match"] * 3
    crowded = LiteralProvider(rows, {"MED": MED}, FIND, [], [], max_matches=2)
    assert crowded.quote(medication(1, level=2), "ann") == "ambiguous"
    with pytest.raises(ValueError):
        provider.quote(medication(1, level=3), "ann")
    open_one = two_patients(*ONE_EACH)
    assert open_one.buy(medication(1), "ann", ceiling=99) == "ceiling"
    assert open_one.surviving_all() == open_one.support
    assert open_one.buy(medication(1), "ann", ceiling=100) == Purchase(100, "dolex")


def test_rows_keep_their_numbers() -> None:
    made = materialise(TWO, [{"delete": 0}, {"set": 1, "values": {"MED": "naproxen"}}, {"insert": {"ID": "3"}}])
    assert made == [TWO[1] | {"MED": "naproxen"}, {"ID": "3", "GEN": None, "MED": None}]
    assert TWO[1]["MED"] == "dolex"
    with pytest.raises(KeyError):
        materialise(TWO, [{"delete": 0}, {"set": 0, "values": {"MED": "naproxen"}}])


# ---- record matching ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "one", "other", "expected"),
    [
        ("edit", "kitten", "sitting", 1 - 3 / 7),
        ("jaro_winkler", "MARTHA", "MARHTA", 0.9611),
        ("jaro_winkler", "DIXON", "DICKSONX", 0.8133),
        ("jaro_winkler", "abcd", "abxyzvw", 0.5952),  # no more than 0.7: the common beginning does not count
        ("qgram", "aa", "aaa", 2 * 3 / 7),  # #a aa a$ and #a aa aa a$
        ("qgram", "ab", "ba", 0.0),
    ],
)
def test_similarities(how: str, one: str, other: str, expected: float) -> None:
    assert SIMILARITIES[how](one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("how", sorted(SIMILARITIES))
@examples(100)
@given(one=st.text("abc", min_size=1, max_size=7), other=st.text("abc", min_size=1, max_size=7))
def test_similarity_is_symmetric_and_full_for_equal_texts(how: str, one: str, other: str) -> None:
    similarity = SIMILARITIES[how]
    assert similarity(one, one) == 1
    assert 0 <= similarity(one, other) == similarity(other, one) <= 1


@examples(100)
@given(one=st.text("abcé", min_size=1, max_size=8), other=st.text("abcé", min_size=1, max_size=8))
def test_similarities_are_those_of_rapidfuzz(one: str, other: str) -> None:
    distance = pytest.importorskip("rapidfuzz.distance")
    assert SIMILARITIES["edit"](one, other) == distance.Levenshtein.normalized_similarity(one, other)
    assert SIMILARITIES["jaro_winkler"](one, other) == distance.JaroWinkler.similarity(one, other)


@pytest.mark.parametrize(
    ("how", "tree", "client", "provider", "expected"),
    [
        (("=",), AGES, "2.0", "02", True),
        (("=",), Tree.flat(), "2.0", "2", False),
        (("=",), PLACES, "P", "p1", False),
        (("within", 1.0), Tree.flat(), "50", "51", True),
        (("within", 0.1), Tree.flat(), "0.3", "0.4", True),  # in floats the difference is more than 0.1
        (("within", 1.0), Tree.flat(), "x", "x", False),
        (("compatible",), PLACES, "P", "p1", True),
        (("compatible",), PLACES, "p1", "P", False),
        (("compatible",), PLACES, "*", "zz", True),
        (("compatible",), PLACES, "P", "zz", False),
        (("compatible",), PLACES, "zz", "zz", True),
        (("compatible",), AGES, "[2,3]", "3.0", True),
    ],
)
def test_values_are_alike(how: tuple[str, float], tree: Tree, client: str, provider: str, expected: bool) -> None:
    assert alike(Clause("c", "p", *how), client, provider, tree) is expected


@pytest.mark.parametrize("how", ["=", "within", "edit", "jaro_winkler", "qgram", "compatible"])
def test_a_null_is_like_nothing(how: str) -> None:
    for client, provider in ((None, None), (None, "p1"), ("*", None), ("", "")):
        assert not alike(Clause("c", "p", how), client, provider, PLACES)

"""Several buyers: what one is quoted under D5 with policies over one attribute, and the floor that holds for all."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from engines import Roomless
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_hierarchy
from oracles.sealed_cases import CASES, Case, opened
from oracles.strategies import tree_rows
from oracles.tree import Tree

import pacas
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Answer, Reason, Refusal, Request, refused
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.support.edits import Neighbour
from pacas.provider.support.mix import Mix
from pacas.provider.support.support_set import Generated, GivenSupport

ENGINE, ROOMLESS = DuckEngine(threads=1), Roomless()
HIGH = 10**18
UNSAFE, NO_MATCH, AMBIGUOUS = (refused(reason) for reason in (Reason.UNSAFE, Reason.NO_MATCH, Reason.AMBIGUOUS))


class Sale(NamedTuple):
    buyer: str
    attribute: str
    group: tuple[str, str]
    level: int


class Rivals(NamedTuple):
    """People found by G and H, both in X; a policy over one attribute each; what two buyers buy, in order."""

    rows: list[tuple[str, str, str, str]]
    trees: dict[str, pacas.Hierarchy]
    policies: list[pacas.Policy]
    sales: list[Sale]

    def provider(self, *, beside: bool = True, **how: Any) -> pacas.Provider:
        """Of these people and, unless it is left out, one that nobody asks about."""
        other = ("nobody", "asks", *(t.ground_labels[0] for t in self.trees.values()))
        columns = zip(*[*self.rows, *([other] if beside else [])], strict=True)
        table = {name: list(column) for name, column in zip("GHMN", columns, strict=True)}
        match = {"M": "G = G, H = H", "N": "G = G"}
        given: dict[str, Any] = {"quotes": "paper", "seed": 7, "engine": ENGINE} | how
        return pacas.Provider(table, match=match, policies=self.policies, hierarchies=self.trees, total=1000, **given)

    def ladders(self, provider: pacas.Provider, buyer: str) -> list[list[list[int]]]:
        """All that a buyer can be quoted."""
        groups = [*sorted({row[:2] for row in self.rows}), ("zz", "zz")]
        tuples = {"G": [g for g, _ in groups], "H": [h for _, h in groups]}
        asked = {"M": tuples, "N": {"G": tuples["G"]}}
        return [provider.quote_batch(a, columns, buyer=buyer).prices.tolist() for a, columns in asked.items()]

    def pay(self, provider: pacas.Provider, number: int) -> Answer | Refusal:
        sale = self.sales[number]
        values = dict(zip("GH" if sale.attribute == "M" else "G", sale.group, strict=False))
        request = Request(values, sale.attribute, sale.level)
        return provider.pay(request, HIGH, str(number), buyer=sale.buyer)


@st.composite
def rivals(draw: st.DrawFn) -> Rivals:
    several = st.builds(Tree, tree_rows(max_height=3)).map(to_hierarchy).filter(lambda t: len(t.ground_labels) > 2)
    trees = {a: draw(several) for a in "MN"}
    people = st.tuples(
        st.sampled_from("pq"), st.sampled_from("12"), *(st.sampled_from(trees[a].ground_labels) for a in "MN")
    )
    rows = draw(st.lists(people, min_size=1, max_size=6))
    policies = []
    for y in draw(st.lists(st.sampled_from("MN"), min_size=1, max_size=2, unique=True)):
        level = draw(st.integers(0, trees[y].height - 1))
        values = len(trees[y].at_level(level)) if level else len(trees[y].ground_labels)
        policies.append(pacas.Policy(("G", "H"), (y,), {y: level}, k=min(draw(st.sampled_from([2, 3])), values)))
    one = st.builds(
        Sale, st.sampled_from("uv"), st.sampled_from("MN"), st.sampled_from([r[:2] for r in rows]), st.integers(0, 2)
    )
    sales = draw(st.lists(one, min_size=1, max_size=8))
    cut = [sale._replace(level=min(sale.level, trees[sale.attribute].height)) for sale in sales]
    return Rivals(rows, trees, policies, cut)


ONE_GROUP_EACH = Generated(per_cell=4, mix=Mix(update=0.5, insert=0.25, delete=0.25))
SEALED: dict[str, Any] = {"quotes": "sealed", "seed": None}


def first_to_differ(case: Rivals, **how: Any) -> int | None:
    """The first purchase after which one of the buyers is quoted otherwise than if the other bought nothing."""
    both, alone = case.provider(**how), case.provider(**how)
    for number, sale in enumerate(case.sales):
        told = case.pay(both, number)
        if sale.buyer == "u" and case.pay(alone, number) != told:
            return number
        if case.ladders(both, "u") != case.ladders(alone, "u"):
            return number
    return None


@examples(80)
@given(rivals())
def test_a_buyers_quotes_do_not_depend_on_others_under_d5_with_policies_over_one_attribute(case: Rivals) -> None:
    """Sealed, whoever is in the table; the paper's, if each neighbour is about one X-group and somebody is not asked
    about (`docs/decisions/0003-where-the-paper-is-silent.md`)."""
    assert first_to_differ(case) is None
    assert first_to_differ(case, support=ONE_GROUP_EACH) is None
    assert first_to_differ(case, **SEALED) is None
    assert first_to_differ(case, beside=False, **SEALED) is None


OF_M = pacas.Hierarchy.from_rows([(value, "*") for value in "abc"])
OF_N = pacas.Hierarchy.from_rows([("v2", "v1", "v0", "*"), ("v4", "v3", "v0", "*"), ("v5", "v3", "v0", "*")])
POLICY = pacas.Policy(("G", "H"), ("N",), {"N": 0}, k=2)


def test_at_the_papers_quotes_one_person_alone_in_a_table_makes_buyers_rivals() -> None:
    """R is no neighbour of itself (Alg. 2): a person's own value counts as possible while some neighbour leaves it
    alone, and once v has bought the other attribute none does. All buyers' purchases count for safety (D8)."""
    case = Rivals([("p", "1", "b", "v4")], {"M": OF_M, "N": OF_N}, [POLICY], [Sale("v", "M", ("p", "1"), 0)])
    provider = case.provider(beside=False)
    assert isinstance(provider.quote(Request({"G": "p"}, "N", 1), buyer="u"), pacas.Quote)
    assert isinstance(case.pay(provider, 0), Answer)
    assert provider.quote(Request({"G": "p"}, "N", 1), buyer="u") == Refusal(Reason.UNSAFE)
    assert first_to_differ(case, beside=False) == 0
    assert first_to_differ(case) is None and first_to_differ(case, beside=False, **SEALED) is None


def test_at_the_papers_quotes_swaps_make_buyers_rivals() -> None:
    """A swap is about two people: who buys of one rules it out for the other, too, and what it says to be possible."""
    tree = pacas.Hierarchy.from_rows(
        [("a", "A", "Z", "*"), ("b", "B", "Z", "*"), ("d", "B", "Z", "*"), ("c", "C", "Y", "*")]
    )
    people = {"G": [*"pqr"], "H": ["1"] * 3, "M": [*"abd"]}
    swaps = [Neighbour({0: {"M": "b"}, 1: {"M": "a"}}), Neighbour({1: {"M": "d"}, 2: {"M": "b"}})]
    provider = pacas.Provider(
        people,
        match={"M": "G = G, H = H"},
        policies=[pacas.Policy(("G", "H"), ("M",), {"M": 0}, k=2)],
        hierarchies={"M": tree},
        support=GivenSupport(
            [*swaps, Neighbour({0: {"M": "c"}}), Neighbour(inserted=[{"G": "s", "H": "1", "M": "a"}])]
        ),
        engine=ENGINE,
    )
    first, second = ({"G": person, "H": "1"} for person in "pq")
    assert isinstance(provider.quote(Request(first, "M", 2), buyer="u"), pacas.Quote), "a, or b by the swap"
    assert isinstance(provider.pay(Request(second, "M", 1), HIGH, "1", buyer="v"), Answer), "b or d, and so not a"
    assert provider.quote(Request(first, "M", 2), buyer="u") == Refusal(Reason.UNSAFE), "a alone"


@pytest.mark.parametrize("engine", [ENGINE, ROOMLESS], ids=["held", "asked"])
@examples(25)
@given(rivals(), st.data())
def test_nobody_is_sold_anything_below_the_floor_and_all_else_is_as_without(
    engine: DuckEngine, case: Rivals, data: st.DataObject
) -> None:
    floor = {a: data.draw(st.integers(0, tree.height - 1)) for a, tree in case.trees.items()}
    for how in ({}, SEALED):
        bound, free = case.provider(floor=floor, engine=engine, **how), case.provider(engine=engine, **how)
        for number, sale in enumerate(case.sales):
            if sale.level < floor[sale.attribute]:
                assert isinstance(case.pay(bound, number), Refusal)
            else:
                assert case.pay(bound, number) == case.pay(free, number)
            for mine, others, lowest in zip(
                case.ladders(bound, "u"), case.ladders(free, "u"), floor.values(), strict=True
            ):
                for ladder, expected in zip(mine, others, strict=True):
                    below = [UNSAFE if price >= 0 else price for price in expected[:lowest]]
                    assert ladder == [*below, *expected[lowest:]]


@examples(60)
@given(CASES, st.data())
def test_price_lists_know_the_floor(case: Case, data: st.DataObject) -> None:
    public, private, _ = case
    floor = {a: data.draw(st.integers(0, tree.height - 1)) for a, tree in public.hierarchies.items()}
    provider, free = (opened(public, private, sealing=public.sealing, floor=f) for f in (floor, {}))
    lists, without = provider.shop.price_lists, free.shop.price_lists
    assert lists is not None and without is not None
    assert (lists.version == without.version) == (not any(floor.values()))
    keys = sorted({row[0] for row in public.rows})
    for attribute in lists.offered if public.reserve is Reserve.FIXED else ():
        told = provider.quote_batch(attribute, {"K": keys}, buyer="u").prices
        assert (told[:, : floor[attribute]] < 0).all()
        assert lists.of(attribute).ladders({"K": keys}, BoughtLevels()).tolist() == told.tolist()
        assert all(ladder.floor >= floor[attribute] for ladder in lists.offered[attribute].ladders)


def test_a_query_that_tells_more_than_the_floor_is_refused() -> None:
    tree = pacas.Hierarchy.from_rows([("a", "A", "*"), ("b", "A", "*"), ("c", "C", "*")])
    rows = {"G": ["p", "q"], "M": ["a", "c"]}
    provider = pacas.Provider(
        rows, match={"M": "G = G"}, hierarchies={"M": tree}, floor={"M": 1}, quotes="paper", total=1000
    )

    def told(select: str, where: str = "") -> object:
        return provider.quote_query(pacas.GeneralizedQuery.parse(select, where))

    assert told("M:0") == told("G", "M = a") == Refusal(Reason.UNSAFE)
    assert all(isinstance(quote, pacas.Quote) for quote in (told("M:1"), told("M:2"), told("G", "G = p")))


@pytest.mark.parametrize(
    ("floor", "said"),
    [
        ({"N": 1}, "floor: .*no column 'N' in what is sold"),
        ({"M": 2}, "the floor of 'M' must be a level from 0 to 1, not 2: at level 2 nothing is told"),
        ({"M": -1}, "the floor of 'M' must be a level from 0 to 1, not -1"),
    ],
)
def test_a_floor_is_a_level_of_what_is_sold(floor: dict[str, int], said: str) -> None:
    tree = pacas.Hierarchy.from_rows([("a", "A", "*"), ("b", "B", "*")])
    with pytest.raises(pacas.InputError, match=said):
        pacas.Provider({"G": ["p"], "M": ["a"]}, match={"M": "G = G"}, hierarchies={"M": tree}, floor=floor)

"""What holds of every cleaning that weighs: it keeps to its budget, asks nobody in vain, knows no order, no names."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_fds, to_hierarchies, to_hierarchy, to_provider, to_relation
from oracles.cleaning import Dependency, violations
from oracles.markets import DrawnMarket, LiteralMarketplace, literal_offers, published_tree
from oracles.pricing import Purchase, Request
from oracles.strategies import UNKNOWN, dependencies, relations, values_of
from oracles.tree import Tree, Value
from oracles.worlds import World, worlds

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.client.weighing import wishes
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Offer

ENGINE = DuckEngine(threads=1)
RICH = 10**6

Rows = list[dict[str, Value]]


@pytest.fixture(autouse=True, scope="module")
def everything_is_worth_asking() -> Any:
    """Tiny tables have little to lose."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wishes, "LEAST", 0.01)
        yield


# ---- tables and markets ---------------------------------------------------------------------------------------------


@dataclass
class Case:
    rows: Rows
    trees: dict[str, Tree]
    fds: list[Dependency]
    offers: dict[str, Offer]
    market: Any
    cells: frozenset[tuple[int, str]] = frozenset()
    shops: list[LiteralMarketplace] = field(default_factory=list)

    def clean(self, budget: int, *, careful: float = 0.9, dry_run: bool = False, shop: Any = None) -> Cleaning:
        """The budget is in nanocredits."""
        if shop is None:
            shop = LiteralMarketplace(deepcopy(self.market), self.offers)
            self.shops.append(shop)
        client = SafeClean(
            to_fds(self.fds),
            f"{budget / 10**9:.9f}",
            hierarchies=to_hierarchies(self.trees),
            strategy="weigh",
            careful=careful,
            cells=self.cells,
        )
        return client.clean(to_relation(self.rows), shop, engine=ENGINE, dry_run=dry_run)

    @property
    def asked(self) -> int:
        """Calls for quotes, and payments, of the last cleaning."""
        return len(self.shops[-1].batches) + len(self.shops[-1].keys)

    @property
    def is_violated(self) -> bool:
        return any(violations(self.rows, fd, self.trees) for fd in self.fds)


SHAPES = [
    [Dependency(("A",), "B")],
    [Dependency(("A", "B"), "C")],
    [Dependency(("A",), "C"), Dependency(("B",), "C")],
    [Dependency(("A",), "B"), Dependency(("B",), "C")],
]


@st.composite
def grouped(draw: st.DrawFn) -> tuple[Rows, dict[str, Tree]]:
    """Few groups that half agree."""
    rows, trees = draw(relations(max_rows=4))
    copies = draw(st.lists(st.sampled_from(rows), min_size=4, max_size=16))
    found: Rows = []
    for copy in copies:
        row = dict(copy)
        if draw(st.sampled_from([True, False, False])):
            a = draw(st.sampled_from("ABC"))
            row[a] = draw(values_of(trees[a]) if a in trees else st.sampled_from("abc"))
        found.append(row)
    return found, trees


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rows, trees = draw(grouped() | relations(max_rows=14))
    fds = draw(st.sampled_from(SHAPES) | dependencies())
    for a in "ABCD":
        if a not in trees:
            trees[a] = Tree([[v, "*"] for v in ("a", "b", "d")])
    offers = {}
    for a in [a for a in "ABCD" if draw(st.sampled_from([True, True, False]))]:
        columns = draw(st.lists(st.sampled_from([c for c in "ABCD" if c != a]), min_size=1, max_size=2, unique=True))
        offers[a] = Offer(a, tuple(columns), to_hierarchy(trees[a]))
    market = DrawnMarket(draw(st.integers(0, 10**6)), trees, refusals=draw(st.sampled_from([0.0, 0.2])))
    cell = st.tuples(st.integers(0, len(rows) - 1), st.sampled_from("ABCD"))
    return Case(rows, trees, fds, offers, market, draw(st.just(frozenset()) | st.frozensets(cell, max_size=2)))


@st.composite
def provided(draw: st.DrawFn, world: World) -> tuple[World, Case]:
    """A dirty copy of what a provider holds, under the names by which its rows are found."""
    literal = world.provider()
    copies = draw(st.lists(st.sampled_from(world.rows), min_size=2, max_size=9))
    renamed = {c.client: c.provider for match in world.matches.values() for c in match}
    rows = [{**row, **{name: row[column] for name, column in renamed.items()}} for row in copies]
    trees = {a: published_tree(literal, a) for a in world.matches}
    for row in rows:
        for a in sorted(world.matches):
            if draw(st.sampled_from([True, False, False])):
                row[a] = draw(values_of(trees[a]) | st.sampled_from([*UNKNOWN, row[a]]))
    sold = draw(st.sampled_from(sorted(world.matches)))
    x = draw(st.sampled_from([c for c in rows[0] if c != sold]))
    return world, Case(rows, trees, [Dependency((x,), sold)], literal_offers(literal), literal)


# ---- money ----------------------------------------------------------------------------------------------------------


@examples(120)
@given(cases(), st.integers(0, 60) | st.integers(0, 400))
def test_spending_is_within_the_budget_and_is_the_sum_of_what_was_paid(case: Case, budget: int) -> None:
    cleaned = case.clean(budget)
    refused = sum(left.price for left in cleaned.unrepaired)
    paid = sum(answer.price for _, answer in case.shops[-1].keys.values())
    assert cleaned.spent_nanocredits == paid == sum(p.price for p in cleaned.purchases) + refused <= budget


@examples(40)
@given(worlds().flatmap(provided), st.integers(0, 5000))
def test_a_real_provider_is_paid_what_the_client_says(drawn: tuple[World, Case], budget: int) -> None:
    world, case = drawn
    provider = to_provider(world)
    cleaned = case.clean(budget, shop=provider)
    spent = sum(total.spent for total in provider.ledger.totals().values())
    assert cleaned.spent_nanocredits == spent <= budget


@examples(60)
@given(cases())
def test_with_no_money_it_asks_nobody(case: Case) -> None:
    cleaned = case.clean(0)
    assert case.asked == 0 and not cleaned.purchases and cleaned.spent == 0


@examples(60)
@given(cases())
def test_a_table_without_violations_is_untouched_and_nobody_is_asked(case: Case) -> None:
    case.cells = frozenset()
    kept: Rows = []
    for row in case.rows:  # as many as violate nothing
        if not replace(case, rows=[*kept, row]).is_violated:
            kept.append(row)
    case.rows = kept
    cleaned = case.clean(RICH)
    assert cleaned.relation.table.to_pylist() == kept
    assert case.asked == 0 and not cleaned.repairs and not cleaned.unrepaired


@examples(60)
@given(cases())
def test_a_dry_run_pays_nothing(case: Case) -> None:
    cleaned = case.clean(RICH, dry_run=True)
    assert not case.shops[-1].keys
    assert cleaned.spent_nanocredits == sum(p.price for p in cleaned.purchases)


# ---- repairs --------------------------------------------------------------------------------------------------------


@examples(100)
@given(cases(), st.sampled_from([0, 40, RICH]))
def test_nothing_is_expected_to_be_worse_than_it_was(case: Case, budget: int) -> None:
    """Where nothing was bought about a cell, what it was weighed against is all there is."""
    cleaned = case.clean(budget)
    assert cleaned.weighing is not None
    for spent, error in cleaned.weighing.expected:
        assert 0 <= spent <= budget and error >= -1e-9
    for repair in cleaned.repairs:
        tree = case.trees[repair.attribute]
        there = [tree.key(row[repair.attribute]) for row in case.rows]  # of numbers, in whatever spelling
        assert tree.key(repair.new) in {*tree.known, *there}
        for row, old in zip(repair.rows.tolist(), repair.old, strict=True):
            told = cleaned.weighing.explain(row, repair.attribute)
            assert tree.key(old) != tree.key(repair.new)
            if not repair.purchases and sum(repair.attribute in (*fd.lhs, fd.rhs) for fd in case.fds) == 1:
                right = [e.weight for e in told if " is right " in e.says or e.says.startswith("it is right")]
                assert max(right, default=0.0) < 0.7, "a repair must lower the expected error by a margin"


@examples(60)
@given(cases())
def test_careful_1_writes_nothing_for_free_unless_it_is_certain(case: Case) -> None:
    cleaned = case.clean(0, careful=1)
    assert not cleaned.repairs and cleaned.relation.table.to_pylist() == case.rows


@examples(60)
@given(cases(), st.sampled_from([0.5, 0.8, 0.95]))
def test_who_is_more_careful_writes_no_more_for_free(case: Case, careful: float) -> None:
    little, much = case.clean(0, careful=careful), case.clean(0, careful=1)
    assert little.weighing is not None and much.weighing is not None
    assert much.weighing.free <= little.weighing.free
    assert all(cell.sure < 1 for cell in much.weighing.doubtful)


# ---- order and names ------------------------------------------------------------------------------------------------


class FixedMarket:
    """Prices and values that follow from the question alone, by names that are kept apart from those that are asked."""

    def __init__(
        self, market: DrawnMarket, old: dict[str, dict[Value, Value]], new: dict[str, dict[Value, Value]]
    ) -> None:
        self.market, self.old, self.new = market, old, new

    def _known(self, what: Request) -> Request:
        values = {a: self.old.get(a, {}).get(v, v) for a, v in what.values.items()}
        return Request(values, what.attribute, what.level)

    def quote(self, what: Request, buyer: str) -> int | str:
        self.market.sold.clear()
        price = self.market.quote(self._known(what), buyer)
        return price if isinstance(price, str) else 1 + price

    def buy(self, what: Request, buyer: str, ceiling: int | None = None) -> Purchase | str:
        self.market.sold.clear()
        price, bought = self.quote(what, buyer), self.market.buy(self._known(what), buyer)
        if isinstance(price, str) or isinstance(bought, str):
            return price if isinstance(price, str) else str(bought)
        return Purchase(price, self.new.get(what.attribute, {}).get(bought.answer, bought.answer))


def told(cleaned: Cleaning) -> tuple[Any, ...]:
    return len(cleaned.purchases), cleaned.spent_nanocredits, cleaned.violations_after


@st.composite
def nameless(draw: st.DrawFn) -> Case:
    """Nothing here is decided by names: no text is near another, and who is asked in a group is told the same."""
    case = draw(cases())
    case.trees = {a: tree for a, tree in case.trees.items() if not tree.numeric}
    assume(set(case.trees) == set("ABCD"))
    assume(all(len(str(v)) <= 2 for tree in case.trees.values() for v in tree.known))
    case.fds = draw(st.sampled_from([*SHAPES[:2], SHAPES[3]]))
    case.offers = {fd.rhs: Offer(fd.rhs, fd.lhs, to_hierarchy(case.trees[fd.rhs])) for fd in case.fds}
    case.cells = frozenset()
    case.market = FixedMarket(DrawnMarket(draw(st.integers(0, 10**6)), case.trees, refusals=0), {}, {})
    return case


@examples(80)
@given(nameless(), st.randoms(use_true_random=False))
def test_permuting_rows_changes_nothing_but_their_order(case: Case, random: Any) -> None:
    order = list(range(len(case.rows)))
    random.shuffle(order)
    one = case.clean(RICH)
    other = replace(case, rows=[case.rows[row] for row in order]).clean(RICH)
    assert other.relation.table.to_pylist() == [one.relation.table.to_pylist()[row] for row in order]
    assert told(one) == told(other)


@examples(80)
@given(nameless(), st.randoms(use_true_random=False))
def test_renaming_values_changes_nothing_but_names(case: Case, random: Any) -> None:
    new: dict[str, dict[Value, Value]] = {}
    for a, tree in case.trees.items():
        values = sorted(
            {v for v in [*tree.known, *(row[a] for row in case.rows)] if v not in (None, tree.root)}, key=str
        )
        names = [chr(0x4E00 + number) for number in range(len(values))]
        random.shuffle(names)
        new[a] = dict(zip(values, names, strict=True))
    old = {a: {name: value for value, name in names.items()} for a, names in new.items()}
    trees = {
        a: Tree([[str(new[a].get(v, v)) for v in row] for row in tree.rows], root=tree.root)
        for a, tree in case.trees.items()
    }
    renamed = Case(
        [{a: new[a].get(v, v) for a, v in row.items()} for row in case.rows],
        trees,
        case.fds,
        {a: replace(offer, hierarchy=to_hierarchy(trees[a])) for a, offer in case.offers.items()},
        FixedMarket(case.market.market, old, new),
    )
    one, other = case.clean(RICH), renamed.clean(RICH)
    found = [{a: old[a].get(v, v) for a, v in row.items()} for row in other.relation.table.to_pylist()]
    assert found == one.relation.table.to_pylist()
    assert told(one) == told(other)

"""A client that weighs: what it repairs for nothing, what it asks, and what it makes of the answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pacas
from pacas.client.outcome.changes import Changes
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.judgement import DoubtfulCell, Judgement
from pacas.client.outcome.steps import Why
from pacas.client.safe_clean import SafeClean
from pacas.client.weighing.model import Model
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.codes import CodedColumn, coded_texts
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import ABSENT, Answer, Ladders, Offer, Quote, Reason, Refusal, Request, refused

ENGINE = DuckEngine(threads=1)
VALUES = ["x0", "x1", "x2", "y0", "y1", "y2", "z0", "z1"]
TREE = Hierarchy.from_rows([(value, value[0], "*") for value in VALUES])
PRICE = 10

Table = dict[str, list[str | None]]


class Shop:
    """Sells what it holds of each attribute, by the values of some columns; every level costs the same, if not said."""

    def __init__(
        self,
        truth: Mapping[str, Mapping[str, str]],
        by: str = "K",
        trees: Mapping[str, Hierarchy] | None = None,
        kept_back: Sequence[str] = (),
        prices: Sequence[int] | None = None,
    ) -> None:
        self.truth, self.by, self.kept_back, self.prices = truth, by, kept_back, prices
        self.trees = {a: (trees or {}).get(a, TREE) for a in truth}
        self.asked: list[tuple[str, str, int]] = []
        self.quoted: list[tuple[str, str]] = []

    def catalogue(self) -> dict[str, Offer]:
        return {a: Offer(a, (self.by,), tree, may_be_absent=True) for a, tree in self.trees.items()}

    def quote(self, request: Request) -> Quote | Refusal:
        raise AssertionError("one quote at a time was asked for")

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        keys = [str(key) for key in tuples[self.by]]
        self.quoted += [(attribute, key) for key in keys]
        kept = refused(Reason.UNSAFE)
        width = self.trees[attribute].height + 1
        prices = self.prices or [PRICE] * width
        return Ladders(np.array([[kept] * width if key in self.kept_back else prices for key in keys]))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        asked = str(request.tuple[self.by])
        self.asked.append((request.attribute, asked, request.level))
        value = self.truth[request.attribute][asked]
        tree = self.trees[request.attribute]
        return Answer(
            value if value == ABSENT else str(tree.generalize_value(value, request.level)),
            request.level,
            self.prices[request.level] if self.prices else PRICE,
        )


NOBODY = Shop({})


def table(*groups: tuple[str, Sequence[str | None]]) -> Table:
    """Rows by group, each with a key of its own: what they show in B."""
    a: list[str | None] = [name for name, shown in groups for _ in shown]
    return {"K": [f"k{n}" for n in range(len(a))], "A": a, "B": [value for _, shown in groups for value in shown]}


def tidy(*values: str, size: int = 6) -> list[tuple[str, Sequence[str | None]]]:
    """Groups in which all is right."""
    return [(f"t{number}", [value] * size) for number, value in enumerate(values)]


def clean(
    data: Mapping[str, Sequence[str | None]], shop: Shop, fds: Any = "A -> B", budget: Any = 1, **options: Any
) -> Cleaning:
    options = {"hierarchies": {"B": TREE}, "strategy": "weigh"} | options
    return SafeClean(fds, budget, **options).clean(data, shop, engine=ENGINE)


def column(cleaning: Cleaning, name: str = "B") -> list[str | None]:
    return cleaning.relation.table[name].to_pylist()


def coded(data: Mapping[str, Sequence[str | None]]) -> dict[str, CodedColumn]:
    return {name: coded_texts(pa.chunked_array([pa.array(values, pa.string())])) for name, values in data.items()}


def judgement(cleaning: Cleaning) -> Judgement:
    assert cleaning.weighing is not None
    return cleaning.weighing


# ---- for nothing ----------------------------------------------------------------------------------------------------


def test_27_of_28_agree_and_nobody_sells_their_value() -> None:
    data = table(("a", ["x0"] * 13 + ["z1"] + ["x0"] * 14), *tidy("y0", "z0", "x1", "y1"))
    shop = Shop({"B": {}}, kept_back=[str(key) for key in data["K"]])
    cleaned = clean(data, shop)
    assert column(cleaned)[:28] == ["x0"] * 28
    assert [(r.rows.tolist(), r.new, r.why, r.purchases) for r in cleaned.repairs] == [([13], "x0", Why.OWN, ())]
    assert not shop.asked and cleaned.spent == 0 and not cleaned.unrepaired
    assert (judgement(cleaned).free, judgement(cleaned).paid, judgement(cleaned).voted) == (1, 0, 1)


@pytest.mark.parametrize("own", [{"B": Hierarchy.from_rows([("x0", "x", "*")])}, {}])
def test_a_column_that_should_hold_one_value_everywhere_is_repaired(own: Mapping[str, Hierarchy]) -> None:
    for error in ("xo", None):
        data = table(*((f"a{n}", ["x0"] * 5 + [error and error * n] + ["x0"] * 6) for n in range(1, 8)))
        cleaned = clean(data, NOBODY, budget=0, hierarchies=own)
        assert column(cleaned) == ["x0"] * len(data["B"])


def test_a_misplaced_row_gets_its_left_side_back() -> None:
    data = table(*tidy("x0", "y0", "z0", "x1", "y1", "y2", size=8))
    data["C"] = [f"c-{a}" for a in data["A"]]
    data["A"][2], data["A"][11] = "t3", "t5"
    cleaned = clean(data, NOBODY, ["A -> B", "A -> C"], budget=0)
    assert {(r.attribute, *r.rows.tolist(), r.new) for r in cleaned.repairs} == {("A", 2, "t0"), ("A", 11, "t1")}
    assert column(cleaned) == data["B"] and column(cleaned, "C") == data["C"]
    assert (cleaned.violations_before > 0, cleaned.violations_after) == (True, 0)


def test_a_right_side_that_a_rows_new_group_contradicts_is_repaired_with_its_left_side() -> None:
    data = table(*tidy("x0", "y0", "z0", "x1", "y1", "y2", size=8))
    data |= {name: [f"{name}-{a}" for a in data["A"]] for name in "CD"}
    data["A"][2], data["D"][2], data["A"][11] = "t3", "D-t1", "t5"
    cleaned = clean(data, NOBODY, ["A -> B", "A -> C", "A -> D"], budget=0)
    found = {(r.attribute, *r.rows.tolist(), r.new) for r in cleaned.repairs}
    assert found == {("A", 2, "t0"), ("D", 2, "D-t0"), ("A", 11, "t1")}
    assert cleaned.violations_after == 0
    says = [e.says for e in judgement(cleaned).explain(2, "D") if "so is the row's left side" in e.says]
    assert says == ["it is wrong, and so is the row's left side: where the row belongs it should be 'D-t0'"]


def test_where_two_camps_are_as_large_nothing_is_free() -> None:
    data = table(("a", ["x0"] * 3 + ["y0"] * 3), *tidy("z0", "x1", "y1"))
    cleaned = clean(data, NOBODY, budget=0)
    assert column(cleaned) == data["B"] and not cleaned.repairs
    assert {(cell.row, cell.written) for cell in judgement(cleaned).doubtful} == {(row, False) for row in range(6)}
    assert [(u.rows.tolist(), u.reason) for u in cleaned.unrepaired] == [([0, 1, 2, 3, 4, 5], "not_sold")]


def test_nulls_and_general_values_exclude_nothing_and_are_no_truth() -> None:
    data = table(("a", ["x0"] * 6 + ["x", None, "*", "y1"]), ("b", [None] * 5 + ["z0"]), *tidy("y0", "z0", "x1"))
    cleaned = clean(data, NOBODY, budget=0)
    assert column(cleaned)[9] == "x0", "what excludes the others is repaired"
    assert None not in [repair.new for repair in cleaned.repairs]
    assert {repair.new for repair in cleaned.repairs} <= set(VALUES)
    assert cleaned.violations_after <= cleaned.violations_before


@pytest.mark.parametrize("missing", [0, 6, 15])
def test_what_is_missing_does_not_say_which_of_two_camps_is_right(missing: int) -> None:
    """Each group shows a value five times and another one twice; these are right, which one answer a group tells."""
    wrong, right = ([f"{letter}{n}" for n in range(12)] for letter in "wr")
    groups = [(f"a{n}", [wrong[n]] * 5 + [right[n]] * 2 + [None] * missing) for n in range(12)]
    tree = Hierarchy.flat([*wrong, *right])
    data = table(*groups)
    truth = [right[int(str(a)[1:])] for a in data["A"]]
    shop = Shop({"B": dict(zip(map(str, data["K"]), truth, strict=True))}, trees={"B": tree})
    assert column(clean(data, shop, hierarchies={"B": tree})) == truth


def test_a_null_on_the_left_side_ties_nothing() -> None:
    data = table(*tidy("x0", "y0", "z0"))
    data["A"][0] = data["A"][7] = data["A"][13] = None
    assert clean(data, NOBODY, budget=0).violations_before == 0


def breweries(lacking: Sequence[int]) -> dict[str, list[str | None]]:
    """Twelve breweries of six beers, four cities of them; two names are misspelt, and some numbers are missing."""
    of = [n // 6 for n in range(72)]
    data: dict[str, list[str | None]] = {
        "ID": [f"b{n}" for n in of],
        "NAME": [f"brewery {'abcdefghijkl'[n] * 3}" for n in of],
        "CITY": [f"city {n % 4}" for n in of],
    }
    data["NAME"][20] = "brewexy ddd"
    for row in lacking:
        data["ID"][row] = None
    return data


def test_a_left_value_that_is_missing_follows_from_what_the_row_shows() -> None:
    fds, options = ["ID -> NAME", "ID -> CITY"], {"hierarchies": {}, "budget": 0}
    cleaned = clean(breweries([3, 40]), NOBODY, fds, **options)
    assert {name: column(cleaned, name) for name in ("ID", "NAME", "CITY")} == breweries([]) | {
        "NAME": [f"brewery {'abcdefghijkl'[n // 6] * 3}" for n in range(72)]
    }
    (first, *_) = judgement(cleaned).explain(3, "ID")
    assert first.says == "it is improbable, and should be 'b0'" and first.weight > 0.9
    torn = breweries([3])
    torn["CITY"][3] = "city 3"
    doubtful = judgement(clean(torn, NOBODY, fds, **options)).doubtful
    assert [(cell.row, cell.attribute, cell.guess) for cell in doubtful] == [(3, "ID", "b0")], "a name of two cities"
    alone = breweries([3])
    alone["NAME"][3] = None
    assert column(clean(alone, NOBODY, fds, **options), "ID")[3] is None, "three breweries are in its city"
    assert column(clean(breweries([3]), NOBODY, fds[1:], **options), "ID")[3] is None, "nothing confirms what one says"
    tidy_table = breweries([3]) | {"NAME": breweries([])["NAME"]}
    tidy_table["NAME"][20] = "brewery ddd"
    assert column(clean(tidy_table, NOBODY, fds, **options), "ID")[3] is None, "no violation: nothing is touched"


def test_a_right_side_that_is_missing_does_not_say_that_its_left_side_is_wrong() -> None:
    """A hundred breweries in sixty cities, a third of them with one beer; one row in ten lacks a cell."""
    rng = random.Random(1)
    cities = [f"city {rng.randrange(60)}" for _ in range(100)]
    of = [n for n in range(100) for _ in range(1 if n % 3 == 0 else 2 + n % 5)]
    data: dict[str, list[str | None]] = {
        "ID": [f"b{n}" for n in of],
        "NAME": [f"brewery {n}" for n in of],
        "CITY": [cities[n] for n in of],
        "STATE": [f"state {cities[n][-1]}" for n in of],
    }
    for row in range(len(of)):
        if rng.random() < 0.1:
            data[rng.choice(["NAME", "CITY", "STATE"])][row] = None
    cleaned = clean(data, NOBODY, ["ID -> NAME", "ID -> CITY", "ID -> STATE"], hierarchies={}, budget=0)
    assert column(cleaned, "ID") == data["ID"] and column(cleaned, "NAME") != data["NAME"]


def test_a_dependency_whose_left_side_is_empty_everywhere_says_nothing() -> None:
    data = table(("a", ["x0"] * 5 + ["y0"]), *tidy("z0", "x1", "y1"))
    data["C"] = [None] * len(data["A"])
    shop = Shop({"B": {f"k{n}": "x0" for n in range(6)}})
    for fds in (["A -> B", "C -> B"], ["C -> B", "A -> B"]):
        for careful in (0.9, 1):
            assert column(clean(data, shop, fds, careful=careful))[:6] == ["x0"] * 6


# ---- what is bought -------------------------------------------------------------------------------------------------


def test_two_camps_are_told_apart_by_one_purchase() -> None:
    data = table(("a", ["x0"] * 3 + ["y0"] * 3), *tidy("z0", "x1", "y1"))
    shop = Shop({"B": {f"k{n}": "y0" for n in range(6)}})
    cleaned = clean(data, shop)
    assert column(cleaned)[:6] == ["y0"] * 6
    assert len(cleaned.purchases) == len(shop.asked) <= 2
    assert (judgement(cleaned).free, judgement(cleaned).paid) == (0, 3)
    assert cleaned.violations_after == 0


@pytest.mark.parametrize("prices", [[PRICE * 9, 1, 0], [PRICE * 2, PRICE, 0]])
def test_a_cell_that_fits_a_general_answer_is_none_the_less_what_its_group_holds(prices: list[int]) -> None:
    data = table(("a", ["x0"] * 8 + ["x1"] * 6 + ["y0"] * 4), *tidy("z0", "y1", "z1", "y2"))
    truth = dict(zip(map(str, data["K"]), map(str, data["B"]), strict=True)) | {f"k{n}": "x1" for n in range(18)}
    cleaned = clean(data, Shop({"B": truth}, prices=prices))
    assert {purchase.level for purchase in cleaned.purchases} == {0, 1}
    assert column(cleaned)[:18] == ["x1"] * 18


def test_where_a_row_is_refused_another_one_is_asked() -> None:
    data = table(("a", ["x0"] * 3 + ["y0"] * 3), *tidy("z0", "x1", "y1"))
    shop = Shop({"B": {f"k{n}": "y0" for n in range(6)}}, kept_back=["k5", "k2"])
    cleaned = clean(data, shop)
    assert {"k5", "k2"} <= {key for _, key in shop.quoted}
    assert shop.asked and not {key for _, key, _ in shop.asked} & {"k5", "k2"}
    assert column(cleaned)[:6] == ["y0"] * 6


@pytest.mark.parametrize("others", [4, 16])
@pytest.mark.parametrize("agree", [9, 27, 100])
def test_an_answer_against_strong_evidence_does_not_overwrite_the_class(agree: int, others: int) -> None:
    """The row that is asked about stands in the wrong group: its answer says so, and no more."""
    data = table(("a", ["x0"] * agree + ["y0"]), *tidy(*["y0", "z0", "x1", "y1"] * (others // 4)))
    shop = Shop({"B": {f"k{agree}": "y0"}}, kept_back=[f"k{n}" for n in range(agree)])
    cleaned = clean(data, shop, cells=[(agree, "B")])
    assert [key for _, key, _ in shop.asked] == [f"k{agree}"]
    assert column(cleaned) == data["B"], "a bought value that the cell shows is right as it is"


@pytest.mark.parametrize("agree", [9, 60])
def test_a_value_that_the_hierarchy_lacks_may_be_the_truth_of_a_class(agree: int) -> None:
    """Nearly all rows agree on it; the answer about one that does not says that this one stands in the wrong group."""
    data = table(("a", ["unheard of"] * agree + ["y0"]), *tidy(*["y0", "z0", "x1", "y1", "x0"] * 3))
    told = {f"k{n}": str(value) for n, value in enumerate(data["B"])}
    shop = Shop({"B": told}, kept_back=[f"k{n}" for n in range(agree)])
    cleaned = clean(data, shop)
    assert shop.asked and column(cleaned)[:agree] == ["unheard of"] * agree


@pytest.mark.parametrize("truth", ["unheard of", "x0"])
@pytest.mark.parametrize(("agree", "strays"), [(9, 2), (30, 7), (60, 8), (200, 8)])
def test_a_class_is_not_overwritten_by_what_others_in_it_are_told_to_be(agree: int, strays: int, truth: str) -> None:
    """Those who agree are kept back; rows of another group are sold, and each shows what it should."""
    groups = [(f"u{n}", [truth] * agree + ["y0"] * strays) for n in range(2)]
    data = table(*groups, *tidy(*["y0", "z0", "x1", "y1"] * 3, size=20))
    told = {f"k{n}": str(value) for n, value in enumerate(data["B"])}
    shop = Shop({"B": told}, kept_back=[key for key, value in told.items() if value == truth])
    found = column(clean(data, shop))
    assert shop.asked and found.count(truth) >= 2 * agree


def test_a_class_is_overwritten_by_what_its_own_rows_are_told_to_be() -> None:
    """Two thirds of each group were written over: a row of them is asked, and told otherwise."""
    groups = [(f"u{n}", ["z1"] * 20 + ["x0"] * 10) for n in range(2)]
    data = table(*groups, *tidy(*["y0", "z0", "x1", "y1"] * 3, size=20))
    shop = Shop({"B": {f"k{n}": "x0" if n < 60 else str(value) for n, value in enumerate(data["B"])}})
    assert column(clean(data, shop))[:60] == ["x0"] * 60


def test_an_answer_that_follows_from_the_left_side_settles_its_group_however_many_agree() -> None:
    """Two camps of others, and few are right: whoever of the group is asked, what is told is what it should hold."""
    groups = [(f"f{n}", ["y0"] * 12 + ["z0"] * 12 + ["x0"] * 6) for n in range(2)] + tidy(*["x1", "y1", "z1"] * 5)
    shop = Shop({"B": {name: str(shown[-1]) for name, shown in groups}}, by="A")
    assert column(clean(table(*groups), shop))[:60] == ["x0"] * 60


def test_a_cell_that_was_bought_itself_is_written() -> None:
    data = table(("a", ["x0"] * 9 + ["y0"]), *tidy("y0", "z0", "x1", "y1"))
    shop = Shop({"B": {"k9": "x0"}}, kept_back=[f"k{n}" for n in range(9)])
    cleaned = clean(data, shop, careful=1, cells=[(9, "B")])
    assert shop.asked and column(cleaned)[:10] == ["x0"] * 10


def test_a_left_attribute_is_bought_where_it_is_sold() -> None:
    """It may have been one of two groups that hold what the row shows."""
    data = table(("a", ["x0"] * 8), ("b", ["x0"] * 8), *tidy("y0", "z0", "x1", "y1", "y2", size=8))
    data["C"] = [f"c-{b}" for b in data["B"]]
    data["A"][8] = "t0"
    groups = Hierarchy.flat(sorted({str(a) for a in data["A"]}))
    shop = Shop({"A": {"k8": "b"}}, trees={"A": groups})
    cleaned = clean(data, shop, ["A -> B", "A -> C"], hierarchies={"B": TREE, "A": groups})
    assert shop.asked == [("A", "k8", 0)]
    assert column(cleaned, "A") == ["a"] * 8 + ["b"] * 8 + data["A"][16:] and column(cleaned) == data["B"]
    (repair,) = cleaned.repairs
    assert (repair.why, [p.value for p in repair.purchases]) == (Why.BOUGHT, ["b"])


def test_named_cells_are_bought_for_without_any_dependency() -> None:
    data = table(*tidy("x0", "y0", "z0"))
    shop = Shop({"B": {f"k{n}": "z1" for n in range(18)}})
    cleaned = clean(data, shop, [], cells=[(2, "B"), (9, "B")])
    assert sorted(shop.asked) == [("B", "k2", 0), ("B", "k9", 0)]
    assert [row for row, value in enumerate(column(cleaned)) if value == "z1"] == [2, 9]


def test_named_cells_are_bought_for_beside_a_dependency() -> None:
    data = table(*tidy("x0", "y0", "z0"))
    shop = Shop({"B": {f"k{n}": "x0" for n in range(18)}})
    cleaned = clean(data, shop, cells=[(2, "B")])
    assert shop.asked == [("B", "k2", 0)] and column(cleaned) == data["B"]


def test_an_answer_that_the_clients_hierarchy_does_not_know_is_no_repair() -> None:
    data = table(("a", ["x0"] * 3 + ["y0"] * 3), *tidy("z0", "x1", "y1"))
    other = Hierarchy.from_rows([*((value, value[0], "*") for value in VALUES), ("q9", "q", "*")])
    shop = Shop({"B": {f"k{n}": "q9" for n in range(6)}}, trees={"B": other})
    cleaned = clean(data, shop)
    assert shop.asked and column(cleaned) == data["B"] and not cleaned.repairs
    assert [(u.rows.tolist(), u.reason) for u in cleaned.unrepaired] == [([0, 1, 2, 3, 4, 5], "unknown_value")]


def test_absent_is_paid_and_said() -> None:
    data = table(("a", ["x0"] * 3 + ["y0"] * 3), *tidy("z0", "x1", "y1"))
    shop = Shop({"B": {f"k{n}": ABSENT for n in range(6)}})
    cleaned = clean(data, shop)
    assert shop.asked and column(cleaned) == data["B"] and not cleaned.purchases
    assert cleaned.spent_nanocredits == PRICE * len(shop.asked)
    assert [u.reason for u in cleaned.unrepaired] == ["absent"]


def test_what_costs_more_than_there_is_is_not_asked() -> None:
    data = table(("a", ["x0"] * 3 + ["y0"] * 3), *tidy("z0", "x1", "y1"))
    shop = Shop({"B": {}})
    cleaned = clean(data, shop, budget="0.000000009")
    assert shop.quoted and not shop.asked and cleaned.spent == 0


# ---- what is told ---------------------------------------------------------------------------------------------------


def weighed(
    *, free: int = 0, paid: int = 0, doubtful: int = 0, promised: Sequence[tuple[int, float]] = ()
) -> Judgement:
    cells = [DoubtfulCell(row, "B", "x0", "y0", 0.6, row % 2 == 0) for row in range(2 * doubtful)]
    return Judgement(0.9, (), free, paid, {}, tuple(cells), (), lambda at: {}, tuple(promised), lambda *cell: ())


@pytest.mark.parametrize(
    ("free", "paid", "doubtful", "too_many"),
    [(0, 0, 0, False), (10, 0, 1, False), (9, 0, 1, True), (5, 5, 1, False), (15, 4, 2, True), (1, 0, 1, True)],
)
def test_more_than_a_tenth_of_what_was_written_must_not_be_doubtful(
    free: int, paid: int, doubtful: int, too_many: bool
) -> None:
    found = weighed(free=free, paid=paid, doubtful=doubtful)
    assert (found.doubtful_written, found.is_doubtful) == (doubtful, too_many)


def test_the_knee_is_where_more_money_begins_to_bring_less() -> None:
    assert weighed(promised=[(0, 10.0), (1, 6.0), (2, 2.5), (10, 1.0), (20, 0.5)]).knee == (2, 2.5)
    assert weighed(promised=[(0, 10.0), (1, 6.0)]).knee is None
    assert weighed(promised=[(0, 10.0), (0, 6.0), (0, 5.0)]).knee is None


def test_the_explanations_of_a_right_hand_cell_sum_to_one() -> None:
    data = table(("a", ["x0"] * 7 + ["y2"] * 2 + ["z1"]), *tidy("y0", "z0", "x1", "y1"))
    explain = judgement(clean(data, NOBODY, budget=0)).explain
    for row in range(10):
        found = explain(row, "B")
        assert sum(one.weight for one in found) == pytest.approx(1, abs=0.03)
        assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)
    assert explain(0, "K") == []
    assert "is right in its group of 10 by A" in explain(0, "B")[0].says
    assert "should be 'x0'" in " ".join(one.says for one in explain(9, "B"))


def test_a_left_cell_is_explained_by_where_its_row_may_belong() -> None:
    data = table(*tidy("x0", "y0", "z0", "x1", "y1", "y2", size=8))
    data["C"] = [f"c-{b}" for b in data["B"]]
    data["A"][2] = "t3"
    found = judgement(clean(data, NOBODY, ["A -> B", "A -> C"], budget=0)).explain(2, "A")
    assert any("should be 't0'" in one.says for one in found)
    assert sum(one.weight for one in found) == pytest.approx(1, abs=0.03)


def test_the_vote_is_what_each_violated_groups_most_frequent_value_would_change() -> None:
    data = table(("a", ["x0"] * 4 + ["y0"] * 2), *tidy("z0", "x1", "y1"))
    (vote,) = judgement(clean(data, NOBODY, budget=0)).vote.items()
    name, changes = vote
    assert isinstance(changes, Changes)
    assert (name, changes.rows.tolist(), [*changes.old], [*changes.new]) == ("B", [4, 5], ["y0"] * 2, ["x0"] * 2)


def test_what_is_expected_falls_with_what_is_bought() -> None:
    groups = [(f"a{n}", ["x0"] * 3 + ["y0"] * 3) for n in range(4)]
    data = table(*[(name, [*shown]) for name, shown in groups], *tidy("z0", "x1", "y1"))
    shop = Shop({"B": {f"k{n}": "y0" if n < 24 else str(shown) for n, shown in enumerate(data["B"])}})
    found = judgement(clean(data, shop))
    assert found.expected[0][0] == 0 and found.expected[-1][0] == PRICE * len(shop.asked)
    assert found.expected[-1][1] < found.expected[0][1] / 2
    spent = [at for at, _ in found.promised]
    left = [error for _, error in found.promised]
    assert spent == sorted(spent) and left == sorted(left, reverse=True)


# ---- what it may be told --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("careful", [-0.1, 1.1, True, "0.9", float("nan")])
def test_careful_is_a_probability(careful: Any) -> None:
    with pytest.raises(InputError, match="careful is a probability from 0 to 1"):
        SafeClean("A -> B", 1, careful=careful)


def test_each_strategy_refuses_what_only_the_other_has() -> None:
    with pytest.raises(InputError, match="rounds: only the paper's strategy has it"):
        SafeClean("A -> B", 1, strategy="weigh", rounds=2)
    with pytest.raises(InputError, match="careful: only the strategy that weighs has it"):
        SafeClean("A -> B", 1, strategy="paper", careful=0.8)
    with pytest.raises(InputError, match="no strategy 'weight'; did you mean 'weigh'"):
        SafeClean("A -> B", 1, strategy="weight")


# ---- in hindsight ---------------------------------------------------------------------------------------------------


def forty_groups() -> tuple[Table, Table, Shop]:
    """A table, the same with one of two cells of every group wrong, and who sells what is right."""
    right = table(*[(f"g{n}", [VALUES[n % 8]] * 2) for n in range(40)])
    dirty = {**right, "B": list(right["B"])}
    for n in range(40):
        dirty["B"][2 * n + n // 8 % 2] = VALUES[(n % 8 + 1 + n // 8) % 8]
    return right, dirty, Shop({"B": {str(key): str(value) for key, value in zip(right["K"], right["B"], strict=True)}})


@pytest.mark.parametrize(("groups_a_fit", "times"), [(500, 3), (1, 2)])
def test_the_more_groups_contradict_themselves_the_more_answers_there_are_before_all_is_weighed_again(
    groups_a_fit: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacas.client.weighing.shopping.GROUPS_A_FIT", groups_a_fit)
    _, dirty, shop = forty_groups()
    found = judgement(clean(dirty, shop, budget=20 * PRICE / 10**9))
    assert len(shop.asked) == 20 and len(found.expected) == times


def test_hindsight_is_what_the_money_has_truly_brought_from_nothing_to_all() -> None:
    right, dirty, shop = forty_groups()
    cleaned = clean(dirty, shop, budget=20 * PRICE / 10**9)
    hindsight = cleaned.hindsight(right)
    assert hindsight is not None and len(cleaned.purchases) == 20
    points = [spent for spent, _ in hindsight.errors]
    assert points == [spent for spent, _ in judgement(cleaned).expected] and len(points) > 2
    errors = [error for _, error in hindsight.errors]
    assert errors[-1] == pytest.approx(cleaned.score(right).repair_error)
    assert errors[0] == pytest.approx(clean(dirty, NOBODY, budget=0).score(right).repair_error)
    assert errors == sorted(errors, reverse=True) and errors[-1] < errors[0]
    assert hindsight.vote.total.counts is not None and hindsight.vote.total.counts.wrong == 40


def test_who_did_as_the_paper_does_has_no_hindsight() -> None:
    data = table(("a", ["x0", "x0", "z1"]))
    assert clean(data, NOBODY, strategy="paper").hindsight(data) is None


# ---- why a class stays ----------------------------------------------------------------------------------------------


def _torn(**options: Any) -> Cleaning:
    """Groups that two values share half and half, so that own evidence settles none; a provider finds rows by K."""
    keys = [f"k{n // 4}" for n in range(24)]
    torn = [f"{'xy'[n % 2]}{n // 4}" for n in range(24)]
    tree = Hierarchy.from_rows([(value, "*") for value in sorted(set(torn))])
    sold = {"K": [*keys, *keys], "V": [f"x{n // 4}" for n in range(24)] * 2}
    provider = pacas.Provider(sold, hierarchies={"V": tree}, match={"V": "K = K"}, total=48, **options)
    return SafeClean(["K -> V"], "0.1", hierarchies={"V": tree}).clean({"K": keys, "V": torn}, provider, engine=ENGINE)


def test_too_many_rows_are_a_reason_of_their_own() -> None:
    assert {left.reason for left in _torn(max_matches=7).unrepaired} == {"max_matches"}


def test_what_is_beyond_the_money_names_the_cheapest_price() -> None:
    left = _torn(quotes="paper").unrepaired
    assert {one.reason for one in left} == {"too_expensive"}
    assert all(one.cheapest is not None and one.cheapest > 100_000_000 for one in left)


@pytest.mark.parametrize(("seed", "at_most"), [(5, 1.0), (6, 0.9), (8, 1.0), (9, 1.0)])
def test_what_is_not_sure_enough_to_be_free_is_bought_for_unless_that_may_be_worse(seed: int, at_most: float) -> None:
    """What a group holds is bought; which side of its row is wrong must then be likelier than not, in any case."""
    rng = np.random.default_rng(seed)
    keys = [(f"a{a}", c) for a in range(12) for c in range(8) for _ in range(9 - c)]
    truth: Table = {"A": [a for a, _ in keys], "C": [f"c{c}" for _, c in keys], "B": [VALUES[c] for _, c in keys]}
    dirty = {name: list(cells) for name, cells in truth.items()}
    for row in rng.choice(len(keys), len(keys) // 10, replace=False).tolist():
        if rng.random() < 0.5:
            dirty["B"][row] = VALUES[(keys[row][1] + int(rng.integers(1, 8))) % 8]
        else:
            dirty["C"][row] = str(rng.choice([f"c{c}" for _, c in keys if c != keys[row][1]]))
    shop = Shop({"B": {f"c{c}": value for c, value in enumerate(VALUES)}}, by="C")
    free, paid = (clean(dirty, market, "A, C -> B", 100 * PRICE / 10**9) for market in (NOBODY, shop))
    assert not any(cell.written for cell in judgement(free).doubtful)
    assert any(cell.written for cell in judgement(paid).doubtful) == (at_most < 1)
    assert paid.score(truth).repair_error <= at_most * free.score(truth).repair_error


# ---- what is bought of one side ------------------------------------------------------------------------------------


def test_a_left_value_that_was_bought_says_nothing_of_another_left_side() -> None:
    """K's city is what was bought, though the row shows another: it still is K's."""
    brewery = [f"b{n}" for n in range(12) for _ in range(4)]
    city = [f"c{n}" for n in range(12) for _ in range(4)]
    city[5] = "c1 OR"
    data = {
        "K": [f"k{n}" for n in range(48)],
        "A": brewery,
        "C": city,
        "S": [f"s{n % 3}" for n in range(12) for _ in "four"],
    }
    cities = Hierarchy.flat([f"c{n}" for n in range(12)])
    shop = Shop({"C": {f"k{n}": f"c{n // 4}" for n in range(48)}}, trees={"C": cities})
    model = Model(FunctionalDependency.parse_all(["A -> C", "C -> S"]), coded(data), {}, {"C": ("K",)})
    tree = model.columns["C"].tree
    model.tell("C", 5, tree.code("c1"))
    model.fit_again()
    by_brewery, by_city = (belief.side for belief in model.beliefs)
    assert model.misplaced.stays[by_brewery][5] == 1
    assert model.misplaced.stays[by_city][5] < 0.01
    assert column(clean(data, shop, ["A -> C", "C -> S"], budget=10, hierarchies={}), "C")[5] == "c1"


def test_what_a_title_tells_says_nothing_of_a_row_whose_title_is_wrong() -> None:
    """Twelve books of eight rows; one has the title of another, whose author is bought, as others of it are wrong."""
    of = [n // 8 for n in range(96)]
    truth = {"I": [f"i{n}" for n in of], "N": [f"t{n}" for n in of], "A": [f"author {n}" for n in of]}
    data = {name: list(values) for name, values in truth.items()} | {"K": [f"k{n}" for n in range(96)]}
    data["N"][3] = "t5"
    for row in (40, 41, 42):
        data["A"][row] = "author 9"
    tree = Hierarchy.flat(sorted(set(truth["A"])))
    shop = Shop({"A": {f"t{n}": f"author {n}" for n in range(12)}}, by="N", trees={"A": tree})
    fds = ["I -> N", "I -> A", "N -> A"]
    model = Model(FunctionalDependency.parse_all(fds), coded(data), {"A": tree}, {"A": ("N",)})
    model.tell("A", 3, tree.code("author 5"))
    assert not model.answered and not model.misplaced.told
    cleaned = clean(data, shop, fds, hierarchies={"A": tree}, budget=100)
    assert {name: column(cleaned, name) for name in "INA"} == truth


def test_what_was_bought_of_a_group_does_not_say_what_a_row_of_it_should_hold_itself() -> None:
    """A name's code is asked about by a row of the wrong name: its code is right still, whatever that name's is."""
    right = [n for n in range(12) for _ in range(8)]
    data = {"C": [f"c{n}" for n in right], "D": [f"name {n}" for n in right]}
    data["D"][5] = "name 7"
    model = Model(FunctionalDependency.parse_all(["C -> D", "D -> C"]), coded(data), {}, {"C": ("D",), "D": ("C",)})
    model.tell("C", 5, model.columns["C"].tree.code("c7"))
    model.fit_again()
    by_code, by_name = (belief.side for belief in model.beliefs)
    assert not model.misplaced.bought and not model.answered
    assert model.misplaced.stays[by_code][5] == pytest.approx(model.misplaced.stays[by_name][5], abs=0.01)


@pytest.mark.parametrize("questions", [6, 20, 1000])
def test_rows_from_elsewhere_do_not_outvote_a_majority_that_is_told_to_be_right(questions: int) -> None:
    """A publisher's 150 rows, and twelve of others among them: whoever is asked about is right as it stands."""
    others = [f"p{n}" for n in range(1, 5) for _ in range(90)]
    right: list[str | None] = [*["p0"] * 150, *[f"p{1 + n % 4}" for n in range(12)], *others]
    data: Table = {"K": [f"k{n}" for n in range(522)], "A": [*["p0"] * 162, *others]}
    data["B"] = [*["oslo"] * 150, *["rome"] * 372]
    trees = {"B": Hierarchy.flat(["oslo", "rome"]), "A": Hierarchy.flat([f"p{n}" for n in range(5)])}
    held = {name: dict(zip(map(str, data["K"]), map(str, values), strict=True)) for name, values in data.items()}
    shop = Shop({"B": held["B"], "A": dict(zip(map(str, data["K"]), map(str, right), strict=True))}, trees=trees)
    cleaned = clean(data, shop, hierarchies={"B": trees["B"]}, budget=f"{questions * PRICE / 10**9:.9f}")
    assert column(cleaned) == data["B"]
    assert questions < 1000 or column(cleaned, "A") == right


@pytest.mark.parametrize("seed", [93, 110, 112])
def test_of_few_groups_one_block_that_is_believed_does_not_make_blocks_common(seed: int) -> None:
    rng = random.Random(seed)
    groups = [f"m{n}" for n in range(4) for _ in range(rng.randrange(40, 140))]
    truth = ["echo" if group == "m0" else "coil" for group in groups]
    shown = [{"echo": "coil", "coil": "echo"}[value] if rng.random() < 0.1 else value for value in truth]
    data: Table = {"K": [f"k{n}" for n in range(len(groups))], "A": list(groups), "B": list(shown)}
    cleaned = clean(data, NOBODY, hierarchies={"B": Hierarchy.flat(["coil", "echo"])}, budget=0)
    wrong = [sum(one != other for one, other in zip(found, truth, strict=True)) for found in (column(cleaned), shown)]
    assert wrong[0] < wrong[1] / 2


def averages(*, wrong: bool) -> tuple[Table, Shop]:
    """Twenty measures, each with an average of two states; or the smaller camp's rows are wrong."""
    data = table(*((f"m{n}", [f"p-m{n}"] * (11 + n % 5) + [f"q-m{n}"] * (9 - n % 5)) for n in range(20)))
    held = [f"p-{a}" if wrong else b for a, b in zip(data["A"], data["B"], strict=True)]
    tree = Hierarchy.flat([f"{state}-m{n}" for state in "pq" for n in range(20)])
    return data, Shop({"B": dict(zip(map(str, data["K"]), map(str, held), strict=True))}, trees={"B": tree})


@pytest.mark.parametrize("questions", [0, 1, 2, 3, 5, 1000])
def test_money_does_not_take_one_of_two_camps_for_wrong_where_both_are_right(questions: int) -> None:
    data, shop = averages(wrong=False)
    cleaned = clean(data, shop, budget=f"{questions * PRICE / 10**9:.9f}", hierarchies={})
    assert column(cleaned) == data["B"] and len(shop.asked) <= 20
    if questions == 1000:
        assert [rates.holds for rates in judgement(cleaned).rates] == [False]


def test_where_one_of_two_camps_is_wrong_in_each_group_that_is_still_bought() -> None:
    data, shop = averages(wrong=True)
    cleaned = clean(data, shop, budget=10, hierarchies={})
    assert column(cleaned) == [f"p-{a}" for a in data["A"]] and len(shop.asked) <= 40


def test_a_dependency_that_does_not_hold_is_told_and_changes_nothing() -> None:
    """Most groups are mixed, and of the same two values: each is what it is. Nothing is asked, or in doubt."""
    data = table(*((f"g{n}", ["x0"] * (17 + n % 5) + ["y1"] * (13 - n % 5)) for n in range(20)))
    shop = Shop({"B": {str(key): "x0" for key in data["K"]}})
    cleaned = clean(data, shop, budget=100)
    weighing = judgement(cleaned)
    assert not cleaned.repairs and not shop.asked and not weighing.doubtful
    assert [rates.holds for rates in weighing.rates] == [False]
    (first, *_) = weighing.explain(25, "B")
    assert first.says.endswith("which is what it is: most are mixed") and first.weight > 0.99
    assert sum(one.weight for one in weighing.explain(25, "B")) <= 1 + 1e-9


# ---- errors that look alike -----------------------------------------------------------------------------------------


def cleaned_columns(fds: list[str], columns: Mapping[str, list[str]], shop: Shop, money: str) -> dict[str, list[str]]:
    found = SafeClean(fds, money).clean(dict(columns), shop, engine=ENGINE).relation.table
    return {name: found[name].to_pylist() for name in columns}


def test_errors_of_few_values_in_large_groups_are_not_taken_for_rows_from_elsewhere() -> None:
    """Half of the errors show another of four values, as many a row of a group does; half a text of their own."""
    rng = random.Random(3)
    groups, truth, shown = [], [], []
    for row in range(4000):
        group = min(int(rng.expovariate(0.15)), 11)
        right, draw = f"area {group % 4}", rng.random()
        groups.append(f"a{group}")
        truth.append(right)
        wrong = rng.choice([f"area {k}" for k in range(4) if k != group % 4]) if draw < 0.03 else f"{right}{row}"
        shown.append(wrong if draw < 0.06 else right)
    table = {"K": [str(row) for row in range(4000)], "A": groups, "B": shown}
    assert cleaned_columns(["A -> B"], table, NOBODY, "0")["B"] == truth


class Names(Shop):
    """Sells C by D, and D by C: c7 is called "name 7"."""

    def catalogue(self) -> dict[str, Offer]:
        trees = [Hierarchy.flat(f"{start}{n}" for n in range(40)) for start in ("c", "name ")]
        return {a: Offer(a, (b,), tree, may_be_absent=True) for a, b, tree in zip("CD", "DC", trees, strict=True)}

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.full((len(next(iter(tuples.values()))), 2), PRICE))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        (given,) = map(str, request.tuple.values())
        number = given.removeprefix("name ").removeprefix("c")
        value = f"c{number}" if request.attribute == "C" else f"name {number}"
        return Answer(value if request.level == 0 else "*", request.level, PRICE)


def contradicting(right: list[int], errors: int, seed: int) -> dict[str, list[str]]:
    """Codes and names, some of them another's."""
    rng = random.Random(seed)
    table = {"C": [f"c{n}" for n in right], "D": [f"name {n}" for n in right], "S": [f"s{n % 4}" for n in right]}
    for row in rng.sample(range(len(right)), errors):
        other = rng.choice([n for n in range(40) if n != right[row]])
        name = rng.choice("CD")
        table[name][row] = f"c{other}" if name == "C" else f"name {other}"
    return table


def test_of_a_code_and_a_name_that_contradict_each_other_one_is_written_at_most() -> None:
    table = contradicting([n for n in range(40) for _ in range(30)], 80, 3)
    found = cleaned_columns(["C -> D", "D -> C"], table, Names({}), "0.00001")
    changed = [[a != b for a, b in zip(found[name], table[name], strict=True)] for name in "CD"]
    assert sum(map(any, zip(*changed, strict=True))) > 20
    assert not any(map(all, zip(*changed, strict=True)))


@pytest.mark.parametrize("seed", range(4))
def test_who_buys_names_of_codes_and_codes_of_names_repairs_no_less_for_it(seed: int) -> None:
    """Names of few rows, in which most codes are others': what is bought says which code is theirs, and no more."""
    right = [n for n in range(40) for _ in range(3 + 40 * (n % 4 == 0))]
    truth = {"C": [f"c{n}" for n in right], "D": [f"name {n}" for n in right]}
    table = contradicting(right, len(right) // 12, seed)

    def wrong(money: str) -> int:
        found = cleaned_columns(["C -> D", "D -> C"], table, Names({}), money)
        return sum(a != b for name in "CD" for a, b in zip(found[name], truth[name], strict=True))

    assert wrong("1") <= wrong("0") < len(right) // 12


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_table_that_is_shuffled_and_renamed_is_cleaned_alike(seed: int) -> None:
    """Large enough that errors are tried out on some of its rows, with left and right sides wrong."""
    rng = np.random.default_rng(seed)
    keys = [(f"a{a}", f"c{c}") for a in range(40) for c in rng.integers(0, 8, 14)]
    held = {key: VALUES[int(rng.integers(8))] for key in dict.fromkeys(keys)}
    dirty: Table = {"K": [f"{a}/{c}" for a, c in keys], "A": [], "C": [], "B": [held[key] for key in keys]}
    dirty |= {"A": [a for a, _ in keys], "C": [c for _, c in keys]}
    for row in rng.choice(len(keys), len(keys) // 8, replace=False).tolist():
        name, values = ("B", VALUES) if rng.random() < 0.5 else ("C", [f"c{c}" for c in range(8)])
        dirty[name][row] = str(rng.choice(values))
    order = rng.permutation(len(keys)).tolist()
    new = {
        name: dict(zip(values, rng.permutation(values).tolist(), strict=True))
        for name, values in {"A": [f"a{a}" for a in range(40)], "C": [f"c{c}" for c in range(8)], "B": VALUES}.items()
    }
    other = {
        name: [new.get(name, {}).get(str(c), c) for c in (cells[r] for r in order)] for name, cells in dirty.items()
    }
    tree = Hierarchy.from_rows([(new["B"][value], f"{value[0]}!", "*") for value in VALUES])
    truth = {f"{a}/{c}": value for (a, c), value in held.items()}
    shops = Shop({"B": truth}), Shop({"B": {key: new["B"][v] for key, v in truth.items()}}, trees={"B": tree})
    one = clean(dirty, shops[0], "A, C -> B", 300 * PRICE / 10**9)
    two = clean(other, shops[1], "A, C -> B", 300 * PRICE / 10**9, hierarchies={"B": tree})
    assert one.purchases and one.repairs
    for name, names in new.items():
        assert [names[str(column(one, name)[row])] for row in order] == column(two, name)
    assert one.spent == two.spent and len(judgement(one).doubtful) == len(judgement(two).doubtful)


def test_who_shuffles_rows_that_only_a_key_tells_apart_asks_about_the_same() -> None:
    """Groups of two camps as large as each other: any of a camp's rows would do."""
    data = table(*((f"g{n}", ["x0"] * 3 + ["y1"] * 3) for n in range(4)), *tidy("x1", "y0", "z0", "z1", "x2", "y2"))
    held = {
        str(key): "x0" if b == "y1" and str(a)[0] == "g" else str(b) for key, a, b in zip(*data.values(), strict=True)
    }
    truth = {"B": held}
    first = Shop(truth)
    cleaned = clean(data, first, budget=100)
    assert first.asked
    for seed in range(4):
        order, shop = random.Random(seed).sample(range(len(data["K"])), len(data["K"])), Shop(truth)
        shuffled = clean({name: [cells[row] for row in order] for name, cells in data.items()}, shop, budget=100)
        assert shop.asked == first.asked
        assert column(shuffled) == [column(cleaned)[row] for row in order]


def test_where_few_rows_are_right_as_they_are_and_most_agree_on_another_value_one_of_those_is_asked() -> None:
    """As many sources as say what is wrong, and four that are right: who asks these alone never knows."""
    groups = [(f"g{n}", ["x0"] * 4 + ["y1"] * 4) for n in range(12)]
    data = table(("f", ["z0"] * 4 + ["z1"] * 17), *groups, *tidy("x1", "y0"))
    tree = Hierarchy.flat(VALUES)
    right = {"f": "z0"} | {name: "x0" for name, _ in groups}
    told = [right.get(str(a), str(b)) for a, b in zip(data["A"], data["B"], strict=True)]
    shop = Shop({"B": dict(zip(map(str, data["K"]), told, strict=True))}, trees={"B": tree})
    model = Model(FunctionalDependency.parse_all(["A -> B"]), coded(data), {"B": tree}, {"B": ("K",)})
    (belief,) = model.beliefs
    group, code = int(belief.side.group[0]), belief.column.tree.code
    model.tell("B", 0, code("z0"))
    assert belief.is_but_confirmed(group) and belief.camp_to_ask(group) == code("z1")
    model.tell("B", 20, code("z0"))
    assert not belief.is_but_confirmed(group) and belief.camp_to_ask(group) == code("z0") == belief.likeliest[group]
    assert column(clean(data, shop, budget=100, hierarchies={})) == told

"""SafeClean: what is bought, what is written, what is left, and what cannot be cleaned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pacas import example
from pacas.client.classes.check import check
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import BoughtValue, Observer, Order, PlannedStep, Progress, Unrepaired, Why
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.core.money import nanocredits
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, OverchargedError, PacasError, SchemaError
from pacas.formats.relations.relations import scan_relation
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Payment, Quote, Reason, Refusal, Request, refused

ENGINE = DuckEngine(threads=1)

MED = example.med
KEYED = Offer("B", ("K",), Hierarchy.from_rows([("x", "XY", "*"), ("y", "XY", "*"), ("z", "Z", "*")]))
Prices = dict[str, list[int | Reason]]


class Shop:
    """Sells the true value of B for a key: `truth[key]`; `prices[key]` is one per level, a Reason, or None for 10."""

    def __init__(
        self,
        truth: Mapping[str, str],
        prices: Mapping[str, Sequence[int | Reason]] | None = None,
        *,
        offers: Mapping[str, Offer] | None = None,
        charge: int | Reason | None = None,
    ) -> None:
        self.truth, self.prices, self.charge = truth, prices or {}, charge
        self.offers = offers or {"B": KEYED}
        self.asked: list[list[Any]] = []
        self.paid: list[tuple[Request, int, str]] = []

    def catalogue(self) -> Mapping[str, Offer]:
        return self.offers

    def _ladder(self, attribute: str, key: str | None) -> list[int | Reason]:
        height = self.offers[attribute].hierarchy.height
        if key not in self.truth:
            return [Reason.NO_MATCH] * (height + 1)
        return list(self.prices.get(str(key), [10] * (height + 1)))

    def quote(self, request: Request) -> Quote | Refusal:
        price = self._ladder(request.attribute, next(iter(request.tuple.values())))[request.level]
        return Refusal(price) if isinstance(price, Reason) else Quote(price)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        keys = list(next(iter(tuples.values())))
        self.asked.append(keys)
        ladders = [[refused(p) if isinstance(p, Reason) else p for p in self._ladder(attribute, key)] for key in keys]
        return Ladders(np.array(ladders, dtype=np.int64))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        self.paid.append((request, ceiling, key))
        if isinstance(self.charge, Reason):
            return Refusal(self.charge)
        quoted = self.quote(request)
        assert isinstance(quoted, Quote)
        tree = self.offers[request.attribute].hierarchy
        value = tree.generalize_value(self.truth[str(next(iter(request.tuple.values())))], request.level)
        return Answer(str(value), request.level, quoted.price if self.charge is None else self.charge)


def nano(amount: int) -> str:
    """So many nanocredits, in credits."""
    return f"{amount / 10**9:.9f}"


def clean(data: Any, shop: Shop, budget: int = 1000, fds: Any = "A -> B", **options: Any) -> Cleaning:
    running = {name: options.pop(name) for name in ("observer", "run") if name in options}
    return SafeClean(fds, nano(budget), strategy="paper", **options).clean(data, shop, engine=ENGINE, **running)


def column(result: Cleaning, name: str = "B") -> list[Any]:
    values: list[Any] = result.relation.table.column(name).to_pylist()
    return values


def left(result: Cleaning) -> list[tuple[str, list[int], str]]:
    return [(u.attribute, u.rows.tolist(), u.reason) for u in result.unrepaired]


TABLE = {
    "K": ["k0", "k1", "k2", "k3", "k4", "k5"],
    "A": ["a", "a", "a", "b", "b", "c"],
    "B": ["x", "y", "z", "x", "z", "x"],
}
TRUTH = {"k0": "x", "k1": "x", "k2": "x", "k3": "z", "k4": "z", "k5": "x"}


# ---- the running example --------------------------------------------------------------------------------------------


def medicines(prices: Sequence[int | Reason], **options: Any) -> Cleaning:
    """Table 2, cleaned with the medicines of Table 1; the osteoarthritis of men is found by age."""
    truth = {"51": "ibuprofen", "79": "ibuprofen", "67": "tylenol", "32": "naproxen"}
    offer = Offer("MED", ("AGE",), MED)
    shop = Shop(truth, dict.fromkeys(truth, prices), offers={"MED": offer})
    return SafeClean([example.fd], 0.8, strategy="paper", **options).clean(example.client, shop, engine=ENGINE)


def test_the_running_example_buys_for_the_class_with_most_errors_first() -> None:
    result = medicines([10**8, 10**7, 10**6, 0])
    assert [(p.attribute, p.rows.tolist(), p.row, p.level, p.value) for p in result.purchases] == [
        ("MED", [0, 1, 2], 1, 0, "ibuprofen"),
        ("MED", [3, 4], 4, 0, "tylenol"),
    ]
    assert column(result, "MED") == ["ibuprofen"] * 3 + ["tylenol"] * 2 + ["dolex", "appaprtin", "dolex"]
    assert (result.violations_before, result.violations_after) == (4, 0)
    assert (result.budget, result.spent) == (0.8, 0.2)
    assert (result.budget_nanocredits, result.spent_nanocredits) == (nanocredits("0.8"), 2 * 10**8)
    assert left(result) == []


def test_the_paper_writes_the_general_value_that_was_bought() -> None:
    """Ground values are unsafe here; NSAID is bought, and stands in all three cells (§6.5)."""
    result = medicines([Reason.UNSAFE, 10, 10, 0], repair="replace")
    assert column(result, "MED")[:3] == ["NSAID"] * 3
    assert [r.why for r in result.repairs] == [Why.BOUGHT] * 2
    assert result.violations_after == 0


def test_by_default_the_clients_own_value_below_the_bought_one_is_written() -> None:
    result = medicines([Reason.UNSAFE, 10, 10, 0])
    assert column(result, "MED")[:3] == ["ibuprofen"] * 3
    (first, _) = result.repairs
    assert (first.old, first.new, first.why) == (("ibuprofen", "intropes", "addaprin"), "ibuprofen", Why.EVIDENCE)


# ---- money ----------------------------------------------------------------------------------------------------------


def test_each_class_may_cost_its_share_of_the_errors() -> None:
    """Three of four errors: 30 of 40 is affordable, 31 is not. What is not spent goes to the next class."""
    prices = {k: [30, 0, 0] for k in TRUTH}
    assert [p.level for p in clean(TABLE, Shop(TRUTH, prices), 40).purchases] == [0, 1]
    assert clean(TABLE, Shop(TRUTH, {k: [30] * 3 for k in TRUTH}), 40).spent_nanocredits == 30
    assert [p.level for p in clean(TABLE, Shop(TRUTH, {k: [31, 10, 0] for k in TRUTH}), 40).purchases] == [1, 1]


def test_the_harmonic_share_is_one_ith_and_the_uniform_one_the_same_for_all() -> None:
    shop = Shop(TRUTH, {k: [40, 20, 0] for k in TRUTH})
    assert [p.level for p in clean(TABLE, shop, 80, allocation="harmonic").purchases] == [0, 1]
    assert [p.level for p in clean(TABLE, shop, 81, allocation="uniform").purchases] == [0, 0]
    assert [p.level for p in clean(TABLE, shop, 79, allocation="uniform").purchases] == [1, 0]


def test_shares_are_exact_beyond_64_bits() -> None:
    """1,250,000,000 violating pairs times 10¹⁸ nanocredits."""
    half = 25_000
    table = {"K": ["k"] * 2 * half, "A": ["a"] * 2 * half, "B": ["x"] * half + ["y"] * half}
    price = 10**18
    result = clean(table, Shop({"k": "x"}, {"k": [price] * 3}), price)
    assert (result.spent_nanocredits, result.violations_after) == (price, 0)


def test_the_loop_ends_when_the_money_is_gone_even_for_free_values() -> None:
    prices = {k: [0, 0, 0] for k in ("k3", "k4")} | {k: [10, 10, 10] for k in ("k0", "k1", "k2")}
    result = clean(TABLE, Shop(TRUTH, prices), 10, allocation="harmonic")
    assert [p.price for p in result.purchases] == [10]
    assert left(result) == [("B", [3, 4], "budget_spent")]


def test_free_values_are_taken_while_there_is_money() -> None:
    result = clean(TABLE, Shop(TRUTH, {k: [0, 0, 0] for k in TRUTH}), 1)
    assert (result.spent, result.violations_after, len(result.purchases)) == (0, 0, 2)


def test_without_money_nothing_is_asked() -> None:
    shop = Shop(TRUTH)
    result = clean(TABLE, shop, 0)
    assert (shop.asked, shop.paid, result.spent) == ([], [], 0)
    assert left(result) == [("B", [0, 1, 2], "budget_spent"), ("B", [3, 4], "budget_spent")]
    assert column(result) == TABLE["B"]


def test_a_value_is_paid_at_most_what_was_quoted() -> None:
    shop = Shop(TRUTH, charge=3)
    cheaper = clean(TABLE, shop)
    assert [ceiling for _, ceiling, _ in shop.paid] == [10, 10]
    assert ([p.price for p in cheaper.purchases], cheaper.spent_nanocredits) == ([3, 3], 6)
    with pytest.raises(
        OverchargedError, match=r"charged 0\.000000011 credits for step 0, and no more than 0\.00000001 "
    ):
        clean(TABLE, Shop(TRUTH, charge=11))
    with pytest.raises(PacasError, match="a price below 0 for step 0"):
        clean(TABLE, Shop(TRUTH, charge=-1))


# ---- which request --------------------------------------------------------------------------------------------------


def test_the_lowest_level_is_preferred_then_the_lowest_price_then_the_last_row() -> None:
    prices: Prices = {"k0": [Reason.UNSAFE, 1, 0], "k1": [20, 5, 0], "k2": [20, 5, 0], "k3": [9, 5, 0], "k4": [8, 5, 0]}
    bought = clean(TABLE, Shop(TRUTH, prices)).purchases
    assert [(p.row, p.level, p.price) for p in bought] == [(2, 0, 20), (4, 0, 8)]


def test_the_coarsest_level_may_be_preferred() -> None:
    prices: Prices = {
        "k0": [1, 4, 0],
        "k1": [1, 6, 0],
        "k2": [1, 4, 0],
        "k3": [1, Reason.UNSAFE, 0],
        "k4": [2, 2000, 0],
    }
    bought = clean(TABLE, Shop(TRUTH, prices), prefer="coarsest").purchases
    assert [(p.row, p.level, p.price) for p in bought] == [(2, 1, 4), (3, 0, 1)]


def test_the_root_is_bought_only_on_request() -> None:
    prices: Prices = {k: [Reason.UNSAFE, Reason.UNSAFE, 0] for k in TRUTH}
    assert left(clean(TABLE, Shop(TRUTH, prices))) == [("B", [0, 1, 2], "unsafe"), ("B", [3, 4], "unsafe")]
    for level in (2, 7, {"B": 2}):
        assert [p.value for p in clean(TABLE, Shop(TRUTH, prices), max_level=level).purchases] == ["*", "*"]
    assert left(clean(TABLE, Shop(TRUTH, {k: [Reason.UNSAFE, 1, 0] for k in TRUTH}), max_level=0))[0][2] == "unsafe"
    assert len(clean(TABLE, Shop(TRUTH, prices), max_level={"A": 2}).purchases) == 0


def test_one_call_asks_about_a_class_and_about_each_tuple_once() -> None:
    shop = Shop({"k": "x", "l": "x"})
    result = clean({"K": ["k", "l", "k", "l", "k"], "A": ["a"] * 5, "B": ["x", "y", "x", "x", "z"]}, shop)
    assert shop.asked == [["l", "k"]]
    assert [p.row for p in result.purchases] == [4]


def test_a_request_holds_only_the_columns_of_the_offer() -> None:
    shop = Shop(TRUTH)
    clean(TABLE, shop)
    assert [request.tuple for request, _, _ in shop.paid] == [{"K": "k2"}, {"K": "k4"}]


def test_tuples_are_asked_about_as_they_are_now() -> None:
    """B is repaired first; C is then found by the repaired B."""
    table = {"K": ["k0", "k1", "k2"], "A": ["a", "a", "a"], "B": ["x", "x", "y"], "C": ["1", "1", "2"]}
    c = Offer("C", ("B",), Hierarchy.from_rows([("1", "*"), ("2", "*")]))
    shop = Shop(TRUTH | {"x": "1"}, offers={"B": KEYED, "C": c})
    result = clean(table, shop, fds=["A -> B", "A -> C"])
    assert shop.asked == [["k0", "k1", "k2"], ["x"]]
    assert column(result, "C") == ["1", "1", "1"]


# ---- what is written ------------------------------------------------------------------------------------------------


ONLY_GENERAL: Prices = {k: [Reason.UNSAFE, 1, 0] for k in "klm"}


def repaired(values: list[str | None], how: str, others: Sequence[str] = ()) -> list[str | None]:
    """A class with these values, for which XY is bought."""
    size, rest = len(values), len(others)
    table = {
        "K": pa.array(["k"] * (size + rest)),
        "A": pa.array(["a"] * size + [f"b{n}" for n in range(rest)]),
        "B": pa.array([*values, *others], pa.string()),
    }
    return column(clean(table, Shop({"k": "x"}, ONLY_GENERAL), repair=how))[:size]


@pytest.mark.parametrize(
    ("values", "replaced", "refined", "grounded"),
    [
        (["x", "z", "z"], "XY", "x", "x"),
        (["y", "x", "x", "z"], "XY", "x", "x"),
        (["y", "x", "z"], "XY", "y", "y"),
        (["z", "u", None], "XY", "XY", "y"),
        (["XY", "z", None], "XY", "XY", "XY"),
        (["XY", "x", "XY", "z"], "XY", "XY", "XY"),
        ([None, None, "z"], "XY", "XY", "y"),
    ],
)
def test_what_is_written_for_a_general_value(
    values: list[str | None], replaced: str, refined: str, grounded: str
) -> None:
    others = ["y", "y", "x", "z", "z", "z"]
    for how, expected in (("replace", replaced), ("refine", refined), ("ground", grounded)):
        assert repaired(values, how, others) == [expected] * len(values), how


def test_ties_in_the_column_go_to_the_first_value_of_the_hierarchy() -> None:
    assert repaired(["z", None], "ground", ["y", "x"]) == ["x", "x"]
    assert repaired(["z", None], "ground", ["z"]) == ["XY", "XY"]


def test_untouched_values_stay_as_they_are_byte_for_byte() -> None:
    table = pa.table(
        {
            "K": ["k0", "k1", "k2", "k3"],
            "A": ["a", "a", "b", None],
            "B": ["x", "z", "", " y "],
            "N": pa.array([1, None, 3, 4], pa.int8()),
            "F": pa.array([0.1, 2.0, float("nan"), None]),
            "L": [[1], [2], [], None],
        }
    )
    result = clean(table, Shop(TRUTH))
    assert column(result) == ["x", "x", "", " y "]
    for name in ("K", "A", "N", "F", "L"):
        assert result.relation.table.column(name) is not None
        assert str(result.relation.table.column(name)) == str(table.column(name))
    assert result.relation.table.schema == table.schema


def test_cells_that_hold_the_value_in_another_spelling_keep_it() -> None:
    ages = Hierarchy.from_rows([("51", "[51,60]", "*"), ("52", "[51,60]", "*")], numeric=True)
    table = {"K": ["k", "k", "k"], "A": ["a", "a", "a"], "B": ["51.0", "52", "051"]}
    result = clean(table, Shop({"k": "51"}, offers={"B": Offer("B", ("K",), ages)}))
    assert column(result) == ["51.0", "51", "051"]


def test_a_column_of_numbers_stays_one_if_it_can() -> None:
    ages = Hierarchy.from_rows([("51", "[51,60]", "*"), ("52", "[51,60]", "*")], numeric=True)
    table = {"K": ["k", "k", "l"], "A": ["a", "a", "b"], "B": [51, 52, 53]}
    offers = {"B": Offer("B", ("K",), ages)}
    assert column(clean(table, Shop({"k": "51"}, offers=offers))) == [51, 51, 53]
    general = Shop({"k": "51"}, {"k": [Reason.UNSAFE, 1, 0]}, offers=offers)
    assert column(clean(table, general, repair="replace")) == ["[51,60]", "[51,60]", "53"]


def test_categories_of_pandas_are_repaired() -> None:
    frame = pd.DataFrame(TABLE).astype({"B": "category"})
    assert column(clean(frame, Shop(TRUTH))) == ["x", "x", "x", "z", "z", "x"]


def test_a_file_is_cleaned_too(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    assert column(clean(scan_relation(tmp_path / "t.csv"), Shop(TRUTH))) == ["x", "x", "x", "z", "z", "x"]


def test_the_input_is_not_changed() -> None:
    table = pa.table(TABLE)
    clean(table, Shop(TRUTH))
    assert table.to_pydict() == TABLE


# ---- what is left ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (Reason.NO_MATCH, "no_match"),
        (Reason.AMBIGUOUS, "max_matches"),  # few rows agree at the root, at least
        (Reason.UNSAFE, "unsafe"),
        (Reason.REFUSED, "refused"),
    ],
)
def test_a_refusal_is_the_reason_that_is_told(refusal: Reason, reason: str) -> None:
    result = clean(TABLE, Shop(TRUTH, {k: [refusal] * 3 for k in TRUTH}))
    assert left(result) == [("B", [0, 1, 2], reason), ("B", [3, 4], reason)]
    assert (result.spent, result.violations_after, column(result)) == (0, 4, TABLE["B"])
    assert result.reasons == {reason: 2}


def test_rows_that_say_several_things_are_told_from_too_many_rows() -> None:
    ladder: list[int | Reason] = [Reason.AMBIGUOUS, Reason.AMBIGUOUS, 0]
    assert left(clean(TABLE, Shop({"k0": "x"}, {"k0": ladder})))[0][2] == "ambiguous"


def test_what_is_too_expensive_names_the_cheapest_price() -> None:
    result = clean(TABLE, Shop(TRUTH, {k: [90_000_000, 70_000_000, 0] for k in TRUTH}), budget=50_000_000)
    assert {(u.reason, u.cheapest) for u in result.unrepaired} == {("too_expensive", 70_000_000)}


def test_of_several_reasons_the_one_nearest_to_a_sale_is_told() -> None:
    ladder: list[int | Reason] = [Reason.UNSAFE, Reason.AMBIGUOUS, 0]
    assert left(clean(TABLE, Shop({"k0": "x"}, {"k0": ladder})))[0][2] == "unsafe"
    assert left(clean(TABLE, Shop({"k0": "x"}, {"k0": [Reason.UNSAFE, 999_999, 0]})))[0][2] == "too_expensive"


def test_a_refusal_at_the_counter_is_told_and_the_loop_goes_on() -> None:
    result = clean(TABLE, Shop(TRUTH, charge=Reason.CREDIT))
    assert left(result) == [("B", [0, 1, 2], "credit_used_up"), ("B", [3, 4], "credit_used_up")]


def test_that_somebody_is_absent_is_paid_for_and_nothing_is_written() -> None:
    """In a registry's hierarchy no value is called so; elsewhere `absent` is a value like any other."""
    registered = replace(KEYED, may_be_absent=True)

    class Registry(Shop):
        def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
            return Answer("absent", request.level, 7)

    result = clean(TABLE, Registry(TRUTH, offers={"B": registered}))
    assert left(result) == [("B", [0, 1, 2], "absent"), ("B", [3, 4], "absent")]
    assert (nanocredits(result.spent, ""), column(result), result.purchases) == (14, TABLE["B"], ())
    assert [one.price for one in result.unrepaired] == [7, 7]


def test_what_nobody_sells_is_left() -> None:
    table = TABLE | {"C": ["1", "1", "2", "1", "1", "1"]}
    result = clean(table, Shop(TRUTH), fds=["A -> B, C"])
    assert left(result) == [("C", [0, 1, 2], "not_sold")]
    assert left(clean(table, Shop(TRUTH), 0, fds=["A -> C"])) == [("C", [0, 1, 2], "not_sold")]


def test_a_class_whose_errors_are_gone_is_not_bought_for() -> None:
    """B's class {0, 1} becomes general, so that B → C no longer groups its rows: C's class has no error left."""
    b = Hierarchy.from_rows([("x", "XY", "*"), ("y", "XY", "*")])
    c = Hierarchy.from_rows([("1", "*"), ("2", "*"), ("3", "*")])
    offers = {"B": Offer("B", ("K",), b), "C": Offer("C", ("K",), c)}
    table = {"K": ["k"] * 3, "A": ["a"] * 3, "B": ["x", "x", "y"], "C": ["1", "2", "3"]}
    shop = Shop({"k": "x"}, {"k": [Reason.UNSAFE, 1, 0]}, offers=offers)
    result = clean(table, shop, fds=["A -> B", "B -> C"], repair="replace")
    assert [(p.attribute, p.rows.tolist()) for p in result.purchases] == [("B", [0, 1, 2])]
    assert (left(result), result.violations_after) == ([], 0)


# ---- named cells, rounds --------------------------------------------------------------------------------------------


def test_a_named_cell_is_repaired_though_nothing_contradicts_it() -> None:
    result = clean(TABLE, Shop(TRUTH | {"k5": "y"}), cells=[(5, "B")])
    assert [p.rows.tolist() for p in result.purchases] == [[0, 1, 2], [3, 4], [5]]
    assert column(result)[5] == "y"


def test_a_named_cell_joins_its_class_and_counts_as_one_more() -> None:
    table = {"K": ["k0", "k1", "k3", "k4"], "A": ["a", "a", "b", "b"], "B": ["x", "y", "z", "x"]}
    assert [p.rows.tolist()[0] for p in clean(table, Shop(TRUTH)).purchases] == [0, 2]
    assert [p.rows.tolist()[0] for p in clean(table, Shop(TRUTH), cells=[(3, "B")]).purchases] == [2, 0]
    agreeing = {"K": ["k0", "k1"], "A": ["a", "a"], "B": ["y", "y"]}
    result = clean(agreeing, Shop(TRUTH), cells=[(1, "B"), (0, "B"), (1, "B")], repair="replace")
    assert ([p.rows.tolist() for p in result.purchases], column(result)) == ([[0, 1]], ["x", "x"])


def test_cells_may_be_named_without_any_dependency() -> None:
    result = clean(TABLE, Shop(TRUTH), fds=[], cells=[(1, "B")])
    assert (column(result), result.violations_before) == (["x", "x", "z", "x", "z", "x"], 0)


def test_another_round_finds_what_the_first_one_has_made() -> None:
    """Row 1's C becomes wrong only when its B is repaired from y to x."""
    table = {"K": ["k0", "k1", "k2"], "A": ["a", "a", "a"], "B": ["x", "y", "x"], "C": ["1", "2", "1"]}
    c = Offer("C", ("K",), Hierarchy.from_rows([("1", "*"), ("2", "*")]))
    truth = {"k0": "x", "k1": "x", "k2": "x"}

    class Both(Shop):
        def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
            answer = super().pay(request, ceiling, key) if request.attribute == "B" else None
            return answer or Answer("1", 0, 10)

    shop = Both(truth, offers={"B": KEYED, "C": c})
    once = clean(table, shop, fds=["A -> B", "B -> C"])
    assert (column(once, "B"), once.violations_after, once.rounds) == (["x"] * 3, 2, 1)
    twice = clean(table, shop, fds=["A -> B", "B -> C"], rounds=5)
    assert (column(twice, "C"), twice.violations_before, twice.violations_after) == (["1"] * 3, 2, 0)
    assert twice.rounds == 3  # the third finds nothing to do


def test_a_named_cell_is_bought_for_once() -> None:
    result = clean(TABLE, Shop(TRUTH), cells=[(5, "B")], rounds=3)
    assert [p.rows.tolist() for p in result.purchases] == [[0, 1, 2], [3, 4], [5]]


# ---- watching, keys, replaying --------------------------------------------------------------------------------------


class Journal(Observer):
    """Remembers each step, and gives back the first ones if asked to."""

    def __init__(self, earlier: Mapping[int, BoughtValue | Unrepaired] | None = None) -> None:
        self.earlier = dict(earlier or {})
        self.steps: dict[int, BoughtValue | Unrepaired] = {}
        self.progress: list[Progress] = []
        self.told: list[str] = []

    def recall(self, step: int) -> BoughtValue | Unrepaired | None:
        return self.earlier.get(step)

    def ordering(self, *steps: PlannedStep) -> None:
        self.told += [f"order {step.key}" for step in steps if isinstance(step, Order)]

    def settled(self, step: int, outcome: BoughtValue | Unrepaired) -> None:
        self.steps[step] = outcome
        self.told.append(f"settled {step}")

    def progressed(self, progress: Progress) -> None:
        self.progress.append(progress)


def test_an_observer_hears_of_a_purchase_before_it_is_paid_and_before_it_is_applied() -> None:
    journal, shop = Journal(), Shop(TRUTH)
    result = clean(TABLE, shop, observer=journal, run="r7")
    assert journal.told == ["order r7:0", "settled 0", "order r7:1", "settled 1"]
    assert [key for _, _, key in shop.paid] == ["r7:0", "r7:1"] == [p.key for p in result.purchases]
    assert journal.progress == [Progress(1, 1, 2, 10, 1), Progress(1, 2, 2, 20, 0)]


def test_runs_without_a_name_have_different_keys() -> None:
    one, other = Shop(TRUTH), Shop(TRUTH)
    clean(TABLE, one)
    clean(TABLE, other)
    assert not {key for _, _, key in one.paid} & {key for _, _, key in other.paid}


def test_recorded_steps_are_replayed_and_not_paid_again() -> None:
    journal = Journal()
    whole = clean(TABLE, Shop(TRUTH), observer=journal, run="r")
    shop = Shop(TRUTH)
    resumed = clean(TABLE, shop, observer=Journal({0: journal.steps[0]}), run="r")
    assert [key for _, _, key in shop.paid] == ["r:1"]
    assert resumed.relation.table == whole.relation.table
    assert (resumed.spent, resumed.violations_after) == (whole.spent, 0)
    with pytest.raises(InputError, match="step 0 is about another class"):
        clean(TABLE, shop, observer=Journal({0: journal.steps[1]}), run="r")


# ---- size, and what cannot be cleaned -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_class_of_a_hundred_thousand_cells_that_moves_a_hundred_thousand_groups() -> None:
    size = 100_000
    table = {
        "K": ["k"] * size,
        "A": ["a"] * size,
        "B": ["x" if n % 3 else "y" for n in range(size)],
        "D": [str(n // 4) for n in range(size)],
        "C": [str(n % 7) for n in range(size)],
    }
    result = clean(table, Shop({"k": "y"}), fds=["A -> B", "B, D -> C"])
    assert column(result) == ["y"] * size
    again = check(result.relation, ["A -> B", "B, D -> C"], {"B": KEYED.hierarchy}, engine=ENGINE)
    assert result.violations_after == again.violations > 0


def test_the_repr_shows_counts_and_no_values() -> None:
    result = clean(TABLE, Shop(TRUTH))
    assert repr(result) == (
        "Cleaning(2 purchases, 0 classes unrepaired, 4 violations before and 0 after, "
        "0.00000002 of 0.000001 credits spent)"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"budget": -1}, "the budget must not be negative"),
        ({"budget": float("nan")}, "the budget must be a finite number"),
        ({"budget": float("inf")}, "the budget must be a finite number"),
        ({"budget": "much"}, "the budget must be a number"),
        ({"rounds": 0}, "at least one round"),
        ({"rounds": 1.5}, "at least one round is needed, a whole number of them, not 1.5"),
        ({"rounds": "2"}, "at least one round is needed, a whole number of them, not '2'"),
        ({"max_level": -1}, "the maximal level"),
        ({"max_level": {"B": -2}}, "the maximal level"),
        ({"max_level": "2"}, "the maximal level must be a whole number, 0 .* not '2'"),
        ({"max_level": {"B": 1.0}}, "the maximal level must be a whole number, 0 .* not 1.0"),
        ({"max_level": True}, "the maximal level must be a whole number"),
        ({"allocation": "error"}, "no allocation 'error'; did you mean 'errors'"),
        ({"prefer": "good"}, "no preference 'good'; there is finest, coarsest"),
        ({"repair": ["refine"]}, "no way to repair "),
        ({"strategy": "weight"}, "no strategy 'weight'; did you mean 'weigh'"),
        ({"strategy": "weigh", "rounds": 2}, "rounds: only the paper's strategy has it"),
        ({"strategy": "paper", "careful": 0.8}, "careful: only the strategy that weighs has it"),
        ({"careful": 1.1}, "careful is a probability from 0 to 1"),
        ({"careful": "0.9"}, "careful is a probability from 0 to 1"),
        ({"prefer": ["finest"]}, "no preference "),
        ({"repair": "refined"}, "no way to repair 'refined'; did you mean 'refine'"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused_at_once(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SafeClean(**{"fds": "A -> B", "budget": 1, **given})


@pytest.mark.parametrize(
    ("options", "offers", "kind", "message"),
    [
        ({"fds": "A -> Q"}, {}, SchemaError, "no column 'Q' in the table"),
        ({"cells": [(6, "B")]}, {}, InputError, "no row 6 in the table; its rows are 0 to 5"),
        ({"cells": [(-1, "B")]}, {}, InputError, "no row -1"),
        ({"cells": [(0, "Q")]}, {}, SchemaError, "no column 'Q' in the table"),
        ({"hierarchies": {"Q": MED}}, {}, SchemaError, "no column 'Q' in the table"),
        ({"max_level": {"q": 1}}, {}, InputError, "level of 'q': neither the table nor the provider has it; "),
        ({"max_level": {"b": 1}}, {}, InputError, "has it; did you mean 'B'"),
        ({}, {"B": Offer("B", ("KEY",), MED)}, InputError, "finds 'B' by a column 'KEY' that the table does not have"),
    ],
)
def test_what_cannot_be_cleaned_is_refused_before_anything_is_bought(
    options: dict[str, Any], offers: dict[str, Offer], kind: type[InputError], message: str
) -> None:
    shop = Shop(TRUTH, offers=offers or None)
    with pytest.raises(kind, match=message):
        clean(TABLE, shop, **options)
    assert (shop.asked, shop.paid) == ([], [])


def test_a_level_for_what_is_not_sold_or_not_needed_is_no_mistake() -> None:
    offers = {"B": KEYED, "E": Offer("E", ("KEY",), MED)}
    assert clean(TABLE, Shop(TRUTH, offers=offers), max_level={"A": 1, "E": 1}).violations_after == 0


@pytest.mark.parametrize("shop", ["provider.toml", None, 3])
def test_what_sells_nothing_is_no_provider(shop: Any) -> None:
    with pytest.raises(InputError, match=f"cannot buy from {type(shop).__name__}; give a pacas.Provider"):
        SafeClean("A -> B", 1, strategy="paper").clean(TABLE, shop, engine=ENGINE)


def test_a_budget_that_is_a_sum_of_floats_is_what_was_meant() -> None:
    assert SafeClean("A -> B", 0.1 + 0.2).budget == 300_000_000
    with pytest.raises(InputError, match="nine decimals"):
        SafeClean("A -> B", "0.30000000000000004")


def test_a_table_without_rows_has_none_to_be_named() -> None:
    with pytest.raises(InputError, match="the table has a header but no rows"):
        clean({"K": [], "A": [], "B": []}, Shop(TRUTH), cells=[(0, "B")])


def test_an_offer_that_nobody_needs_asks_for_no_columns() -> None:
    offers = {"B": KEYED, "E": Offer("E", ("KEY",), MED)}
    assert clean(TABLE, Shop(TRUTH, offers=offers)).violations_after == 0


class SoldInRuns(Shop):
    """Sells all that is planned, many at once."""

    most_at_once = 64

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        return [self.pay(one.request, one.ceiling, one.key) for one in payments]


def test_what_is_quoted_ahead_is_what_can_be_paid_before_quotes_are_asked_for_again() -> None:
    keys = [f"k{n:03}" for n in range(1000)]
    table = {"K": [k for k in keys for _ in range(2)], "B": ["x", "y"] * len(keys)}
    unsafe: Prices = dict.fromkeys(keys[:1000:300], [Reason.UNSAFE] * 3)
    shop = SoldInRuns(dict.fromkeys(keys, "x"), unsafe)
    result = clean(table, shop, budget=10**6, fds="K -> B")
    assert len(result.repairs) == len(shop.paid) == len(keys) - len(unsafe)
    asked = sum(map(len, shop.asked))
    assert asked < 1.1 * len(keys), asked

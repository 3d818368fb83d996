"""Why a cell has its value, told for the running example and for cases that it does not have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from pacas import example
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.explain import Explanation, Tie, as_dict, explain, in_words
from pacas.client.outcome.steps import Why
from pacas.client.safe_clean import SafeClean
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, SchemaError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Reason, Refusal, Request, refused
from pacas.provider.provider import Provider

ENGINE = DuckEngine(threads=1)


@cache
def running_example() -> Cleaning:
    """Table 2, cleaned with Table 1 under the demo's policy: ground values of some rows are not safe."""
    provider = Provider(
        example.provider,
        hierarchies=example.hierarchies,
        match={"MED": example.md},
        policies=[Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 0}, 3)],
        total=6,
        seed=7,
    )
    return SafeClean([example.fd], 0.8, strategy="paper").clean(example.client, provider, engine=ENGINE)


def why(row: int, attribute: str = "MED", cleaning: Cleaning | None = None) -> Explanation:
    return explain(cleaning or running_example(), row, attribute, engine=ENGINE)


def test_t2_is_explained_by_its_class_its_evidence_and_the_purchase() -> None:
    found = why(1)
    assert (found.given, found.value, found.flagged) == ("intropes", "ibuprofen", False)
    (step,) = found.steps
    assert (step.old, step.repair.new, step.repair.why) == ("intropes", "ibuprofen", Why.EVIDENCE)
    assert step.repair.rows.tolist() == [0, 1, 2]
    assert [(e.value, e.cells, e.fits) for e in step.evidence] == [
        ("ibuprofen", 1, True),
        ("intropes", 1, False),
        ("addaprin", 1, True),
    ]
    assert step.ties == (Tie(example.fd, ("male", "osteoarthritis"), (0, 1, 2)),)
    assert (step.purchases[-1].row, step.purchases[-1].level, step.purchases[-1].value) == (1, 2, "analgesic")


def test_t4_and_t5_do_not_belong_together_and_the_flags_say_so() -> None:
    """t5 was asked about; t4's own quotes are others. What was written is t4's medication, so t5's is doubtful."""
    (t4,), (t5,) = why(3).steps, why(4).steps
    assert t4.purchases[-1].row == 4
    assert (t4.flagged, t5.flagged) == (True, False)
    assert (t4.doubtful, t5.doubtful) == (True, True)
    assert t5.repair.new == "naproxen"
    assert any(line.startswith("look at it: this row's own quotes") for line in in_words(why(3)))
    assert any(line.startswith("look at it: the value stood only in rows") for line in in_words(why(4)))
    assert not any("look at it" in line for line in in_words(why(0)))


def test_a_cell_that_nothing_contradicts_is_explained_too() -> None:
    found = why(5)
    assert (found.given, found.value, found.steps, found.unrepaired) == ("dolex", "dolex", (), None)
    assert in_words(found)[-1] == "no dependency and nobody else found anything wrong with it, so it was left alone"
    assert why(0, "AGE").value == "51"


def test_the_sentences() -> None:
    assert in_words(why(1)) == [
        "row 1, MED: 'intropes' was given, 'ibuprofen' stands there now",
        "class: 3 cells that must agree, rows 0, 1, 2",
        "tied by GEN, DIAG -> MED: 3 cells with GEN = 'male', DIAG = 'osteoarthritis'",
        "values: 'ibuprofen' × 1 (fits), 'intropes' × 1, 'addaprin' × 1 (fits)",
        "bought: 'analgesic', level 2, for 0.4 credits, by asking about row 1",
        "written: 'ibuprofen', the class's most frequent value at or below the one bought",
        "in the class there are rows whose quotes were others than those of row 1: 2",
    ]


def test_an_explanation_prints_itself() -> None:
    assert str(why(1)).splitlines() == in_words(why(1))
    assert repr(why(1)) == "Explanation(row 1, MED: 'intropes' was given, 'ibuprofen' stands there now)"


def test_plain_values_for_json() -> None:
    told = as_dict(why(4))
    assert (told["row"], told["attribute"], told["given"], told["value"]) == (4, "MED", "tylenol", "naproxen")
    (step,) = told["steps"]
    assert step["purchase"] == {"row": 4, "level": 2, "value": "analgesic", "price": 0.4}
    assert (step["why"], step["flagged"], step["doubtful"], step["round"]) == ("evidence", False, True, 1)
    assert step["ties"] == [
        {"fd": "GEN, DIAG -> MED", "values": {"GEN": "female", "DIAG": "ulcer"}, "rows": [3, 4]},
    ]


# ---- a shop whose quotes are written down ---------------------------------------------------------------------------


class Shop:
    """Sells `truth[key]` at level 0; the ladder of a key is [price, 0], unless its root is refused."""

    def __init__(
        self, truth: Mapping[str, str], prices: Mapping[str, int], attributes: str = "B", is_sealed: bool = False
    ) -> None:
        self.truth, self.prices, self.attributes, self.is_sealed = truth, prices, attributes, is_sealed
        self.roots: Mapping[str, int] = {}

    def catalogue(self) -> Mapping[str, Offer]:
        tree = Hierarchy.flat(self.truth.values())
        return {a: Offer(a, ("K",), tree, is_sealed=self.is_sealed) for a in self.attributes}

    def quote(self, request: Request) -> Quote | Refusal:
        return Quote(self.prices.get(str(request.tuple["K"]), 1))

    def _ladder(self, key: str) -> list[int]:
        root = self.roots.get(key, 0)
        return [root if root < 0 else self.prices.get(key, 1), root]

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.array([self._ladder(str(k)) for k in tuples["K"]], dtype=np.int64))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        return Answer(self.truth[str(request.tuple["K"])], request.level, ceiling)


def clean(table: Any, shop: Shop, **options: Any) -> Cleaning:
    return SafeClean(**{"fds": "A -> B", "budget": 1, "strategy": "paper", **options}).clean(table, shop, engine=ENGINE)


def test_prices_that_differ_by_rounding_only_flag_nobody() -> None:
    table = {"K": ["k", "m"], "A": ["a", "a"], "B": ["x", "y"]}
    near, far = (
        [p.differing.tolist() for p in clean(table, Shop({"k": "x", "m": "y"}, {"k": 1000, "m": m})).purchases]
        for m in (1010, 1011)
    )
    assert (near, far) == ([[]], [[1]])


def test_sealed_quotes_flag_who_is_not_found_and_nobody_who_is_kept_back() -> None:
    table = {"K": ["k", "m", "n"], "A": ["a"] * 3, "B": ["x", "y", "z"]}
    shop = Shop({"k": "x", "m": "y", "n": "z"}, {"k": 5, "m": refused(Reason.UNSAFE)}, is_sealed=True)
    assert [purchase.differing.tolist() for purchase in clean(table, shop).purchases] == [[]]
    shop.roots = {"n": refused(Reason.NO_MATCH)}
    assert [purchase.differing.tolist() for purchase in clean(table, shop).purchases] == [[2]]
    shop.is_sealed = False
    assert [purchase.differing.tolist() for purchase in clean(table, shop).purchases] == [[1, 2]]


def test_tuples_that_look_alike_to_the_provider_are_flagged_together() -> None:
    table = {"K": ["k", "m", "m", "k"], "A": ["a"] * 4, "B": ["x", "y", "z", "x"]}
    result = clean(table, Shop({"k": "x", "m": "y"}, {"k": 5, "m": 7}))
    assert [p.differing.tolist() for p in result.purchases] == [[1, 2]]
    assert [why(row, "B", result).flagged for row in range(4)] == [False, True, True, False]
    assert result.flagged == 2
    assert not why(1, "B", result).steps[0].doubtful


def test_a_class_left_as_it_is_says_why() -> None:
    table = {"K": ["k", "m"], "A": ["a", "a"], "B": ["x", "y"]}
    found = why(1, "B", clean(table, Shop({"k": "x", "m": "y"}, {"k": 5, "m": 5}), budget="0.000000001"))
    assert found.unrepaired is not None
    assert in_words(found)[1:] == [
        "its class of 2 cells was left as it is: too_expensive; the cheapest answer would cost 0.000000005 credits"
    ]
    assert as_dict(found)["unrepaired"] == {"rows": [0, 1], "reason": "too_expensive"}


def test_a_named_cell_stands_alone() -> None:
    table = {"K": ["k", "m"], "A": ["a", "b"], "B": [None, "y"]}
    result = clean(table, Shop({"k": "x", "m": "y"}, {}), cells=[(0, "B")])
    (step,) = why(0, "B", result).steps
    assert (step.old, step.ties, step.repair.why) == (None, (), Why.BOUGHT)
    assert [(e.value, e.fits) for e in step.evidence] == [(None, False)]
    assert "tied to no other row: the cell was named by itself" in in_words(why(0, "B", result))


def test_ties_are_those_of_the_round_in_which_the_class_was_formed() -> None:
    """Round 1 repairs A of row 1 from a2 to a1; only then does A -> B tie it to row 0."""
    table = {"K": ["k", "k"], "C": ["c", "c"], "A": ["a1", "a2"], "B": ["x", "y"]}
    shop = Shop({"k": "a1"}, {}, attributes="AB")
    result = clean(table, shop, fds=["C -> A", "A -> B"], rounds=2)
    assert [r.round for r in result.repairs] == [1, 2]
    (step,) = why(1, "B", result).steps
    assert [(tie.values, tie.rows) for tie in step.ties] == [(("a1",), (0, 1))]
    (step,) = why(1, "A", result).steps
    assert [str(tie.fd) for tie in step.ties] == ["C -> A"]


def test_a_cell_that_is_not_there() -> None:
    with pytest.raises(SchemaError, match="MEDS"):
        why(0, "MEDS")
    for row in (-1, 8):
        with pytest.raises(InputError, match="its rows are 0 to 7"):
            why(row)

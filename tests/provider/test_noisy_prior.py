"""A prior from the relation with differential privacy: drawn once a ledger, about units, and nothing is impossible."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.core.sealed.component import Component
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.sealed.noisy_prior import with_prior
from pacas.provider.terms import Terms

ENGINE = DuckEngine(threads=1)
A = Hierarchy.from_rows([("v0", "*"), ("v1", "*"), ("v2", "*"), ("never", "*")])
B = Hierarchy.from_rows([("w0", "low", "*"), ("w1", "low", "*"), ("w2", "high", "*")])
ROWS = pa.table(
    {
        "K": [f"k{i}" for i in range(3000)],
        "Z": [f"z{i % 3}" for i in range(3000)],
        "A": [f"v{i % 3}" for i in range(3000)],
        "B": [f"w{i % 2}" for i in range(3000)],
    }
)


def drawn(epsilon: str, secret: bytes = b"secret", *declared: DeclaredDependency) -> dict[str, dict[str, int]]:
    terms = Terms(hierarchies={"A": A, "B": B}, match={a: pacas.MatchingDependency.parse("K = K") for a in "AB"})
    sealing = Sealing(declared, dp_epsilon=Fraction(epsilon))
    found = with_prior(ENGINE, Relation.of(ROWS), terms, sealing, secret)
    assert found.dp_epsilon is None
    return {a: dict(counts) for a, counts in found.prior.items()}


def test_with_much_epsilon_it_is_how_often_values_occur() -> None:
    found = drawn("1000")
    assert found == {"A": {"v0": 1000, "v1": 1000, "v2": 1000, "never": 0}, "B": {"w0": 1500, "w1": 1500, "w2": 0}}


def test_with_little_epsilon_it_hides_them_and_the_attributes_share_it() -> None:
    noise = [
        count - 1000 for secret in range(300) for v, count in drawn("0.1", b"%d" % secret)["A"].items() if v == "v0"
    ]
    scale = 2 * 2 / 0.1  # two counts move, two attributes share
    assert sum(map(abs, noise)) / len(noise) == pytest.approx(scale, rel=0.2)
    lowest = min(drawn("0.01", b"%d" % secret)["A"]["never"] for secret in range(50))
    assert lowest < 0 and Component.of_attribute("A", A, {"never": lowest}).prior.min() == 1, "rare, not impossible"


def test_epsilon_has_bounds_and_within_them_counts_stay_numbers() -> None:
    assert max(max(counts.values()) for counts in drawn("0.000001").values()) > 10**5
    for outside in ("1e-7", "0", "-1", "1001"):
        with pytest.raises(InputError, match=r"from 0\.000001 to 1,000"):
            drawn(outside)


def test_rows_that_a_public_column_ties_count_as_one() -> None:
    tied = DeclaredDependency(FunctionalDependency(("Z",), "A"))
    assert drawn("1000", b"secret", tied)["A"] == {"v0": 1, "v1": 1, "v2": 1, "never": 0}


def test_what_a_dictionary_links_has_no_prior() -> None:
    pairs = tuple({"A": a, "B": "w0"} for a in A.ground_labels)
    assert drawn("1", b"secret", DeclaredDependency(FunctionalDependency(("A",), "B"), pairs)) == {}


def test_it_is_drawn_once_a_ledger() -> None:
    def provider(ledger: MemoryLedger) -> pacas.Provider:
        sealing = Sealing(dp_epsilon=Fraction("0.05"))
        match, trees = {"B": "K = K"}, {"B": B}
        return pacas.Provider(
            ROWS, match=match, hierarchies=trees, total=100, sealing=sealing, ledger=ledger, engine=ENGINE
        )

    ledger = MemoryLedger()
    ladders = [provider(of).quote_batch("B", {"K": ["k7"]}).prices.tolist() for of in (ledger, ledger, MemoryLedger())]
    assert ladders[0] == ladders[1] != ladders[2]

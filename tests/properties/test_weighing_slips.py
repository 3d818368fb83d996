"""Rare values that may be slips are found, and weighed, as letter by letter and cell by cell."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lanes import examples
from oracles.cleaning import Dependency
from oracles.slips import Rare, rare_cells
from oracles.tree import Tree
from oracles.weighed_cases import CLOSE, Case, Rows, near, with_rates
from oracles.written_for import edits
from rapidfuzz.distance import DamerauLevenshtein

from pacas.client.weighing import decision, rare_values
from pacas.client.weighing.rare_values import RareValues

WORDS = ["abcdef", "abcdeg", "bcdefa", "xy", "xyz", "12", "124"]
SLIPS = ["abcde", "abdcef", "abcdxx", "abxxef", "xyzz", "xy1", "123", "q"]
RIGHTS = ["monday", "sunday", "m"]
SHAPES = [
    [Dependency(("A",), "C")],
    [Dependency(("A", "B"), "C")],
    [Dependency(("A",), "C"), Dependency(("C",), "D")],
    [Dependency(("A",), "C"), Dependency(("A", "B"), "D")],
]


@examples(400)
@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
@example("ca", "abc")
def test_edits_are_counted_alike(one: str, other: str) -> None:
    assert DamerauLevenshtein.distance(one, other) == edits(one, other)


@st.composite
def misspelled(draw: st.DrawFn) -> Case:
    """Few words many times, each with one of few right sides; and some words, or right sides, by a slip."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
    rows: Rows = []

    def add(word: str, part: str, day: str, last: str) -> None:
        rows.append({"A": word, "B": part, "C": day, "D": last})

    for word in words:
        day = draw(st.sampled_from(RIGHTS))
        for _ in range(draw(st.integers(3, 6))):
            add(word, draw(st.sampled_from("uv")), day, "d")
    for _ in range(draw(st.integers(1, 4))):
        add(draw(st.sampled_from(SLIPS)), "u", draw(st.sampled_from(RIGHTS)), draw(st.sampled_from("de")))
    for _ in range(draw(st.integers(0, 2))):
        add(draw(st.sampled_from(WORDS)), "w", draw(st.sampled_from(["mondy", "sundayy", "x"])), "d")
    found = {"C": Tree([[day, "*"] for day in RIGHTS])} if draw(st.booleans()) else {}
    return Case(rows, found, draw(st.sampled_from(SHAPES)), {})


@examples(160)
@given(misspelled(), st.booleans(), st.sampled_from([(1, 3), (2, 4)]), st.sampled_from([0.5, 0.9]), st.data())
def test_slips_are_weighed_alike(
    case: Case, further: bool, rare: tuple[int, int], careful: float, data: st.DataObject
) -> None:
    """And written alike, where a dependency may have another opinion."""
    if data.draw(st.booleans()):
        with_rates(data.draw, case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rare_values, "RARE", rare[0])
        patch.setattr(rare_values, "TIMES", rare[1])
        found = RareValues(case.model, further=further).cells()
    decided = decision.decide(case.model, careful, found)
    table = case.table(careful, decided)
    slips: dict[str, dict[int, tuple[str | None, Fraction]]] = {}
    for name, column in case.model.columns.items():
        literal = rare_cells(table, name, Rare(*rare), further=further)
        cells = found.get(name, rare_values.NONE)
        assert cells.rows.tolist() == sorted(literal)
        for row, code, chance in zip(cells.rows.tolist(), cells.meant.tolist(), cells.chance.tolist(), strict=True):
            meant = column.tree.label(code)
            assert meant in literal[row].tied and near(chance, literal[row].chance)
            slips.setdefault(name, {})[row] = meant, literal[row].chance
    choices = table.decisions(slips)
    for name, weighed in decided.items():
        assert weighed.rows.tolist() == sorted(choices[name])
        for row, written, in_doubt in zip(
            *(part.tolist() for part in (weighed.rows, weighed.written, weighed.in_doubt)), strict=True
        ):
            one = choices[name][row]
            assert one.nearest <= CLOSE or (written, in_doubt) == (one.written, one.in_doubt)

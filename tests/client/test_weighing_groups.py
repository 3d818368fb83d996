"""Beliefs about groups and rows, on tables that one can look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.client.weighed_groups.agreement import agreement_of_outvoted
from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.rates import chance_of_mixtures
from pacas.client.weighed_rows import calibration, misplaced, row_options
from pacas.client.weighing.decision import decide
from pacas.client.weighing.model import Model
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.codes import coded_texts


def model(table: Mapping[str, Sequence[str | None]], *fds: str, **hierarchies: Hierarchy) -> Model:
    columns = {name: coded_texts(pa.chunked_array([pa.array(values, pa.string())])) for name, values in table.items()}
    return Model(FunctionalDependency.parse_all(fds), columns, hierarchies, {})


def test_a_value_and_one_below_it_exclude_each_other_on_no_level() -> None:
    tree = Hierarchy.from_rows([("pain", "pain", "*"), ("headache", "pain", "*"), ("fever", "fever", "*")])
    found = model({"A": [*"aabb"], "B": ["pain", "headache", "headache", "fever"]}, "A -> B", B=tree)
    (belief,) = found.beliefs
    assert belief.violated[belief.side.group].tolist() == [False, False, True, True]


def test_a_rows_own_group_is_none_of_those_it_may_belong_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it take the place of another."""
    monkeypatch.setattr(row_options, "MOST", 1)
    found = model({"A": [*"aaaabcc"], "B": [*"xxyyxyy"]}, "A -> B").misplaced
    values = [found.finder.columns["A"].tree.label(value) for value in found.options.value.tolist()]
    options = sorted(zip(found.suspects[found.options.of].tolist(), values, strict=True))
    assert options == [(0, "b"), (1, "b"), (2, "c"), (3, "c")]


# ---- is a mixture an accident, or the rule? -------------------------------------------------------------------------


def test_where_groups_are_mixed_as_a_rule_each_is_what_it_is() -> None:
    """A town does not tell a gender, whoever has declared it."""
    towns = [f"t{n}" for n in range(20) for _ in range(30)]
    genders = [gender for n in range(20) for gender in "F" * (17 + n % 5) + "M" * (13 - n % 5)]
    (belief,) = model({"A": towns, "B": genders}, "A -> B").beliefs
    assert not belief.rates.holds and belief.agreement < 0.1
    assert belief.one_value.max() < 0.01


def test_a_block_in_a_third_of_the_groups_is_an_accident() -> None:
    towns = [f"t{n}" for n in range(21) for _ in range(30)]
    states = [v for n in range(21) for v in (["s0"] * 12 if n % 3 == 0 else [f"s{n % 7}"] * 12) + [f"s{n % 7}"] * 18]
    (belief,) = model({"A": towns, "B": states}, "A -> B").beliefs
    assert belief.rates.overwritten > 0.1 and belief.rates.mixed < 1e-4


def test_sources_that_contradict_each_other_about_nearly_everything_still_tell() -> None:
    """All groups are mixed, but hardly of what others hold."""
    flights = [f"f{n}" for n in range(30) for _ in range(12)]
    times = [t for n in range(30) for t in [f"{n}:15"] * 7 + [f"{n}:40"] * 5]
    (belief,) = model({"A": flights, "B": times}, "A -> B").beliefs
    assert belief.rates.overwritten > 0.5 and belief.agreement > 0.4
    assert belief.rates.holds and belief.one_value.min() == 1


def test_most_patients_of_a_diagnosis_go_home_and_the_others_where_others_do() -> None:
    """The left side tells much of the right one, but nothing of who is outvoted: they are no errors."""
    places = ["home", "nursing", "hospital", "hospice"]
    data: dict[str, list[str]] = {"A": [], "B": []}
    for number in range(60):
        home, second, *_ = places[number % 4 :] + places[: number % 4]
        stay = 22 + number % 16
        data["A"] += [f"d{number}"] * 40
        data["B"] += [home] * stay + [second] * (40 - stay)
    (belief,) = model(data, "A -> B").beliefs
    assert belief.agreement > 0.25 and not belief.rates.holds
    other = [place if n % 40 < 22 + n // 40 % 16 else f"{place} {n // 40}" for n, place in enumerate(data["B"])]
    (belief,) = model(data | {"B": other}, "A -> B").beliefs
    assert belief.rates.holds, "who is outvoted is outvoted by what is only here"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=14))
def test_outvoted_cells_are_compared_pair_by_pair(cells: list[tuple[int, int]]) -> None:
    """Cells by group and value; what has won in a group goes by its number here, 0 or 1."""
    pairs = Counter(cells)
    group, value = (np.array(column) for column in zip(*pairs, strict=True))
    found = agreement_of_outvoted(group, value, np.array([*map(float, pairs.values())]), group % 2)

    def share(found: Iterable[tuple[int, int]]) -> float:
        same = [a == b for a, b in found]
        return sum(same) / len(same) if same else 0.0

    mates = {g: [v for h, v in cells if h == g] for g, _ in cells}
    at = [(g, v) for g, v in cells if len(mates[g]) > 1]
    if not at:
        assert found == (1, 0)
        return
    alike = [share((v, w) for w in [*mates[g][: mates[g].index(v)], *mates[g][mates[g].index(v) + 1 :]]) for g, v in at]
    among = [[(v, w) for g, v in cells for h, w in cells if g != h and g % 2 == h % 2 == odd] for odd in (0, 1)]
    chance = sum(share(among[g % 2]) for g, _ in at) / len(at)
    assert found.by_chance == pytest.approx(chance)
    assert found.beyond_chance == pytest.approx((sum(alike) / len(at) - chance) / max(1 - chance, 1e-9), abs=1e-6)


def arrivals(*, by_admission: bool) -> Belief:
    """Of 2,000 arrivals in 20 towns 60 are by night, those of one kind of admission, or any."""
    kinds = ["urgent" if n % 40 < 2 else f"kind {n % 3}" for n in range(2_000)]
    night = [n for n, kind in enumerate(kinds) if kind == "urgent"][:60] if by_admission else range(7, 2_000, 31)
    when = ["night" if n in set(night) else "day" for n in range(2_000)]
    (belief,) = model({"A": [f"t{n % 19}" for n in range(2_000)], "B": when, "C": kinds}, "A -> B").beliefs
    return belief


def test_cells_that_go_with_another_column_are_no_errors() -> None:
    belief = arrivals(by_admission=True)
    assert belief.exceptions > 20 and not belief.rates.holds and belief.one_value.max() < 0.01


def test_cells_that_go_with_nothing_are_errors_of_a_column_that_nearly_always_holds_the_same() -> None:
    belief = arrivals(by_admission=False)
    assert belief.exceptions == 0 and belief.rates.holds and belief.one_value.min() > 0.99


def test_rows_that_agree_with_a_group_do_not_count_for_less_with_another_dependency() -> None:
    """Eighty right sides of B are wrong, and five rows are from elsewhere: these are unlike their groups twice."""
    towns = [f"t{n % 12}" for n in range(2_400)]
    counties, states = ([f"{kind}{n % 12}" for n in range(2_400)] for kind in "cs")
    for row in range(5, 2_400, 29):
        counties[row] = f"c{(row + 5) % 12}"
    for row in range(7, 2_400, 500):
        towns[row] = f"t{(row + 7) % 12}"
    found = model({"A": towns, "B": counties, "C": states}, "A -> B", "A -> C")
    (side,) = {belief.side for belief in found.beliefs}
    assert found.misplaced.has_tried(side) and found.misplaced.share[side] < 0.2


def test_as_many_mixed_groups_as_others_say_nothing() -> None:
    assert chance_of_mixtures(15.0, 30) == pytest.approx(0.01)
    for mixed, groups in [(0, 0), (3, 10), (9, 10), (10, 10)]:
        holds, holds_not = (Fraction(factorial(mixed + a) * factorial(groups - mixed + b)) for a, b in ((0, 9), (9, 0)))
        expected = holds_not / (holds_not + 99 * holds)
        assert chance_of_mixtures(float(mixed), groups) == pytest.approx(float(expected))


# ---- what other groups of a part hold -------------------------------------------------------------------------------


def test_a_part_whose_groups_differ_does_not_rule_out_what_none_of_them_has() -> None:
    """C tells that somebody is paid, and mostly nothing else: a wage of one's own is no less likely than the next."""
    rows = [(f"a{n}", "not", "0") for n in range(40) for _ in range(3)]
    rows += [(f"a{n}", "paid", "9" if n < 34 else f"w{n}") for n in range(40) for _ in range(3)]
    rows += [("b", "paid", "w35"), ("b", "paid", "w77")]
    (belief,) = model(dict(zip("ACB", map(list, zip(*rows, strict=True)), strict=True)), "A, C -> B").beliefs
    assert belief.prior.part == ("C",)
    seen, unseen = belief.prior(belief.side.group[-2:], belief.column.codes[-2:])
    assert seen < 15 * unseen


# ---- rows in conflict -----------------------------------------------------------------------------------------------


def scores_by_side(monkeypatch: pytest.MonkeyPatch, *of: Any) -> list[tuple[list[float], list[float]]]:
    """Per left side: the scores and weights by which it was last asked how many errors are left ones."""
    given: list[tuple[list[float], list[float]]] = []
    as_it_is = calibration.side_evidence

    def watched(tried: Any, scores: Any, weight: Any) -> Any:
        given.append((scores.tolist(), weight.tolist()))
        return as_it_is(tried, scores, weight)

    monkeypatch.setattr(misplaced, "side_evidence", watched)
    found = model(*of)
    return given[-len(found.misplaced.finder.sides) :]


def test_what_one_left_side_explains_is_no_evidence_about_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last row may belong to A = b; D, by which it clashes, too, has no group that agrees with it."""
    data = {"A": [*"aaaabbbba"], "B": [*"xxxxyyyyy"], "D": [*"dddddddde"], "E": [*"mmmmmmmmn"]}
    data = {name: [*values, *tail] for (name, values), tail in zip(data.items(), ("c", "z", "e", "k"), strict=True)}
    left, other = scores_by_side(monkeypatch, data, "A -> B", "D -> E")
    assert max(left[0]) > row_options.HOPELESS
    assert other[0] and max(other[0]) == row_options.HOPELESS


def test_a_row_that_is_alone_does_not_say_how_many_left_sides_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value is unlikely by what other groups have; but it contradicts nobody, as errors do that are tried out."""
    rows = [(f"a{n}", c, b) for n in range(20) for c, b in (("not", "0"), ("paid", "9")) for _ in range(3)]
    rows += [(f"a{n}", "not", "9") for n in range(12)]
    data = dict(zip("ACB", map(list, zip(*rows, ("z", "not", "9"), strict=True)), strict=True))
    found = model(data, "A, C -> B")
    assert found.misplaced.fits(found.beliefs[0], np.array([len(rows)]))[0] < 0.6
    ((_, weight),) = scores_by_side(monkeypatch, data, "A, C -> B")
    assert np.flatnonzero(weight).tolist() == [*range(12)], "the errors weigh, and the last row does not"


@pytest.mark.parametrize(
    ("chain", "left", "right"),
    [((0, 0), 10, 90), ((1, 0), 100, 90), ((0, 1), 10, 100), ((2, 0), 190, 90)],
    ids=["alone", "told", "telling", "told twice"],
)
def test_an_error_on_which_two_dependencies_meet_is_a_left_one_and_a_right_one(
    chain: tuple[int, int], left: int, right: int
) -> None:
    """Of a hundred errors of each dependency ten are on its left: what is seen of one side says so, and follows."""
    scale, shares = calibration.ShareScale(*chain), calibration.SHARES
    seen, of_all = -np.abs(shares - left / (left + right)), -np.abs(shares - 0.1)
    assert shares[scale.to_table(seen).argmax()] == pytest.approx(0.1, abs=0.021)
    assert shares[scale.of_table(of_all).argmax()] == pytest.approx(left / (left + right), abs=0.021)


def test_a_code_and_its_name_that_contradict_each_other_do_not_say_how_many_left_sides_are_wrong() -> None:
    scale, steep = calibration.ShareScale(1, 1), np.arange(len(calibration.SHARES), dtype=float)
    assert not scale.to_table(steep).any() and not scale.of_table(steep).any()


# ---- a majority, overruled for nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "fewer", "is_written"), [(9, 3, True), (90, 30, False)])
def test_a_majority_is_overruled_for_nothing_only_where_little_is_at_stake(
    most: int, fewer: int, is_written: bool
) -> None:
    """Many groups hold x, and it may have been overwritten here. If that is not so, all that is written is wrong."""
    values = [f"v{n // 2}" if n % 3 else "x" for n in range(80) for _ in range(6)] + ["v1"] * most + ["x"] * fewer
    groups = [f"g{n}" for n in range(80) for _ in range(6)] + ["here"] * (most + fewer)
    found = model({"A": groups, "B": values}, "A -> B")
    (belief,) = found.beliefs
    assert belief.rates.blocks_are_rare and belief.rates.blocks_are_likelier
    here = belief.side.group[-1]
    assert belief.column.tree.label(int(belief.likeliest[here])) == "x"
    assert 0.95 < belief.sure[here] < 0.995
    decided = decide(found, 0.9)["B"]
    assert decided.written.any() == is_written
    assert decided.in_doubt.any() != is_written

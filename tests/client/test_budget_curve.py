"""What a larger budget does to the repair error: with errors on the right of a dependency, and on the left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from curves import CREDITS, ENGINE, World, adult, highest_rise
from lanes import share

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.explain import explain
from pacas.client.safe_clean import SafeClean
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.provider.provider import Provider

Found = Callable[[World], World]

BY_LEFT_SIDE: Found = lambda world: world  # noqa: E731
FOUND = [pytest.param(BY_LEFT_SIDE, id="by left side"), pytest.param(World.one_by_one, id="one by one")]


def synthetic(seed: int) -> World:
    """30 groups of about 20 rows; 32 values in families of 4, in two areas."""
    rng = np.random.default_rng(seed)
    group, site = rng.integers(0, 30, 600), rng.integers(0, 4, 600)
    value = rng.integers(0, 32, 30)[group]
    columns = {"site": site, "key": group, "value": value}
    table = pa.table({name: [f"{name} {code}" for code in codes] for name, codes in columns.items()})
    tree = Hierarchy.from_rows([(f"value {i}", f"family {i // 4}", f"area {i // 16}", "*") for i in range(32)])
    return World.of(table, ["key -> value"], {"value": tree}, ["site"])


@pytest.fixture(scope="module")
def sample(shared_data: Path) -> World:
    return adult(shared_data / "adult", rows=3_000)


def assert_money_helps(errors: list[float]) -> None:
    dirty = errors[0]
    assert max(errors) <= dirty
    assert highest_rise(errors) <= 0.02
    assert errors[-1] < dirty / 2, "and it is worth something"


# ---- errors on the right -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("seed", range(share(4)))
def test_no_budget_makes_the_table_worse_and_more_money_hardly_ever_does(seed: int, found: Found) -> None:
    world = found(synthetic(seed))
    assert_money_helps(world.curve(world.wrong_right(seed), CREDITS))


@pytest.mark.parametrize("found", FOUND)
def test_nor_does_it_on_adult(sample: World, found: Found) -> None:
    world = found(sample)
    assert_money_helps(world.curve(world.wrong_right(seed=1), CREDITS))


@pytest.mark.parametrize("found", FOUND)
def test_the_papers_repair_does_make_it_worse(found: Found) -> None:
    world = found(synthetic(0))
    errors = world.curve(world.wrong_right(0), CREDITS, "replace")
    assert max(errors) > 1.5 * errors[0]
    assert highest_rise(errors) > 0.02


@pytest.mark.parametrize("found", FOUND)
def test_the_papers_repair_does_so_on_adult(sample: World, found: Found) -> None:
    world = found(sample)
    errors = world.curve(world.wrong_right(seed=1), CREDITS, "replace")
    assert max(errors) > 1.02 * errors[0]
    assert highest_rise(errors) > 0.02


def test_the_smallest_table_with_an_error_on_the_right_that_gets_worse() -> None:
    """Two cells that differ are one vote each. If both lie below the bought value, the one that stands first wins.

    The third row is in no class; without it no distance would be above 0, for the truth would have one value only.
    """
    truth = [("x", "a"), ("x", "a"), ("y", "b")]
    dirty = [("x", "b"), ("x", "a"), ("y", "b")]
    worse = clean(dirty, shop(truth, k=2))
    assert rows(worse) == [("x", "b"), ("x", "b"), ("y", "b")]
    before, after = errors_of(worse, truth)
    assert after == 2 * before > 0
    lucky = clean([dirty[1], dirty[0], dirty[2]], shop(truth, k=2))
    assert errors_of(lucky, truth) == (before, 0), "as likely: it evens out where there are many classes"
    ground = clean(dirty, shop(truth, k=1))
    assert errors_of(ground, truth) == (before, 0), "and a ground value settles it"


# ---- errors on the left ------------------------------------------------------------------------------------------

MISPLACED = [("x", "a"), ("y", "c")], [("x", "a"), ("x", "c")]
"""The truth, and the same with the second row's key wrong: its value is right, for the key it should have."""


def test_the_smallest_table_with_an_error_on_the_left_that_gets_worse() -> None:
    """One violation takes two rows. The provider is asked about x and says a: the right c is lost, the key not found.

    Both rows put the same question to the provider, so nothing tells them apart, and nothing is flagged.
    """
    truth, dirty = MISPLACED
    cleaning = clean(dirty, shop(truth, k=1))
    assert rows(cleaning) == [("x", "a"), ("x", "a")]
    assert cleaning.violations_after == 0
    before, after = errors_of(cleaning, truth)
    assert before == pytest.approx(2), "the key"
    assert after == pytest.approx(2 + 2), "the key, and the value"
    assert cleaning.flagged == 0


def test_where_rows_are_found_by_themselves_the_misplaced_one_may_speak_for_its_class() -> None:
    """Of two equally good offers the last is taken; what is true of the misplaced row is written into the other."""
    truth, dirty = MISPLACED
    cleaning = clean(dirty, shop(truth, k=1, match="record = record"))
    assert rows(cleaning) == [("x", "c"), ("x", "c")]
    before, after = errors_of(cleaning, truth)
    assert after > before
    assert cleaning.flagged == 0, "the tree looks alike from a and from c, and so do prices"


def test_a_misplaced_row_whose_own_quotes_are_others_is_flagged() -> None:
    """Only a is sold at level 1, for its family has two values; c is alone in its own, and refused."""
    truth, dirty = MISPLACED
    cleaning = clean(dirty, shop(truth, k=2, match="record = record", tree=UNEVEN))
    assert rows(cleaning) == [("x", "a"), ("x", "a")]
    assert cleaning.flagged == 1
    told = explain(cleaning, 1, "value", engine=ENGINE)
    assert told.steps[0].flagged
    assert not explain(cleaning, 0, "value", engine=ENGINE).steps[0].flagged


def test_the_misplaced_row_wins_if_it_alone_is_sold_and_all_others_are_flagged() -> None:
    """Alg. 5 takes the finest level that any row of the class is sold at, whatever most of them are quoted."""
    truth = [("x", "c"), ("x", "c"), ("y", "a")]
    dirty = [("x", "c"), ("x", "c"), ("x", "a")]
    cleaning = clean(dirty, shop(truth, k=2, match="record = record", tree=UNEVEN))
    assert rows(cleaning) == [("x", "a")] * 3
    assert cleaning.purchases[0].differing.tolist() == [0, 1]
    assert cleaning.flagged == cleaning.written == 2


@pytest.mark.parametrize("found", FOUND)
def test_with_errors_on_the_left_money_harms(found: Found) -> None:
    world = found(synthetic(0))
    errors = world.curve(world.wrong_left(0), CREDITS)
    assert max(errors) == errors[-1] > 1.1 * errors[0]


# ---- tables of two rows ------------------------------------------------------------------------------------------

Rows = list[tuple[str, str]]

EVEN = Hierarchy.from_rows([("a", "AB", "*"), ("b", "AB", "*"), ("c", "CD", "*"), ("d", "CD", "*")])
UNEVEN = Hierarchy.from_rows([("a", "AB", "*"), ("b", "AB", "*"), ("c", "C", "*")])


def table(rows: Rows) -> pa.Table:
    key, value = map(list, zip(*rows, strict=True))
    return pa.table({"record": [f"r{i}" for i in range(len(rows))], "key": key, "value": value})


def shop(truth: Rows, k: int, match: str = "key = key", tree: Hierarchy = EVEN) -> Provider:
    policy = Policy((match.split()[0],), ("value",), k=k)
    return Provider(
        table(truth), match={"value": match}, policies=[policy], hierarchies={"value": tree}, seed=7, engine=ENGINE
    )


def clean(dirty: Rows, provider: Provider) -> Cleaning:
    return SafeClean("key -> value", 1, strategy="paper").clean(table(dirty), provider, engine=ENGINE)


def rows(cleaning: Cleaning) -> Rows:
    columns = (cleaning.relation.table[name].to_pylist() for name in ("key", "value"))
    return list(zip(*columns, strict=True))


def errors_of(cleaning: Cleaning, truth: Rows) -> tuple[float, float]:
    total = cleaning.score(table(truth), engine=ENGINE).total
    return total.repair_error_before or 0.0, total.repair_error

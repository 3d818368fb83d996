"""What is improbable given its row, where it is looked further than dependencies do."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.provider.provider import Provider

ENGINE = DuckEngine(threads=1)
NAMES = ("Albany", "Bronx", "Cayuga", "Dutchess", "Essex", "Fulton", "Genesee", "Hamilton", "Jefferson", "Kings")
"""Of areas; each has two counties, and each of these two towns."""
EACH = 25
"""Rows of a town."""
ERRORS = 20

Table = dict[str, list[str]]
Change = Callable[[Table], dict[int, str]]
"""What is written into `area` instead, by row."""


def table() -> Table:
    """No dependency speaks of the area: towns and counties tell it."""
    rows = [(area, f"{area} {side}", f"{area} {side} {town}") for area in NAMES for side in ("East", "West")
            for town in ("Heights", "Springs") for _ in range(EACH)]  # fmt: skip
    keys = [str(i) for i in range(len(rows))]
    people = [str(i * 7919 % 97) for i in range(len(rows))]
    return {"id": keys, "area": [r[0] for r in rows], "county": [r[1] for r in rows], "town": [r[2] for r in rows],
            "person": people, "twice": people}  # fmt: skip


def elsewhere(given: Table, many: int = ERRORS) -> dict[int, str]:
    """In every second town one area is another one, in each county a different one."""
    every = len(given["area"]) // many
    return {i * every: NAMES[(NAMES.index(given["area"][i * every]) + 1 + i % 2) % len(NAMES)] for i in range(many)}


def spoilt(given: Table, cells: dict[int, str]) -> Table:
    return given | {"area": [cells.get(row, area) for row, area in enumerate(given["area"])]}


def cleaned(given: Table, budget: float = 0, *, look_further: bool = True, fds: str = "person -> twice") -> Cleaning:
    areas = table()["area"]
    shop = Provider({"id": [str(i) for i in range(len(areas))], "area": areas}, match={"area": "id = id"},
                    hierarchies={"area": Hierarchy.flat(NAMES)}, total=10)  # fmt: skip
    how = SafeClean(fds, budget, strategy="weigh", look_further=look_further)
    return how.clean(Relation(pa.table(given)), shop, engine=ENGINE)


def areas(result: Cleaning) -> list[str]:
    return result.relation.table.column("area").to_pylist()


def doubtful(result: Cleaning) -> set[int]:
    assert result.weighing is not None
    return {cell.row for cell in result.weighing.doubtful if cell.attribute == "area"}


def without(given: Table, *names: str) -> Table:
    return {name: column for name, column in given.items() if name not in names}


def test_what_two_columns_speak_against_is_repaired_for_nothing() -> None:
    dirty = spoilt(table(), elsewhere(table()))
    result = cleaned(dirty)
    assert areas(result) == table()["area"]
    assert result.spent == 0 and result.weighing is not None and result.weighing.free == ERRORS


def test_without_looking_further_a_table_without_violations_is_left_alone() -> None:
    dirty = spoilt(table(), elsewhere(table()))
    result = cleaned(dirty, 10, look_further=False)
    assert areas(result) == dirty["area"] and not result.purchases


def test_where_one_column_speaks_against_it_either_may_be_wrong_and_it_is_listed() -> None:
    cells = elsewhere(table())
    result = cleaned(without(spoilt(table(), cells), "county"))
    assert areas(result) == spoilt(table(), cells)["area"] and doubtful(result) == {*cells}
    assert result.weighing is not None and all(0.4 < cell.sure < 0.5 for cell in result.weighing.doubtful)


def test_what_is_in_doubt_is_bought_though_no_dependency_speaks_of_it() -> None:
    cells = elsewhere(table())
    result = cleaned(without(spoilt(table(), cells), "county"), 10)
    assert areas(result) == table()["area"]
    assert {(p.attribute, p.row) for p in result.purchases} == {("area", row) for row in cells}


def test_a_slip_for_what_one_column_says_is_repaired_for_nothing() -> None:
    """Some towns have another area, and one has what nobody has; the others show how often exceptions are errors."""
    cells = elsewhere(table()) | {0: "Abany"}
    assert areas(cleaned(without(spoilt(table(), cells), "county")))[0] == "Albany"


def again(given: Table) -> dict[int, str]:
    """Exceptions, two of each in a town."""
    cells = elsewhere(given)
    return cells | {row + 1: area for row, area in cells.items()}


def in_doubt_of_one(given: Table) -> dict[int, str]:
    """A single exception: that it is an error, nothing says."""
    return elsewhere(given, 1)


def mostly_again(given: Table) -> dict[int, str]:
    """As many that do not come again as that do: it is no rule."""
    cells = elsewhere(given)
    others = {row + EACH: NAMES[(NAMES.index(area) + 3) % len(NAMES)] for row, area in cells.items()}
    return again(given) | others


@pytest.mark.parametrize("change", [again, mostly_again, in_doubt_of_one])
def test_exceptions_that_come_again_or_are_alone_stay(change: Change) -> None:
    dirty = spoilt(table(), change(table()))
    assert areas(cleaned(dirty)) == dirty["area"]


def test_one_that_comes_again_is_no_error_and_puts_the_others_in_doubt() -> None:
    cells, twice = elsewhere(table()), {row: "Kings" for row in (30, 31)}
    dirty = spoilt(table(), cells | twice)
    result = cleaned(dirty)
    assert areas(result) == dirty["area"] and doubtful(result) == {*cells}


def test_exceptions_that_go_with_another_column_are_no_errors() -> None:
    cells = elsewhere(table())
    dirty = spoilt(table(), cells) | {"moved": ["yes" if row in cells else "no" for row in range(len(table()["id"]))]}
    result = cleaned(dirty)
    assert areas(result) == dirty["area"] and not doubtful(result)


def test_a_cell_that_some_column_speaks_for_stays() -> None:
    """Town and county are wrong together: the postal area says so."""
    cells = elsewhere(table())
    dirty = spoilt(table(), cells)
    dirty["post"] = [f"post of {area}" for area in dirty["area"]]
    assert areas(cleaned(dirty)) == dirty["area"]


def test_what_few_rows_show_determines_nothing() -> None:
    """Towns and counties of twelve rows each say nothing yet."""
    rows = [row for row in range(len(table()["id"])) if row % EACH < 6]
    few = {name: [column[row] for row in rows] for name, column in table().items()}
    cells = elsewhere(few)
    dirty = spoilt(few, cells)
    dirty["county"] = [f"{county} {row // 12}" for row, county in enumerate(dirty["county"])]
    result = cleaned(dirty)
    assert areas(result) == dirty["area"] and not doubtful(result)


def test_what_a_dependency_speaks_for_stays() -> None:
    """Alone in their houses, rows are repaired; but not with somebody who is where they say they are."""
    cells = elsewhere(table())
    dirty = spoilt(table(), cells)
    houses = [f"{row} Alone" if row in cells else f"{row // 5} Main" for row in range(len(dirty["id"]))]
    assert areas(cleaned(dirty | {"house": houses}, fds="house -> area")) == table()["area"]
    hosts = {row: houses[table()["area"].index(area) + 7] for row, area in cells.items()}
    shared = {"house": [hosts.get(row, house) for row, house in enumerate(houses)]}
    assert areas(cleaned(dirty | shared, fds="house -> area")) == dirty["area"]


def test_a_slip_in_a_column_of_no_dependency_is_repaired_but_another_number_is_none() -> None:
    given = without(table(), "county", "town")
    slips = spoilt(given, {0: "Abany", 100: "Bronnx", 400: "Esex"})
    assert areas(cleaned(slips)) == given["area"]
    numbered = {name: ["Area 51 north" if c == "Albany" else c for c in column] for name, column in given.items()}
    dirty = spoilt(numbered, {0: "Area 52 north"})
    assert areas(cleaned(dirty)) == dirty["area"]


def test_it_is_explained() -> None:
    cells = elsewhere(table())
    result = cleaned(without(spoilt(table(), cells), "county"))
    assert result.weighing is not None
    (said,) = result.weighing.explain(0, "area")
    assert said.says == "it is improbable, and should be 'Albany'" and 0.4 < said.weight < 0.5

"""What every engine must do with rows that belong together: number them, and keep some of each group back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from engines import ENGINES, is_spark
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.hierarchy import Hierarchy, canonical_number
from pacas.core.relation import Relation
from pacas.engine.contract import Engine, Table
from pacas.engine.kept_rows import Agreement, KeptRows, UnitPairs, size_of
from pacas.engine.lots import lots, spelled
from pacas.errors import InputError, SchemaError

Text = str | None
Row = tuple[Text, ...]
COLUMNS = ("K", "X", "Z")
NUMBERS = Hierarchy.from_rows([("51", "[51,60]", "*"), ("0", "[0,50]", "*")], numeric=True)
SALT = "5a17"


@pytest.fixture(scope="module", params=[each for each in ENGINES if each.id != "spilling"])  # both are SQL alone
def engine(request: pytest.FixtureRequest) -> Iterator[Engine[Any]]:
    made = request.param(request)
    yield made
    made.close()


def opened(engine: Engine[Any], rows: Sequence[Row]) -> Table:
    columns = zip(COLUMNS, zip(*rows, strict=True), strict=True)
    return engine.open(Relation.of(pa.table({name: pa.array(values, pa.string()) for name, values in columns})))


def column(engine: Engine[Any], table: Table, name: str) -> list[Text]:
    return engine.rows(table, None, [name]).column(0).to_pylist()


# ---- the first row ---------------------------------------------------------------------------------------------------


def test_the_first_row_is_first_by_its_texts(engine: Engine[Any]) -> None:
    table = opened(engine, [(None, "a", "a"), ("b", "10", None), ("b", "10", "9"), ("b", "9", "a"), ("é", "1", "1")])
    assert engine.first_row(table, ["K", "X", "Z"]) == 2
    assert engine.first_row(table, ["Z", "K"]) == 4
    assert engine.first_row(table, ["K", "X"]) == 1


# ---- rows that another relation lacks -------------------------------------------------------------------------------


def test_rows_that_are_lacking_are_counted_as_often_as_they_occur(engine: Engine[Any]) -> None:
    one = opened(engine, [("a", None, "p"), ("a", None, "q"), ("b", "x", "p"), ("c", "x", "p"), ("c", "x", "p")])
    other = opened(engine, [("c", "x", "p"), ("a", None, "r"), ("d", "x", "p")])
    assert engine.lacking(one, other, ["K", "X"]) == 3
    assert engine.lacking(other, one, ["K", "X"]) == 1
    assert engine.lacking(one, one, ["K", "X", "Z"]) == 0


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_a_group_goes_by_its_first_row_and_has_a_size(engine: Engine[Any]) -> None:
    table = opened(engine, [("a", "51", "p"), ("a", None, "p"), ("b", "51.0", None), ("a", "5.1e1", None)])
    together = {
        "by text": Agreement(("K",)),
        "by number": Agreement(("X",), {"X": NUMBERS}),
        "with nulls": Agreement(("K", "Z"), with_nulls=True),
    }
    found = engine.numbered(table, together)
    assert found.columns == (*COLUMNS, *(name for one in together for name in (one, size_of(one))))
    assert column(engine, found, "by text") == ["0", "0", "2", "0"]
    assert column(engine, found, size_of("by text")) == ["3", "3", "1", "3"]
    assert column(engine, found, "by number") == ["0", None, "0", "0"]
    assert column(engine, found, size_of("by number")) == ["3", None, "3", "3"]
    assert column(engine, found, "with nulls") == ["0", "0", "2", "3"]
    assert column(engine, found, "X") == ["51", None, "51.0", "5.1e1"]


def test_numbers_can_be_looked_up(engine: Engine[Any]) -> None:
    table = engine.numbered(opened(engine, [("a", "x", "p"), ("b", "x", "p")]), {"unit": Agreement(("X",))})
    index = engine.index(table, ["K"], ["Z", "unit", size_of("unit")], {})
    assert index.find(pa.table({"K": ["b"]})).to_pylist() == [
        {"line": 0, "row": 1, "Z": "p", "unit": "0", size_of("unit"): "2"}
    ]


def test_a_column_that_is_not_there_is_named(engine: Engine[Any]) -> None:
    with pytest.raises(SchemaError, match="Y"):
        engine.numbered(opened(engine, [("a", "b", "c")]), {"unit": Agreement(("Y",))})


# ---- what is kept back -----------------------------------------------------------------------------------------------


def no_choice(pairs: UnitPairs) -> np.ndarray:
    raise AssertionError("no unit is in several groups")


def kept(
    engine: Engine[Any], rows: Sequence[Row], keep: int = 1, tie: tuple[str, ...] = (), most: int = 2
) -> list[int]:
    """The rows that are kept back, found by K and grouped by X; units are rows, or tied by some columns."""
    table = opened(engine, rows)
    unit = None
    if tie:
        table, unit = engine.numbered(table, {"unit": Agreement(tie, with_nulls=True)}), "unit"
    how = KeptRows(Agreement(("X",), {"X": NUMBERS}), keep, (Agreement(("K",)),), most, tie or COLUMNS, SALT, unit)
    flags = column(engine, engine.kept_back(table, {"kept": how}, literal_choice), "kept")
    assert set(flags) <= {"1", None}
    return [row for row, flag in enumerate(flags) if flag]


def literal_choice(pairs: UnitPairs) -> np.ndarray:
    """All of them: a choice that is easily told from the engine's own."""
    assert len(pairs.unit) == len(pairs.lot)
    return np.unique(pairs.unit)


def lot(values: Sequence[Text]) -> int:
    text = SALT + " " + "".join("-" if v is None else f"{len(v)}:{v}" for v in values)
    return int(sha256(text.encode()).hexdigest()[:16], 16)


def literally_kept(rows: Sequence[Row], keep: int, tie: tuple[str, ...], most: int) -> list[int]:
    at = [COLUMNS.index(c) for c in tie or COLUMNS]
    unit = [tuple(row[i] for i in at) if tie else (number,) for number, row in enumerate(rows)]
    values = [tuple(row[i] for i in at) for row in rows]
    group = [None if row[1] is None else canonical_number(row[1]) for row in rows]
    can: set[tuple[Any, ...]] = set()
    for key in {row[0] for row in rows} - {None}:
        found = [unit[i] for i, row in enumerate(rows) if row[0] == key]
        if len(found) <= most and len(set(found)) == 1:
            can.add(found[0])
    chosen: set[tuple[Any, ...]] = set()
    shared = False
    pairs: dict[str, set[tuple[Any, ...]]] = {}
    for one in set(group) - {None}:
        members = [i for i, g in enumerate(group) if g == one]
        need = min(keep, len(members)) - sum(unit[i] not in can for i in members)
        if need <= 0:
            continue
        mine = [unit[i] for i in members if unit[i] in can]
        shared |= keep > 1 and len(set(mine)) < len(mine)
        pairs[str(one)] = set(mine)
        order = sorted(
            set(mine), key=lambda u: ({1: 0.5, 2: 20}.get(unit.count(u), unit.count(u)), lot(values[unit.index(u)]))
        )
        chosen |= set(order[:need])
    every = [u for units in pairs.values() for u in units]
    if tie and (shared or len(every) > len(set(every))):
        chosen = set(every)
    return [i for i, u in enumerate(unit) if u in chosen]


VALUES = {
    "K": st.none() | st.sampled_from(["a", "b", "c", "d", "e"]),
    "X": st.sampled_from(["51", "51.0", "x", None, "y"]),
    "Z": st.sampled_from(["p", "1:p", "é", None, "👩\u200d👧"]),
}
ROWS = st.lists(st.tuples(*VALUES.values()), min_size=1, max_size=9)


@examples(60, suppress_health_check=list(HealthCheck))
@given(ROWS, st.integers(1, 3), st.sampled_from([(), ("Z",), ("X", "Z")]), st.integers(1, 3))
def test_what_is_kept_back_is_what_the_definition_says(
    engine: Engine[Any], rows: list[Row], keep: int, tie: tuple[str, ...], most: int
) -> None:
    if is_spark(engine) and len(rows) != 6:
        return  # seconds each there
    assert kept(engine, rows, keep, tie, most) == literally_kept(rows, keep, tie, most)


def test_several_policies_have_a_column_each(engine: Engine[Any]) -> None:
    rows = [("a", "x", "p"), ("b", "x", "p"), ("c", "y", "q")]
    how = {
        name: KeptRows(Agreement((by,)), 1, (Agreement(("K",)),), 9, COLUMNS, SALT)
        for name, by in zip("12", "XZ", strict=True)
    }
    found = engine.kept_back(opened(engine, rows), how, no_choice)
    assert found.columns == (*COLUMNS, "1", "2")
    assert column(engine, found, "1") == column(engine, found, "2")


def test_what_can_be_bought_in_one_of_two_ways_can_be_bought(engine: Engine[Any]) -> None:
    rows = [("a", "x", "p"), ("a", "x", "q"), ("a", "x", "q")]
    ways = (Agreement(("K",)), Agreement(("Z",)))
    how = KeptRows(Agreement(("X",)), 3, ways, 9, COLUMNS, SALT)
    found = engine.kept_back(opened(engine, rows), {"kept": how}, no_choice)
    assert column(engine, found, "kept") == ["1", None, None]


def test_rows_that_are_closed_do_not_count(engine: Engine[Any]) -> None:
    rows = [("a", "x", "p"), ("b", "x", "p"), ("c", "x", "p")]
    how = KeptRows(Agreement(("X",)), 1, (Agreement(("K",)),), 9, COLUMNS, SALT)
    (first,) = kept(engine, rows)
    again = replace(how, closed=np.array([first]))
    found = column(engine, engine.kept_back(opened(engine, rows), {"kept": again}, no_choice), "kept")
    order = sorted(range(3), key=lambda row: lot(rows[row]))
    assert order[0] == first and found.index("1") == order[1] and found.count("1") == 1


def test_too_many_pairs_are_an_error_that_says_what_to_do(engine: Engine[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.engine.sql.unit_statements.MOST_PAIRS", 2)
    rows = [("a", "x", "p"), ("a", "y", "p"), ("b", "x", "q")]
    with pytest.raises(InputError, match=r"3 ways.*more memory"):
        kept(engine, rows, tie=("Z",))


@given(ROWS)
def test_lots_are_those_of_python(rows: list[Row]) -> None:
    assert lots(SALT, [map(spelled, row) for row in rows]).tolist() == [lot(row) for row in rows]

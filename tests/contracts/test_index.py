"""What every engine's index must do: find the rows that hold given values, many lines at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ENGINES, is_spark
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.hierarchy import Hierarchy, canonical_number
from pacas.core.relation import Relation
from pacas.engine.contract import Engine, Index, Table
from pacas.errors import InputError, SchemaError
from pacas.formats.relations.relations import scan_relation

Line = tuple[str | None, ...]
Texts = Sequence[str | None]

NUMBERS = Hierarchy.from_rows([("51", "[51,60]", "*"), ("0", "[0,50]", "*")], numeric=True)


HOLDING = [each for each in ENGINES if each.id != "spilling"]  # whose indexes are DuckDB's always


@pytest.fixture(scope="module", params=HOLDING)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine[Any]]:
    made = request.param(request)
    yield made
    made.close()


def texts(**columns: Texts) -> pa.Table:
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def opened(engine: Engine[Any], **columns: Texts) -> Table:
    return engine.open(Relation.of(texts(**columns)))


def find(index: Index, values: pa.Table, most: int | None = None) -> list[tuple[Any, ...]]:
    found = index.find(values, most)
    assert found.column_names[:2] == ["line", "row"]
    assert [found.column(i).type for i in (0, 1)] == [pa.int64(), pa.int64()]
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


PEOPLE = {
    "NAME": ["ann", "bob", None, "cid", "ann", "bob", "dee"],
    "AGE": ["51", "51.0", "51", "052", None, "5.1e1", "x"],
    "CITY": ["Łódź", "Ålesund", "x", None, "北京", "it's", 'q"q'],
}


@pytest.fixture(scope="module")
def people(engine: Engine[Any]) -> Table:
    return opened(engine, **PEOPLE)


def test_finds_the_rows_that_hold_each_lines_value_with_their_further_columns(
    engine: Engine[Any], people: Table
) -> None:
    index = engine.index(people, ["NAME"], ["CITY", "AGE"], {})
    found = index.find(texts(NAME=["bob", "ann"]))
    assert found.column_names == ["line", "row", "CITY", "AGE"]
    assert find(index, texts(NAME=["bob", "ann"])) == [
        (0, 1, "Ålesund", "51.0"),
        (0, 5, "it's", "5.1e1"),
        (1, 0, "Łódź", "51"),
        (1, 4, "北京", None),
    ]


def test_without_further_columns_there_are_lines_and_rows(engine: Engine[Any], people: Table) -> None:
    assert find(engine.index(people, ["NAME"], [], {}), texts(NAME=["dee", "bob"])) == [(0, 6), (1, 1), (1, 5)]


def test_a_null_is_found_nowhere_and_finds_nothing(engine: Engine[Any], people: Table) -> None:
    index = engine.index(people, ["NAME"], ["NAME"], {})
    assert find(index, texts(NAME=[None, "ann", None])) == [(1, 0, "ann"), (1, 4, "ann")]
    both = engine.index(people, ["NAME", "AGE"], [], {})
    assert find(both, texts(NAME=["ann", None, "ann"], AGE=[None, "51", "51"])) == [(2, 0)]


def test_a_line_that_no_row_holds_has_no_rows_and_an_equal_line_has_the_same(
    engine: Engine[Any], people: Table
) -> None:
    index = engine.index(people, ["NAME"], [], {})
    assert find(index, texts(NAME=["zed", "cid", "", "cid"])) == [(1, 3), (3, 3)]
    assert find(index, texts(NAME=["zed"])) == []


def test_without_lines_nothing_is_found(engine: Engine[Any], people: Table) -> None:
    found = engine.index(people, ["NAME"], ["CITY"], {}).find(texts(NAME=[]))
    assert (found.column_names, len(found)) == (["line", "row", "CITY"], 0)
    assert found.column("CITY").type == pa.string()


def test_numbers_are_equal_by_number_only_where_a_hierarchy_says_so(engine: Engine[Any], people: Table) -> None:
    asked = texts(AGE=["51", "52", "x", "051.00", "-0"])
    assert find(engine.index(people, ["AGE"], [], {"AGE": NUMBERS}), asked) == [
        *[(0, 0), (0, 1), (0, 2), (0, 5)],
        *[(1, 3), (2, 6)],
        *[(3, 0), (3, 1), (3, 2), (3, 5)],
    ]
    assert find(engine.index(people, ["AGE"], [], {}), asked) == [(0, 0), (0, 2), (2, 6)]


def test_numbers_that_a_float_cannot_tell_apart_are_compared_as_texts(engine: Engine[Any]) -> None:
    table = opened(engine, A=["9007199254740993", "9007199254740992", "1e400", "0", "-0.0"])
    index = engine.index(table, ["A"], [], {"A": NUMBERS})
    assert find(index, texts(A=["9007199254740993", "1e400", "1e401", "0.0"])) == [(0, 0), (1, 2), (3, 3), (3, 4)]


def test_general_values_are_values_like_others(engine: Engine[Any]) -> None:
    table = opened(engine, A=["*", "g", "a", "*"])
    tree = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*")])
    assert find(engine.index(table, ["A"], [], {"A": tree}), texts(A=["*", "g"])) == [(0, 0), (0, 3), (1, 1)]


def test_several_columns_must_all_be_equal(engine: Engine[Any], people: Table) -> None:
    index = engine.index(people, ["AGE", "NAME"], ["CITY"], {"AGE": NUMBERS})
    asked = texts(NAME=["bob", "ann", "bob"], AGE=["51", "51", "052"])
    assert find(index, asked) == [(0, 1, "Ålesund"), (0, 5, "it's"), (1, 0, "Łódź")]
    # no two cells that only look alike when they are put together
    table = opened(engine, A=["a", "a,b", "a\x00"], B=["b,c", "c", "x"])
    assert find(engine.index(table, ["A", "B"], [], {}), texts(A=["a,b", "a"], B=["c", "b,c"])) == [(0, 1), (1, 0)]


def test_texts_are_equal_to_the_last_code_point(engine: Engine[Any]) -> None:
    table = opened(engine, A=["é", "é", "E\u0301", "ss", "ß", "a ", "a", "A", "𝔸"])
    found = find(engine.index(table, ["A"], [], {}), texts(A=["é", "ß", "a", "A", "𝔸"]))
    assert found == [(0, 0), (0, 1), (1, 4), (2, 6), (3, 7), (4, 8)]


@pytest.mark.parametrize(
    ("most", "rows"), [(0, [0]), (1, [0, 2]), (2, [0, 2, 3]), (3, [0, 2, 3, 5]), (9, [0, 2, 3, 5])]
)
def test_of_more_rows_than_are_asked_for_the_first_ones_and_one_more_are_given(
    engine: Engine[Any], most: int, rows: list[int]
) -> None:
    index = engine.index(opened(engine, A=list("xyxxyx"), B=list("012345")), ["A"], ["B"], {})
    found = find(index, texts(A=["x", "n", "x"]), most)
    assert found == [(line, row, str(row)) for line in (0, 2) for row in rows]


def test_a_column_may_have_any_name_and_be_looked_up_by_and_given(engine: Engine[Any]) -> None:
    names = ["line", "row", "k0", "place", "row_number", "a b", 'q"q', "select"]
    table = opened(engine, **{name: ["1", "2", "1"] for name in names})
    index = engine.index(table, names, names, {})
    found = index.find(texts(**{name: ["2"] for name in names}))
    assert found.column_names == ["line", "row", *names]
    assert [column.to_pylist() for column in found.columns] == [[0], [1], *[["2"]] * len(names)]


def test_values_may_come_with_more_columns_and_in_any_order(engine: Engine[Any], people: Table) -> None:
    index = engine.index(people, ["NAME", "AGE"], [], {})
    assert find(index, texts(Z=["1"], AGE=["51.0"], OTHER=["2"], NAME=["bob"])) == [(0, 1)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_are_looked_up_in_too(engine: Engine[Any], tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        path.write_text("A,B\n51,x\n,y\n7,\n51,z\n")
    else:
        pq.write_table(pa.table({"A": [51, None, 7, 51], "B": ["x", "y", "", "z"]}), path)
    table = engine.open(scan_relation(path))
    assert find(engine.index(table, ["A"], ["B"], {}), texts(A=["7", "51"])) == [
        *[(0, 2, None), (1, 0, "x"), (1, 3, "z")]
    ]


def test_an_index_names_a_column_that_is_not_there(engine: Engine[Any], people: Table) -> None:
    for by, columns in [(["NAMES"], []), (["AGE"], ["NAMES"])]:
        with pytest.raises(SchemaError, match="no column 'NAMES' in the table; did you mean 'NAME'"):
            engine.index(people, by, columns, {})


def test_indexes_of_one_engine_do_not_meet_and_one_that_is_closed_leaves_the_others(
    engine: Engine[Any], people: Table
) -> None:
    by_name, by_age = engine.index(people, ["NAME"], ["AGE"], {}), engine.index(people, ["AGE"], ["NAME"], {})
    with closing(engine.index(people, ["NAME"], ["CITY"], {})) as third:
        assert find(third, texts(NAME=["dee"])) == [(0, 6, 'q"q')]
    assert find(by_name, texts(NAME=["dee"])) == [(0, 6, "x")]
    assert find(by_age, texts(AGE=["x"])) == [(0, 6, "dee")]
    assert engine.histogram(people, ["NAME"], {}).counts.tolist() == [2, 2, 1, 1, 1]


def test_an_index_outlives_the_name_of_its_table(engine: Engine[Any]) -> None:
    index = engine.index(opened(engine, A=["a", "b"]), ["A"], [], {})
    assert find(index, texts(A=["b"])) == [(0, 1)]


def test_a_folder_that_has_changed_is_noticed_or_answered_as_it_was(engine: Engine[Any], tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    pq.write_table(pa.table({"ID": [3, 1], "A": ["z", "x"]}), folder / "0.parquet")
    pq.write_table(pa.table({"ID": [2, 4], "A": ["y", "x"]}), folder / "1.parquet")
    index = engine.index(engine.open(engine.scan(str(folder), ["ID"])), ["A"], ["ID"], {})
    assert find(index, texts(A=["x", "y"])) == [(0, 0, "1"), (0, 3, "4"), (1, 1, "2")]
    pq.write_table(pa.table({"ID": [2, 4, 5], "A": ["x", "x", "secret"]}), folder / "1.parquet")
    try:
        assert find(index, texts(A=["x", "y"])) == [(0, 0, "1"), (0, 3, "4"), (1, 1, "2")]
    except InputError as error:
        assert "has changed since it was first read" in str(error)
        assert "secret" not in str(error)


# ---- all entries -----------------------------------------------------------------------------------------------------


def test_an_index_has_the_rows_without_a_null_in_what_it_is_by(engine: Engine[Any], people: Table) -> None:
    assert len(engine.index(people, ["NAME"], [], {})) == 6
    assert len(engine.index(people, ["NAME", "AGE"], [], {})) == 5


@pytest.mark.parametrize(("rows", "most"), [(100, 9), (2, 9), (1, 2), (100, 1)])
def test_batches_hold_every_entry_once_and_whole_or_its_first_rows(engine: Engine[Any], rows: int, most: int) -> None:
    values = ["51", "x", None, "51.0", "y", "x", "z", "052", "051", "x"]
    table = opened(engine, A=values, B=[str(row) for row in range(len(values))])
    index = engine.index(table, ["A"], ["B", "A"], {"A": NUMBERS})
    entries: dict[str, list[int]] = {}
    for batch in index.batches(rows, most):
        assert batch.column_names == ["row", "B", "A"]
        found = batch["row"].to_pylist()
        assert found == sorted(found)
        assert batch["B"].to_pylist() == [str(row) for row in found]
        assert batch["A"].to_pylist() == [values[row] for row in found]
        here: dict[str, list[int]] = {}
        for row in found:
            here.setdefault(canonical_number(values[row] or ""), []).append(row)
        assert not entries.keys() & here.keys()  # an entry is in one batch
        entries |= here
    expected = {"51": [0, 3, 8], "x": [1, 5, 9], "y": [4], "z": [6], "52": [7]}
    assert entries == {value: held[:most] for value, held in expected.items()}


def test_an_index_of_nulls_has_no_batches(engine: Engine[Any]) -> None:
    index = engine.index(opened(engine, A=[None, None], B=["x", "y"]), ["A"], ["B"], {})
    assert (len(index), [len(batch) for batch in index.batches(10, 10)]) == (0, [])


# ---- any rows --------------------------------------------------------------------------------------------------------

CELLS = st.sampled_from(["a", "b", "51", "51.0", "051", "-0", "0", "*", None])
LINES = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12)


def scanned(rows: list[Line], lines: list[Line], most: int | None) -> list[tuple[int, int]]:
    """The definition: row after row, for each line."""

    def linked(line: Line) -> Line:
        a, b = line
        return a, None if b is None else canonical_number(b)

    found = []
    for number, line in enumerate(lines):
        held = [row for row, cells in enumerate(rows) if linked(cells) == linked(line) and None not in line]
        found += [(number, row) for row in held[: None if most is None else most + 1]]
    return found


def agrees(engine: Engine[Any], rows: list[Line], lines: list[Line], most: int | None) -> None:
    columns, values = ({name: [r[i] for r in part] for i, name in enumerate("AB")} for part in (rows, lines))
    with closing(engine.index(opened(engine, **columns), ["A", "B"], [], {"B": NUMBERS})) as index:
        assert find(index, texts(**values), most) == scanned(rows, lines, most)


def test_any_lines_find_what_a_scan_finds(engine: Engine[Any]) -> None:
    @examples(6 if is_spark(engine) else 60, suppress_health_check=[HealthCheck.too_slow])
    @given(rows=LINES, lines=LINES, most=st.none() | st.integers(0, 3))
    def each(rows: list[Line], lines: list[Line], most: int | None) -> None:
        agrees(engine, rows, lines, most)

    each()


def test_many_lines_find_what_they_hold(engine: Engine[Any]) -> None:
    rng = np.random.default_rng(3)
    rows, lines = rng.integers(0, 300, 5_000), rng.integers(0, 400, 2_000)
    index = engine.index(opened(engine, A=[str(v) for v in rows]), ["A"], ["A"], {})
    found = index.find(texts(A=[str(v) for v in lines]), most=4)
    expected = [(line, row) for line, value in enumerate(lines) for row in np.flatnonzero(rows == value)[:5].tolist()]
    assert list(zip(found["line"].to_pylist(), found["row"].to_pylist(), strict=True)) == expected
    assert found["A"].to_pylist() == [str(lines[line]) for line, _ in expected]

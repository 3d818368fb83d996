"""What every engine must do. A new engine is one more parameter of the fixture."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ENGINES, is_spark, scaled

from pacas.core.hierarchy import Hierarchy
from pacas.core.query import Condition, From, GeneralizedQuery, Output, QueryColumn
from pacas.core.relation import Relation
from pacas.engine.contract import Engine, NeighbourDiffs, Source, Table
from pacas.errors import FileError, HierarchyError, InputError, SchemaError
from pacas.formats.relations.relations import scan_relation


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = request.param(request)
    yield made
    made.close()


def texts(engine: Engine, table: Table, columns: Sequence[str] | None = None) -> dict[str, list[str | None]]:
    """The whole table as the engine sees it."""
    found = engine.rows(table, None, columns or table.columns)
    return dict(zip(columns or table.columns, (c.to_pylist() for c in found.columns), strict=True))


def opened(engine: Engine, **columns: Sequence[str | None]) -> Table:
    return engine.open(Relation.of({name: pa.array(values, pa.string()) for name, values in columns.items()}))


def test_serves_where_an_engine_of_its_kind_is_asked_for_and_no_other(engine: Engine) -> None:
    asked = {name: engine.serves(name) for name in ("duckdb", "spark")}
    assert asked == {"duckdb": not is_spark(engine), "spark": is_spark(engine)}
    assert engine.serves("duckdb", memory="1GB") is False
    assert engine.finds_tables == is_spark(engine)


# ---- open: tables in memory ------------------------------------------------------------------------------------------

PLAIN: dict[str, list[str | None]] = {"GEN": ["male", "female", None], "AGE": ["51", "45", "32"]}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Relation.of(PLAIN),
        lambda: Relation.of(pa.table(PLAIN)),
        lambda: Relation.of(pd.DataFrame(PLAIN)),
        lambda: Relation.of(pl.DataFrame(PLAIN)),
    ],
    ids=["mapping", "arrow", "pandas", "polars"],
)
def test_opens_tables_in_memory(engine: Engine, make: Callable[[], Source]) -> None:
    table = engine.open(make())
    assert (table.columns, len(table)) == (("GEN", "AGE"), 3)
    assert texts(engine, table) == PLAIN


def test_opens_some_columns_in_the_order_asked_for(engine: Engine) -> None:
    table = engine.open(Relation.of({"A": ["1"], "B": ["2"], "C": ["3"]}), ["C", "A"])
    assert table.columns == ("C", "A")
    assert texts(engine, table) == {"C": ["3"], "A": ["1"]}


def test_names_a_missing_column_and_the_nearest_one(engine: Engine) -> None:
    with pytest.raises(SchemaError, match="no column 'GENDER' in the table; did you mean 'GENDERS'"):
        engine.open(Relation.of({"GENDERS": ["1"]}), ["GENDER"])


def test_typed_columns_read_as_text(engine: Engine, tmp_path: Path) -> None:
    typed = pa.table(
        {
            "whole": pa.array([51, None, -3], pa.int64()),
            "gaps": pa.array([51.0, None, 0.5]),
            "single": pa.array([51.0, 2.5, None], pa.float32()),
            "flag": pa.array([True, False, None]),
            "day": pa.array([date(2020, 2, 29), None, date(1999, 12, 31)]),
            "text": pa.array(["a", "", None]),
            "category": pa.array(["x", "", "x"]).dictionary_encode(),
        }
    )
    expected = {
        "whole": ["51", None, "-3"],
        "gaps": ["51", None, "0.5"],
        "single": ["51", "2.5", None],
        "flag": ["true", "false", None],
        "day": ["2020-02-29", None, "1999-12-31"],
        "text": ["a", None, None],
        "category": ["x", None, "x"],
    }
    pq.write_table(typed, tmp_path / "typed.parquet")
    assert texts(engine, engine.open(Relation.of(typed))) == expected
    assert texts(engine, engine.open(scan_relation(tmp_path / "typed.parquet"))) == expected


def test_a_gap_in_a_float_column_is_null_from_pandas_and_from_polars(engine: Engine) -> None:
    assert texts(engine, engine.open(Relation.of(pd.DataFrame({"A": [51.0, None, 2.5]})))) == {"A": ["51", None, "2.5"]}
    assert texts(engine, engine.open(Relation.of(pl.DataFrame({"A": [51.0, None, 2.5]})))) == {"A": ["51", None, "2.5"]}


def test_large_whole_numbers_stay_exact(engine: Engine) -> None:
    table = engine.open(Relation.of({"A": [2**62 + 1, 2**53 + 1]}))
    assert texts(engine, table) == {"A": [str(2**62 + 1), str(2**53 + 1)]}


@pytest.mark.parametrize("columns", [("a", "A"), ("id", "ID", "Id")])
@pytest.mark.parametrize("kind", ["memory", "csv", "parquet"])
def test_columns_that_differ_only_in_case_are_different_columns(
    engine: Engine, tmp_path: Path, kind: str, columns: tuple[str, ...]
) -> None:
    table = pa.table({name: [f"{name}1", f"{name}2"] for name in columns})
    source: Source = Relation.of(table)
    if kind == "csv":
        rows = [",".join(columns), *(",".join(f"{name}{n}" for name in columns) for n in (1, 2))]
        (tmp_path / "t.csv").write_text("\n".join(rows))
        source = scan_relation(tmp_path / "t.csv")
    elif kind == "parquet":
        pq.write_table(table, tmp_path / "t.parquet")
        source = scan_relation(tmp_path / "t.parquet")
    assert texts(engine, engine.open(source)) == {name: [f"{name}1", f"{name}2"] for name in columns}


NAMES = ["rowid", "file_row_number", "filename", "pacas row number", "value", "label", "row", "a b", 'q"q', "select"]


@pytest.mark.parametrize("kind", ["memory", "csv", "parquet"])
def test_any_column_name_will_do(engine: Engine, tmp_path: Path, kind: str) -> None:
    columns = {name: ["7", "8", "7"] for name in NAMES} | {"B": ["x", "y", "z"]}
    source: Source = Relation.of(columns)
    if kind == "csv":
        header = ",".join('"' + name.replace('"', '""') + '"' for name in columns)
        rows = (",".join(row) for row in zip(*columns.values(), strict=True))
        (tmp_path / "t.csv").write_text("\n".join([header, *rows]))
        source = scan_relation(tmp_path / "t.csv")
    elif kind == "parquet":
        pq.write_table(pa.table(columns), tmp_path / "t.parquet")
        source = scan_relation(tmp_path / "t.parquet")
    table = engine.open(source)
    assert texts(engine, table) == columns
    assert engine.mixed_groups(table, [NAMES], "B", {}).rows.tolist() == [0, 2]
    hierarchy = Hierarchy.from_rows([("7", "odd", "*"), ("8", "even", "*")])
    query = GeneralizedQuery(tuple(Output(QueryColumn(n), 1) for n in NAMES), (Condition(QueryColumn("B"), "=", "y"),))
    answers = engine.answer(query, {"relation": table}, dict.fromkeys(NAMES, hierarchy))
    assert [column.to_pylist() for column in answers.columns] == [["even"]] * len(NAMES)


# ---- open: files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"A,B\n1,x\n2,y\n"),
        ("crlf.csv", b"A,B\r\n1,x\r\n2,y\r\n"),
        ("no_end.csv", b"A,B\n1,x\n2,y"),
        ("bom.csv", b"\xef\xbb\xbfA,B\n1,x\n2,y\n"),
        ("semicolon.csv", b"A;B\n1;x\n2;y\n"),
        ("pipe.csv", b"A|B\n1|x\n2|y\n"),
        ("tab.tsv", b"A\tB\n1\tx\n2\ty\n"),
        ("quoted.csv", b'"A","B"\n"1","x"\n"2","y"\n'),
        ("t.csv.gz", gzip.compress(b"A,B\n1,x\n2,y\n", mtime=0)),
        ("t.csv.zst", bytes(pa.Codec("zstd").compress(b"A,B\n1,x\n2,y\n"))),
        ("it's.csv", b"A,B\n1,x\n2,y\n"),
        ("brackets[1].csv", b"A,B\n1,x\n2,y\n"),
        ("star*.csv", b"A,B\n1,x\n2,y\n"),
        ("what?.csv", b"A,B\n1,x\n2,y\n"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_opens_text_files(engine: Engine, tmp_path: Path, name: str, content: bytes) -> None:
    for other in ("brackets1.csv", "star2.csv", "whatx.csv"):  # what a pattern would find
        (tmp_path / other).write_text("A,B\nnot,asked\n")
    (tmp_path / name).write_bytes(content)
    assert texts(engine, engine.open(scan_relation(tmp_path / name))) == {"A": ["1", "2"], "B": ["x", "y"]}


@pytest.mark.parametrize("name", ["brackets[1].parquet", "star*.parquet"])
def test_opens_parquet_files_by_their_very_name(engine: Engine, tmp_path: Path, name: str) -> None:
    for other in ("brackets1.parquet", "star2.parquet"):
        pq.write_table(pa.table({"A": ["not asked"]}), tmp_path / other)
    pq.write_table(pa.table({"A": ["1"]}), tmp_path / name)
    assert texts(engine, engine.open(scan_relation(tmp_path / name))) == {"A": ["1"]}


def test_cells_are_text_as_written(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('A,B\n007, x \n1.0,"a ""b"", c"\nNULL,"two\nlines"\nnan,é\n')
    assert texts(engine, engine.open(scan_relation(tmp_path / "t.csv"))) == {
        "A": ["007", "1.0", "NULL", "nan"],
        "B": [" x ", 'a "b", c', "two\nlines", "é"],
    }


def test_an_empty_cell_is_null_and_so_is_a_quoted_empty_one(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('A,B\n,x\n"",y\n1,\n2,""\n')
    table = engine.open(scan_relation(tmp_path / "t.csv"))
    assert texts(engine, table) == {"A": [None, None, "1", "2"], "B": ["x", "y", None, None]}
    assert texts(engine, opened(engine, A=["", None])) == {"A": [None, None]}


def test_an_empty_line_of_a_one_column_file_is_a_null(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("A\n1\n\n2\n")
    assert texts(engine, engine.open(scan_relation(tmp_path / "t.csv"))) == {"A": ["1", None, "2"]}


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_row_numbers_are_those_of_the_file_even_where_it_is_read_in_parallel(
    engine: Engine, tmp_path: Path, kind: str
) -> None:
    """The columns are n, n mod 1,000 and, in some rows of the last group only, another value."""
    size = scaled(engine, 240_000)
    n = np.arange(size)
    odd = n % (size // 6) == size // 6 - 1
    columns = pa.table({"N": n, "G": n % 1000, "V": np.where(odd, "odd", "even")})
    path = tmp_path / f"large.{kind}"
    if kind == "parquet":
        pq.write_table(columns, path, row_group_size=size // 24)
    else:
        rows = zip(*(column.to_pylist() for column in columns.columns), strict=True)
        content = "\n".join(["N,G,V", *(f"{a},{b},{c}" for a, b, c in rows), ""]).encode()
        path.write_bytes(gzip.compress(content, 1, mtime=0) if kind == "csv.gz" else content)
    table = engine.open(scan_relation(path))
    assert len(table) == size
    assert engine.rows(table, None, ["N"]).column(0).to_pylist() == [str(row) for row in range(size)]
    groups = engine.mixed_groups(table, [["G"]], "V", {})
    assert groups.rows.tolist() == list(range(999, size, 1000))
    different = np.flatnonzero(groups.codes != groups.codes[0])
    assert groups.rows[different].tolist() == np.flatnonzero(odd).tolist()


def test_row_numbers_hold_where_lines_break_inside_quotes(engine: Engine, tmp_path: Path) -> None:
    size = scaled(engine, 60_000)
    lines = [f'{n},"a\nb"' if n % 7 == 0 else f"{n},x" for n in range(size)]
    (tmp_path / "t.csv").write_text("N,T\n" + "\n".join(lines) + "\n")
    table = engine.open(scan_relation(tmp_path / "t.csv"))
    assert engine.rows(table, None, ["N"]).column(0).to_pylist() == [str(n) for n in range(size)]


# ---- open: files that are broken -------------------------------------------------------------------------------------

LONG = b"A,B\n" + b"secret,hidden\n" * 120_000  # more than what is looked at before the engine reads

BROKEN = {
    "header only": b"A,B\n",
    "too few fields": b"A,B\nsecret,hidden\nsecret\n",
    "too many fields": b"A,B\nsecret,hidden\nsecret,hidden,more\n",
    "unclosed quote": b'A,B\n"secret,hidden\nsecret,hidden\n',
    "text after a quote": b'A,B\n"sec"ret,hidden\n',
    "few fields deep down": LONG + b"secret\n",
    "many fields deep down": LONG + b"secret,hidden,secret\n",
    "an unclosed quote deep down": LONG + b'"secret,hidden\n' + LONG,
    "bytes that are not UTF-8 deep down": LONG + b"secret,\xff\xfehidden\n",
}


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_text_file_is_an_error_of_one_line_that_shows_no_cell(
    engine: Engine, tmp_path: Path, problem: str
) -> None:
    (tmp_path / "t.csv").write_bytes(BROKEN[problem])
    with pytest.raises(InputError) as caught:
        engine.open(scan_relation(tmp_path / "t.csv"))
    _says_little(str(caught.value), "t.csv")


def test_a_broken_line_is_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(BROKEN["few fields deep down"])
    with pytest.raises(FileError, match=r"t\.csv, line 120002: 1 field where the header has 2"):
        engine.open(scan_relation(tmp_path / "t.csv"))


@pytest.mark.parametrize("keep", [-8, -1000])
def test_a_truncated_gzip_is_an_error(engine: Engine, tmp_path: Path, keep: int) -> None:
    rng = np.random.default_rng(1)
    whole = gzip.compress(b"A,B\n" + b"".join(b"secret%d,hidden\n" % n for n in rng.integers(0, 10**9, 100_000)), 1)
    (tmp_path / "t.csv.gz").write_bytes(whole[:keep])
    with pytest.raises(FileError) as caught:
        engine.open(scan_relation(tmp_path / "t.csv.gz"))
    _says_little(str(caught.value), "t.csv.gz")


def test_a_parquet_file_with_damaged_pages_is_an_error(engine: Engine, tmp_path: Path) -> None:
    """The damage shows at the latest when the values are read; then too it is an error of ours."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"A": [f"secret{n}" for n in range(20_000)], "B": ["hidden"] * 20_000}), path)
    damaged = bytearray(path.read_bytes())
    damaged[1_000:20_000] = b"\x55" * 19_000
    path.write_bytes(damaged)
    with pytest.raises(InputError) as caught:
        engine.mixed_groups(engine.open(scan_relation(path)), [["A"]], "B", {})
    _says_little(str(caught.value), "t.parquet")


def _says_little(message: str, name: str) -> None:
    assert "\n" not in message
    assert name in message
    assert "secret" not in message
    assert "hidden" not in message


# ---- mixed_groups ----------------------------------------------------------------------------------------------------


def test_mixed_groups_come_in_order_of_their_first_row_with_rows_ascending(engine: Engine) -> None:
    table = opened(engine, A=list("zayzaybz"), B=list("12112322"))
    groups = engine.mixed_groups(table, [["A"]], "B", {})
    assert groups.rows.tolist() == [0, 3, 7, 2, 5]
    assert groups.offsets.tolist() == [0, 3, 5]
    assert [groups.hierarchy.label(c) for c in groups.codes] == ["1", "1", "2", "1", "3"]
    assert groups.first_rows.tolist() == [0, 2]


def test_mixed_groups_of_several_columns(engine: Engine) -> None:
    table = opened(engine, A=list("aabb"), B=list("xxxx"), C=list("1234"))
    groups = engine.mixed_groups(table, [["A", "B"]], "C", {})
    assert [groups.group(g).tolist() for g in range(len(groups))] == [[0, 1], [2, 3]]


def test_nulls_and_general_values_of_x_group_with_nothing(engine: Engine) -> None:
    med = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*")])
    table = opened(engine, A=[None, None, "g", "g", "*", "*", "a", "a", "?", "?"], B=list("1212121212"))
    with_hierarchy = engine.mixed_groups(table, [["A"]], "B", {"A": med})
    assert with_hierarchy.rows.tolist() == [6, 7, 8, 9]
    without = engine.mixed_groups(table, [["A"]], "B", {})
    assert without.rows.tolist() == [2, 3, 6, 7, 8, 9]


def test_a_null_on_the_right_is_a_value_of_its_own(engine: Engine) -> None:
    table = opened(engine, A=list("aabbcc"), B=[None, None, None, "x", None, "*"])
    groups = engine.mixed_groups(table, [["A"]], "B", {})
    assert groups.rows.tolist() == [2, 3, 4, 5]
    assert groups.violations.tolist() == [1, 0]


def test_several_left_sides_connect_rows_transitively(engine: Engine) -> None:
    #                      0    1    2    3     4    5    6
    table = opened(
        engine,
        A=["p", "p", None, "q", "q", "r", "*"],
        B=[None, "k", "k", "m", "n", "n", "m"],
        C=["1", "1", "2", "3", "3", "3", "3"],
    )
    groups = engine.mixed_groups(table, [["A"], ["B"]], "C", {})
    assert [groups.group(g).tolist() for g in range(len(groups))] == [[0, 1, 2]]
    together = engine.mixed_groups(table, [["A"], ["B"]], "B", {})
    assert [together.group(g).tolist() for g in range(len(together))] == [[0, 1, 2], [3, 4, 5, 6]]


def test_numbers_on_the_left_and_right_compare_as_numbers(engine: Engine) -> None:
    ages = Hierarchy.from_rows([("51", "[51,60]", "*"), ("52", "[51,60]", "*")], numeric=True)
    table = opened(engine, A=["51", "51.0", "051", "52"], B=["1", "2", "2", "2"], C=["51", "51.0", "5.1e1", "52"])
    assert engine.mixed_groups(table, [["A"]], "B", {"A": ages}).rows.tolist() == [0, 1, 2]
    assert len(engine.mixed_groups(table, [["A"]], "B", {})) == 0
    assert len(engine.mixed_groups(table, [["A"]], "C", {"A": ages, "C": ages})) == 0
    assert len(engine.mixed_groups(table, [["A"]], "C", {"A": ages})) == 1


def test_without_mixed_groups_there_are_none(engine: Engine) -> None:
    groups = engine.mixed_groups(opened(engine, A=list("abc"), B=list("123")), [["A"]], "B", {})
    assert (len(groups), groups.rows.tolist(), groups.violations.tolist()) == (0, [], [])


def test_questions_name_columns_that_are_not_there(engine: Engine) -> None:
    table = opened(engine, AGE=["1"], B=["1"])
    for ask in (
        lambda: engine.mixed_groups(table, [["AGES"]], "B", {}),
        lambda: engine.mixed_groups(table, [["B"]], "AGES", {}),
        lambda: engine.histogram(table, ["AGES"], {}),
        lambda: engine.group_histogram(table, ["AGES"], {}, {}),
        lambda: engine.group_histogram(table, ["B"], {"AGES": 0}, {}),
        lambda: engine.columns(table, ["B", "AGES"]),
        lambda: engine.rows(table, np.array([0]), ["AGES"]),
    ):
        with pytest.raises(SchemaError, match="no column 'AGES' in the table; did you mean 'AGE'"):
            ask()


# ---- histograms ------------------------------------------------------------------------------------------------------


def test_histogram_counts_combinations_most_frequent_first_nulls_included(engine: Engine) -> None:
    table = opened(engine, A=["a", "b", "b", None, "b", None], B=["1", "2", "2", "1", None, "1"])
    found = engine.histogram(table, ["A", "B"], {})
    assert found.values == [("b", "2"), (None, "1"), ("a", "1"), ("b", None)]
    assert found.counts.tolist() == [2, 2, 1, 1]
    assert found.column("B") == ["2", "1", "1", None]


def test_histogram_of_a_numeric_attribute_merges_spellings(engine: Engine) -> None:
    ages = Hierarchy.from_rows([("51", "*"), ("52", "*")], numeric=True)
    table = opened(engine, A=["51", "51.0", "052", "051", None])
    assert engine.histogram(table, ["A"], {"A": ages}).values == [("51",), ("52",), (None,)]
    assert engine.histogram(table, ["A"], {"A": ages}).counts.tolist() == [3, 1, 1]
    assert len(engine.histogram(table, ["A"], {}).values) == 5


def test_group_histogram_counts_y_at_its_level_in_each_x_group(engine: Engine) -> None:
    med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    table = opened(
        engine, G=["m", "m", "m", "f", "f", None], M=["ibuprofen", "naproxen", "dolex", "dolex", "dolex", "dolex"]
    )

    def counts(level: int) -> list[list[tuple[tuple[str | None, ...], int]]]:
        found = engine.group_histogram(table, ["G"], {"M": level}, {"M": med})
        assert (found.groups, found.unlinked) == (2, 1)
        assert found.group.tolist() == sorted(found.group.tolist())
        entries: list[list[tuple[tuple[str | None, ...], int]]] = [[], []]
        for g, v, n in zip(found.group, found.value, found.n, strict=True):
            entries[g].append((found.values[v], int(n)))
        return sorted(sorted(group) for group in entries)

    assert counts(0) == [[(("dolex",), 1), (("ibuprofen",), 1), (("naproxen",), 1)], [(("dolex",), 2)]]
    assert counts(1) == [[(("NSAID",), 2), (("other",), 1)], [(("other",), 2)]]
    assert counts(2) == [[(("*",), 2)], [(("*",), 3)]]


def test_group_histogram_without_y_counts_tuples(engine: Engine) -> None:
    found = engine.group_histogram(opened(engine, A=list("aab"), B=["*", "*", "x"]), ["A", "B"], {}, {})
    assert sorted(found.n.tolist()) == [1, 2]
    assert found.groups == 2


def test_a_level_that_is_too_high_is_refused(engine: Engine) -> None:
    med = Hierarchy.from_rows([("a", "g", "*")])
    table = opened(engine, A=["a"], M=["a"])
    for level, attribute, height in [(3, "M", 2), (2, "A", 1)]:
        message = (
            f"no level {level} in the hierarchy of '{attribute}'; its levels are 0 .ground. to {height} .the root."
        )
        with pytest.raises(HierarchyError, match=message):
            engine.group_histogram(table, ["A"], {attribute: level}, {"M": med})
        with pytest.raises(HierarchyError, match=message):
            engine.answer(GeneralizedQuery.parse(f"{attribute}:{level}"), {"relation": table}, {"M": med})
    with pytest.raises(HierarchyError):
        engine.answer(GeneralizedQuery((Output(QueryColumn("M"), -1),)), {"relation": table}, {"M": med})


# ---- answer ----------------------------------------------------------------------------------------------------------

PEOPLE: dict[str, list[str | None]] = {
    "NAME": ["ann", "bob", "cid", "dee", None],
    "AGE": ["9", "51", "51.0", "100", "70"],
    "MED": ["ibuprofen", "naproxen", "dolex", "ibuprofen", None],
}
DOCTORS: dict[str, list[str | None]] = {"MED": ["ibuprofen", "dolex", "aspirin", None], "DOCTOR": ["x", "y", "z", "w"]}
MED = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
AGES = Hierarchy.from_rows([(a, "young" if a < "6" else "old", "*") for a in ("51", "9", "100", "70")], numeric=True)


CLINICS: WeakKeyDictionary[Engine, dict[str, Table]] = WeakKeyDictionary()


def clinic(engine: Engine) -> dict[str, Table]:
    """The relations that most queries are about, opened once."""
    if engine not in CLINICS:
        CLINICS[engine] = {"relation": opened(engine, **PEOPLE), "doctors": opened(engine, **DOCTORS)}
    return CLINICS[engine]


def ask(
    engine: Engine, select: str, where: str = "", from_: str = "relation", **hierarchies: Hierarchy
) -> list[tuple[str | None, ...]]:
    answers = engine.answer(GeneralizedQuery.parse(select, where, from_), clinic(engine), hierarchies)
    return list(zip(*(c.to_pylist() for c in answers.columns), strict=True))


def test_answers_are_a_sorted_set_with_nulls_last(engine: Engine) -> None:
    assert ask(engine, "MED") == [("dolex",), ("ibuprofen",), ("naproxen",), (None,)]
    assert ask(engine, "MED:1", MED=MED) == [("NSAID",), ("other",), (None,)]
    assert ask(engine, "MED:2", MED=MED) == [("*",)]
    assert ask(engine, "MED:1") == [("*",)]
    assert ask(engine, "MED:0, MED:1", "NAME = bob", MED=MED) == [("naproxen", "NSAID")]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("NAME = ann", "ann"),
        ("NAME != ann", "bob cid dee"),
        ("NAME <> ann and NAME != bob", "cid dee"),
        ("NAME < bob", "ann"),
        ("NAME <= bob", "ann bob"),
        ("NAME > bob", "cid dee"),
        ("NAME >= 'bob'", "bob cid dee"),
        ("AGE = 51", "bob"),
        ("AGE != 51 and NAME >= a", "ann cid dee"),
        ("AGE < 51", "ann"),
        ("AGE <= 51", "ann bob cid"),
        ("AGE > 51", "dee"),
        ("AGE >= 51.0", "bob cid dee"),
        ("AGE > 9 and AGE < 100", "bob cid"),
        ("MED > c and MED < e", "cid"),
        ("NAME = 'nobody''s'", ""),
        ("NAME = 1", ""),
    ],
)
def test_comparisons_are_of_numbers_where_both_are_numbers_else_of_texts(
    engine: Engine, where: str, names: str
) -> None:
    assert [name for (name,) in ask(engine, "NAME", where) if name] == names.split()


def test_a_numeric_attribute_is_equal_by_number(engine: Engine) -> None:
    assert ask(engine, "NAME, AGE", "AGE = 51.00", AGE=AGES) == [("bob", "51"), ("cid", "51")]
    assert ask(engine, "NAME", "AGE != 51", AGE=AGES) == [("ann",), ("dee",), (None,)]
    assert ask(engine, "a.NAME, b.NAME", "a.AGE = b.AGE and a.NAME < b.NAME", "relation a, relation b", AGE=AGES) == [
        ("bob", "cid")
    ]


def test_a_null_compares_with_nothing(engine: Engine) -> None:
    assert ask(engine, "AGE", "NAME != zed and NAME >= a") == [("100",), ("51",), ("51.0",), ("9",)]
    assert ask(engine, "DOCTOR", "", "relation r join doctors d on r.MED = d.MED") == [("x",), ("y",)]


def test_joins(engine: Engine) -> None:
    join = "relation join doctors d on relation.MED = d.MED"
    expected = [("ann", "x"), ("cid", "y"), ("dee", "x")]
    assert ask(engine, "NAME, DOCTOR", "", join) == expected
    assert ask(engine, "NAME, DOCTOR", "relation.MED = d.MED", "relation, doctors d") == expected
    assert ask(engine, "NAME, d.MED:1", "d.DOCTOR = x", join, MED=MED) == [("ann", "NSAID"), ("dee", "NSAID")]
    assert len(ask(engine, "NAME, DOCTOR", "", "relation, doctors")) == 20


def test_a_self_join(engine: Engine) -> None:
    where = "a.MED = b.MED and a.NAME < b.NAME"
    assert ask(engine, "a.NAME, b.NAME", where, "relation a, relation b") == [("ann", "dee")]


def test_any_short_name_will_do(engine: Engine) -> None:
    where = "r0.MED = r1.MED and r0.NAME < r1.NAME"
    assert ask(engine, "r0.MED:1, r1.MED:2", where, "relation r0, relation r1", MED=MED) == [("NSAID", "*")]
    where = "a.MED = A.MED and a.NAME < A.NAME"
    assert ask(engine, "a.NAME, A.NAME", where, "relation a, relation A") == [("ann", "dee")]


def test_short_names_do_not_meet_the_names_that_the_engine_makes_up(engine: Engine) -> None:
    table = opened(engine, value=["ibuprofen", "dolex"], label=["1", "2"])
    query = GeneralizedQuery.parse("r0.value:1, r0.label:1", "r0.label = 1", "relation r0")
    answers = engine.answer(query, {"relation": table}, {"value": MED})
    assert [c.to_pylist() for c in answers.columns] == [["NSAID"], ["*"]]


def test_an_ambiguous_column_is_refused_with_a_way_out(engine: Engine) -> None:
    with pytest.raises(SchemaError, match=r"column 'MED' is in relation and in d; write relation\.MED"):
        ask(engine, "MED", "", "relation, doctors d")


def test_unknown_relations_and_columns_are_refused(engine: Engine) -> None:
    with pytest.raises(InputError, match="no relation 'doctor'; did you mean 'doctors'"):
        ask(engine, "NAME", "", "doctor")
    with pytest.raises(SchemaError, match=r"no column 'NAMES' in .*; did you mean 'NAME'"):
        ask(engine, "NAMES")
    with pytest.raises(SchemaError, match="no column 'NAME' in "):
        ask(engine, "d.NAME", "", "relation, doctors d")
    with pytest.raises(SchemaError, match="no column 'SIZE'"):
        ask(engine, "NAME", "SIZE = 3")


def test_a_column_of_a_relation_that_the_query_does_not_name_is_refused(engine: Engine) -> None:
    query = GeneralizedQuery((Output(QueryColumn("NAME", "doctors")),), relations=(From(),))
    with pytest.raises(InputError, match="doctors"):
        engine.answer(query, {"relation": opened(engine, **PEOPLE)}, {})


# ---- changed_answers -------------------------------------------------------------------------------------------------

Row = tuple[str | None, ...]
ANN, BOB, CID, DEE, NOBODY = zip(*PEOPLE.values(), strict=True)


def deltas(*changes: tuple[int, int, Row], columns: Sequence[str] = tuple(PEOPLE)) -> NeighbourDiffs:
    """Deltas from (neighbour, sign, row)."""
    numbers = np.array([number for number, _, _ in changes], dtype=np.int64)
    signs = np.array([sign for _, sign, _ in changes], dtype=np.int8)
    rows = [row for _, _, row in changes]
    return NeighbourDiffs(
        numbers, signs, pa.table({c: pa.array([r[i] for r in rows], pa.string()) for i, c in enumerate(columns)})
    )


def replaced(*cells: tuple[Row, Row]) -> NeighbourDiffs:
    """Neighbours 0, 1, …, each with another row in place of one."""
    return deltas(*(change for n, (old, new) in enumerate(cells) for change in [(n, -1, old), (n, +1, new)]))


def changed(
    engine: Engine,
    given: NeighbourDiffs,
    select: str,
    where: str = "",
    from_: str = "relation",
    **hierarchies: Hierarchy,
) -> list[int]:
    found = engine.changed_answers(GeneralizedQuery.parse(select, where, from_), clinic(engine), given, hierarchies)
    assert found.dtype == np.int64
    return list(found.tolist())


def test_neighbours_answer_differently_where_a_value_comes_or_goes(engine: Engine) -> None:
    given = deltas((7, -1, BOB), (3, +1, ("eve", "9", "aspirin")), (5, -1, ANN), (9, +1, ("eve", "9", "dolex")))
    assert changed(engine, given, "MED") == [3, 7]  # ibuprofen is in two rows; dolex is there already
    assert changed(engine, given, "NAME") == [3, 5, 7, 9]
    assert changed(engine, given, "MED", "NAME = ann") == [5]
    assert changed(engine, given, "MED", "NAME > b and NAME < c") == [7]
    assert changed(engine, given, "NAME", "MED = nothing") == []


def test_one_of_two_equal_rows_may_go_and_one_more_may_come(engine: Engine) -> None:
    table = opened(engine, A=["x", "x", "y", None, None], B=["1", "1", "1", "2", "2"])
    given = deltas(
        *[(0, -1, ("x", "1")), (1, -1, ("x", "1")), (1, -1, ("x", "1")), (2, +1, ("y", "1"))],
        *[(3, -1, (None, "2")), (4, -1, (None, "2")), (4, -1, (None, "2"))],
        *[(5, -1, ("x", "1")), (5, -1, ("x", "1")), (5, +1, ("x", "1"))],
        columns=["A", "B"],
    )

    def differ(select: str, where: str = "", from_: str = "relation") -> list[int]:
        found = engine.changed_answers(GeneralizedQuery.parse(select, where, from_), {"relation": table}, given, {})
        return list(found.tolist())

    assert differ("A") == [1, 4]
    assert differ("A, B") == [1, 4]
    assert differ("B") == [4]  # y keeps 1
    assert differ("A", "B = 2") == [4]
    assert differ("p.A", "p.B = q.B", "relation p, relation q") == [1, 4]
    assert differ("p.B", "p.A = q.A", "relation p, relation q") == []


def test_a_neighbour_that_is_no_other_instance_answers_alike(engine: Engine) -> None:
    given = deltas((1, -1, BOB), (1, +1, BOB), (2, -1, BOB), (2, -1, ANN), (2, +1, ANN), (2, +1, BOB))
    assert changed(engine, given, "NAME, AGE, MED") == []
    assert changed(engine, given, "p.NAME, q.MED", "p.MED = q.MED", "relation p, relation q") == []


def test_without_deltas_no_neighbour_answers_differently(engine: Engine) -> None:
    assert changed(engine, deltas(), "MED:1", "AGE > 50", MED=MED, AGE=AGES) == []
    assert changed(engine, deltas(), "p.NAME", "p.MED = q.MED", "relation p, relation q") == []


def test_neighbours_have_any_numbers_and_their_deltas_any_order(engine: Engine) -> None:
    given = deltas((2**40, +1, BOB), (-5, -1, CID), (2**40, -1, CID), (6, -1, ANN), (-5, +1, ANN), (6, +1, ANN))
    assert changed(engine, given, "MED") == [-5, 2**40]


def test_a_change_below_the_level_asked_for_is_not_seen(engine: Engine) -> None:
    given = replaced((BOB, ("bob", "51", "ibuprofen")), (BOB, ("bob", "51", "dolex")), (BOB, ("bob", "51", "zzz")))
    assert changed(engine, given, "NAME, MED:0", MED=MED) == [0, 1, 2]
    assert changed(engine, given, "NAME, MED:1", MED=MED) == [1, 2]
    assert changed(engine, given, "NAME, MED:2", MED=MED) == []
    assert changed(engine, given, "NAME, MED:1") == []


def test_values_that_only_deltas_have_are_read_like_any_others(engine: Engine) -> None:
    unknown, null, empty = ("bob", "51", "new"), ("bob", "51", None), ("bob", "51", "")
    given = replaced(
        (BOB, unknown), (BOB, null), (BOB, empty), (NOBODY, (None, "70", "")), (NOBODY, (None, "70", "new"))
    )
    for select in ("NAME, MED", "NAME, MED:1"):
        assert changed(engine, given, select, MED=MED) == [0, 1, 2, 4]
    assert changed(engine, given, "MED:1", MED=MED) == [0, 4]  # nobody's null is the only one
    assert changed(engine, given, "MED:2", MED=MED) == []
    assert changed(engine, given, "MED", "MED <> dolex", MED=MED) == [0, 1, 2, 4]


def test_numbers_of_deltas_compare_as_numbers(engine: Engine) -> None:
    given = replaced(
        (BOB, ("bob", "051", "naproxen")), (BOB, ("bob", "5.2e1", "naproxen")), (CID, ("cid", "51", "dolex"))
    )
    assert changed(engine, given, "NAME, AGE", AGE=AGES) == [1]
    assert changed(engine, given, "NAME", "AGE = 51.00", AGE=AGES) == [1]
    assert changed(engine, given, "NAME", "AGE = 52", AGE=AGES) == [1]
    assert changed(engine, given, "NAME, AGE:1", AGE=AGES) == [1]  # 52 is unknown, and stays what it is below the root
    assert changed(engine, given, "NAME, AGE") == [0, 1, 2]
    where = "a.AGE = b.AGE and a.NAME < b.NAME"
    assert changed(engine, given, "a.NAME, b.NAME", where, "relation a, relation b", AGE=AGES) == [1]


def test_columns_that_the_query_does_not_speak_of_do_not_matter(engine: Engine) -> None:
    given = deltas((0, -1, ("bob",)), (1, -1, ("bob",)), (1, +1, ("bob",)), columns=["NAME"])
    assert changed(engine, given, "NAME") == [0]
    with pytest.raises(SchemaError, match="no column 'MED' in the deltas"):
        changed(engine, given, "NAME", "MED = dolex")


def test_only_the_main_relation_changes(engine: Engine) -> None:
    join = "relation join doctors d on relation.MED = d.MED"
    new = ("cid", "51.0", "aspirin")
    given = replaced((BOB, ("bob", "51", "other")), (CID, new), (ANN, ("ann", "9", "dolex")), (ANN, ("ann", "9", None)))
    assert changed(engine, given, "DOCTOR", "", join) == [1]
    assert changed(engine, given, "NAME, DOCTOR", "", join) == [1, 2, 3]
    assert changed(engine, given, "NAME, DOCTOR:1", "", join) == [3]
    assert changed(engine, given, "NAME, d.MED:1", "d.DOCTOR = x", join, MED=MED) == [2, 3]
    assert changed(engine, given, "DOCTOR", "", "doctors") == []
    assert changed(engine, given, "a.DOCTOR", "a.MED = b.MED", "doctors a, doctors b") == []


def test_a_relation_of_which_no_column_is_named_counts_by_its_rows(engine: Engine) -> None:
    everyone = [(1, -1, row) for row in (ANN, BOB, CID, DEE, NOBODY)]
    given = deltas((0, -1, ANN), *everyone, (2, +1, ANN), (3, +1, ("eve", "9", "dolex")))
    assert changed(engine, given, "DOCTOR", "", "relation, doctors") == [1]
    assert changed(engine, given, "DOCTOR", "NAME = ann", "relation, doctors") == [0, 1]
    assert changed(engine, given, "DOCTOR", "NAME = eve", "relation, doctors") == [3]
    assert changed(engine, given, "DOCTOR", "NAME = zed", "relation, doctors") == []
    no_columns = NeighbourDiffs(given.neighbour, given.sign, pa.table({}))
    assert changed(engine, no_columns, "DOCTOR", "", "relation, doctors") == [1]


def test_each_place_of_a_self_join_reads_the_neighbour(engine: Engine) -> None:
    pairs = ("a.NAME, b.NAME", "a.MED = b.MED and a.NAME < b.NAME", "relation a, relation b")
    given = deltas(
        *[(0, -1, ANN), (1, -1, BOB), (2, +1, ("eve", "9", "dolex")), (3, +1, ("eve", "9", "fresh"))],
        *[(4, +1, ("eve", "9", "fresh")), (4, +1, ("fay", "9", "fresh"))],  # two new rows that find each other
        *[(5, -1, ANN), (5, -1, DEE)],
        *[(6, -1, ANN), (6, +1, ("ann", "1", "ibuprofen"))],
    )
    assert changed(engine, given, *pairs) == [0, 2, 4, 5]
    three = ("a.NAME", "a.MED = b.MED and b.MED = c.MED and a.NAME < b.NAME and b.NAME <> c.NAME")
    if not is_spark(engine):  # which takes seconds to plan so long a statement
        assert changed(engine, given, *three, "relation a, relation b, relation c") == [0, 2, 4, 5]
    assert changed(engine, given, "a.MED:1", *pairs[1:], MED=MED) == [0, 2, 4, 5]
    assert changed(engine, given, "a.MED:2", *pairs[1:], MED=MED) == [0, 5]  # * has no pair left


def test_a_self_join_keeps_an_answer_that_is_lost_in_one_way_and_found_in_another(engine: Engine) -> None:
    given = deltas((0, -1, DEE), (0, +1, ("eve", "9", "ibuprofen")), (1, -1, DEE), (1, +1, ("ann", "2", "dolex")))
    where = "a.MED = b.MED and a.NAME <> b.NAME"
    assert changed(engine, given, "a.MED", where, "relation a, relation b") == [1]
    assert changed(engine, given, "a.MED, b.NAME", where, "relation a, relation b") == [0, 1]


def test_any_column_name_will_do_for_deltas(engine: Engine) -> None:
    columns = ["neighbour", "sign", "n", "x0", "a b", 'q"q']
    table = opened(engine, **{name: ["1", "2"] for name in columns})
    given = deltas((8, -1, ("2",) * 6), columns=columns)
    for name in columns:
        query = GeneralizedQuery((Output(QueryColumn(name)),), (Condition(QueryColumn(name), "<>", "1"),))
        assert engine.changed_answers(query, {"relation": table}, given, {}).tolist() == [8]


def test_deltas_of_other_types_read_as_text(engine: Engine) -> None:
    rows = pa.table({"AGE": [51, 77], "MED": pa.array(["naproxen", ""]).dictionary_encode()})
    given = NeighbourDiffs(np.array([4, 4]), np.array([-1, 1], dtype=np.int8), rows)
    assert changed(engine, given, "AGE") == [4]
    assert changed(engine, given, "MED") == [4]
    assert changed(engine, given, "AGE", "MED = naproxen") == [4]
    assert changed(engine, given, "AGE", "MED = dolex") == []


def test_a_relation_named_too_often_is_refused(engine: Engine) -> None:
    names = [f"relation p{n}" for n in range(5)]
    given = deltas((3, -1, BOB))
    most = 2 if is_spark(engine) else 4  # the statement has a part for each choice of them
    assert changed(engine, given, "p0.NAME", f"p0.NAME = p{most - 1}.NAME", ", ".join(names[:most])) == [3]
    with pytest.raises(InputError, match=r"names the main relation 5 times; .* up to 4 times"):
        changed(engine, given, "p0.NAME", "", ", ".join(names))


def test_a_bad_query_about_neighbours_is_refused(engine: Engine) -> None:
    for select, where, from_ in [
        ("NAMES", "", "relation"),
        ("NAME", "", "relations"),
        ("MED", "", "relation, doctors"),
    ]:
        with pytest.raises(InputError):
            changed(engine, deltas(), select, where, from_)
    with pytest.raises(HierarchyError, match="no level 3 in the hierarchy of 'MED'"):
        changed(engine, deltas(), "MED:3", MED=MED)


def test_deltas_have_one_neighbour_and_one_sign_a_row() -> None:
    rows = pa.table({"A": ["secret", "secret"]})
    one, two = np.array([1]), np.array([1, 1])
    for neighbour, sign in [(one, two), (two, one), (one, one)]:
        with pytest.raises(InputError, match="deltas need one of each") as caught:
            NeighbourDiffs(neighbour, sign.astype(np.int8), rows)
        assert "secret" not in str(caught.value)
    for wrong in (0, 2, -2):
        with pytest.raises(InputError, match="sign"):
            NeighbourDiffs(two, np.array([1, wrong], dtype=np.int8), rows)


def test_questions_after_changed_answers_are_not_disturbed(engine: Engine) -> None:
    table = opened(engine, **PEOPLE)
    for _ in range(2):
        query = GeneralizedQuery.parse("MED:1", "AGE = 51")
        found = engine.changed_answers(query, {"relation": table}, deltas((1, -1, BOB)), {"MED": MED, "AGE": AGES})
        assert found.tolist() == [1]
        assert engine.answer(query, {"relation": table}, {"MED": MED, "AGE": AGES}).column(0).to_pylist() == [
            "NSAID",
            "other",
        ]
    assert texts(engine, table) == PEOPLE


# ---- columns ---------------------------------------------------------------------------------------------------------


def test_columns_are_codes_of_their_values_sorted_by_text_with_a_null_last(engine: Engine) -> None:
    table = opened(engine, A=["b", "10", None, "é", "9", "B", "b", ""], B=["z", "y", "x", "z", "y", "x", "z", "y"])
    found = engine.columns(table, ["B", "A"])
    assert list(found) == ["B", "A"]
    assert found["A"].values == ["10", "9", "B", "b", "é", None]
    assert found["A"].codes.tolist() == [3, 0, 5, 4, 1, 2, 3, 5]
    assert (found["B"].values, found["B"].codes.tolist()) == (["x", "y", "z"], [2, 1, 0, 2, 1, 0, 2, 1])
    assert engine.columns(table, []) == {}


def test_columns_have_the_same_codes_whatever_was_asked_before(engine: Engine) -> None:
    values = [str(n * 7919 % 40_009) for n in range(scaled(engine, 90_000))]
    one, two = (opened(engine, A=values, B=["x"] * len(values)) for _ in range(2))
    engine.mixed_groups(two, [["A"]], "B", {})
    first, second = engine.columns(one, ["A"])["A"], engine.columns(two, ["B", "A"])["A"]
    assert first.values == second.values == sorted(set(values))
    assert np.array_equal(first.codes, second.codes)
    assert [first.values[code] for code in first.codes] == values


# ---- rows ------------------------------------------------------------------------------------------------------------


def test_rows_come_in_the_order_asked_for_again_and_again(engine: Engine) -> None:
    table = opened(engine, A=list("abcd"), B=["1", None, "3", "4"])
    found = engine.rows(table, np.array([3, 0, 3, 1]), ["B", "A"])
    assert [c.to_pylist() for c in found.columns] == [["4", "1", "4", None], ["d", "a", "d", "b"]]
    assert [c.to_pylist() for c in engine.rows(table, np.array([], dtype=np.int64), ["A"]).columns] == [[]]


@pytest.mark.parametrize("row", [-1, 4])
def test_a_row_that_is_not_there_is_an_error_not_a_gap(engine: Engine, row: int) -> None:
    with pytest.raises((InputError, IndexError)):
        engine.rows(opened(engine, A=list("abcd")), np.array([0, row]), ["A"])


def test_a_text_is_found_in_a_stretch_of_rows_whatever_its_case(engine: Engine) -> None:
    table = opened(engine, A=["Ab%", "xaB_", None, "b", "é"], B=["'", None, "AB", "x\\y", "É\n"])

    def found(text: str, columns: Sequence[str] = ("A", "B"), first: int = 0, last: int = 5) -> list[int]:
        return list(engine.search(table, text, columns, first, last).tolist())

    assert found("ab") == [0, 1, 2] == found("AB")
    assert found("ab", ["A"]) == [0, 1] and found("ab", ["B"]) == [2]
    assert found("ab", first=1, last=2) == [1] and found("ab", first=3) == [] == found("ab", first=2, last=2)
    assert [found("%"), found("_"), found("'"), found("\\"), found("É"), found("\n"), found("none")] == [
        [0],
        [1],
        [0],
        [3],
        [4],
        [4],
        [],
    ]
    with pytest.raises(SchemaError):
        found("x", ["C"])


def test_tables_of_one_engine_do_not_meet(engine: Engine) -> None:
    one, two = opened(engine, A=list("ab")), opened(engine, A=list("xyz"))
    assert (texts(engine, one), texts(engine, two)) == ({"A": ["a", "b"]}, {"A": ["x", "y", "z"]})
    assert engine.histogram(one, ["A"], {}).values == [("a",), ("b",)]

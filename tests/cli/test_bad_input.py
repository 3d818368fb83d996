"""Bad input, whatever it is: exit code 2, nothing on stdout, one clear line on stderr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CHECK = ("check", "d.csv", "--fd", "A -> B")
FILES: dict[str, bytes] = {
    "d.csv": b"A,B\n1,x\n1,y\n",
    "tree.csv": b"x;p;*\ny;p;*\n",
    "two_parents.csv": b"x;p;*\nx;q;*\n",
    "uneven.csv": b"x;p;*\ny;*\n",
    "not_utf8_tree.csv": b"x;\xff;*\n",
    "bad_bytes.csv": b"A,B\n1,\xff\n",
    "utf16.csv": "A,B\n1,x\n".encode("utf-16"),
    "empty.csv": b"",
    "blank.csv": b"\n\n",
    "header.csv": b"A,B\n",
    "twice.csv": b"A,B,A\n1,2,3\n",
    "unnamed.csv": b"A,,B\n1,2,3\n",
    "short.csv": b"A,B\n1,x\n2\n",
    "long.csv": b"A,B\n1,x\n2,y,z\n",
    "quote.csv": b'A,B\n1,"x\n2,y\n',
    "broken.parquet": b"PAR1 and no more",
    "broken.csv.gz": b"A,B\n1,x\n",
    "syntax.toml": b"[relation\n",
    "typo.toml": b'[relation]\ndata = "d.csv"\n[hierarchy]\n',
    "typo_inside.toml": b'[relation]\ndta = "d.csv"\n',
    "no_relation.toml": b'[hierarchies]\nB = "tree.csv"\n',
    "relation_text.toml": b'relation = "d.csv"\n',
    "data_number.toml": b"[relation]\ndata = 3\n",
    "no_data.toml": b'[relation]\ndata = "none.csv"\n',
    "no_more_data.toml": b'[relation]\ndata = "d.csv"\n[relations.more]\ndata = "none.csv"\n',
    "no_tree.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = "none.csv"\n',
    "tree_number.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = 3\n',
    "tree_elsewhere.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = "tree.csv"\nBB = "tree.csv"\n',
    "no_builder.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = { build = "interval" }\n',
    "no_method.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = { widths = [3] }\n',
    "no_widths.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = { build = "intervals" }\n',
    "builder_typo.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = { build = "intervals", width = [3] }\n',
    "builder_value.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = { build = "intervals", widths = "many" }\n',
    "builder_values.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = { build = "intervals", widths = [3] }\n',
    "not_utf8.toml": b"\xff\xfe",
    "good.toml": b'[relation]\ndata = "d.csv"\n[hierarchies]\nB = "tree.csv"\n',
}


def query(file: str, select: str = "B:1", *more: str) -> tuple[str, ...]:
    return ("query", file, "--select", select, *more)


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    # ---- the command itself
    "unknown command": (("chek",), "No such command 'chek'. Did you mean 'check'? (try 'pacas --help')"),
    "unknown command below": (("hierarchy", "shew"), "Did you mean 'show'? (try 'pacas hierarchy --help')"),
    "unknown option": ((*CHECK, "--hierachy", "x"), "No such option: --hierachy"),
    "missing argument": (("check",), "Missing argument 'DATA'. (try 'pacas check --help')"),
    "missing option": (("check", "d.csv"), "Missing option '--fd'"),
    "an option without its value": (("check", "d.csv", "--fd"), "--fd"),
    "extra argument": ((*CHECK, "more"), "unexpected extra argument"),
    "an argument that is not text": ((*CHECK, "--key", "\udcff"), "an argument is not UTF-8 text"),
    "k of 0": (("anonymity", "d.csv", "--x", "A", "--k", "0"), "'--k'"),
    "k not a number": (("anonymity", "d.csv", "--x", "A", "--k", "many"), "'--k'"),
    "groups below 0": ((*CHECK, "--groups", "-1"), "'--groups'"),
    # ---- dependencies
    "missing column": (("check", "d.csv", "--fd", "A -> b"), "no column 'b' in d.csv; did you mean 'B'?"),
    "missing column, none near": (("check", "d.csv", "--fd", "A -> salary"), "there is A, B"),
    "missing key": ((*CHECK, "--key", "ID"), "no column 'ID' in d.csv; there is A, B"),
    "no arrow": (("check", "d.csv", "--fd", "A, B"), "expected '->'"),
    "two arrows": (("check", "d.csv", "--fd", "A -> B -> A"), "a second '->'"),
    "empty left side": (("check", "d.csv", "--fd", " -> B"), "the left side is empty"),
    "empty right side": (("check", "d.csv", "--fd", "A ->"), "the right side is empty"),
    "overlapping sides": (("check", "d.csv", "--fd", "A, B -> B"), "'B' stands on both sides"),
    "a name twice": (("check", "d.csv", "--fd", "A, A -> B"), "'A' stands twice"),
    "a comma too many": (("check", "d.csv", "--fd", "A, -> B"), "a column name is missing"),
    "a quote left open": (("check", "d.csv", "--fd", '"A -> B'), "quote"),
    # ---- tables
    "missing file": (("check", "none.csv", "--fd", "A -> B"), "none.csv does not exist"),
    "a folder": (("check", ".", "--fd", "A -> B"), "needs a key"),
    "a folder of nothing": (("check", "nothing", "--fd", "A -> B"), "nothing is a folder without Parquet files"),
    "empty file": (("check", "empty.csv", "--fd", "A -> B"), "empty.csv is empty"),
    "blank file": (("check", "blank.csv", "--fd", "A -> B"), "blank.csv is empty"),
    "header only": (("check", "header.csv", "--fd", "A -> B"), "header.csv has a header but no rows"),
    "a column twice": (("check", "twice.csv", "--fd", "A -> B"), "column 'A' stands 2 times in twice.csv"),
    "a column without a name": (("check", "unnamed.csv", "--fd", "A -> B"), "column 2 of unnamed.csv has no name"),
    "not UTF-8": (("check", "bad_bytes.csv", "--fd", "A -> B"), "bad_bytes.csv, line 2: bytes that are not UTF-8"),
    "UTF-16": (("check", "utf16.csv", "--fd", "A -> B"), "utf16.csv is UTF-16; say so (--encoding utf-16)"),
    "a short row": (("check", "short.csv", "--fd", "A -> B"), "short.csv, line 3: 1 field where the header has 2"),
    "a long row": (("check", "long.csv", "--fd", "A -> B"), "long.csv, line 3: 3 fields where the header has 2"),
    "an open quote": (("check", "quote.csv", "--fd", "A -> B"), "quote.csv, line 2: a quoted field"),
    "half a Parquet file": (("check", "broken.parquet", "--fd", "A -> B"), "not a complete Parquet file"),
    "no gzip": (("check", "broken.csv.gz", "--fd", "A -> B"), "broken.csv.gz cannot be read"),
    # ---- hierarchies
    "hierarchy without a file": ((*CHECK, "--hierarchy", "B"), "--hierarchy takes ATTR=FILE"),
    "hierarchy twice": ((*CHECK, "--hierarchy", "B=tree.csv", "--hierarchy", "B=tree.csv"), "names 'B' twice"),
    "hierarchy file missing": ((*CHECK, "--hierarchy", "B=none.csv"), "none.csv: no such file"),
    "hierarchy file a folder": ((*CHECK, "--hierarchy", "B=."), "a directory"),
    "hierarchy file empty": ((*CHECK, "--hierarchy", "B=empty.csv"), "the file is empty"),
    "hierarchy file not UTF-8": ((*CHECK, "--hierarchy", "B=not_utf8_tree.csv"), "line 1: not UTF-8"),
    "hierarchy for no column": ((*CHECK, "--hierarchy", "BB=tree.csv"), "no column 'BB' in d.csv; did you mean 'B'?"),
    "two parents": ((*CHECK, "--hierarchy", "B=two_parents.csv"), "two_parents.csv, line 2: 'x' has two parents"),
    "uneven rows": ((*CHECK, "--hierarchy", "B=uneven.csv"), "uneven.csv, line 2"),
    "show two parents": (("hierarchy", "show", "two_parents.csv"), "'x' has two parents"),
    "check without attribute": (
        ("hierarchy", "check", "tree.csv", "--data", "d.csv"),
        "--data and --attribute go together",
    ),
    "show without data": (("hierarchy", "show", "tree.csv", "-a", "B"), "--data and --attribute go together"),
    "check against no column": (("hierarchy", "check", "tree.csv", "--data", "d.csv", "-a", "C"), "no column 'C'"),
    "no such builder": (("hierarchy", "build", "d.csv", "A", "interval"), "did you mean 'intervals'?"),
    "builder without its option": (("hierarchy", "build", "d.csv", "A", "intervals"), "intervals needs widths"),
    "builder option unknown": (("hierarchy", "build", "d.csv", "A", "intervals", "width=1"), "did you mean 'widths'?"),
    "builder option unreadable": (("hierarchy", "build", "d.csv", "A", "intervals", "widths=x"), "option widths"),
    "builder option without =": (
        ("hierarchy", "build", "d.csv", "A", "intervals", "10"),
        "intervals has widths, origin",
    ),
    "builder by nothing": (("hierarchy", "build", "d.csv", "B", "cluster"), "needs another attribute"),
    "build for no column": (("hierarchy", "build", "d.csv", "C", "prefix"), "no column 'C' in d.csv"),
    "build to nowhere": (("hierarchy", "build", "d.csv", "A", "intervals", "widths=3", "-o", "no/x.csv"), "no/x.csv"),
    # ---- levels
    "unknown level": (("anonymity", "d.csv", "--x", "A", "--y", "B", "--level", "B=2"), "no level 2"),
    "huge level": (("anonymity", "d.csv", "--x", "A", "--y", "B", "--level", "B=9" + "9" * 30), "no level 99"),
    "level of thousands of digits": (
        ("anonymity", "d.csv", "--x", "A", "--y", "B", "--level", "B=" + "9" * 5000),
        "--level takes ATTR=NUMBER",
    ),
    "level of thousands of digits in a query": (
        ("query", "provider.toml", "--select", "B:" + "9" * 5000),
        "expected a level",
    ),
    "attributes with a line break": (("anonymity", "d.csv", "--x", "A\nB", "--y", "B"), "cannot read a list"),
    "a file name that is too long": (("check", "x" * 5000 + ".csv", "--fd", "A -> B"), "no such file"),
    "conditions joined by or": (
        ("query", "provider.toml", "--select", "A", "--where", "A = x or B = 1"),
        "conditions are joined by 'and' only",
    ),
    "level not a number": (
        ("anonymity", "d.csv", "--x", "A", "--y", "B", "--level", "B=high"),
        "--level takes ATTR=NUMBER",
    ),
    "negative level": (("anonymity", "d.csv", "--x", "A", "--y", "B", "--level", "B=-1"), "--level takes ATTR=NUMBER"),
    "level twice": (("anonymity", "d.csv", "--x", "A", "--y", "B", "--level", "B=0", "--level", "B=1"), "'B' twice"),
    "level outside Y": (("anonymity", "d.csv", "--x", "A", "--y", "B", "--level", "A=0"), "'A', which is not in Y"),
    "no X": (("anonymity", "d.csv", "--x", " , "), "at least one attribute in X"),
    "X and Y overlap": (("anonymity", "d.csv", "--x", "A", "--y", "A"), "'A' stands both in X and in Y"),
    "X missing": (("anonymity", "d.csv", "--x", "C"), "no column 'C' in d.csv"),
    "distance of no column": (("distance", "d.csv", "C", "1", "2"), "no column 'C' in d.csv"),
    # ---- a provider's file
    "no provider file": (query("none.toml"), "none.toml cannot be read"),
    "a folder for a provider": (query("."), "cannot be read"),
    "a table for a provider": (query("d.csv"), "d.csv is not TOML"),
    "syntax": (query("syntax.toml"), "syntax.toml is not TOML"),
    "TOML not UTF-8": (query("not_utf8.toml"), "not_utf8.toml is not TOML"),
    "unknown section": (query("typo.toml"), "unknown key 'hierarchy'; did you mean 'hierarchies'?"),
    "unknown key": (query("typo_inside.toml"), "unknown key 'relation.dta'; did you mean 'data'?"),
    "no relation": (query("no_relation.toml"), "'relation' is missing"),
    "relation of the wrong type": (query("relation_text.toml"), 'give a section, [relation] with data = "…"'),
    "data of the wrong type": (query("data_number.toml"), "'relation.data': input should be a valid string"),
    "data file missing": (query("no_data.toml"), "relation.data: none.csv does not exist"),
    "another data file missing": (query("no_more_data.toml"), "relations.more.data: none.csv does not exist"),
    "its hierarchy file missing": (query("no_tree.toml"), "hierarchies.B: none.csv: no such file"),
    "its hierarchy of the wrong type": (query("tree_number.toml"), "hierarchies.B: give a file, or { build"),
    "its hierarchy for no column": (query("tree_elsewhere.toml"), "hierarchies.BB: no such column; did you mean 'B'?"),
    "its builder unknown": (query("no_builder.toml"), "hierarchies.B: no hierarchy builder 'interval'"),
    "its builder not named": (query("no_method.toml"), "hierarchies.B: give a file, or { build"),
    "its builder without its option": (query("no_widths.toml"), "hierarchies.B: intervals needs widths"),
    "its builder's option unknown": (query("builder_typo.toml"), "did you mean 'widths'?"),
    "its builder's option unreadable": (query("builder_value.toml"), "hierarchies.B: option widths cannot be read"),
    "its builder on text": (query("builder_values.toml"), "hierarchies.B: 2 of 2 values are not numbers"),
    # ---- queries
    "select nothing": (query("good.toml", ""), "a column name is missing"),
    "select no column": (query("good.toml", "C"), "no column 'C'"),
    "select no level": (query("good.toml", "B:3"), "no level 3"),
    "select a level not a number": (query("good.toml", "B:x"), "expected a level"),
    "where nothing": (query("good.toml", "B", "--where", "A"), "expected a comparison"),
    "where without a value": (query("good.toml", "B", "--where", "A ="), "expected a value"),
    "where no column": (query("good.toml", "B", "--where", "a = 1"), "no column 'a'"),
    "from nowhere": (query("good.toml", "B", "--from", "relatoin"), "did you mean 'relation'?"),
    "from twice": (query("good.toml", "B", "--from", "relation, relation"), "stands twice"),
}


@pytest.fixture
def bad(pacas: Any, folder: Path) -> Any:
    """Run a command in a folder of broken files."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "nothing").mkdir()
    return pacas


@pytest.mark.parametrize(("arguments", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_said_in_one_line(bad: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in bad(*arguments).complaint


@pytest.mark.parametrize(
    "name", ["missing column", "two parents", "a short row", "unknown level", "syntax", "missing option"]
)
def test_with_json_too_there_is_nothing_on_stdout(bad: Any, name: str) -> None:
    arguments, said = BAD[name]
    assert said in bad(*arguments, "--json").complaint


def test_a_suggestion_is_made_once(bad: Any) -> None:
    assert bad("chek").complaint.count("check") == 1


# ---- a provider's cells are never quoted -------------------------------------------------------------------------

SECRET = "SECRET-1234"
ROW = f"{SECRET}a,{SECRET}b,{SECRET}c\n"
TABLES: dict[str, bytes] = {
    "plain": f"A,B,C\n{ROW}{ROW}".encode(),
    "short row": f"A,B,C\n{ROW}{SECRET},{SECRET}\n".encode(),
    "long row": f"A,B,C\n{ROW}{SECRET},{ROW}".encode(),
    "bad bytes": f"A,B,C\n{ROW}".encode() + f"{SECRET}\xff,{SECRET},{SECRET}\n".encode("latin-1"),
    "bad bytes far down": f"A,B,C\n{ROW * 40_000}".encode() + f"{SECRET}\xff,{SECRET},{SECRET}\n".encode("latin-1"),
    "open quote": f'A,B,C\n{ROW}{SECRET},"{SECRET},{SECRET}\n{ROW}'.encode(),
    "quote that goes on": f'A,B,C\n{ROW}{SECRET},"{SECRET}"{SECRET},{SECRET}\n'.encode(),
    "open quote in the header": f'A,B,"C\n{ROW}{ROW}'.encode(),
    "open quote in a large file's header": f'A,B,"C\n{ROW * 8_000}'.encode(),
    "null bytes": f"A,B,C\n{ROW}{SECRET},\0,{SECRET}\n".encode(),
    "a very long line": f"A,B,C\n{ROW}{SECRET},{SECRET * 300_000},c\n".encode(),
}
FAULTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "missing column": ("", ("D",)),
    "missing column in where": ("", ("A", "--where", "D = 1")),
    "level too high": ("", ("A:7",)),
    "values not numbers": ('B = { build = "intervals", widths = [10] }', ("B:1",)),
    "values not numbers, quantiles": ('B = { build = "quantiles" }', ("B:1",)),
    "values not dates": ('B = { build = "date" }', ("B:1",)),
    "values with the mask": ('B = { build = "prefix", mask = "S" }', ("B:1",)),
    "values too short": ('B = { build = "prefix", keep = [99] }', ("B:1",)),
    "too few clusters": ('B = { build = "cluster", by = "C", clusters = [99] }', ("B:1",)),
    "option unknown": ('B = { build = "cluster", by = "D" }', ("B:1",)),
}


def provider(folder: Path, table: bytes, hierarchies: str = "") -> None:
    (folder / "secret.csv").write_bytes(table)
    (folder / "secret.toml").write_text(f'[relation]\ndata = "secret.csv"\n[hierarchies]\n{hierarchies}\n')


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("command", ["query", "anonymity", "hierarchy"])
def test_a_broken_table_is_never_quoted(pacas: Any, folder: Path, table: str, command: str) -> None:
    provider(folder, TABLES[table])
    asked = {
        "query": ("query", "secret.toml", "--select", "A:7"),
        "anonymity": ("anonymity", "secret.csv", "--x", "A,B", "--y", "C", "--level", "C=7"),
        "hierarchy": ("hierarchy", "build", "secret.csv", "A", "date"),
    }
    assert SECRET[:6] not in pacas(*asked[command]).complaint


@pytest.mark.parametrize(("hierarchies", "select"), FAULTS.values(), ids=FAULTS)
def test_a_mistaken_question_quotes_no_cell(
    pacas: Any, folder: Path, hierarchies: str, select: tuple[str, ...]
) -> None:
    provider(folder, TABLES["plain"], hierarchies)
    assert SECRET not in pacas("query", "secret.toml", "--select", *select).complaint


@pytest.mark.parametrize("table", TABLES)
def test_a_table_given_for_a_provider_file_is_not_quoted(pacas: Any, folder: Path, table: str) -> None:
    (folder / "secret.csv").write_bytes(TABLES[table])
    assert SECRET not in pacas("query", "secret.csv", "--select", "A").complaint


def test_a_damaged_parquet_file_is_bad_input(pacas: Any, folder: Path) -> None:
    table = pa.table({"A": [f"{SECRET}{i % 7}" for i in range(50_000)], "B": [f"{SECRET}{i}" for i in range(50_000)]})
    pq.write_table(table, folder / "d.parquet", compression="none")
    content = bytearray((folder / "d.parquet").read_bytes())
    content[2_000:-3_000] = b"\xff" * (len(content) - 5_000)
    (folder / "d.parquet").write_bytes(content)
    for arguments in (("check", "d.parquet", "--fd", "A -> B"), ("anonymity", "d.parquet", "--x", "A", "--y", "B")):
        assert SECRET not in pacas(*arguments).complaint


@pytest.mark.parametrize("option", ["data", "attribute", "method", "engine"])
def test_a_builder_s_options_cannot_reach_past_it(pacas: Any, folder: Path, option: str) -> None:
    provider(folder, TABLES["plain"], f'B = {{ build = "intervals", widths = [1], {option} = "x" }}')
    said = f"intervals has no option '{option}'"
    assert said in pacas("query", "secret.toml", "--select", "B:1").complaint
    assert said in pacas("hierarchy", "build", "secret.csv", "B", "intervals", "widths=1", f"{option}=x").complaint

"""`pacas init` on tables as they come: it writes files that load, or says in one line why not."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import many_examples

from pacas.cli.main import run
from pacas.cli.opened_provider import opened_unsold
from pacas.engine.choosing import EngineChoice
from pacas.formats.client_file import read_client_file
from pacas.formats.provider.provider_file import read_provider_file

Rows = Sequence[Sequence[str | None]]

NAMES = st.one_of(
    st.sampled_from(
        ["ID", "ZIP", "City", "age", "a b", "x,y", "größe", "名前", "a->b", "a.b", '"q"', "=", "data", "Name"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=6),
)
CELLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", "1", "2", "03", "-4.5", "1e3", "nan", "*", "12:30", "2020-02-30", "a", "b", "ä", "€ 5", "x" * 5000]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
)


@st.composite
def odd_tables(draw: st.DrawFn) -> tuple[list[str], Rows]:
    """A few columns and rows of anything; values come again, and columns may follow from others."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique_by=lambda name: name.strip()))
    pools = [draw(st.lists(CELLS, min_size=1, max_size=5)) for _ in names]
    size = draw(st.integers(1, 40))
    rows = [[draw(st.sampled_from(pool)) for pool in pools] for _ in range(size)]
    for row in rows if draw(st.booleans()) else ():
        row[-1] = row[0]
    return names, rows


def written(folder: Path, names: Sequence[str], rows: Rows) -> Path:
    path = folder / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
            [list(names), *(["" if v is None else v for v in row] for row in rows)]
        )
    return path


def told(*arguments: str) -> tuple[int, str]:
    """How a command ends, and what it complains of."""
    complaint = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(complaint):
        code = run(list(arguments))
    return code, complaint.getvalue()


def linted(provider: Path) -> list[dict[str, object]]:
    """What the linter says of a file."""
    said = io.StringIO()
    with redirect_stdout(said):
        assert run(["lint", str(provider), "--json"]) == 0
    findings: list[dict[str, object]] = json.loads(said.getvalue())["findings"]
    return findings


def check(table: Path) -> tuple[bool, bool]:
    """Both files load, the provider's as it would be served, and linter-clean; or one line says why there is none."""
    made = []
    for what in ("client", "provider"):
        output = table.parent / f"{what}.toml"
        code, complaint = told("init", what, str(table), "--output", str(output))
        assert "inside PACAS" not in complaint, complaint
        assert (code, complaint.count("\n")) in ((0, 0), (2, 1)), complaint
        assert output.exists() == (code == 0)
        made.append(code == 0)
    if made[0]:
        file = read_client_file(table.parent / "client.toml")
        if file.fds:
            code, complaint = told("clean", str(table.parent / "client.toml"), "--dry-run")
            assert code == 0, complaint
    if made[1]:
        with opened_unsold(read_provider_file(table.parent / "provider.toml"), EngineChoice()):
            pass
        assert not {finding["severity"] for finding in linted(table.parent / "provider.toml")} - {"note"}
    return made[0], made[1]


@given(odd_tables())
@many_examples(200)
def test_any_table_gets_files_that_load_or_a_line_that_says_why_not(table: tuple[list[str], Rows]) -> None:
    with TemporaryDirectory() as folder:
        check(written(Path(folder), *table))


SHAPES: dict[str, tuple[list[str], Rows]] = {
    "one column": (["a"], [[str(i % 3)] for i in range(30)]),
    "one row": (["a", "b"], [["1", "2"]]),
    "all null": (["a", "b"], [[None, None]] * 20),
    "one cell": (["a"], [["x"]]),
    "huge cells": (["id", "text"], [[str(i), "long " * 20_000 + str(i % 4)] for i in range(12)]),
    "mixed types": (
        ["k", "v"],
        [[str(i % 9), ["1", "x", "2020-01-01", "-3.5", "12:30"][i % 9 % 5]] for i in range(90)],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_odd_shapes_get_files_that_load_or_a_line_that_says_why_not(shape: str, tmp_path: Path) -> None:
    is_made, _ = check(written(tmp_path, *SHAPES[shape]))
    assert is_made


@pytest.mark.slow
def test_three_hundred_columns_get_files_that_load(tmp_path: Path) -> None:
    drawn = random.Random(2)
    rows = [[str(drawn.randrange(9)) for _ in range(300)] for _ in range(120)]
    is_made, _ = check(written(tmp_path, [f"c{i}" for i in range(300)], rows))
    assert is_made


FILES = (
    "adult/hierarchies/adult_full_hierarchy_race.csv",
    "food/violation_codes.csv",
    "clinical/drug_to_atc_match.csv",
)


@pytest.mark.parametrize("file", FILES)
def test_real_tables_get_files_that_load_or_a_line_that_says_why_not(
    shared_data: Path, file: str, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes((shared_data / file).read_bytes())
    is_made, _ = check(table)
    assert is_made


@pytest.mark.slow
def test_every_real_table_gets_files_that_load_or_a_line_that_says_why_not(shared_data: Path, tmp_path: Path) -> None:
    """Of large ones the first rows are taken."""
    from pacas.formats.relations.relations import read_relation, write_relation

    for number, path in enumerate(sorted(shared_data.rglob("*.csv*"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        relation = read_relation(path)
        write_relation(type(relation)(relation.table.slice(0, 1_500)), folder / "table.csv")
        assert check(folder / "table.csv")[0], path


@pytest.mark.parametrize(
    ("name", "why"), [("to\nwn", "has a line break"), ("town" * 60, "has more than 200 characters")]
)
def test_a_column_whose_name_cannot_be_sold_is_named_as_such(folder: Path, name: str, why: str) -> None:
    zips = [str(10_000 + i % 20) for i in range(200)]
    table = written(folder, ["zip", name, "id"], [[z, f"t{int(z) // 2}", f"i{n}"] for n, z in enumerate(zips)])
    assert told("init", "client", str(table), "--output", str(folder / "c.toml")) == (0, "")
    assert told("clean", str(folder / "c.toml"))[0] == 0
    assert told("init", "provider", str(table), "--output", str(folder / "p.toml")) == (0, "")
    assert f"its name {why}" in (folder / "p.toml").read_text()

"""`client.toml`: what it may say, and what is said about what it may not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import RelationFolder
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import ConfigError, FileError, InputError
from pacas.formats.client_file import ClientFile, read_client_file

ENGINE = DuckEngine(threads=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "d.csv").write_text("A,B,N\na,x,1\na,y,25\n")
    (tmp_path / "b.csv").write_text("x;*\ny;*\n")
    return tmp_path / "shop.toml"


def read(path: Path, text: str) -> ClientFile:
    path.write_text(text, "utf-8")
    return read_client_file(path)


def test_paths_are_relative_to_the_file(path: Path) -> None:
    file = read(path, 'data = "data/d.csv"\nfds = ["A -> B, N"]\n[hierarchies]\nB = "b.csv"\n')
    assert [str(fd) for fd in file.dependencies()] == ["A -> B", "A -> N"]
    table = file.scan(ENGINE)
    assert table.columns == ("A", "B", "N")
    assert file.read_hierarchies(table, ENGINE)["B"].height == 1


def test_hierarchies_can_be_built(path: Path) -> None:
    text = 'data = "data/d.csv"\nfds = ["A -> B"]\n[hierarchies]\nN = { build = "intervals", widths = [10] }\n'
    file = read(path, text)
    assert file.read_hierarchies(file.scan(ENGINE), ENGINE)["N"].height == 2


def test_it_may_name_an_engine_and_what_that_needs(path: Path) -> None:
    text = 'data = "data/d.csv"\nengine = "spark"\nmaster = "spark://host:7077"\nmemory = "2GB"\n'
    assert read(path, text).engine_choice == EngineChoice("spark", "spark://host:7077", "2GB")
    assert read(path, 'data = "data/d.csv"\n').engine_choice == EngineChoice()


@pytest.mark.parametrize(("key", "columns"), [('"ID"', ("ID",)), ('["A", "N"]', ("A", "N"))])
def test_a_folder_is_numbered_by_the_key_that_it_names(path: Path, key: str, columns: tuple[str, ...]) -> None:
    folder = path.parent / "people"
    folder.mkdir()
    pq.write_table(pa.table({"ID": [1, 2], "A": ["a", "a"], "N": [3, 4]}), folder / "part-0.parquet")
    file = read(path, f'data = "people"\nkey = {key}\nfds = ["A -> N"]\n')
    assert file.scan(ENGINE) == RelationFolder(folder, ("ID", "A", "N"), columns)
    assert file.scan(ENGINE, ["N"]) == RelationFolder(folder, ("ID", "A", "N"), ("N",))


def test_dependencies_may_be_left_out(path: Path) -> None:
    assert read(path, 'data = "data/d.csv"\n').dependencies() == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('dta = "d.csv"\n', "shop.toml: unknown key 'dta'; did you mean 'data'?"),
        ('data = "d.csv"\nfd = ["A -> B"]\n', "shop.toml: unknown key 'fd'; did you mean 'fds'?"),
        ('data = "d.csv"\n[hierarchy]\nB = "b.csv"\n', "unknown key 'hierarchy'; did you mean 'hierarchies'?"),
        ('data = "d.csv"\n[colums]\nB = "b"\n', "unknown key 'colums'; did you mean 'columns'?"),
        ('data = "d.csv"\n[provider_s]\n', "unknown key 'provider_s'; did you mean 'providers'?"),
        ('fds = ["A -> B"]\n', "shop.toml: 'data' is missing; give a file, as in data = \"client.csv\""),
        ("data = 3\n", "shop.toml: 'data': give a file"),
        ('data = "d.csv"\nfds = "A -> B"\n', "'fds': give a list, as in fds = [\"GEN, DIAG -> MED\"]"),
        ('data = "d.csv"\nfds = [1]\n', "'fds': give a list"),
        ('data = "d.csv"\nfds = ["A B"]\n', "fds: "),
        ('data = "d.csv"\nhierarchies = 1\n', "'hierarchies': give a section"),
        ('data = "d.csv"\n[hierarchies]\nB = 1\n', "shop.toml: hierarchies.B: give a file, or { build"),
        ('data = "d.csv"\n[hierarchies]\nfds = ["A -> B"]\n', "'fds' stands at the top of the file, before [hierar"),
        ("data = \n", "shop.toml is not TOML"),
        ('data = "d.csv"\nengine = "sparc"\n', "shop.toml: 'engine': no engine 'sparc'; did you mean 'spark'?"),
        ('data = "d.csv"\nengine = 3\n', "shop.toml: 'engine': no engine 3; there is duckdb, spark"),
        ('data = "d.csv"\nmaster = 7077\n', "shop.toml: 'master': give Spark's, as in master = "),
        ('data = "d.csv"\nmemory = "much"\n', "shop.toml: 'memory': cannot read an amount of memory from 'much'"),
        ('data = "d.csv"\nmemory = 2\n', "shop.toml: 'memory': give an amount of memory, such as \"2GB\""),
        ('data = "d.csv"\nkey = 1\n', "shop.toml: 'key': give a column, as in key = \"ID\", or a list of them"),
        ('data = "d.csv"\nkey = []\n', "shop.toml: 'key': give a column"),
        ('data = "d.csv"\nkey = ["A", 1]\n', "shop.toml: 'key': give a column"),
        ('data = "d.csv"\n[hierarchies]\nkey = ["ID"]\n', "'key' stands at the top of the file, before"),
        ('data = "d.csv"\nmemry = "2GB"\n', "shop.toml: unknown key 'memry'; did you mean 'memory'?"),
    ],
)
def test_a_mistake_in_its_form_is_named(path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(path, text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('data = "no.csv"\n', "data: "),
        (
            'data = "lake.people"\n',
            "lake.people does not exist; give a CSV, TSV, Parquet or Excel file (a folder, or a table's",
        ),
        ('data = "data/d.csv"\nkey = "ID"\n', "data: no column 'ID' in d.csv"),
        ('data = "data"\n', "data is a folder without Parquet files"),
        ('data = "data/d.csv"\nfds = ["A -> C"]\n', "fds: no column 'C' in d.csv"),
        (
            'data = "data/d.csv"\n[hierarchies]\nb = "b.csv"\n',
            "hierarchies.b: no such column in d.csv; did you mean",
        ),
    ],
)
def test_what_it_names_must_be_there(path: Path, text: str, said: str) -> None:
    file = read(path, text)
    with pytest.raises(InputError) as caught:
        file.scan(ENGINE)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('"no.csv"', "hierarchies.B: "),
        ("{ widths = [10] }", "hierarchies.B: give a file, or { build"),
        ('{ build = "interval" }', "hierarchies.B: "),
    ],
)
def test_hierarchies_that_cannot_be_had(path: Path, source: str, said: str) -> None:
    file = read(path, f'data = "data/d.csv"\n[hierarchies]\nB = {source}\n')
    table = file.scan(ENGINE)
    with pytest.raises(ConfigError) as caught:
        file.read_hierarchies(table, ENGINE)
    assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot be read \(No such file or directory\); give a client.toml"):
        read_client_file(tmp_path / "none.toml")

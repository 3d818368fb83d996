"""`client.toml`: what it may say, and what is said about what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacas.errors import ConfigError, FileError, InputError
from pacas.formats.client_file import ClientFile, read_client_file


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
    assert file.scan().columns == ("A", "B", "N")
    assert file.read_hierarchies()["B"].height == 1


def test_hierarchies_can_be_built(path: Path) -> None:
    text = 'data = "data/d.csv"\nfds = ["A -> B"]\n[hierarchies]\nN = { build = "intervals", widths = [10] }\n'
    assert read(path, text).read_hierarchies()["N"].height == 2


def test_dependencies_may_be_left_out(path: Path) -> None:
    assert read(path, 'data = "data/d.csv"\n').dependencies() == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('dta = "d.csv"\n', "shop.toml: unknown key 'dta'; did you mean 'data'?"),
        ('data = "d.csv"\nfd = ["A -> B"]\n', "shop.toml: unknown key 'fd'; did you mean 'fds'?"),
        ('data = "d.csv"\n[hierarchy]\nB = "b.csv"\n', "unknown key 'hierarchy'; did you mean 'hierarchies'?"),
        ('fds = ["A -> B"]\n', "shop.toml: 'data' is missing; give a file, as in data = \"client.csv\""),
        ("data = 3\n", "shop.toml: 'data': give a file"),
        ('data = "d.csv"\nfds = "A -> B"\n', "'fds': give a list, as in fds = [\"GEN, DIAG -> MED\"]"),
        ('data = "d.csv"\nfds = [1]\n', "'fds': give a list"),
        ('data = "d.csv"\nfds = ["A B"]\n', "fds: "),
        ('data = "d.csv"\nhierarchies = 1\n', "'hierarchies': give a section"),
        ('data = "d.csv"\n[hierarchies]\nB = 1\n', "shop.toml: hierarchies.B: give a file, or { build"),
        ('data = "d.csv"\n[hierarchies]\nfds = ["A -> B"]\n', "'fds' stands at the top of the file, before [hierar"),
        ("data = \n", "shop.toml is not TOML"),
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
        file.scan()
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
    with pytest.raises(ConfigError) as caught:
        file.read_hierarchies()
    assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot be read \(No such file or directory\); give a client.toml"):
        read_client_file(tmp_path / "none.toml")

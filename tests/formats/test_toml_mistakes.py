"""A file that is not TOML, or has a section that is none, is told how it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacas.errors import ConfigError
from pacas.formats.client_file import read_client_file
from pacas.formats.provider.provider_file import read_provider_file

NOT_TOML = {
    "a path without quotes": (
        "data = client.csv",
        'line 1: invalid value; text stands in quotes, as in data = "client.csv"',
    ),
    "a dependency without quotes": ("fds = [A, B -> C]", 'as in fds = ["A, B -> C"]'),
    "names without quotes": ("x = [GEN, AGE]", 'as in x = ["GEN", "AGE"]'),
    "a comment after it": ("data = c.csv  # mine", 'as in data = "c.csv"'),
    "a password, perhaps": ("url = postgresql://ann:secret@host/db", 'as in url = "…"'),
    "typographic quotes": ("data = “client.csv”", 'use straight quotes, as in data = "…"'),
    "a colon": ('data: "client.csv"', "a value follows =, as in data = …"),
    "no sign at all": ('data "client.csv"', "a line is a [section], or a key, = and a value"),
    "JSON": ('{"data": "client.csv"}', "a line is a [section], or a key, = and a value"),
    "a backslash": (r'data = "C:\users\c.csv"', "write paths with /, or in single quotes, as in data = '…'"),
    "a name with spaces": (
        "date of birth = 1",
        'a name with spaces or signs stands in quotes, as in "date of birth" = …',
    ),
    "a key twice": ('data = "a"\ndata = "b"', "'data' stands there twice"),
    "an open list": (
        'fds = ["A -> B"\n[hierarchies]',
        "line 2: unclosed array; a list that begins before it lacks its ]",
    ),
    "Python's truth": ("reasons = True", "write reasons = true"),
    "a section twice": ("[policy]\nk = 2\n[policy]\nk = 3", "have two brackets, [[policy]]"),
}


@pytest.mark.parametrize(("text", "said"), NOT_TOML.values(), ids=NOT_TOML)
def test_what_is_not_toml_is_said_with_its_line_and_how_to_write_it(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "client.toml"
    path.write_text(text, "utf-8")
    for read in (read_client_file, read_provider_file):
        with pytest.raises(ConfigError) as error:
            read(path)
        assert str(error.value).startswith("client.toml is not TOML: line ")
        assert str(error.value).endswith(said)
        assert "secret" not in str(error.value)


SECTIONS = {
    "[hierarchy]\nMED = 'med.csv'": "did you mean 'hierarchies'? it is written [hierarchies] with MED = \"med.csv\"",
    "[[policies]]\nk = 2": "did you mean 'policy'? it is written [[policy]] with x, y and k",
    "[matches]\nMED = 'GEN = GEN'": "did you mean 'match'? it is written [match] with",
    "[[dependencies]]\nfd = 'A -> B'": "did you mean 'dependency'? it is written [[dependency]] with",
    "[prices]\ntotal = 1": "did you mean 'pricing'? it is written [pricing] with total = 1.0",
    "[table]\ndata = 'sp.csv'": "did you mean 'relation'? it is written [relation] with",
    "[[policy]]\ny = 'MED'": 'give a list, as in y = ["MED"]',
}


@pytest.mark.parametrize(("text", "said"), SECTIONS.items(), ids=list(SECTIONS))
def test_a_section_that_is_none_is_told_how_it_is_written(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.toml").write_text(f"[relation]\ndata = 'sp.csv'\n{text}\n")
    with pytest.raises(ConfigError) as error:
        read_provider_file(tmp_path / "p.toml")
    assert said in str(error.value)


def test_the_other_party_s_file_is_known(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("[relation]\ndata = 'sp.csv'\n")
    with pytest.raises(ConfigError, match="is a provider's, and this is read as a client's file"):
        read_client_file(path)
    path.write_text("data = 'client.csv'\n")
    with pytest.raises(ConfigError, match=r"unknown key 'data'; it stands in \[relation\]"):
        read_provider_file(path)

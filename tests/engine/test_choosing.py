"""Engines by name, and one clear line where Spark cannot be had."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from spark import pretend_java

from pacas.engine.choosing import EngineChoice, open_engine
from pacas.engine.contract import memory_bytes
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError

with_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or find_spec("sqlglot") is None, reason="no pyspark here; install pacas[spark]"
)


def test_duckdb_is_the_engine_where_none_is_named() -> None:
    with closing(open_engine()) as engine:
        assert isinstance(engine, DuckEngine)
    with closing(open_engine("duckdb", memory="100MB")) as engine:
        assert isinstance(engine, DuckEngine)


def test_an_unknown_engine_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="no engine 'sparc'; did you mean 'spark'"):
        open_engine("sparc")
    with pytest.raises(InputError, match=r"a master \(local\[2\]\) is Spark's, and the engine is duckdb"):
        open_engine("duckdb", master="local[2]")


@pytest.mark.parametrize(
    ("given", "file", "chosen"),
    [
        (EngineChoice(), EngineChoice(), EngineChoice()),
        (EngineChoice(), EngineChoice("spark", "yarn", "1GB"), EngineChoice("spark", "yarn", "1GB")),
        (EngineChoice("spark"), EngineChoice("spark", "yarn"), EngineChoice("spark", "yarn")),
        (EngineChoice("duckdb"), EngineChoice("spark", "yarn", "1GB"), EngineChoice("duckdb", None, "1GB")),
        (EngineChoice("spark"), EngineChoice(memory="1GB"), EngineChoice("spark", None, "1GB")),
        (EngineChoice(master="local"), EngineChoice("spark", "yarn"), EngineChoice("spark", "local")),
        (EngineChoice(memory="2GB"), EngineChoice("spark", "yarn", "1GB"), EngineChoice("spark", "yarn", "2GB")),
    ],
)
def test_what_is_given_counts_and_else_what_the_file_says(
    given: EngineChoice, file: EngineChoice, chosen: EngineChoice
) -> None:
    assert given.over(file) == chosen


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2GB", 2 * 10**9), ("1.5GiB", 3 * 2**29), ("512MB", 512 * 10**6), ("512mb", 512 * 10**6), (" 1 T ", 10**12)],
)
def test_amounts_of_memory(text: str, amount: int) -> None:
    assert memory_bytes(text) == amount


@pytest.mark.parametrize("text", ["", "GB", "2XB", "-2GB", "2,5GB", "80%", "1e9", "2GB2"])
def test_what_is_no_amount_of_memory(text: str) -> None:
    with pytest.raises(InputError, match=f"cannot read an amount of memory from {text!r}; give one such as 2GB"):
        open_engine("duckdb", memory=text)
    with pytest.raises(InputError, match="cannot read an amount of memory"):
        EngineChoice(memory=text)


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(InputError, match="'5MB' is too little memory to work in; give some more"):
        open_engine("duckdb", memory="5MB")
    with pytest.raises(InputError, match="'100MB' is too little memory for Spark's driver; give 512MB or more"):
        open_engine("spark", memory="100MB")


def test_without_pyspark_one_line_says_how_to_get_it() -> None:
    program = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from pacas.engine.choosing import open_engine\n"
        "from pacas.errors import InputError\n"
        "try:\n    open_engine('spark')\n"
        "except InputError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "the Spark engine needs pyspark; install it with: pip install 'pacas[spark]'\n"


@with_spark
@pytest.mark.parametrize("java_home", [None, "here"])
def test_without_java_one_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, java_home: str | None) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if java_home:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"Spark needs Java 17 or later, and there is no Java (here|in JAVA_HOME)"):
        open_engine("spark")


@with_spark
@pytest.mark.parametrize(
    "master", ["spark://127.0.0.1:{}", "spark://localhost:{0},127.0.0.1:{0}", "k8s://https://127.0.0.1:{}"]
)
def test_a_master_that_nobody_listens_at_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, master: str
) -> None:
    pretend_java(monkeypatch, tmp_path)
    with socket.socket() as bound:  # bound, and not listening
        bound.bind(("127.0.0.1", 0))
        address = master.format(bound.getsockname()[1])
        with pytest.raises(InputError, match=r"the Spark master .* cannot be reached; is it running") as caught:
            open_engine("spark", master=address)
    assert address in str(caught.value)


@with_spark
@pytest.mark.parametrize("master", ["", "locl[2]", "http://127.0.0.1:7077", "mesos://x"])
def test_a_master_of_no_known_kind_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, master: str) -> None:
    pretend_java(monkeypatch, tmp_path)
    with pytest.raises(InputError, match="no Spark master"):
        open_engine("spark", master=master)

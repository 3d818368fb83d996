"""Which engine a command asks, folders and tables in place of files, and one clear line where they cannot be had."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from spark import pretend_java

from pacas.cli.data_options import opened_engine
from pacas.engine.choosing import EngineChoice, spark_engine, spark_engine_type
from pacas.engine.contract import Engine
from pacas.errors import InputError

with_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or find_spec("sqlglot") is None, reason="no pyspark here; install pacas[spark]"
)
FD = ("--fd", "GEN, DIAG -> MED", "--hierarchy", "MED=med.csv")


def write_folder(folder: Path, name: str, source: str, key: str = "ID") -> None:
    """A table of the running example as a folder of two files, rows in another order than its key's."""
    table = pyarrow.csv.read_csv(folder / source)
    if key not in table.column_names:
        table = table.append_column(key, pa.array(range(len(table))))
    (folder / name).mkdir()
    pq.write_table(table.slice(2).sort_by([(key, "descending")]), folder / name / "0.parquet")
    pq.write_table(table.slice(0, 2), folder / name / "1.parquet")


@pytest.fixture
def folders(folder: Path) -> Path:
    """The running example, its tables as folders, too."""
    write_folder(folder, "clients", "client.csv")
    write_folder(folder, "people", "sp.csv", key="NR")
    return folder


@pytest.fixture
def write_delta() -> Callable[..., None]:
    """How a table of the running example is written as a Delta table, in a commit for each row."""
    deltalake = pytest.importorskip("deltalake", reason="no deltalake here; install pacas[delta]")

    def write(folder: Path, name: str, source: str, key: str, partition: str, first: int = 0) -> None:
        table = pyarrow.csv.read_csv(folder / source)
        if key not in table.column_names:
            table = table.append_column(key, pa.array(range(first, first + len(table))))
        for row in reversed(range(len(table))):
            deltalake.write_deltalake(folder / name, table.slice(row, 1), mode="append", partition_by=[partition])

    return write


# ---- folders --------------------------------------------------------------------------------------------------------


def test_a_folder_with_a_key_is_checked_like_the_file(pacas: Any, folders: Path) -> None:
    of_file = pacas("check", "client.csv", *FD, "--groups", "3", "--key", "ID", "--json")
    of_folder = pacas("check", "clients", *FD, "--groups", "3", "--key", "ID", "--json")
    assert of_folder.document == of_file.document
    assert of_folder.code == of_file.code == 1


def test_a_key_of_several_columns_names_rows_by_all_of_them(pacas: Any, folders: Path) -> None:
    listed = ("--groups", "1", "--key", "GEN", "--key", "ID")
    document = pacas("check", "clients", *FD, *listed, "--json").document
    row = document["dependencies"][0]["violating_groups"][0]["rows"][0]
    assert len(row["key"]) == 2
    assert ", ".join(row["key"]) in pacas("check", "clients", *FD, *listed).out


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("anonymity", ("--x", "GEN", "--y", "MED")),
        ("distance", ("MED", "ibuprofen", "naproxen", "--hierarchy", "MED=med.csv")),
        ("hierarchy build", ("AGE", "intervals", "widths=10,30")),
    ],
)
def test_other_questions_about_a_folder(pacas: Any, folders: Path, command: str, more: tuple[str, ...]) -> None:
    of_file = pacas(*command.split(), "sp.csv", *more, "--json")
    of_folder = pacas(*command.split(), "people", *more, "--key", "NR", "--json")
    assert of_folder.document == of_file.document


def test_a_hierarchy_is_checked_against_a_folder(pacas: Any, folders: Path) -> None:
    against = ("hierarchy", "check", "med.csv", "--attribute", "MED", "--json", "--data")
    assert pacas(*against, "people", "--key", "NR").document == pacas(*against, "sp.csv").document


def of_folder(folder: Path) -> None:
    """The provider's file, its relation in a folder, and its ledger its own."""
    text = (folder / "provider.toml").read_text().replace('data = "sp.csv"', 'data = "people"\nkey = "NR"')
    (folder / "on_folder.toml").write_text(text)


def test_a_provider_on_a_folder_answers_and_prices_like_one_on_a_file(pacas: Any, folders: Path) -> None:
    of_folder(folders)
    select = ("--select", "GEN:0, MED:1", "--json")
    assert pacas("query", "on_folder.toml", *select).document == pacas("query", "provider.toml", *select).document
    asked = ("--requests", "requests.jsonl", "--json")
    assert pacas("quote", "on_folder.toml", *asked).document == pacas("quote", "provider.toml", *asked).document
    assert pacas("buy", "on_folder.toml", *asked).document == pacas("buy", "provider.toml", *asked).document
    assert pacas("audit", "on_folder.toml", "--json").document["holds"]


def test_a_provider_on_a_delta_table_answers_and_prices_like_one_on_a_file(
    pacas: Any, folders: Path, write_delta: Any
) -> None:
    shutil.rmtree(folders / "people")
    write_delta(folders, "people", "sp.csv", "NR", "AGE")
    of_folder(folders)
    select = ("--select", "GEN:0, AGE:0, MED:1", "--json")
    assert pacas("query", "on_folder.toml", *select).document == pacas("query", "provider.toml", *select).document
    asked = ("--requests", "requests.jsonl", "--json")
    assert pacas("buy", "on_folder.toml", *asked).document == pacas("buy", "provider.toml", *asked).document
    write_delta(folders, "people", "sp.csv", "NR", "AGE", first=100)
    assert "relation" in pacas("buy", "on_folder.toml", *asked).complaint, "the ledger is of the table as it was"


def test_a_delta_table_is_checked_and_cleaned_like_the_file(pacas: Any, folders: Path, write_delta: Any) -> None:
    write_delta(folders, "lake", "client.csv", "ID", "GEN")
    keyed = ("--key", "ID", "--json")
    assert pacas("check", "lake", *FD, *keyed).document == pacas("check", "client.csv", *FD, *keyed).document
    text = (folders / "client.toml").read_text()
    (folders / "lake.toml").write_text(text.replace('data = "client.csv"', 'data = "lake"\nkey = "ID"'))
    clean = ("--provider", "provider.toml", "--budget", "1", "--json")
    of_file = pacas("clean", "client.toml", *clean, "--output", "file.csv").document
    (folders / "provider.ledger.db").unlink()
    of_delta = pacas("clean", "lake.toml", *clean).document
    assert of_delta["purchases"] == of_file["purchases"]
    written = pq.read_table(folders / "lake.clean").sort_by("ID")
    expected = pyarrow.csv.read_csv(folders / "file.csv").sort_by("ID")
    assert written.select(expected.column_names).to_pydict() == expected.to_pydict()
    assert not (folders / "lake.clean" / "_delta_log").exists()


def test_a_memory_limit_changes_no_answer(pacas: Any, folders: Path) -> None:
    plain = pacas("check", "client.csv", *FD, "--json").document
    assert pacas("check", "client.csv", *FD, "--memory", "512MB", "--json").document == plain
    assert pacas("check", "clients", *FD, "--key", "ID", "--memory", "512MB", "--json").document == plain


# ---- which engine ---------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EngineChoice]]:
    """The engines that a command opens; none of them is Spark, whatever was chosen."""
    chosen: list[EngineChoice] = []
    real = EngineChoice.open

    def noted(choice: EngineChoice) -> Engine[Any]:
        chosen.append(choice)
        return real(EngineChoice("duckdb", memory=choice.memory))

    monkeypatch.setattr(EngineChoice, "open", noted)
    yield chosen


SPARK = EngineChoice("spark", "local[2]", "1GB")
GIVEN = ("--engine", "spark", "--master", "local[2]", "--memory", "1GB")


@pytest.mark.parametrize(
    "command",
    [
        ("check", "client.csv", *FD),
        ("anonymity", "sp.csv", "--x", "GEN"),
        ("distance", "sp.csv", "AGE", "45", "51"),
        ("hierarchy", "build", "sp.csv", "AGE", "intervals", "widths=10"),
        ("hierarchy", "check", "med.csv", "--data", "sp.csv", "--attribute", "MED"),
        ("hierarchy", "show", "med.csv", "--data", "sp.csv", "--attribute", "MED"),
        ("query", "provider.toml", "--select", "MED:1"),
        ("quote", "provider.toml", "--requests", "requests.jsonl"),
        ("buy", "provider.toml", "--requests", "requests.jsonl"),
        ("audit", "provider.toml"),
        ("serve", "provider.toml", "--check"),
        ("clean", "client.toml", "--provider", "provider.toml", "--budget", "1", "--dry-run"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_every_command_that_reads_data_takes_an_engine(
    pacas: Any, opened: list[EngineChoice], command: tuple[str, ...]
) -> None:
    outcome = pacas(*command, *GIVEN)
    assert outcome.code in (0, 1), outcome.err
    assert opened[0] == SPARK


@pytest.mark.parametrize("command", ["query", "audit"])
def test_a_providers_file_names_the_engine_and_the_command_line_wins(
    pacas: Any, folder: Path, opened: list[EngineChoice], command: str
) -> None:
    file = folder / "provider.toml"
    file.write_text('engine = "spark"\nmaster = "yarn"\nmemory = "1GB"\n' + file.read_text())
    more = ("--select", "MED:1") if command == "query" else ()
    for given in ((), ("--master", "local[2]"), ("--engine", "duckdb"), ("--memory", "512MB")):
        pacas(command, "provider.toml", *more, *given)
    assert opened == [
        EngineChoice("spark", "yarn", "1GB"),
        EngineChoice("spark", "local[2]", "1GB"),
        EngineChoice("duckdb", None, "1GB"),
        EngineChoice("spark", "yarn", "512MB"),
    ]


def test_client_and_provider_in_one_process_share_an_engine_where_they_can(
    pacas: Any, folder: Path, opened: list[EngineChoice]
) -> None:
    clean = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "1", "--dry-run", "--json")
    alone = pacas(*clean).document
    assert opened == [EngineChoice()], "one engine, and one limit, for both"
    assert pacas(*clean, "--memory", "1GB").document == alone
    assert opened[1:] == [EngineChoice(memory="1GB")]
    file = folder / "provider.toml"
    file.write_text('memory = "512MB"\n' + file.read_text())
    assert pacas(*clean).document == alone
    assert opened[2:] == [EngineChoice(), EngineChoice(memory="512MB")], "one of its own, as it asks for it"


def test_a_clients_file_names_its_own_engine(pacas: Any, folder: Path, opened: list[EngineChoice]) -> None:
    file = folder / "client.toml"
    file.write_text('engine = "spark"\nmemory = "1GB"\n' + file.read_text())
    pacas("clean", "client.toml", "--provider", "provider.toml", "--budget", "1", "--dry-run")
    assert opened[0] == EngineChoice("spark", None, "1GB")


def test_on_spark_a_folder_a_table_and_a_file_are_checked_alike(
    pacas: Any, folders: Path, spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineChoice, "open", lambda choice: spark_engine(spark_session))
    spark_session.read.parquet(str(folders / "clients")).createOrReplaceTempView("lake_clients")
    expected = pacas("check", "client.csv", *FD, "--json").document
    on_spark = (*FD, "--key", "ID", "--engine", "spark", "--json")
    assert pacas("check", "clients", *on_spark).document == expected
    assert pacas("check", "lake_clients", *on_spark).document == expected
    assert pacas("check", "lake_clientz", *on_spark).complaint.startswith("lake_clientz is not there, or holds no data")
    assert "needs a key" in pacas("check", "lake_clients", *FD, "--engine", "spark").complaint


# ---- bad input ------------------------------------------------------------------------------------------------------


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown engine": (("check", "client.csv", *FD, "--engine", "sparc"), "no engine 'sparc'; did you mean 'spark'?"),
    "a master without spark": (
        ("check", "client.csv", *FD, "--master", "local[2]"),
        "a master (local[2]) is Spark's, and the engine is duckdb; say engine 'spark'",
    ),
    "bad memory": (
        ("check", "client.csv", *FD, "--memory", "plenty"),
        "cannot read an amount of memory from 'plenty'; give one such as 2GB or 512MB",
    ),
    "too little memory": (("check", "client.csv", *FD, "--memory", "2"), "'2' is too little memory to work in"),
    "a folder without a key": (("check", "clients", *FD), "clients needs a key: the columns that tell its rows apart"),
    "a key that is not there": (
        ("check", "clients", *FD, "--key", "Id"),
        "no column 'Id' in clients; did you mean 'ID'?",
    ),
    "a key that repeats": (
        ("check", "clients", *FD, "--key", "GEN"),
        "the key GEN of clients repeats in",
    ),
    "a key that is null": (("check", "nulls", "--fd", "A -> B", "--key", "A"), "the key A of nulls is null in 1 rows"),
    "a Delta folder with a broken log": (
        ("check", "delta", *FD, "--key", "ID"),
        "delta cannot be read; is _delta_log complete?",
    ),
    "a table without spark": (
        ("check", "lake.people", *FD, "--key", "ID"),
        "lake.people does not exist; give a CSV, TSV, Parquet or Excel file "
        "(a folder, or a table's name with engine 'spark')",
    ),
    "a folder in a provider's file, without a key": (
        ("query", "keyless.toml", "--select", "MED:1"),
        "relation.data: people needs a key: ",
    ),
    "an engine in a provider's file": (
        ("quote", "engine.toml", "--requests", "requests.jsonl"),
        "engine.toml: 'engine': no engine 'duckbd'; did you mean 'duckdb'?",
    ),
    "an engine for a provider elsewhere": (
        ("quote", "https://example.org", "--requests", "requests.jsonl", "--engine", "spark"),
        "--engine, --master and --memory are for a provider's file; one at a URL has its own engine",
    ),
}


@pytest.mark.parametrize(("command", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_said_in_one_line(pacas: Any, folders: Path, command: tuple[str, ...], said: str) -> None:
    (folders / "nulls").mkdir()
    pq.write_table(pa.table({"A": [1, None], "B": [1, 2]}), folders / "nulls" / "0.parquet")
    write_folder(folders, "delta", "client.csv")
    (folders / "delta" / "_delta_log").mkdir()
    (folders / "keyless.toml").write_text('[relation]\ndata = "people"\n')
    (folders / "engine.toml").write_text('engine = "duckbd"\n[relation]\ndata = "sp.csv"\n')
    assert said in pacas(*command).complaint


@pytest.mark.parametrize(
    "command",
    [("check", "delta", *FD, "--key", "ID"), ("query", "on_delta.toml", "--select", "MED:1")],
    ids=["check", "query"],
)
def test_without_deltalake_one_line_says_how_to_get_it(
    pacas: Any, folders: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    write_folder(folders, "delta", "client.csv")
    (folders / "delta" / "_delta_log").mkdir()
    (folders / "on_delta.toml").write_text('[relation]\ndata = "delta"\nkey = "ID"\n')
    monkeypatch.setitem(sys.modules, "deltalake", None)
    assert (
        "delta is a Delta table, whose log says which of its files count; to read it: pip install 'pacas[delta]'"
        in (pacas(*command).complaint)
    )


def test_without_pyspark_one_line_says_how_to_get_it(folder: Path) -> None:
    program = "import sys; sys.modules['pyspark'] = None; from pacas.cli.main import main; main()"
    command = ["check", "client.csv", *FD, "--engine", "spark"]
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, check=False)
    assert done.stderr == "pacas: the Spark engine needs pyspark; install it with: pip install 'pacas[spark]'\n"
    assert (done.returncode, done.stdout) == (2, "")


@with_spark
def test_without_java_one_line_says_so(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "no-java").mkdir()
    monkeypatch.setenv("JAVA_HOME", str(folder / "no-java"))
    said = pacas("audit", "provider.toml", "--engine", "spark").complaint
    assert said.startswith("Spark needs Java 17 or later, and there is no Java in JAVA_HOME")


@with_spark
def test_a_master_that_cannot_be_reached(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_java(monkeypatch, folder)
    with socket.socket() as bound:  # bound, and not listening
        bound.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{bound.getsockname()[1]}"
        said = pacas("check", "client.csv", *FD, "--engine", "spark", "--master", master).complaint
    assert said == f"the Spark master {master} cannot be reached; is it running, and is its address right?"


@with_spark
def test_client_and_provider_on_two_masters() -> None:
    class Conf:
        def get(self, name: str) -> str:
            assert name == "spark.master"
            return "local[2]"

    class Session:
        conf = Conf()

    running = object.__new__(spark_engine_type())
    running.session = Session()
    with opened_engine(EngineChoice("spark"), running) as engine:
        assert engine is running
    with opened_engine(EngineChoice("spark", "local[2]"), running) as engine:
        assert engine is running
    two = pytest.raises(InputError, match=r"two Spark masters, local\[2\] and yarn; a run has one")
    with two, opened_engine(EngineChoice("spark", "yarn"), running):
        pass
    with opened_engine(EngineChoice(), running) as engine:
        assert engine is not running


def test_a_command_leaves_pandas_out_until_it_is_needed() -> None:
    program = """
import sys
from pacas.cli.data_options import opened_engine
from pacas.engine.choosing import EngineChoice
from pacas.core.relation import Relation
with opened_engine(EngineChoice()) as engine:
    read = engine.rows(engine.open(Relation.of({"A": ["1", None]})), None, ["A"])
print("pandas" in sys.modules)
import pandas
print(Relation.of(pandas.DataFrame({"A": [0.5, None]})).table.to_pydict(), read.to_pandas().shape)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["False", "{'A': [0.5, None]} (2, 1)"], done.stderr

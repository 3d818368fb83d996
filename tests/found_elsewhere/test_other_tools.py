"""What other tools find wrong in a table is cleaned: their real output, from the tool or as one has written it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pacas import SafeClean
from pacas.cli.demo.files import PAPER, write_files
from pacas.cli.main import run
from pacas.client.found.given_cells import as_found_cells
from pacas.opening.open_provider import open_provider

HERE = Path(__file__).parent
LOCKS = HERE.parents[1] / "requirements"
RECORDED = {"dbt": {"dbt_not_null.csv": 5, "dbt_accepted_values.csv": 4}}
RECORDED |= {"soda": {"soda_missing.csv": 5, "soda_failed_rows.csv": 4}}
"""What each tool wrote, and the row that it is about."""
NOT_HAD = ("Failed to fetch", "error sending request", "dns error", "network was disabled", "no wheels with a matching")
"""What uv says where no package registry is reached, or none has a package for this Python."""
BoughtFor = Callable[..., tuple[set[tuple[int, str]], str]]
MEDICATIONS = ["ibuprofen", "intropes", "addaprin", "naproxen", "appaprtin", "dolex"]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The running example's provider, and a client whose t5 has a wrong and t6 no medication; nothing is declared."""
    write_files(tmp_path)
    (tmp_path / "provider.toml").write_text(PAPER)
    shutil.copy(HERE / "patients.csv", tmp_path / "client.csv")
    (tmp_path / "client.toml").write_text('data = "client.csv"\nkey = "ID"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bought_for(clinic: Path, capsys: pytest.CaptureFixture[str]) -> BoughtFor:
    """The cells that a cleaning buys for when it is given files of cells, and what it says of them."""

    def clean(*cells: str) -> tuple[set[tuple[int, str]], str]:
        options = [word for file in cells for word in ("--cells", file)]
        command = ["clean", "client.toml", "--provider", "provider.toml", "--budget", "5", "--strategy", "paper"]
        capsys.readouterr()
        assert run([*command, *options, "--output", "out.csv", "--json"]) == 0
        printed = capsys.readouterr()
        bought = json.loads(printed.out)["purchases"]
        return {(row, one["attribute"]) for one in bought for row in one["rows"]}, printed.err

    return clean


@pytest.mark.parametrize(("file", "row"), [pair for files in RECORDED.values() for pair in files.items()])
def test_failed_rows_and_values_as_dbt_and_soda_wrote_them(bought_for: BoughtFor, file: str, row: int) -> None:
    assert bought_for(f"MED={HERE / file}") == ({(row, "MED")}, "")


def test_several_files_together(bought_for: BoughtFor) -> None:
    files = (f"MED={HERE / name}" for name in ("dbt_not_null.csv", "soda_failed_rows.csv"))
    assert bought_for(*files)[0] == {(4, "MED"), (5, "MED")}


def environment(tool: str, folder: Path) -> Path:
    """The Python of an environment with a tool as it is locked; a test skips where that cannot be had."""
    python, lock = folder / "bin" / "python", LOCKS / f"{tool}.lock"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "--python", sys.executable, folder], check=True)
    locked: list[str | Path] = ["-q", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    install = [*uv, "pip", "install", *locked, "--python", python, "-r", lock]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode and any(said in done.stderr for said in NOT_HAD):
        pytest.skip(f"{lock.name} cannot be installed: {done.stderr.strip().splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    return python


@pytest.mark.slow
@pytest.mark.parametrize("tool", RECORDED)
def test_dbt_and_soda_run_and_what_they_find_is_cleaned(tool: str, clinic: Path, bought_for: BoughtFor) -> None:
    python = environment(tool, clinic / "tool")
    (clinic / ".soda").mkdir()
    (clinic / ".soda" / "config.yml").write_text("send_anonymous_usage_stats: false\n")
    (clinic / "found").mkdir()
    at_home = {**{n: v for n, v in os.environ.items() if n != "PYTHONPATH"}, "HOME": str(clinic)}
    subprocess.run([python, HERE / f"run_{tool}.py", clinic / "found"], env=at_home, check=True)
    for file, row in RECORDED[tool].items():
        assert (clinic / "found" / file).read_bytes() == (HERE / file).read_bytes()  # as the fast tests have it
        assert bought_for(f"MED=found/{file}") == ({(row, "MED")}, "")


@pytest.fixture
def patients() -> pd.DataFrame:
    return pd.read_csv(HERE / "patients.csv")


def failure_cases(frame: pd.DataFrame) -> pd.DataFrame:
    import pandera.pandas as pandera

    known = pandera.Column(str, pandera.Check.isin(MEDICATIONS))
    wide = pandera.Check(lambda f: f["MED"] != "tylenol", name="wide")
    with pytest.raises(pandera.errors.SchemaErrors) as failed:
        pandera.DataFrameSchema({"MED": known, "ZIP": pandera.Column(str)}, checks=wide).validate(frame, lazy=True)
    return failed.value.failure_cases


def validation(frame: pd.DataFrame, **result_format: Any) -> Any:
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("clinic").add_dataframe_asset("patients")
    batch = source.add_batch_definition_whole_dataframe("all")
    suite = context.suites.add(gx.ExpectationSuite(name="patients"))
    expect = gx.expectations
    suite.add_expectation(expect.ExpectColumnValuesToBeInSet(column="MED", value_set=MEDICATIONS))
    suite.add_expectation(expect.ExpectColumnValuesToNotBeNull(column="MED"))
    suite.add_expectation(expect.ExpectColumnValuesToNotBeNull(column="GEN"))
    suite.add_expectation(expect.ExpectTableRowCountToEqual(value=9))
    suite.add_expectation(expect.ExpectColumnPairValuesToBeEqual(column_A="GEN", column_B="MED"))
    defined = context.validation_definitions.add(gx.ValidationDefinition(name="v", data=batch, suite=suite))
    return defined.run(
        batch_parameters={"dataframe": frame}, result_format={"result_format": "COMPLETE"} | result_format
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_pandera_runs_and_what_it_finds_is_cleaned(clinic: Path, bought_for: BoughtFor, patients: pd.DataFrame) -> None:
    found = failure_cases(patients)
    found.to_csv(clinic / "failure_cases.csv", index=False)
    cells, said = bought_for("failure_cases.csv")
    assert cells == {(4, "MED"), (5, "MED")}
    assert said == "pacas: failure_cases.csv: 6 failures of no single cell left out\n"
    assert set(as_found_cells(found, None).cells) == {(4, "MED"), (5, "MED")}
    by_key = failure_cases(patients.set_index("ID")).rename(columns={"index": "ID"})
    assert set(as_found_cells(by_key, "ID").cells) == {(("t5",), "MED"), (("t6",), "MED")}


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing Great Expectations imports Spark, which may end the process where a package of its own is missing."""
    monkeypatch.setitem(sys.modules, "pyspark", None)


@pytest.mark.slow
@pytest.mark.usefixtures("no_spark")
@pytest.mark.filterwarnings("default")
def test_great_expectations_runs_and_what_it_finds_is_cleaned(
    clinic: Path, bought_for: BoughtFor, patients: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    by_row = validation(patients)
    by_key = validation(patients, unexpected_index_column_names=["ID"])
    for result in (by_row, by_key):
        (clinic / "found.json").write_text(json.dumps(result.to_json_dict()))
        cells, said = bought_for("found.json")
        assert cells == {(4, "MED"), (5, "MED")}
        assert said == "pacas: found.json: 2 failures of no single cell left out\n"
    with open_provider(clinic / "provider.toml") as provider:
        cleaning = SafeClean([], 5, cells=by_key, strategy="paper").clean(patients, provider)
    assert [purchase.rows.tolist() for purchase in cleaning.purchases] == [[4], [5]]
    (clinic / "found.json").write_text(json.dumps(validation(patients, result_format="SUMMARY").to_json_dict()))
    assert run(["clean", "client.toml", "--provider", "provider.toml", "--budget", "5", "--cells", "found.json"]) == 2
    assert "expect_column_values_to_be_in_set does not list its rows; validate with" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("no_spark")
@pytest.mark.filterwarnings("default")
def test_great_expectations_reads_the_violations_that_are_written(clinic: Path) -> None:
    from great_expectations.core.expectation_validation_result import expectationSuiteValidationResultSchema

    (clinic / "t.csv").write_text("ID,A,B\n1,x,u\n2,x,v\n3,y,w\n")
    assert run(["check", "t.csv", "--fd", "A -> B", "--key", "ID", "--failures", "violations.json"]) == 1
    read = expectationSuiteValidationResultSchema.load(json.loads((clinic / "violations.json").read_text()))
    assert (read.success, read.statistics["unsuccessful_expectations"]) == (False, 1)
    assert read.results[0].result["unexpected_index_list"] == [{"B": "u", "ID": "1"}, {"B": "v", "ID": "2"}]

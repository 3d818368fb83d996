"""Init, then clean, with no edit: on the evaluation's tables it does as well as what was written by hand."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacas.cli.main import run
from pacas.core.relation import Relation
from pacas.core.toml import toml_key, toml_list, toml_text
from pacas.engine.hierarchy_files import write_hierarchy
from pacas.experiments.datasets.dataset import Dataset
from pacas.experiments.datasets.load import REAL, load
from pacas.experiments.errors.error_generator import ErrorGenerator
from pacas.formats.relations.relations import read_relation, write_relation

DOUBTFUL = 3
"""How a cleaning ends that wrote doubtful cells (D15)."""


def told(*arguments: str) -> Any:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*arguments, "--json"])
    assert code in (0, DOUBTFUL), err.getvalue()
    return json.loads(out.getvalue())


def total(document: Any) -> Any:
    return document["score"].get("total", document["score"])


def write_market(dataset: Dataset, folder: Path, rate: float, side: str, *, published: bool) -> None:
    """The provider by hand, on the truth; the client's table with errors, and its file by hand."""
    random_rate = rate / 2 if side == "both" else 0.0
    made = ErrorGenerator(
        dataset.fds, rate=rate, side=side, random_rate=random_rate, hierarchies=dataset.hierarchies, seed=1
    ).dirty(dataset.truth)
    write_relation(dataset.truth, folder / "truth.csv")
    write_relation(made.relation, folder / "dirty.csv")
    lines = [f"max_matches = {dataset.max_matches}", "[relation]", 'data = "truth.csv"', "[hierarchies]"]
    for number, attribute in enumerate(dataset.match):
        write_hierarchy(dataset.hierarchies[attribute], folder / f"h{number}.csv")
        lines.append(f'{toml_key(attribute)} = "h{number}.csv"')
    lines += ["[match]", *(f"{toml_key(a)} = {toml_text(str(md))}" for a, md in dataset.match.items())]
    lines += ["[pricing]", "total = 100.0", "[ledger]", 'url = "memory:"']
    lines += [line for fd in dataset.fds for line in ("[[dependency]]", f"fd = {toml_text(str(fd))}")]
    fds = toml_list(map(str, dataset.fds))
    lines += ["[service]", f"publish_dependencies = {fds}"] if published else []
    (folder / "provider.toml").write_text("\n".join(lines) + "\n")
    (folder / "hand.toml").write_text(f'data = "dirty.csv"\nfds = {fds}\n')


@pytest.mark.slow
@pytest.mark.parametrize("side", ["both", "lhs"])
@pytest.mark.parametrize("name", REAL)
def test_init_then_clean_does_as_well_as_by_hand(
    shared_data: Path, name: str, side: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_market(load(name, shared_data, rows=1_500), tmp_path, 0.1, side, published=name in REAL[:2])
    alone = told("init", "client", "dirty.csv", "--output", "alone.toml")
    made = told("init", "client", "dirty.csv", "--provider", "provider.toml")
    budget = str(made["budget"])
    by_hand = total(
        told("clean", "hand.toml", "--provider", "provider.toml", "--budget", budget, "--truth", "truth.csv")
    )
    by_init = total(told("clean", "client.toml", "--truth", "truth.csv", "--output", "init.csv"))
    assert by_init["f1"] >= by_hand["f1"] - 0.05
    assert by_init["wrong_after"] <= by_init["wrong"]
    if any(one["on"] for one in alone["fds"]):
        left = total(told("clean", "alone.toml", "--truth", "truth.csv", "--output", "alone.csv"))
        assert left["wrong_after"] <= left["wrong"]


AS_PUBLISHED = {"census": "census/census_income_kdd.csv.gz", "trials": "clinical/covid_trials_denormalized.csv.gz"}


@pytest.mark.parametrize("rows", [300, 600])
@pytest.mark.parametrize("name", AS_PUBLISHED)
def test_of_a_table_as_it_was_published_no_cell_is_changed(
    shared_data: Path, name: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nearly follows from something else there is as it is: exceptions that are right are not repaired."""
    monkeypatch.chdir(tmp_path)
    table = read_relation(shared_data / AS_PUBLISHED[name]).table
    drawn = np.sort(np.random.default_rng(0).choice(len(table), rows, replace=False))
    write_relation(Relation(table.take(drawn)), tmp_path / "table.csv")
    told("init", "client", "table.csv")
    assert total(told("clean", "client.toml", "--truth", "table.csv", "--output", "clean.csv"))["wrong_after"] == 0


OF_TRIALS = (
    *("age -> age_group", "drug_name -> atc_drug", "drug_name -> intervention_type", "drug_name -> study_type"),
    *(f"nct_id -> {name}" for name in ("age", "age_group", "atc_drug", "completion_date", "condition", "drug_name")),
    *(f"nct_id -> {name}" for name in ("enrollment", "funded_by")),
)
"""What holds in a published table of trials."""


@pytest.mark.parametrize("random_rate", [0.0, 0.025])
def test_errors_of_a_small_table_make_no_errors_of_exceptions_that_are_right(
    shared_data: Path, random_rate: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most sponsors have one type of study; with errors elsewhere that looked like a dependency, and spoiled cells."""
    monkeypatch.chdir(tmp_path)
    table = read_relation(shared_data / "clinical/covid_trials_primary.csv.gz").table
    truth = Relation(table.take(np.sort(np.random.default_rng(0).choice(len(table), 300, replace=False))))
    how = ErrorGenerator(OF_TRIALS, rate=0.05, side="both", random_rate=random_rate, seed=1)
    write_relation(truth, tmp_path / "truth.csv")
    write_relation(how.dirty(truth).relation, tmp_path / "dirty.csv")
    told("init", "client", "dirty.csv")
    score = total(told("clean", "client.toml", "--truth", "truth.csv", "--output", "clean.csv"))
    assert score["wrong_after"] <= score["wrong"]


def test_left_sides_are_mended_where_nothing_else_tells_that_what_stands_there_is_wrong(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One number of schooling stands for a near one again and again: that was taken for what it should be."""
    monkeypatch.chdir(tmp_path)
    adult = load("adult", shared_data, rows=1_500)
    write_relation(adult.truth, tmp_path / "truth.csv")
    write_relation(
        ErrorGenerator(adult.fds, rate=0.1, side="lhs", seed=1).dirty(adult.truth).relation, Path("dirty.csv")
    )
    told("init", "client", "dirty.csv")
    score = total(told("clean", "client.toml", "--truth", "truth.csv", "--output", "clean.csv"))
    assert score["wrong"] == 150
    assert score["f1"] >= 0.9


PUBLISHED = {
    "discharges": "clinical/sparcs_2020_survivorSet.csv.gz",
    "trials": "clinical/covid_trials_primary.csv.gz",
    "denormalized": "clinical/covid_trials_denormalized.csv.gz",
}


OF_DENORMALIZED = (
    "age -> age_group",
    "nct_id -> age",
    "nct_id -> age_group",
    "nct_id -> completion_date",
    "nct_id -> enrollment",
    "nct_id -> funded_by",
    "nct_id -> gender",
    "nct_id -> overall_status",
    "nct_id -> phase",
    "nct_id -> source",
    "nct_id -> study_type",
    "source -> gender",
)
"""What holds in a sample of the same with a row for each measure."""


@pytest.mark.parametrize(
    ("name", "seed", "how"),
    [
        ("denormalized", 2, {"fds": OF_DENORMALIZED, "rate": 0.05}),
        ("denormalized", 2, {"fds": OF_DENORMALIZED, "rate": 0.05, "side": "both", "random_rate": 0.025}),
        ("discharges", 1, {"fds": "Hospital.County -> Hospital.Service.Area", "rate": 0.1, "side": "lhs"}),
        ("trials", 2, {"random_rate": 0.05}),
        ("trials", 1, {"fds": OF_TRIALS, "rate": 0.2, "side": "both", "random_rate": 0.1}),
        ("denormalized", 2, {"fds": ["nct_id -> start_date", "nct_id -> source"], "rate": 0.05, "side": "lhs"}),
    ],
)
def test_where_a_small_table_does_not_tell_which_side_is_wrong_nothing_is_made_worse(
    shared_data: Path, name: str, seed: int, how: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the fifth ended with more wrong cells: right sides, or right exceptions, were written over."""
    monkeypatch.chdir(tmp_path)
    table = read_relation(shared_data / PUBLISHED[name]).table
    rows = 1_000 if how.get("fds") == OF_DENORMALIZED else 300
    truth = Relation(table.take(np.sort(np.random.default_rng(seed).choice(len(table), rows, replace=False))))
    write_relation(truth, tmp_path / "truth.csv")
    write_relation(ErrorGenerator(**how, seed=seed).dirty(truth).relation, tmp_path / "dirty.csv")
    told("init", "client", "dirty.csv")
    score = total(told("clean", "client.toml", "--truth", "truth.csv", "--output", "clean.csv"))
    assert score["wrong_after"] <= score["wrong"]

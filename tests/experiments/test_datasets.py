"""The data sets of the evaluation: dependencies hold, hierarchies cover, and something can be bought."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.errors import FileError, InputError
from pacas.experiments.datasets.curation import CuratedTable, Curation, CurationStep, majority, sample
from pacas.experiments.datasets.finest_levels import finest_levels, main
from pacas.experiments.datasets.load import REAL, SYNTHETIC, Dataset, load

SHAPES = {"synthetic-clinical": (345_000, 29), "synthetic-census": (300_000, 40), "synthetic-food": (30_000, 11)}
FILES = {
    "clinical": "clinical/covid_trials_primary.csv.gz",
    "discharges": "clinical/sparcs_2020_survivorSet.csv.gz",
    "census": "census/census_income_kdd.csv.gz",
    "adult": "adult/adult_full.csv.gz",
    "food": "food/nyc_restaurant_inspections_2016.csv.gz",
}
ROWS = 3_000


@pytest.fixture(scope="module")
def loaded(request: pytest.FixtureRequest) -> Callable[[str], Dataset]:
    """A few thousand rows of a data set, loaded once; real ones only where their files are."""
    kept: dict[str, Dataset] = {}

    def get(name: str) -> Dataset:
        if name not in kept:
            data = None
            if name in REAL:
                data = request.getfixturevalue("shared_data")
                if not (data / FILES[name]).is_file():
                    pytest.skip(f"no {FILES[name]} among the real datasets")
            kept[name] = load(name, data, rows=ROWS, seed=5)
        return kept[name]

    return get


def column(dataset: Dataset, name: str) -> list[str | None]:
    return dataset.truth.table[name].to_pylist()


# ---- what every data set must be -------------------------------------------------------------------------------------

ALL = (*SYNTHETIC, *(pytest.param(name, marks=pytest.mark.data) for name in REAL))


@pytest.mark.parametrize("name", ALL)
def test_every_dependency_holds_exactly(loaded: Callable[[str], Dataset], name: str) -> None:
    dataset = loaded(name)
    found = pacas.check(dataset.truth, dataset.fds)
    assert found.rows == ROWS
    assert {str(d.fd): d.violations for d in found.dependencies} == {str(fd): 0 for fd in dataset.fds}


@pytest.mark.parametrize("name", ALL)
def test_dependencies_have_classes_in_which_an_error_would_show(loaded: Callable[[str], Dataset], name: str) -> None:
    dataset = loaded(name)
    for fd in dataset.fds:
        classes = dataset.truth.table.group_by(list(fd.lhs)).aggregate([([], "count_all")])
        shared = sum(n for n in classes["count_all"].to_pylist() if n > 1)
        assert shared > ROWS / 4, f"{fd}: only {shared} rows share their left side"


@pytest.mark.parametrize("name", ALL)
def test_hierarchies_have_four_to_six_levels_and_cover_what_is_sold(
    loaded: Callable[[str], Dataset], name: str
) -> None:
    dataset = loaded(name)
    assert dataset.sold == tuple(fd.rhs for fd in dataset.fds)
    for attribute in dataset.sold:
        hierarchy = dataset.hierarchies[attribute]
        assert 4 <= hierarchy.height + 1 <= 6
        assert set(column(dataset, attribute)) <= set(hierarchy.ground_labels)


@pytest.mark.parametrize("name", ALL)
def test_a_guarding_policy_holds_what_requests_are_matched_by(loaded: Callable[[str], Dataset], name: str) -> None:
    dataset = loaded(name)
    for policy in dataset.policies():
        matched = {clause.provider for clause in dataset.match[policy.y[0]].clauses}
        assert {*matched, *dataset.quasi_identifiers} == set(policy.x)
        assert not policy.allow_linkage
    assert all(set(p.x) == set(dataset.quasi_identifiers) for p in dataset.policies(linked=True))


@pytest.mark.parametrize("name", ALL)
def test_most_requests_have_a_price_above_the_guarded_level(loaded: Callable[[str], Dataset], name: str) -> None:
    dataset = loaded(name)
    provider = dataset.provider(k=3, level=2)
    for attribute in dataset.sold:
        found = finest_levels(dataset, provider, attribute, requests=300)
        sold = {level: n for level, n in found.items() if isinstance(level, int)}
        assert sum(found.values()) == 300
        assert set(sold) <= {3, 4}
        assert sum(sold.values()) >= 200, f"{attribute}: {found}"


@pytest.mark.parametrize("name", ALL)
def test_with_linkage_ground_values_are_for_sale_as_well(loaded: Callable[[str], Dataset], name: str) -> None:
    dataset = loaded(name)
    provider = dataset.provider(linked=True)
    found = [finest_levels(dataset, provider, attribute, requests=300) for attribute in dataset.sold]
    assert any(levels.get(0, 0) > 0 for levels in found), found


@pytest.mark.parametrize("name", ALL)
def test_curation_accounts_for_every_row(loaded: Callable[[str], Dataset], name: str) -> None:
    curation = loaded(name).curation
    assert curation.rows == ROWS
    assert sum(curation.by_attribute().values()) == curation.cells


# ---- synthetic -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYNTHETIC)
def test_the_same_seed_makes_the_same_bytes_and_another_does_not(name: str) -> None:
    first, again, other = (load(name, rows=500, seed=seed).truth.table for seed in (1, 1, 2))
    assert _bytes(first) == _bytes(again) != _bytes(other)


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def test_the_paper_s_shapes_are_the_default_ones() -> None:
    small = load("synthetic-food")
    assert (len(small.truth), len(small.truth.columns)) == SHAPES["synthetic-food"]
    for name, (_, columns) in SHAPES.items():
        assert len(load(name, rows=300).truth.columns) == columns


def test_classes_keep_their_size_when_the_rows_grow() -> None:
    for rows in (3_000, 12_000):
        dataset = load("synthetic-clinical", rows=rows)
        classes = len(dataset.truth.table.group_by(list(dataset.fds[0].lhs)).aggregate([]))
        assert 40 < rows / classes < 100


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_a_provider_opens_at_every_parameter_of_the_paper(k: int) -> None:
    dataset = load("synthetic-census", rows=1_000)
    for level in range(5):
        assert dataset.provider(k, level, seed=1).stock.rows == 1_000


# ---- real ------------------------------------------------------------------------------------------------------------


@pytest.mark.data
def test_restaurants_are_drawn_whole(loaded: Callable[[str], Dataset]) -> None:
    food = loaded("food")
    classes = food.truth.table.group_by(["boro", "zipcode", "dba"]).aggregate([([], "count_all")])
    assert ROWS / len(classes) > 8


@pytest.mark.data
def test_years_of_schooling_follow_adult_s_coding(loaded: Callable[[str], Dataset]) -> None:
    census = loaded("census")
    coding = set(zip(column(census, "education"), column(census, "education_num"), strict=True))
    assert ("Children", "0") in coding
    assert ("High school graduate", "9") in coding
    adult = loaded("adult")
    assert ("HS-grad", "9") in set(zip(column(adult, "education"), column(adult, "education-num"), strict=True))


@pytest.mark.data
def test_a_drug_and_a_condition_stand_where_the_who_puts_them(loaded: Callable[[str], Dataset]) -> None:
    trees = loaded("clinical").hierarchies
    assert str(trees["drug_name"].generalize_value("remdesivir", 3)).startswith("J05 ")
    assert str(trees["condition"].generalize_value("COVID-19", 2)).startswith("U07 ")


@pytest.mark.data
def test_majority_changes_some_cells_of_a_real_dependency(loaded: Callable[[str], Dataset]) -> None:
    changed = loaded("discharges").curation.by_attribute()
    assert set(changed) == {"disposition"}
    assert 0 < changed["disposition"] < ROWS / 5


# ---- curation --------------------------------------------------------------------------------------------------------

FD = FunctionalDependency(("ZIP",), "CITY")


def test_the_majority_wins_and_the_first_value_wins_a_tie() -> None:
    table = pa.table({"ZIP": ["1", "1", "1", "2", "2", None], "CITY": ["b", "a", "a", "d", "c", "z"]})
    values, changed = majority(table, FD)
    assert values.to_pylist() == ["a", "a", "a", "d", "d", "z"]
    assert changed == 2


def test_a_null_on_the_right_is_a_value_like_others() -> None:
    table = pa.table({"ZIP": ["1", "1", "1", "2"], "CITY": [None, None, "a", None]})
    values, changed = majority(table, FD)
    assert (values.to_pylist(), changed) == ([None, None, None, None], 1)


def test_each_step_of_a_curation_is_counted() -> None:
    bench = CuratedTable(pa.table({"ZIP": ["1", "1", None, "2"], "CITY": ["a", None, "b", "c"]}))
    bench.require("ZIP")
    bench.fill("CITY", "none")
    bench.rewrite("ZIP", pa.array(["1", "1", "3"]), "moved")
    bench.hold(FD)
    assert bench.report() == Curation(
        3,
        (
            CurationStep("rows without ZIP left out", rows=1),
            CurationStep("no CITY: 'none'", "CITY", cells=1),
            CurationStep("moved", "ZIP", cells=1),
            CurationStep("majority of ZIP", "CITY", cells=1),
        ),
    )
    assert bench.report().by_attribute() == {"CITY": 2, "ZIP": 1}
    assert (bench.report().cells, bench.report().dropped) == (3, 1)


def test_a_sample_keeps_whole_values_but_the_last() -> None:
    table = pa.table({"shop": ["a", "b", "c"] * 4, "row": list(range(12))})
    kept = sample(table, 6, seed=3, whole="shop")
    counts = sorted(kept["shop"].to_pylist().count(shop) for shop in "abc")
    assert counts == [0, 2, 4]
    assert kept["row"].to_pylist() == sorted(kept["row"].to_pylist())
    assert sample(table, 6, seed=3).equals(sample(table, 6, seed=3))
    assert sample(table, None, seed=3).num_rows == 12


# ---- asking for one --------------------------------------------------------------------------------------------------


def test_a_name_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'census'"):
        load("sensus")


def test_a_real_data_set_needs_its_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="synthetic-food"):
        load("food")
    with pytest.raises(FileError, match="not a directory"):
        load("food", tmp_path / "nowhere")
    with pytest.raises(FileError, match="does not exist"):
        load("food", tmp_path)


def test_no_rows_are_no_data_set() -> None:
    with pytest.raises(InputError, match="at least one row"):
        load("synthetic-food", rows=0)


def test_an_attribute_that_is_not_sold_has_no_policy() -> None:
    with pytest.raises(InputError, match="does not sell"):
        load("synthetic-food", rows=100).x("grade")


def test_the_tables_show_what_was_changed_and_what_is_sold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    used = "pacas.experiments.datasets.finest_levels.load"
    monkeypatch.setattr(used, lambda name, data: load(name, data, rows=3_000))
    main(["synthetic-food"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Dataset(synthetic-food, 3,000 rows × 11")
    sold = [line.split("|") for line in lines if line.startswith(("| address |", "| violation_description |"))]
    assert len(sold) == 2
    for *_, guarded, linked, _ in sold:
        assert "level 0" not in guarded
        assert "level 0" in linked

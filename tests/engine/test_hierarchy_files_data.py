"""The hierarchies that come with the real datasets."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest

from pacas.core.hierarchies.lint import lint
from pacas.engine.hierarchy_files import read_hierarchy, read_raw_hierarchy
from pacas.errors import HierarchyError

ADULT = {
    "age": 4,
    "capital-gain": 3,
    "capital-loss": 3,
    "education": 3,
    "education-num": 3,
    "fnlwgt": 4,
    "hours-per-week": 4,
    "marital-status": 2,
    "native-country": 2,
    "occupation": 2,
    "race": 1,
    "relationship": 2,
    "salary-class": 1,
    "sex": 1,
    "workclass": 2,
}


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> dict[str, list[str]]:
    with gzip.open(shared_data / "adult" / "adult_full.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream, delimiter=";")
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("column", ADULT)
def test_adult_hierarchies_cover_their_columns(shared_data: Path, adult: dict[str, list[str]], column: str) -> None:
    file = shared_data / "adult" / "hierarchies" / f"adult_full_hierarchy_{column}.csv"
    assert read_hierarchy(file).height == ADULT[column]
    findings = lint(read_raw_hierarchy(file).rows, values=adult[column])
    assert [finding for finding in findings if finding.severity == "problem"] == []


@pytest.mark.parametrize(
    ("file", "height", "ground"),
    [
        ("census/industry_vgh.csv", 2, 52),
        ("census/occupation_vgh.csv", 2, 47),
        ("census/native_country_vgh.csv", 4, 43),
        ("clinical/country_vgh.csv", 4, 115),
    ],
)
def test_hierarchies_with_a_header_load(shared_data: Path, file: str, height: int, ground: int) -> None:
    hierarchy = read_hierarchy(shared_data / file)
    assert (hierarchy.height, len(hierarchy.ground_labels)) == (height, ground)


@pytest.mark.parametrize(
    ("file", "message", "kinds"),
    [
        (
            "food/zip_neighborhood_borough.csv",
            "line 27: 142 rows with an empty label at level 1",
            {"empty-label": 1},
        ),
        (
            "hierarchies/atc_drug_vgh.csv",
            "line 625: 'sodium fluoride' has two parents, 'A01AA01' and 'A12CD01'",
            {"several-parents": 489},
        ),
    ],
)
def test_what_is_no_tree_says_where_and_lint_says_how_often(
    shared_data: Path, file: str, message: str, kinds: dict[str, int]
) -> None:
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(shared_data / file)
    assert message in str(caught.value)
    findings = lint(read_raw_hierarchy(shared_data / file).rows)
    assert Counter(f.kind for f in findings if f.severity == "problem") == kinds

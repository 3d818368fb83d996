"""Suggested hierarchies beside published ones: the adjusted Rand index of their families, on real tables."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path

import pytest

import pacas
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.hierarchies.suggested import SuggestedHierarchy
from pacas.suggest.hierarchies.suggesting import suggest_hierarchies

ENGINE = DuckEngine()


def agreement(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """The adjusted Rand index of two partitions: 1 if they are the same, about 0 by chance."""

    def pairs(sizes: Counter[Hashable]) -> float:
        return sum(size * (size - 1) / 2 for size in sizes.values())

    both, one, other = pairs(Counter(zip(a, b, strict=True))), pairs(Counter(a)), pairs(Counter(b))
    chance = one * other / (len(a) * (len(a) - 1) / 2)
    most = (one + other) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)


def agreements(found: Hierarchy, published: Hierarchy) -> list[float]:
    """Per level of a published hierarchy, that of the suggested level that agrees best, over values that both know."""
    values = [
        value for value in found.ground_labels if value in published and published.is_ground[published.code(value)]
    ]
    best = []
    for level in range(1, published.height):
        theirs = [published.generalize_value(value, level) for value in values]
        ours = ([found.generalize_value(value, at) for value in values] for at in range(1, found.height))
        best.append(max((agreement(labels, theirs) for labels in ours), default=0.0))
    return best


def suggested(file: Path, *attributes: str) -> dict[str, SuggestedHierarchy]:
    table = CodedTable.read(ENGINE, pacas.scan_relation(file))
    made = suggest_hierarchies(table)
    return {name: made[name] for name in attributes}


def lines_of(file: Path) -> list[list[str]]:
    """The lines of a file, its header left out."""
    return list(csv.reader(file.read_text("utf-8").splitlines()))[1:]


def published(file: Path, *columns: int) -> Hierarchy:
    """A hierarchy of some columns of a file, lines without a label left out."""
    rows = [[line[column] for column in columns] for line in lines_of(file)]
    return Hierarchy.from_rows([row for row in rows if all(row)])


def of_codes(codes: Sequence[str]) -> Hierarchy:
    table = CodedTable.read(ENGINE, pacas.Relation.of({"CODE": [code for code in codes for _ in range(3)]}))
    return suggest_hierarchies(table)["CODE"].hierarchy


def test_intervals_and_countries_of_adult(shared_data: Path) -> None:
    folder = shared_data / "adult"
    least = {"age": 0.5, "hours-per-week": 0.6, "capital-loss": 0.9, "native-country": 0.75}
    found = suggested(folder / "adult_full.csv.gz", *least)
    for name, share in least.items():
        tree = pacas.read_hierarchy(folder / "hierarchies" / f"adult_full_hierarchy_{name}.csv")
        assert min(agreements(found[name].hierarchy, tree)) >= share, name


def test_industries_occupations_and_countries_of_the_census(shared_data: Path) -> None:
    folder = shared_data / "census"
    names = ("detailed_industry_recode", "detailed_occupation_recode", "country_of_birth_self")
    industry, occupation, country = suggested(folder / "census_income_kdd.csv.gz", *names).values()
    assert "major_industry_code" in industry.how and "major_occupation_code" in occupation.how
    assert min(agreements(industry.hierarchy, published(folder / "industry_vgh.csv", 0, 1, 2))) >= 0.95
    assert min(agreements(occupation.hierarchy, published(folder / "occupation_vgh.csv", 0, 1, 2))) >= 0.95
    assert min(agreements(country.hierarchy, published(folder / "native_country_vgh.csv", 0, 2, 3, 4))) >= 0.95


def test_countries_of_trials_and_codes_of_diagnoses(shared_data: Path) -> None:
    folder = shared_data / "clinical"
    country = suggested(folder / "covid_trials_primary.csv.gz", "country")["country"].hierarchy
    assert min(agreements(country, published(folder / "country_vgh.csv", 0, 2, 3, 4))) >= 0.95
    lines = lines_of(folder / "ccsr_categories.csv")
    systems = Hierarchy.from_rows([(line[0], f"{line[2]}…", "*") for line in lines])
    assert agreements(of_codes([line[0] for line in lines]), systems) == [pytest.approx(1, abs=0.02)]


def test_zip_codes_of_restaurants_stand_in_their_boroughs(shared_data: Path) -> None:
    zips = published(shared_data / "food" / "zip_neighborhood_borough.csv", 0, 2, 4)
    found = suggested(shared_data / "food" / "nyc_restaurant_inspections_2016.csv.gz", "zipcode")["zipcode"]
    assert "boro" in found.how
    assert agreements(found.hierarchy, zips)[0] >= 0.95


def test_codes_of_diseases_and_drugs_are_cut_where_their_makers_cut_them(shared_data: Path) -> None:
    codes = sorted({line[1] for line in lines_of(shared_data / "hierarchies" / "atc_drug_vgh.csv")})
    levels = Hierarchy.from_rows([(code, f"{code[:5]}…", f"{code[:3]}…", f"{code[0]}…", "*") for code in codes])
    assert agreements(of_codes(codes), levels) == [1, 1, 1]
    parent = {code: above for code, _, above in lines_of(shared_data / "hierarchies" / "icd10_who_tree.csv")}
    chapters = {code: (parent[code], parent[parent[code]]) for code in parent if parent.get(parent.get(code, ""))}
    leaves = sorted(code for code, (category, _) in chapters.items() if len(category) == 3 and "." in code)
    categories = Hierarchy.from_rows([(code, chapters[code][0], "*") for code in leaves])
    assert min(agreements(of_codes(leaves), categories)) >= 0.99

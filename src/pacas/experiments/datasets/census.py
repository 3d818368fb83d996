"""Census: the KDD Census-Income survey, and Adult.

Paper: §7, φ3 and φ4; quasi-identifiers sex, age, race and native country.

- The survey has no years of schooling. `education_num` is added with Adult's coding, so φ3 holds by construction.
- Nearly all wages are 0 and those paid by the hour differ within [age, industry, occupation]. φ4's left side is widened
  by `member_of_labor_union`, which tells who was asked about wages at all; the rest is settled by majority.
- Adult, where φ3 holds as it is, has one dependency only.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.builders import intervals
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.experiments.datasets.curation import CuratedTable
from pacas.experiments.datasets.dataset import Dataset, curated
from pacas.formats.relations.relations import read_relation

WAGES = (50, 250, 1000, 3000)
"""Widths of wage intervals, in cents an hour."""

CENSUS_FDS = FunctionalDependency.parse_all(
    [
        "age, education_num -> education",
        "age, detailed_industry_recode, detailed_occupation_recode, member_of_labor_union -> wage_per_hour",
    ]
)
ADULT_FDS = FunctionalDependency.parse_all(["age, education-num -> education"])
LARGEST_CLASS = 10_000
"""Above the survey's largest class, 5,001 children of one age."""

_SCHOOLING = (
    # the survey's word, Adult's word, and what they generalize to
    ("Children", None, "below school age", "below school age", "elementary"),
    ("Less than 1st grade", "Preschool", "before grade 1", "up to grade 4", "elementary"),
    ("1st 2nd 3rd or 4th grade", "1st-4th", "grades 1-4", "up to grade 4", "elementary"),
    ("5th or 6th grade", "5th-6th", "grades 5-6", "grades 5-6", "elementary"),
    ("7th and 8th grade", "7th-8th", "grades 7-8", "grades 7-8", "elementary"),
    ("9th grade", "9th", "grades 9-10", "grades 9-10", "secondary"),
    ("10th grade", "10th", "grades 9-10", "grades 9-10", "secondary"),
    ("11th grade", "11th", "grades 11-12", "grades 11-12", "secondary"),
    ("12th grade no diploma", "12th", "grades 11-12", "grades 11-12", "secondary"),
    ("High school graduate", "HS-grad", "diploma", "diploma", "secondary"),
    ("Some college but no degree", "Some-college", "college, no degree", "college, no degree", "higher"),
    ("Associates degree-occup /vocational", "Assoc-voc", "associate", "associate", "higher"),
    ("Associates degree-academic program", "Assoc-acdm", "associate", "associate", "higher"),
    ("Bachelors degree(BA AB BS)", "Bachelors", "bachelor", "bachelor", "higher"),
    ("Masters degree(MA MS MEng MEd MSW MBA)", "Masters", "master", "graduate", "higher"),
    ("Prof school degree (MD DDS DVM LLB JD)", "Prof-school", "doctor", "graduate", "higher"),
    ("Doctorate degree(PhD EdD)", "Doctorate", "doctor", "graduate", "higher"),
)
SURVEY_WORDS = tuple(row[0] for row in _SCHOOLING)
"""Education in the survey's words; the position is the number of Adult's coding, 0 for children."""


def education(*, adult: bool = False) -> Hierarchy:
    """Schooling in five levels: the degree, its kind, its stage, the school; 17 values, or Adult's 16."""
    words = [(row[1] if adult else row[0], *row[2:], ROOT) for row in _SCHOOLING]
    return Hierarchy.from_rows([[str(label) for label in row] for row in words if row[0] is not None])


def load_census(data: Path, rows: int | None, seed: int) -> Dataset:
    """The survey: 299,285 people, of whose 42 columns the weight and the income class are left out."""
    raw = read_relation(data / "census" / "census_income_kdd.csv.gz").table
    raw = raw.drop_columns(["id", "split", "instance_weight", "income"])
    wages = [str(wage) for wage in pc.unique(raw["wage_per_hour"]).to_pylist()]
    bench = CuratedTable(raw)
    bench.draw(rows, seed)
    bench.add("education_num", _rank(bench.table["education"]))
    hierarchies = {"education": education(), "wage_per_hour": intervals(wages, widths=WAGES)}
    identifying = ("sex", "age", "race", "country_of_birth_self")
    source = "KDD Census-Income 1994/95 (UCI)"
    return curated("census", bench, CENSUS_FDS, hierarchies, identifying, source, LARGEST_CLASS)


def load_adult(data: Path, rows: int | None, seed: int) -> Dataset:
    """Adult: 32,561 people, with years of schooling."""
    bench = CuratedTable(read_relation(data / "adult" / "adult_full.csv.gz").table)
    bench.draw(rows, seed)
    hierarchies = {"education": education(adult=True)}
    identifying = ("sex", "age", "race", "native-country")
    source = "Adult (UCI)"
    return curated("adult", bench, ADULT_FDS, hierarchies, identifying, source)


def _rank(column: pa.ChunkedArray) -> pa.Array:
    """Years of schooling by Adult's coding, from the survey's words."""
    ranks = pa.array([str(rank) for rank in range(len(SURVEY_WORDS))])
    return ranks.take(pc.index_in(column.combine_chunks(), value_set=pa.array(SURVEY_WORDS)))

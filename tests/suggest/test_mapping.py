"""Which column is which: names, values and formats, on real tables whose client writes everything another way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

import pacas
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.mapping.column_mapping import map_columns, map_names
from pacas.suggest.mapping.column_names import name_similarity
from pacas.suggest.mapping.normal_value import normal_value
from pacas.suggest.mapping.sketch import ValueSketch, value_overlap

Columns = Mapping[str, ProfiledColumn]


def coded(table: Mapping[str, list[str | None]] | pa.Table) -> Columns:
    relation = Relation(pa.table(dict(table)) if isinstance(table, Mapping) else table)
    return CodedTable.read(DuckEngine(), relation).columns


def us_date(value: str) -> str:
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d).*", value)
    return f"{int(found[2])}/{int(found[3])}/{found[1]}" if found else value


def phone(value: str) -> str:
    return f"({value[:3]}) {value[3:6]}-{value[6:]}"


RENAMED: dict[str, dict[str, tuple[str, Callable[[str], str]]]] = {
    "food/nyc_restaurant_inspections_2016.csv.gz": {
        "camis": ("RestaurantNo", str),
        "dba": ("NAME", str.title),
        "boro": ("Borough", str.title),
        "building": ("House number", str),
        "street": ("St.", str.title),
        "zipcode": ("Postcode", str),
        "phone": ("Tel", phone),
        "inspection_date": ("DateInspected", us_date),
        "action": ("ACTION_TAKEN", str.upper),
        "violation_code": ("ViolCd", str),
        "score": ("points", lambda v: f"{v}.0"),
        "grade": ("grade", str.lower),
        "grade_date": ("graded on", us_date),
        "record_date": ("recorded", us_date),
        "inspection_type": ("kind_of_inspection", str.upper),
        "cuisine_code": ("cuisine_no", lambda v: v.zfill(3)),
        "critical_flag": ("is_critical", str.upper),
        "violation_description": ("viol_desc", str.lower),
        "cuisine_description": ("Cuisine", str.upper),
        "address": ("addr", str.title),
    },
    "adult/adult_full.csv.gz": {
        "age": ("years_of_age", lambda v: f"{v} yrs"),
        "workclass": ("class of worker", str.upper),
        "fnlwgt": ("final_wgt", str),
        "education": ("Edu", str.lower),
        "education-num": ("EduNum", str),
        "marital-status": ("MaritalStatus", str.upper),
        "occupation": ("job", lambda v: v.replace("-", " ")),
        "relationship": ("relation", str.upper),
        "race": ("RACE", str.upper),
        "sex": ("gender", str.lower),
        "capital-gain": ("cap_gain", lambda v: f"${v}"),
        "capital-loss": ("cap_loss", lambda v: f"${v}"),
        "hours-per-week": ("weekly hours", str),
        "native-country": ("country of birth", lambda v: v.replace("-", " ")),
        "salary-class": ("income", str),
    },
    "clinical/covid_trials_primary.csv.gz": {
        "id": ("ROW_ID", str),
        "nct_id": ("trial", str.lower),
        "country": ("ctry", str.upper),
        "gender": ("Sex", str.upper),
        "source": ("sponsor", str.title),
        "age": ("eligible_age", str.lower),
        "age_group": ("AgeGroup", str.upper),
        "overall_status": ("status", str.upper),
        "phase": ("Phase of trial", str),
        "study_type": ("type", str.upper),
        "funded_by": ("funding", str.lower),
        "measure": ("outcome_measure", str.lower),
        "enrollment": ("enrolled", lambda v: f"{v} patients"),
        "start_date": ("StartDate", str.upper),
        "completion_date": ("end_date", str.upper),
        "intervention_type": ("intervention", str.upper),
        "drug_name": ("drug", str.upper),
        "atc_drug": ("atc", str.upper),
        "condition": ("disease", str.lower),
    },
}


@pytest.mark.parametrize("file", RENAMED)
def test_columns_of_real_tables_are_found_under_other_names_in_other_formats_by_half_the_rows(
    shared_data: Path, file: str
) -> None:
    table = pacas.read_relation(shared_data / file).table.slice(0, 12_000)
    odd, even = (table.take(list(range(first, len(table), 2))) for first in (1, 0))
    renamed = RENAMED[file]
    ours = {
        new: [None if v is None else how(v) for v in odd[old].to_pylist()]
        for old, (new, how) in reversed(renamed.items())
    }
    found = {one.client: one.provider for one in map_columns(coded(ours), coded(even))}
    assert {new: found.get(new) for new, _ in renamed.values()} == {new: old for old, (new, _) in renamed.items()}


def test_a_column_in_another_format_is_found_and_said_to_be_written_otherwise() -> None:
    theirs = coded({"DEPARTS": ["07:10", "19:30", "12:05", "00:15"], "GATE": ["A1", "B2", "C3", "D4"]})
    ours = coded({"gate": ["A1", "B2", "D4"], "dep_time": ["7:10 a.m.", "7:30 p.m.", "12:05 p.m."]})
    found = {one.client: one for one in map_columns(ours, theirs)}
    assert found["dep_time"].provider == "DEPARTS"
    assert not found["dep_time"].is_written_alike
    assert found["gate"].is_written_alike


def test_columns_with_nothing_in_common_are_not_mapped() -> None:
    theirs = coded({"MED": ["ibuprofen", "dolex", "tylenol"]})
    assert map_columns(coded({"zip": ["10451", "10452", "10453"]}), theirs) == []
    assert map_names(["zip", "street"], ["MED", "AGE"]) == []


def test_each_column_is_mapped_at_most_once_and_its_own_name_wins() -> None:
    found = {one.client: one.provider for one in map_names(["zip", "postcode", "city"], ["postcode", "zip"])}
    assert found == {"zip": "zip", "postcode": "postcode"}


def test_empty_columns_are_mapped_by_name_alone() -> None:
    none: list[str | None] = [None, None]
    found = map_columns(coded({"zip": none, "b": ["1", "2"]}), coded({"ZIP": none, "c": ["x", "y"]}))
    assert [(one.client, one.provider) for one in found] == [("zip", "ZIP")]


@pytest.mark.parametrize(
    ("a", "b"),
    [("ZipCode", "postcode"), ("dob", "Date of birth"), ("prov_addr", "ProviderAddress"), ("tel_no", "PHONE NUMBER")],
)
def test_short_forms_and_synonyms_are_one(a: str, b: str) -> None:
    assert name_similarity(a, b) > 0.9


@pytest.mark.parametrize(
    ("a", "b"), [("age", "wage"), ("sex", "tax"), ("street", "state"), ("capital-gain", "capital-loss")]
)
def test_names_that_look_alike_are_not_one(a: str, b: str) -> None:
    assert name_similarity(a, b) < 0.75


texts = st.lists(st.text(max_size=6), max_size=30, unique=True)


@given(texts, texts)
@examples(100)
def test_sketches_that_hold_everything_agree_with_the_values(a: list[str], b: list[str]) -> None:
    kept_a, kept_b = ([v for v in values if v] for values in (a, b))
    common = {*kept_a} & {*kept_b}
    told = value_overlap(ValueSketch.of(a, [1] * len(a)), ValueSketch.of(b, [1] * len(b)))
    if not kept_a or not kept_b:
        assert told == 0
        return
    by_rows = len(common) / max(len(kept_a), len(kept_b))
    assert told == pytest.approx(0.7 * by_rows + 0.3 * len(common) / min(len(kept_a), len(kept_b)))


def test_sketches_of_many_values_tell_about_how_far_they_overlap() -> None:
    a, b = ([f"value {i}" for i in range(first, first + 20_000)] for first in (0, 10_000))
    told = value_overlap(ValueSketch.of(a, [1] * len(a)), ValueSketch.of(b, [1] * len(b)))
    assert told == pytest.approx(0.5, abs=0.06)


@given(st.text(max_size=12))
@examples(100)
def test_any_text_has_a_normal_form_which_is_its_own(text: str) -> None:
    assert isinstance(normal_value(text), str)
    assert normal_value(f" {text} ") == normal_value(text)

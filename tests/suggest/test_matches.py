"""By which columns an attribute is found: what a match tells and answers, counted literally, and what is chosen."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.matches import answering
from pacas.suggest.matches.answering import AskingRows
from pacas.suggest.matches.match_columns import suggest_matches

ENGINE = DuckEngine(threads=1)
Table = Mapping[str, Sequence[str | None]]


def coded(table: Table) -> CodedTable:
    return CodedTable.read(ENGINE, Relation(pa.table({name: pa.array(v, pa.string()) for name, v in table.items()})))


def literal(provider: Table, client: Table, columns: Sequence[str]) -> tuple[float, float, int, int]:
    """What a match would do, row by row."""
    groups: dict[tuple[str | None, ...], list[str | None]] = defaultdict(list)
    for key, value in zip(zip(*(provider[c] for c in columns), strict=True), provider["A"], strict=True):
        if None not in key:
            groups[key].append(value)
    sure = {key for key, values in groups.items() if len({*values}) == 1}
    asked = list(zip(*(client[c] for c in columns), strict=True))
    tells = len(sure) / len(groups) if groups else 1.0
    return tells, sum(key in sure for key in asked) / len(asked), len(groups), max(map(len, groups.values()), default=0)


values = st.sampled_from([None, "a", "b", "c", "d"])
tables = st.lists(st.tuples(values, values, values), min_size=1, max_size=14).map(
    lambda rows: dict(zip(("A", "B", "C"), map(list, zip(*rows, strict=True)), strict=True))
)


@given(tables, tables, st.sampled_from([("B",), ("C",), ("B", "C")]))
@examples(200)
def test_what_a_match_tells_and_answers_is_counted_as_it_is_defined(
    provider: Table, client: Table, columns: tuple[str, ...]
) -> None:
    same = {name: name for name in client}
    found = AskingRows.of(coded(provider), coded(client), same).judged("A", columns)
    assert (found.tells, found.answers, found.groups, found.largest) == literal(provider, client, columns)


def made(rows: int = 400) -> dict[str, list[str]]:
    """Patients: a ZIP has one city, a drug and a dose together have one form."""
    drawn = random.Random(3)
    some = [str(zip_) for zip_ in range(10_000, 10_040)]
    zips, drugs, doses = ([drawn.choice(texts) for _ in range(rows)] for texts in (some, "abcdefgh", "123"))
    return {
        "ID": [f"p{i}" for i in range(rows)],
        "ZIP": zips,
        "CITY": [f"city {int(zip_) % 13}" for zip_ in zips],
        "DRUG": drugs,
        "DOSE": doses,
        "FORM": [f"form {(ord(drug) * 3 + int(dose)) % 11}" for drug, dose in zip(drugs, doses, strict=True)],
    }


def test_what_is_shared_goes_before_who_it_is() -> None:
    (first, second, *_) = suggest_matches(AskingRows.own(coded(made())), "CITY")
    assert (first.columns, first.tells, first.identifies) == (("ZIP",), 1.0, False)
    assert (second.columns, second.identifies) == (("ID",), True)


def test_two_columns_are_taken_where_none_tells_alone() -> None:
    (first, *_) = suggest_matches(AskingRows.own(coded(made())), "FORM", ["DRUG", "DOSE", "CITY"])
    assert first.columns == ("DRUG", "DOSE")


def test_nothing_is_suggested_for_what_no_columns_tell() -> None:
    assert suggest_matches(AskingRows.own(coded(made())), "DRUG", ["ZIP", "DOSE"]) == []


def test_a_client_who_does_not_have_the_best_column_is_asked_by_another() -> None:
    table = made()
    client = coded({"city": table["CITY"], "plz": table["ZIP"], "who": [f"x{i}" for i in range(400)]})
    rows = AskingRows.of(coded(table), client, {"plz": "ZIP", "city": "CITY", "who": "ID"})
    assert [one.columns for one in suggest_matches(rows, "CITY")] == [("ZIP",)]


def test_many_rows_are_looked_at_by_whole_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = AskingRows.own(coded(made()))
    exact = rows.judged("CITY", ["ZIP", "DOSE"])
    monkeypatch.setattr(answering, "SOME_ROWS", 100)
    guessed = rows.guessed("CITY", ["ZIP", "DOSE"])
    assert guessed.groups < exact.groups
    assert (guessed.tells, guessed.answers) == (exact.tells, exact.answers) == (1.0, 1.0)
    assert suggest_matches(rows, "CITY")[0].columns == ("ZIP",)

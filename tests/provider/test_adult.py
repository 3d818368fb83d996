"""The linter and the meter on the Adult table: people found by a number each, in groups of sex, race and age."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.hierarchy_files import read_hierarchy
from pacas.provider.leak.meter import LeakMeter
from pacas.provider.lint.lint import lint_provider
from pacas.provider.quoter.declared import DeclaredDependency, Sealing

ENGINE = DuckEngine(threads=1)
PUBLIC = ("age", "fnlwgt", "race", "sex")
SOLD = ("education", "education-num", "occupation", "workclass")
EDUCATION = FunctionalDependency(("education-num",), "education")

People = tuple[pacas.Relation, Path]


@pytest.fixture(scope="module")
def people(shared_data: Path) -> People:
    """The rows without a question mark, numbered; and where the hierarchies are."""
    with gzip.open(shared_data / "adult" / "adult_full.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream, delimiter=";")
    known = [row for row in rows if "?" not in row]
    columns = dict(zip(header, map(list, zip(*known, strict=True)), strict=True))
    relation = pacas.Relation.of(columns | {"ID": [str(i) for i in range(len(known))]})
    return relation, shared_data / "adult" / "hierarchies"


def provider(people: People, sold: Sequence[str], protected: dict[str, int], sealing: Sealing | None) -> pacas.Provider:
    relation, folder = people
    return pacas.Provider(
        relation,
        match={attribute: "ID = ID" for attribute in sold},
        policies=[
            pacas.Policy(("sex", "race", "age"), (a,), {a: level}, 2 if level else 3, True)
            for a, level in protected.items()
        ],
        hierarchies={a: read_hierarchy(folder / f"adult_full_hierarchy_{a}.csv") for a in {*sold, *protected}},
        total=100_000,
        engine=ENGINE,
        **({"support": pacas.Generated()} if sealing is None else {"sealing": sealing}),
    )


def meter(people: People, sealing: Sealing | None) -> LeakMeter:
    return LeakMeter(provider(people, SOLD, {"education": 0}, sealing), ENGINE, people[0])


def test_sealed_quotes_tell_next_to_nothing_and_the_papers_do(people: People) -> None:
    sealed, paper = meter(people, Sealing()), meter(people, None)
    assert max(sealed.measured(attribute).guessed.interval[0] for attribute in SOLD) <= 0.01
    assert all(one.guessed.interval == (0, 0) for one in sealed.attributes())
    assert max(one.guessed.interval[0] for one in paper.attributes()) > 0.3


def test_no_group_is_broken_through_a_declared_dependency_and_many_through_an_undeclared_one(people: People) -> None:
    pairs = sorted(set(zip(*(people[0].table[a].to_pylist() for a in EDUCATION.attributes), strict=True)))
    lines = tuple(dict(zip(EDUCATION.attributes, pair, strict=True)) for pair in pairs)
    (loose,) = meter(people, Sealing()).dependencies()
    (tied,) = meter(people, Sealing([DeclaredDependency(EDUCATION, lines)])).dependencies()
    assert (loose.dependency.fd, loose.dependency.is_declared) == (EDUCATION, False)
    assert (tied.dependency.fd, tied.dependency.is_declared) == (EDUCATION, True)
    assert loose.broken is not None and loose.broken > 100 and tied.broken == 0


def test_of_all_columns_that_are_sold_those_are_found_that_tell_and_no_others(people: People) -> None:
    """Which level of marriage is nearly told by who somebody is to the family; all else follows from nothing."""
    sold = [a for a in people[0].columns if a not in (*PUBLIC, "ID")]
    protected = {"education": 0, "marital-status": 1, "occupation": 0, "native-country": 0}
    findings = lint_provider(provider(people, sold, protected, Sealing()), ENGINE, people[0])
    told = [finding for finding in findings if finding.rule == "told-by"]
    assert [(one.severity, one.attribute, one.people) for one in told] == [
        ("error", "education", 30_162),
        ("warning", "marital-status", 29_945),
    ]
    assert '"education-num -> education"' in told[0].remedy and told[1].says.startswith("relationship (sold)")

"""`pacas clean` by weighing, on a handful of rows: what is free, what is bought, what asks for the paper's client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CLEAN = ("clean", "client.toml", "--provider", "provider.toml", "--budget")

FAMILIES = {
    "health": "nurse surgeon pharmacist",
    "transport": "pilot driver dispatcher",
    "other": "welder teacher baker",
}
TRUTH = ["nurse"] * 3 + ["pilot"] * 3 + ["teacher"]
GIVEN = ["nurse", "nurse", "welder", "pilot", "driver", "surgeon", "teacher"]
EMPLOYED = ["clinic,B"] * 3 + ["airline,C"] * 3 + ["school,A"]
"""Employer and grade: what should tell the occupation."""


@pytest.fixture(autouse=True)
def register(folder: Path) -> None:
    """An insurer's table, and a register that sells the families of occupations."""
    write(folder)


def write(folder: Path, further: tuple[str, ...] = ()) -> None:
    """The two tables; `further` people have an employer of their own each, and are right."""
    employers = [*EMPLOYED, *(f"{one}'s,A" for one in further)]
    lines = [f"p{i},{e},{o}" for i, (e, o) in enumerate(zip(employers, [*GIVEN, *further], strict=True))]
    (folder / "client.csv").write_text("\n".join(["person,employer,grade,occupation", *lines, ""]))
    lines = [f"p{i},{o}" for i, o in enumerate([*TRUTH, *further])]
    (folder / "sp.csv").write_text("\n".join(["person,occupation", *lines, ""]))
    chains = [f"{one};{family};*" for family, those in FAMILIES.items() for one in those.split()]
    (folder / "occupations.csv").write_text("\n".join([*chains, ""]))
    (folder / "client.toml").write_text('data = "client.csv"\nfds = ["employer, grade -> occupation"]\n')
    (folder / "provider.toml").write_text(f"""
[relation]
data = "sp.csv"
[hierarchies]
occupation = "occupations.csv"
[match]
occupation = "person = person"
[[policy]]
x = ["person"]
y = ["occupation"]
k = 3
[pricing]
total = {len(employers)}
""")


def occupations(folder: Path) -> list[str]:
    return [line.split(",")[-1] for line in (folder / "client.clean.csv").read_text().splitlines()[1:]]


def test_own_evidence_comes_first_and_money_goes_where_it_does_not_suffice(pacas: Any, folder: Path) -> None:
    result = pacas(*CLEAN, "0.5")
    assert result.code == 0 and result.lines == [
        "violations      5 → 1",
        "spent           0.5 of 0.5 credits",
        "repaired        1 cell by own evidence, 1 cell by what was bought",
        "a free vote     would have changed 3 cells",
        "expected error  7.2 bits with no money, 0.8 now",
        "doubtful        2 cells left, 0 cells changed; --doubtful lists them",
        "unrepaired      1 class",
        "",
        "attribute   level  bought  cells changed  spent",
        "occupation      1       1              1    0.5",
        "",
        "unrepaired  reason    classes  cells",
        "occupation  in_doubt        1      3",
        "",
        "client.clean.csv written; client.clean.csv.journal is the record of what was bought.",
    ]
    assert occupations(folder) == ["nurse"] * 3 + ["pilot", "driver", "transport", "teacher"]


def test_without_money_it_repairs_what_own_evidence_settles_and_the_papers_client_does_nothing(
    pacas: Any, folder: Path
) -> None:
    found = pacas(*CLEAN, "0", "--json").document
    assert found["purchases"] == [] and found["weighing"]["free"] == 1
    assert occupations(folder) == ["nurse"] * 3 + GIVEN[3:]
    pacas(*CLEAN, "0", "--strategy", "paper")
    assert occupations(folder) == GIVEN


@pytest.mark.parametrize(
    "choice", [("--repair", "refine"), ("--allocation", "uniform"), ("--prefer", "coarsest"), ("--rounds", "2")]
)
def test_to_name_a_choice_of_the_papers_is_to_ask_for_its_strategy(pacas: Any, choice: tuple[str, str]) -> None:
    assert "weighing" not in pacas(*CLEAN, "0.5", *choice, "--json").document
    assert "only the paper's strategy has it" in pacas(*CLEAN, "0.5", *choice, "--strategy", "weigh").complaint


def test_a_dry_run_tells_what_is_free_what_is_bought_and_what_that_brings(pacas: Any) -> None:
    told = "It would repair 1 cell by own evidence, and buy 1 value for about 0.5 of 0.5 credits."
    assert told in pacas(*CLEAN, "0.5", "--dry-run").lines
    *_, brings, nothing = pacas(*CLEAN, "2", "--dry-run").lines
    assert brings.startswith("Expected error: 7.2 bits with no money, ") and brings.endswith(" after all.")
    assert " after 0.5 credits, from where on a credit brings less, " in brings
    assert nothing.startswith("Nothing was paid.")


def test_the_report_says_what_was_free_and_marks_what_is_not_sure(pacas: Any, folder: Path) -> None:
    write(folder, further=("driver",))
    pacas(*CLEAN, "0.5", "--report", "report.html")
    page = (folder / "report.html").read_text()
    assert "<dt>Cells written</dt><dd>3<small>1 of them by own evidence, for nothing</small>" in page
    assert "<dt>Doubtful cells</dt><dd>3<small>2 of them written</small>" in page
    assert '"flag":"033"' in page and "A free vote alone would have changed" in page

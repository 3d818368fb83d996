"""`pacas clean` as it is by default: a client that weighs (D14), and how it ends (D15)."""

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
    result = pacas(*CLEAN, "2")
    assert result.code == 0 and result.lines == [
        "violations      5 → 1",
        "spent           0.5 of 2 credits",
        "repaired        1 cell by own evidence, 1 cell by what was bought",
        "a free vote     would have changed 3 cells",
        "expected error  7.2 bits with no money, 0.9 now",
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


def test_the_json_tells_what_was_weighed(pacas: Any) -> None:
    found = pacas(*CLEAN, "2", "--json").document["weighing"]
    assert (found["careful"], found["free"], found["paid"], found["vote"]) == (0.9, 1, 1, 3)
    assert [point["spent"] for point in found["expected"]] == [0, 0.5]
    assert found["expected"][0]["error"] > found["expected"][1]["error"] and found["knee"] is None
    (rates,) = found["rates"]
    assert rates["fd"] == "employer, grade -> occupation" and {"wrong", "overwritten", "misplaced"} < set(rates)
    assert [(c["row"], c["value"], c["guess"], c["written"]) for c in found["doubtful"]] == [
        (3, "pilot", "transport", False),
        (4, "driver", "transport", False),
    ]


def test_without_money_it_repairs_what_own_evidence_settles_and_the_papers_client_does_nothing(
    pacas: Any, folder: Path
) -> None:
    found = pacas(*CLEAN, "0", "--json").document
    assert found["purchases"] == [] and found["weighing"]["free"] == 1
    assert occupations(folder) == ["nurse"] * 3 + GIVEN[3:]
    pacas(*CLEAN, "0", "--strategy", "paper")
    assert occupations(folder) == GIVEN


def test_careful_is_the_least_probability_of_a_free_repair(pacas: Any, folder: Path) -> None:
    assert pacas(*CLEAN, "0", "--careful", "0.99", "--json").document["weighing"]["free"] == 0
    assert occupations(folder) == GIVEN


@pytest.mark.parametrize(
    "choice", [("--repair", "refine"), ("--allocation", "uniform"), ("--prefer", "coarsest"), ("--rounds", "2")]
)
def test_to_name_a_choice_of_the_papers_is_to_ask_for_its_strategy(pacas: Any, choice: tuple[str, str]) -> None:
    assert "weighing" not in pacas(*CLEAN, "2", *choice, "--json").document
    assert "only the paper's strategy has it" in pacas(*CLEAN, "2", *choice, "--strategy", "weigh").complaint


def test_doubtful_cells_are_listed_in_a_file(pacas: Any, folder: Path) -> None:
    pacas(*CLEAN, "2", "--doubtful", "cells.csv")
    head, *cells = (folder / "cells.csv").read_text().splitlines()
    assert head == "row,attribute,value,guess,sure,written"
    assert [cell.split(",")[:4] for cell in cells] == [
        ["3", "occupation", "pilot", "transport"],
        ["4", "occupation", "driver", "transport"],
    ]


def test_if_more_than_a_tenth_of_what_was_written_is_doubtful_it_ends_with_3(pacas: Any, folder: Path) -> None:
    write(folder, further=("driver",))  # where somebody else is a driver, that is the likelier one; but not sure
    result = pacas(*CLEAN, "2", "--json")
    assert result.code == 3
    found = [cell for cell in result.document["weighing"]["doubtful"] if cell["written"]]
    assert [(c["guess"], c["sure"] < 0.9) for c in found] == [("driver", True)] * 2
    assert occupations(folder)[3:6] == ["driver"] * 3
    assert pacas(*CLEAN, "2", "--dry-run").code == 0


def test_a_dry_run_tells_what_is_free_what_is_bought_and_what_that_brings(pacas: Any) -> None:
    lines = pacas(*CLEAN, "2", "--dry-run").lines
    assert lines[-3:] == [
        "It would repair 1 cell by own evidence, and buy 2 values for about 1 of 2 credits.",
        "Expected error: 7.2 bits with no money, 1.1 after 0.5 credits, "
        "from where on a credit brings less, 0.0 after all.",
        "Nothing was paid. Prices are those of now; with each purchase later ones may fall, or be refused.",
    ]


def test_the_explanations_of_a_cell_are_told_with_their_weights(pacas: Any) -> None:
    lines = pacas(*CLEAN, "2", "--explain", "2", "occupation").lines
    at = lines.index("row 2, occupation: 'welder' was given, 'nurse' stands there now")
    assert lines[at + 1].endswith(
        "it is wrong, and should be 'nurse', as 2 other cells in its group of 3 by employer, grade"
    )
    weights = [float(line.split("%")[0]) for line in lines[at + 1 :] if "%" in line]
    assert weights == sorted(weights, reverse=True) and sum(weights) == pytest.approx(100, abs=2)
    assert "written: 'nurse', by the client's own evidence; nothing was bought for it" in lines


def test_the_report_says_what_was_free_and_marks_what_is_not_sure(pacas: Any, folder: Path) -> None:
    write(folder, further=("driver",))
    pacas(*CLEAN, "2", "--report", "report.html")
    page = (folder / "report.html").read_text()
    assert "<dt>Cells written</dt><dd>3<small>1 of them by own evidence, for nothing</small>" in page
    assert "<dt>Doubtful cells</dt><dd>2<small>2 of them written</small>" in page
    assert '"flag":"033"' in page and "A free vote alone would have changed" in page

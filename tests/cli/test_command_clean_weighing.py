"""`pacas clean` by a client that weighs: what it says, what it writes beside the table, and how it ends."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from pacas.storage.sqlite.ledger import SqliteLedger

CLEAN = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "5")
TREE = {"a": ("a1", "a2", "a3"), "b": ("b1", "b2", "b3"), "c": ("c1", "c2", "c3")}
GROUND = [value for values in TREE.values() for value in values]
PROVIDER = """\
[relation]
data = "sp.csv"
[hierarchies]
B = "tree.csv"
[match]
B = "K = K"
[[policy]]
x = ["G"]
y = ["B"]
levels = { B = 1 }
k = 2
allow_linkage = true
[pricing]
total = 2.0
seed = 7
"""


@pytest.fixture(autouse=True)
def files(folder: Path) -> Path:
    """Twelve groups of six: in four one cell is wrong, in four half of them are."""
    sold, dirty = ["K,G,B"], ["K,H,B"]
    for group in range(12):
        right, other = GROUND[group % 9], GROUND[(group + 4) % 9]
        wrong = {0: 1, 1: 3, 2: 0}[group % 3]
        for place in range(6):
            row = group * 6 + place
            sold.append(f"k{row},g{row % 2},{right}")
            dirty.append(f"k{row},h{group},{other if place < wrong else right}")
    tree = [f"{value};{parent};*" for parent, values in TREE.items() for value in values]
    contents = {"sp.csv": sold, "client.csv": dirty, "tree.csv": tree, "provider.toml": [PROVIDER]}
    contents["client.toml"] = ['data = "client.csv"', 'fds = ["H -> B"]', "[hierarchies]", 'B = "tree.csv"']
    for name, lines in contents.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def paid(folder: Path) -> int:
    if not (folder / "provider.ledger.db").exists():
        return 0
    ledger = SqliteLedger(folder / "provider.ledger.db")
    found = sum(total.purchases for total in ledger.totals().values())
    ledger.close()
    return found


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---- JSON -----------------------------------------------------------------------------------------------------------


def test_the_json_tells_what_was_weighed(pacas: Any) -> None:
    result = pacas(*CLEAN, "--json")
    found = result.document
    weighing = found["weighing"]
    assert list(weighing) == ["careful", "free", "paid", "vote", "expected", "knee", "rates", "doubtful"]
    assert weighing["careful"] == 0.9 and weighing["free"] >= 0 and weighing["paid"] > 0
    assert weighing["vote"] > 0
    assert [rate["fd"] for rate in weighing["rates"]] == ["H -> B"]
    assert all(list(rate) == ["fd", "wrong", "overwritten", "misplaced", "mixed"] for rate in weighing["rates"])
    assert all(0 < rate["wrong"] < 1 and 0 < rate["overwritten"] < 1 for rate in weighing["rates"])
    assert all(list(point) == ["spent", "error"] for point in weighing["expected"])
    assert weighing["expected"][0]["spent"] == 0 and weighing["expected"][-1]["spent"] == found["spent"]
    assert weighing["knee"] is None or list(weighing["knee"]) == ["spent", "error"]
    assert all(list(cell) == ["row", "attribute", "value", "guess", "sure", "written"] for cell in weighing["doubtful"])
    assert found["purchases"] and found["violations_after"] < found["violations_before"]


def test_the_papers_client_weighs_nothing(pacas: Any) -> None:
    assert "weighing" not in pacas(*CLEAN, "--strategy", "paper", "--json").document


def test_with_no_money_own_evidence_is_all(pacas: Any, folder: Path) -> None:
    found = pacas(*CLEAN, "--budget", "0", "--json").document
    assert (found["spent"], found["purchases"], found["weighing"]["paid"]) == (0, [], 0)
    assert found["weighing"]["free"] == 4 and len(found["weighing"]["expected"]) == 1
    assert paid(folder) == 0


def test_with_the_truth_it_tells_and_draws_the_true_error_over_money(pacas: Any, folder: Path) -> None:
    sold = [line.split(",") for line in (folder / "sp.csv").read_text().splitlines()[1:]]
    (folder / "truth.csv").write_text("K,B\n" + "".join(f"{key},{value}\n" for key, _, value in sold))
    found = pacas(*CLEAN, "--json", "--truth", "truth.csv", "--report", "report.html").document
    true, expected = found["hindsight"]["true"], found["weighing"]["expected"]
    assert [point["spent"] for point in true] == [point["spent"] for point in expected]
    assert true[-1]["error"] == pytest.approx(found["repair_error"])
    assert found["hindsight"]["vote"]["wrong"] == found["score"]["wrong"]
    page = (folder / "report.html").read_text()
    assert page.count('class="curve dashed"') == 1 and "True error: from " in page
    assert "F1 " in page.split("A free vote alone would have changed")[1]


def test_for_people_it_says_what_was_free_and_what_a_vote_would_do(pacas: Any) -> None:
    lines = pacas(*CLEAN, "--budget", "0").lines
    assert "repaired        4 cells by own evidence, 0 cells by what was bought" in lines
    assert any(line.startswith("a free vote     would have changed ") for line in lines)
    assert any(line.startswith("expected error  ") and line.endswith(" now") for line in lines)
    doubtful = next(line for line in lines if line.startswith("doubtful  "))
    assert doubtful.endswith(" cells left, 0 cells changed; --doubtful lists them")


def test_who_is_more_careful_repairs_less_for_nothing(pacas: Any) -> None:
    free = [
        pacas(*CLEAN, "--budget", "0", "--careful", careful, "--json").document["weighing"]["free"]
        for careful in ("0.5", "0.9", "1")
    ]
    assert free[0] >= free[1] == 4 and free[2] == 0


# ---- doubts ---------------------------------------------------------------------------------------------------------


def test_doubtful_cells_are_listed_the_most_doubtful_first(pacas: Any, folder: Path) -> None:
    found = pacas(*CLEAN, "--budget", "0", "--doubtful", "cells.csv", "--json").document["weighing"]["doubtful"]
    listed = cells(folder / "cells.csv")
    assert len(listed) == len(found) > 12
    assert list(listed[0]) == ["row", "attribute", "value", "guess", "sure", "written"]
    assert [(int(c["row"]), c["attribute"], c["value"], c["guess"]) for c in listed] == [
        (c["row"], c["attribute"], c["value"], c["guess"]) for c in found
    ]
    assert [float(c["sure"]) for c in listed] == [pytest.approx(c["sure"], abs=1e-4) for c in found]
    assert {c["written"] for c in listed} == {"no"}
    assert [c["sure"] for c in found] == sorted(c["sure"] for c in found)


def test_changes_and_json_have_the_cells_to_look_at_written_or_left(pacas: Any, folder: Path) -> None:
    found = pacas(*CLEAN, "--careful", "0.6", "--changes", "changes.csv", "--json").document
    doubtful, look = found["weighing"]["doubtful"], found["to_look_at"]
    assert [(c["row"], c["guess"], c["look"] == "unsure") for c in look] == [
        (c["row"], c["guess"], c["written"]) for c in doubtful
    ]
    listed = cells(folder / "changes.csv")
    assert {(int(c["row"]), c["attribute"]) for c in listed if c["look"]} == {(c["row"], c["attribute"]) for c in look}
    assert all((c["old"] == c["new"]) == (c["look"] == "left") for c in listed)
    assert [int(c["row"]) for c in listed] == sorted(int(c["row"]) for c in listed)
    paid_for = [c for c in listed if c["price"]]
    assert paid_for and {c["why"] for c in paid_for} <= {"bought", "weighed"}
    assert {c["why"] for c in listed if not c["price"]} <= {"own_evidence", ""}


def test_the_list_of_doubts_can_be_asked_for_of_a_run_that_is_done(pacas: Any, folder: Path) -> None:
    first = pacas(*CLEAN, "--json").document
    before = paid(folder)
    again = pacas(*CLEAN, "--resume", "--doubtful", "cells.csv", "--json").document
    assert again == first and paid(folder) == before
    assert len(cells(folder / "cells.csv")) == len(first["weighing"]["doubtful"])


def test_it_ends_with_3_if_too_much_of_what_was_written_is_doubtful(pacas: Any, folder: Path) -> None:
    result = pacas(*CLEAN, "--careful", "1", "--json")
    weighing = result.document["weighing"]
    doubtful = sum(cell["written"] for cell in weighing["doubtful"])
    assert doubtful * 10 > weighing["free"] + weighing["paid"] > 0
    assert result.code == 3
    assert (folder / "client.clean.csv").exists(), "done and written"
    assert pacas(*CLEAN, "--careful", "1", "--resume").code == 3
    assert pacas(*CLEAN, "--careful", "1", "--dry-run").code == 0


def test_it_ends_with_0_if_little_is_doubtful(pacas: Any) -> None:
    result = pacas(*CLEAN, "--budget", "0", "--json")
    assert result.code == 0 and not any(cell["written"] for cell in result.document["weighing"]["doubtful"])


# ---- dry runs, reasons and the report -------------------------------------------------------------------------------


def test_a_dry_run_says_what_is_free_and_what_is_worth_buying(pacas: Any, folder: Path) -> None:
    lines = pacas(*CLEAN, "--dry-run").lines
    told = next(line for line in lines if line.startswith("It would repair "))
    assert "by own evidence, and buy " in told
    assert " of 5 credits." in " ".join(lines)
    assert lines[-1].startswith("Nothing was paid. ")
    assert paid(folder) == 0 and not (folder / "client.clean.csv").exists()
    found = pacas(*CLEAN, "--dry-run", "--json").document
    assert found["dry_run"] and {p["value"] for p in found["purchases"]} == {None}
    assert found["weighing"]["knee"] is None or 0 < found["weighing"]["knee"]["spent"] <= found["spent"]


def test_a_cell_is_explained_by_what_was_weighed(pacas: Any) -> None:
    lines = pacas(*CLEAN, "--budget", "0", "--explain", "0", "B").lines
    assert "row 0, B: 'b2' was given, 'a1' stands there now" in lines
    assert any("%: it is wrong, and should be 'a1', as 5 other cells in its group of 6 by H" in line for line in lines)
    assert "written: 'a1', by the client's own evidence; nothing was bought for it" in lines
    explanation = pacas(*CLEAN, "--budget", "0", "--explain", "0", "B", "--json").document["explanation"]
    weights = [one["weight"] for one in explanation["explanations"]]
    assert weights == sorted(weights, reverse=True) and sum(weights) == pytest.approx(1, abs=0.03)
    assert [step["why"] for step in explanation["steps"]] == ["own_evidence"]


def test_a_cell_that_was_bought_for_is_explained(pacas: Any) -> None:
    bought = pacas(*CLEAN, "--json").document["purchases"]
    rows = [row for purchase in bought if purchase["written"] for row in purchase["rows"]]
    told = [pacas(*CLEAN, "--resume", "--explain", str(row), "B", "--json").document["explanation"] for row in rows[:6]]
    steps = [step for explanation in told for step in explanation["steps"]]
    assert steps and {step["why"] for step in steps} <= {"bought", "weighed"}
    assert all(step["purchase"]["price"] > 0 for step in steps)


def test_the_report_has_the_doubtful_cells_and_what_was_weighed(pacas: Any, folder: Path) -> None:
    pacas(*CLEAN, "--budget", "0", "--report", "report.html")
    page = (folder / "report.html").read_text("utf-8")
    assert page.index("Doubtful cells") < page.index("What was weighed")
    assert "Error over money" in page
    pacas(*CLEAN, "--strategy", "paper", "--output", "other.csv", "--report", "paper.html")
    assert "Doubtful cells" not in (folder / "paper.html").read_text("utf-8")


# ---- what does not go together --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--strategy", "weigh", "--rounds", "2"), "rounds: only the paper's strategy has it"),
        (("--strategy", "weigh", "--repair", "refine", "--prefer", "finest"), "prefer, repair: only the paper's"),
        (("--strategy", "paper", "--careful", "0.9"), "careful: only the strategy that weighs has it"),
        (("--rounds", "2", "--careful", "0.9"), "careful: only the strategy that weighs has it"),
        (("--strategy", "vote"), "no strategy 'vote'"),
        (("--careful", "1.5"), "careful is a probability from 0 to 1, such as 0.9, not 1.5"),
        (("--careful", "nan"), "careful is a probability from 0 to 1"),
        (("--strategy", "paper", "--doubtful", "d.csv"), "--doubtful: only a client that weighs knows doubts"),
        (("--dry-run", "--doubtful", "d.csv"), "--doubtful lists what was written, and a dry run writes nothing"),
        (("--doubtful", "client.csv"), "client.csv is read by this run"),
        (("--doubtful", "client.toml"), "client.toml is read by this run; give another --doubtful"),
        (("--doubtful", "sp.csv"), "sp.csv is read by this run"),
        (("--output", "o.csv", "--doubtful", "o.csv"), "o.csv is written by this run; give another --doubtful"),
        (("--report", "r.html", "--doubtful", "r.html"), "r.html is written by this run"),
        (("--output", "o.csv", "--doubtful", "o.csv.journal"), "o.csv.journal is written by this run"),
        (("--doubtful", "nowhere/d.csv"), "nowhere/d.csv"),
        (("--doubtful", "d.xlsx"), "d.xlsx would hold CSV, whatever its name says; give it a name that ends in .csv"),
        (("--changes", "c.parquet"), "c.parquet would hold CSV"),
        (("--doubtful", "d.csv", "--changes", "d.csv"), "d.csv is written by this run; give another --changes"),
        (("--changes", "sp.csv"), "sp.csv is read by this run; give another --changes"),
        (("--dry-run", "--changes", "d.csv"), "--changes lists what was written, and a dry run writes nothing"),
    ],
)
def test_what_does_not_go_together_is_said_in_a_line(
    pacas: Any, folder: Path, options: tuple[str, ...], says: str
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert says in pacas(*CLEAN, *options).complaint
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

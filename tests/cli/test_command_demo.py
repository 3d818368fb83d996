"""`pacas demo`."""

from __future__ import annotations

import shlex
import tomllib
from math import log2
from pathlib import Path
from typing import Any

import pytest

from pacas import Quote, Refusal, check, example, read_hierarchy, read_relation
from pacas.cli.demo.exchange import sealed_provider
from pacas.cli.demo.files import COMMANDS, write_files
from pacas.cli.demo.large import FD, make_tables
from pacas.cli.demo.market import POLICY, paper_provider, possible, trade
from pacas.engine.duck.engine import DuckEngine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the files as they are written."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def test_the_json_has_the_example_s_numbers(pacas: Any) -> None:
    document = pacas("demo", "--json").document
    assert document["check"]["dependencies"] == [{"fd": "GEN, DIAG -> MED", "violations": 4, "groups": 2}]
    assert document["distance"] == {"E([31,60])": pytest.approx(log2(3) / 2), "δ(45,51)": pytest.approx(log2(3))}
    assert document["anonymity"] == [
        {"levels": {}, "k": 3, "holds": True},
        {"levels": {"MED": 1}, "k": 1, "holds": False},
    ]
    assert document["answers"] == [["female", "NSAID"], ["male", "acetaminophen"]]
    assert document["quotes"][4] == {
        "row": 4,
        "levels": [{"refused": "unsafe"}, {"refused": "unsafe"}, {"price": 0.4}, {"price": 0}],
    }
    assert [(p["value"], p["written"]) for p in document["cleaning"]["purchases"]] == [
        ("NSAID", "ibuprofen"),
        ("NSAID", "naproxen"),
    ]


def test_the_papers_quotes_tell_who_exchanged_medications_and_sealed_ones_do_not(pacas: Any) -> None:
    document = pacas("demo", "--json").document
    assert all(one["before"] != one["after"] for one in document["exchanged"]["paper"])
    assert all(one["before"] == one["after"] for one in document["exchanged"]["sealed"])
    quoted = document["synthetic"]["quotes"]
    assert quoted["sealed"]["changed"] == 0 and abs(quoted["sealed"]["leak"]) < 0.005
    assert quoted["paper"]["changed"] > 0.1 and quoted["paper"]["leak"] > 0.01


def test_at_sealed_quotes_the_same_client_buys_what_is_not_kept_back(pacas: Any) -> None:
    sealed = pacas("demo", "--json").document["sealed"]
    refused = [one["row"] for one in sealed["quotes"] if one["levels"][2] == {"refused": "unsafe"}]
    assert refused == [1] and sealed["cleaning"]["violations_after"] == 0
    assert [(p["value"], p["price"]) for p in sealed["cleaning"]["purchases"]] == [("ibuprofen", 0.9), ("tylenol", 0.9)]


def test_a_larger_table_is_cleaned_and_reported(pacas: Any, folder: Path) -> None:
    document = pacas("demo", "--report", "larger.html", "--json").document
    found = document["synthetic"]
    assert found["rows"] == 20_000 and found["violations_after"] < found["violations_before"] / 10
    assert 0 < found["spent"] <= found["budget"] and found["free"] > 0 and found["paid"] > 0
    left = found["wrong_cells"]
    assert left["before"] > 3 * left["vote"] and left["vote"] > left["no_money"] > 4 * left["bought"] > 0
    assert found["score"]["repair_error"] < found["score"]["repair_error_before"] / 10
    assert document["report"] == "larger.html"
    assert "a synthetic table of 20,000 rows" in (folder / "larger.html").read_text("utf-8")
    assert not (folder / "pacas-demo-report.html").exists()


def test_its_synthetic_table_follows_from_the_seed() -> None:
    one, again, other = make_tables(100), make_tables(100), make_tables(100, seed=8)
    assert one.dirty.table.equals(again.dirty.table) and one.truth.table.equals(again.truth.table)
    assert not one.dirty.table.equals(other.dirty.table)
    assert check(one.truth, [FD]).consistent and not check(one.dirty, [FD]).consistent


def test_what_is_said_of_refusals_is_what_the_provider_does() -> None:
    engine = DuckEngine()
    ladders = trade(paper_provider(example.provider, engine), engine).ladders
    for row, value in ((0, "ibuprofen"), (1, "ibuprofen"), (3, "naproxen"), (4, "tylenol")):
        for level, told in enumerate(ladders[row]):
            assert isinstance(told, Refusal) == (possible(value, level)[1] < POLICY.k), (row, level)


def test_for_people_it_walks_through_the_example(pacas: Any, folder: Path) -> None:
    result = pacas("demo")
    assert result.code == 0
    titles = [line.strip("─ ") for line in result.lines if line.endswith("──")]
    assert [title[:2] for title in titles] == [*(f"{n}." for n in range(1, 10)), "10"]
    assert all(len(line) <= 80 for line in result.lines)
    for shown in (
        "t7  female  32   pylorospasm     appaprtin",
        "g1  *    [31,60]  P*",
        "δ(45, 51) = 1.585",
        "└── intropes",
        "t5       unsafe    unsafe       0.4         0",
        "t5, level 1: acetaminophen leaves 2 medications possible: refused",
        "  bought   NSAID (level 1) for 0.7",
        "t2  male    79   osteoarthritis  ibuprofen",
        "Look at t5: its own quotes were others than t4's",
        "the paper's  m4       unsafe unsafe    0.4   unsafe    0.7    0.4",
        "sealed       m4          0.9   0.65    0.4      0.9   0.65    0.4",
        "  bought   tylenol (level 0) for 0.9",
        "by own evidence,",
        "a free majority vote  ",
        "300 credits spent  ",
        "pacas-demo-report.html written",
    ):
        assert shown in result.out
    assert (folder / "pacas-demo-report.html").exists()


def test_a_report_that_cannot_be_written_is_found_before_anything_else(pacas: Any) -> None:
    assert "there is no folder no" in pacas("demo", "--report", "no/report.html").complaint
    assert "a report is a page of HTML" in pacas("demo", "--report", "client.csv").complaint


def test_files_writes_what_the_example_holds(pacas: Any, folder: Path) -> None:
    result = pacas("demo", "--files", "new/deep", "--json")
    tables = ["client.csv", "sp.csv", "public.csv", "med.csv", "age.csv"]
    files = [*tables, "client.toml", "provider.toml", "paper.toml", "requests.jsonl", "ladders.jsonl"]
    assert result.document == {"folder": "new/deep", "files": files, "commands": list(COMMANDS)}
    made = folder / "new" / "deep"
    assert sorted(path.name for path in made.iterdir()) == sorted(files)
    for name, relation in (("client", example.client), ("sp", example.provider), ("public", example.public)):
        assert read_relation(made / f"{name}.csv").table.equals(relation.table)
    for name, hierarchy in (("med", example.med), ("age", example.age)):
        assert list(read_hierarchy(made / f"{name}.csv").rows()) == list(hierarchy.rows())


@pytest.mark.parametrize("name", ["provider.toml", "paper.toml"])
def test_its_provider_files_have_every_section(folder: Path, name: str) -> None:
    document = tomllib.loads((folder / name).read_text())
    assert set(document) == {"relation", "hierarchies", "match", "policy", "pricing"}
    assert document["match"] == {"MED": str(example.md)}
    (policy,) = document["policy"]
    assert set(policy) >= {"x", "y", "levels", "k"}
    assert len(example.med.at_level(policy["levels"]["MED"])) >= policy["k"], "a policy that can never hold"
    beyond = {clause.provider for clause in example.md.clauses} - set(policy["x"])
    assert bool(beyond) == policy.get("allow_linkage", False), "a buyer could single out a person"


@pytest.mark.parametrize(("name", "made"), [("provider.toml", sealed_provider), ("paper.toml", paper_provider)])
def test_its_provider_files_quote_as_the_demonstration_does(pacas: Any, name: str, made: Any) -> None:
    quoted = pacas("quote", name, "--requests", "ladders.jsonl", "--json").document["quotes"]
    engine = DuckEngine()
    tuples = {"GEN": ["male", "female", "female"], "AGE": ["51", "45", "67"]}
    ladders = made(example.provider, engine).quote_batch("MED", tuples)
    for said, ladder in zip(quoted, (ladders[row] for row in range(3)), strict=False):
        prices = [one.price / 10**9 if isinstance(one, Quote) else None for one in ladder]
        assert [level.get("price") for level in said["levels"]] == prices


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_to_try_works(pacas: Any, command: str) -> None:
    result = pacas(*shlex.split(command)[1:])
    assert result.code in (0, 1), "what cleans it is not in doubt about a tenth of what it writes"
    assert result.lines


def test_it_says_what_it_wrote_and_what_to_try(pacas: Any) -> None:
    lines = pacas("demo", "--files", "new").lines
    assert lines[0] == "In new:"
    assert "  provider.toml   the provider's relations, hierarchies, matching, policy and prices" in lines
    assert lines[-len(COMMANDS) :] == [f"  {command}" for command in COMMANDS]


def test_writing_again_is_fine_but_a_file_that_differs_is_kept(pacas: Any, folder: Path) -> None:
    assert pacas("demo", "--files", ".").code == 0
    (folder / "client.csv").write_text("mine\n")
    assert pacas("demo", "--files", ".").complaint == "client.csv is there already and differs; give another folder"
    assert (folder / "client.csv").read_text() == "mine\n"


def test_a_file_is_no_folder(pacas: Any) -> None:
    assert "cannot be written" in pacas("demo", "--files", "sp.csv").complaint
    assert "cannot be written" in pacas("demo", "--files", "sp.csv/below").complaint

"""`pacas demo`."""

from __future__ import annotations

import shlex
import tomllib
from math import log2
from pathlib import Path
from typing import Any

import pytest

from pacas import example, read_hierarchy, read_relation
from pacas.cli.demo_files import COMMANDS


def test_the_json_has_the_example_s_numbers(pacas: Any) -> None:
    document = pacas("demo", "--json").document
    assert document["check"]["dependencies"] == [{"fd": "GEN, DIAG -> MED", "violations": 4, "groups": 2}]
    assert document["distance"] == {"E([31,60])": pytest.approx(log2(3) / 2), "δ(45,51)": pytest.approx(log2(3))}
    assert document["anonymity"] == [
        {"levels": {}, "k": 3, "holds": True},
        {"levels": {"MED": 1}, "k": 1, "holds": False},
    ]
    assert document["answers"] == [["female", "NSAID"], ["male", "acetaminophen"]]


def test_for_people_it_walks_through_the_example(pacas: Any) -> None:
    result = pacas("demo")
    assert result.code == 0
    titles = [line.strip("─ ") for line in result.lines if line.endswith("──")]
    assert [title[:2] for title in titles] == ["1.", "2.", "3.", "4.", "5."]
    assert all(len(line) <= 120 for line in result.lines)
    for shown in (
        "t7  female  32   pylorospasm     appaprtin",
        "g1  *    [31,60]  P*",
        "δ(45, 51) = 1.585",
        "└── intropes",
    ):
        assert shown in result.out


def test_files_writes_what_the_example_holds(pacas: Any, folder: Path) -> None:
    result = pacas("demo", "--files", "new/deep", "--json")
    tables = ["client.csv", "sp.csv", "public.csv", "med.csv", "age.csv"]
    files = [*tables, "client.toml", "provider.toml", "requests.jsonl", "ladders.jsonl"]
    assert result.document == {"folder": "new/deep", "files": files, "commands": list(COMMANDS)}
    made = folder / "new" / "deep"
    assert sorted(path.name for path in made.iterdir()) == sorted(files)
    for name, relation in (("client", example.client), ("sp", example.provider), ("public", example.public)):
        assert read_relation(made / f"{name}.csv").table.equals(relation.table)
    for name, hierarchy in (("med", example.med), ("age", example.age)):
        assert list(read_hierarchy(made / f"{name}.csv").rows()) == list(hierarchy.rows())


def test_its_provider_file_has_every_section(folder: Path) -> None:
    document = tomllib.loads((folder / "provider.toml").read_text())
    assert set(document) == {"relation", "hierarchies", "match", "policy", "pricing"}
    assert document["match"] == {"MED": str(example.md)}
    (policy,) = document["policy"]
    assert set(policy) == {"x", "y", "levels", "k"}
    assert len(example.med.at_level(policy["levels"]["MED"])) >= policy["k"], "a policy that can never hold"
    assert {clause.client for clause in example.md.clauses} <= set(policy["x"]), "a buyer could single out a person"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_to_try_works(pacas: Any, command: str) -> None:
    result = pacas(*shlex.split(command)[1:])
    assert result.code in (0, 1)
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

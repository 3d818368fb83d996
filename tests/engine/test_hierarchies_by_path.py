"""Wherever Python takes hierarchies, it takes the files that they are in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pacas
from pacas import example

FDS = ["GEN, DIAG -> MED"]
QUERY = pacas.GeneralizedQuery.parse("MED:1", "DIAG = migraine")


def rows(trees: Any) -> dict[str, list[Any]]:
    return {attribute: list(tree.level_zero_rows()) for attribute, tree in trees.items()}


def sells(trees: Any) -> dict[str, list[Any]]:
    provider = pacas.Provider(example.provider, hierarchies=trees, match={"MED": "GEN = GEN, AGE = AGE"}, total=6)
    return rows({attribute: offer.hierarchy for attribute, offer in provider.catalogue().items()})


ASKED: dict[str, Callable[[Any], Any]] = {
    "Provider": sells,
    "SafeClean": lambda trees: rows(pacas.SafeClean(FDS, 1, hierarchies=trees).hierarchies),
    "check": lambda trees: pacas.check(example.client, FDS, trees).violations,
    "anonymity": lambda trees: pacas.anonymity(
        example.provider, pacas.Policy(("GEN",), ("MED",), {"MED": 1}, 2), trees
    ),
    "answer": lambda trees: pacas.answer(QUERY, {"relation": example.provider}, trees),
    "relation_distance": lambda trees: pacas.relation_distance(example.provider, example.provider, trees),
    "semantic_distance": lambda trees: pacas.semantic_distance(example.provider, "MED", trees["MED"]).between(
        ["dolex"], ["tylenol"]
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pacas.write_hierarchy(example.hierarchies["MED"], tmp_path / "med.csv")
    return tmp_path / "med.csv"


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("of", [str, Path])
def test_a_hierarchy_may_be_given_as_its_file(path: Path, ask: Callable[[Any], Any], of: Callable[[Path], Any]) -> None:
    assert ask({"MED": of(path)}) == ask({"MED": pacas.read_hierarchy(path)})


@pytest.mark.parametrize("ask", [sells, ASKED["SafeClean"], ASKED["check"]])
def test_what_is_neither_is_said(ask: Callable[[Any], Any]) -> None:
    with pytest.raises(
        pacas.InputError, match="the hierarchy of 'MED' must be a Hierarchy, or the file it is in, not list"
    ):
        ask({"MED": ["dolex"]})
    with pytest.raises(pacas.InputError, match=r"nowhere\.csv"):
        ask({"MED": "nowhere.csv"})

"""Circles of providers over the same people: who sells drugs and conditions, and what a buyer of all of them knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from threading import Lock
from typing import Any, NamedTuple

import pacas
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HouseError
from pacas.protocol.circle import CircleLine, CircleLines
from pacas.protocol.messages import Answer, Request
from pacas.provider.circle import Circle
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.quoter.declared import Sealing
from pacas.provider.quoter.public_view import Reserve

SECRET = b"a secret that all members have, and the house has not"
ATTRIBUTES = ("DRUG", "CONDITION")


class MemoryHouse:
    """A clearing house in this process, which may be away."""

    def __init__(self) -> None:
        self.kept: dict[str, CircleLines] = {}
        self._lock = Lock()
        self.is_away = False

    def read(self, key: str) -> CircleLines:
        self._check()
        return self.kept.get(key, CircleLines())

    def reserve(self, key: str, if_version: int, line: CircleLine) -> bool:
        self._check()
        with self._lock:
            found = self.kept.get(key, CircleLines())
            if found.version != if_version:
                return False
            if line not in found.lines:
                self.kept[key] = CircleLines(if_version + 1, (*found.lines, line))
            return True

    def close(self) -> None:
        pass

    def _check(self) -> None:
        if self.is_away:
            raise HouseError("the clearing house cannot be asked, so nothing is sold: it is away")


class World(NamedTuple):
    """People, their values, two trees, and how many pairs of values must stay possible of each."""

    rows: Mapping[str, Sequence[str]]
    trees: Mapping[str, Hierarchy]
    k: int

    def member(self, house: Any, name: str, ledger: Ledger | None = None, **how: Any) -> pacas.Provider:
        """A provider of the circle, or, without a house, one by itself."""
        policy = pacas.Policy(("K",), ATTRIBUTES, dict.fromkeys(ATTRIBUTES, 0), k=self.k)
        circle: dict[str, Any] = {}
        if house is not None:
            circle["circle"] = Circle(house, name, SECRET)
            circle["common_trees"] = {a: tree.digest for a, tree in self.trees.items()}
        match = dict.fromkeys(ATTRIBUTES, "K = K")
        given = {"match": match, "policies": [policy], "hierarchies": self.trees, "total": 100, **circle, **how}
        return pacas.Provider(self.rows, ledger=ledger, **given)

    def possible(self, sold: Mapping[tuple[str, str], set[str]], person: str) -> int:
        """The literal definition over all members: the pairs that nothing which was answered of a person rules out."""
        left = 1
        for attribute, tree in self.trees.items():
            nodes = sold.get((person, attribute), set())
            ground = [v for v in tree.ground_labels if all(_is_below(tree, v, node) for node in nodes)]
            left *= len(ground)
        return left


def _is_below(tree: Hierarchy, value: str, node: str) -> bool:
    return any(tree.generalize_value(value, level) == node for level in range(tree.height + 1))


def drawn_world(chance: Random, people: int = 6) -> World:
    trees = {a: _tree(chance, a) for a in ATTRIBUTES}
    rows: dict[str, list[str]] = {"K": [f"p{n}" for n in range(people)]}
    for attribute, tree in trees.items():
        rows[attribute] = [chance.choice(list(tree.ground_labels)) for _ in range(people)]
    sizes = [len(list(tree.ground_labels)) for tree in trees.values()]
    return World(rows, trees, chance.randint(2, max(2, min(sizes))))


def _tree(chance: Random, name: str) -> Hierarchy:
    groups = chance.randint(1, 3)
    rows = []
    for group in range(groups):
        for value in range(chance.randint(2, 3)):
            rows.append((f"{name}{group}{value}", f"{name} group {group}", f"any {name}"))
    return Hierarchy.from_rows(rows)


def sealed() -> dict[str, Any]:
    return {"sealing": Sealing(reserve=Reserve.LAST)}


def request(person: str, attribute: str, level: int) -> Request:
    return Request({"K": person}, attribute, level)


def put_down(sold: dict[tuple[str, str], set[str]], asked: Request, told: object) -> bool:
    """Note what an answer tells; whether there was one."""
    if isinstance(told, Answer):
        sold.setdefault((str(asked.tuple["K"]), asked.attribute), set()).add(told.value)
    return isinstance(told, Answer)

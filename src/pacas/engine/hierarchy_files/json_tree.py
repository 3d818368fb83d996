"""JSON trees: a node is {"value": …, "children": […]}, and the top node may say "numeric": true.

A value is a string or a number; a number is taken as it is spelled. A node without children is a ground value.
Leaves may lie at uneven depth: each is repeated up to its parent's level.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from pacas.core.hierarchies.lint import HierarchyRow
from pacas.core.hierarchy import Hierarchy
from pacas.engine.hierarchy_files.raw_hierarchy import RawHierarchy, at, pad
from pacas.errors import FileError, did_you_mean

KEYS = ("value", "children")


def load(text: str, path: Path) -> dict[str, Any]:
    """The object in a JSON file; its numbers are left as text, to keep their spelling."""

    def refuse(name: str) -> NoReturn:
        raise FileError(f"{path}: {name} is not a JSON value")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            double = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
            raise FileError(f"{path}: the key {double!r} stands twice in one object")
        return found

    try:
        document = json.loads(text, parse_int=str, parse_float=str, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise FileError(f"{at(path, error.lineno)}, column {error.colno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise FileError(f"{path}: the JSON is nested too deeply to be read") from None
    if not isinstance(document, dict):
        raise FileError(f'{path}: a JSON hierarchy is one object, {{"value": …, "children": […]}}')
    return document


def parse(document: dict[str, Any], path: Path) -> RawHierarchy:
    numeric = document.get("numeric", False)
    if not isinstance(numeric, bool):
        raise FileError(f'{path}: "numeric" must be true or false')
    top = {key: value for key, value in document.items() if key != "numeric"}
    return RawHierarchy(pad(_paths(top, path)), numeric=numeric)


def _paths(top: Any, path: Path) -> Iterator[HierarchyRow]:
    """The path from each leaf to the top, in the order of the file; a stack instead of recursion."""
    stack: list[tuple[Any, str, tuple[str, ...]]] = [(top, "", ())]
    while stack:
        node, place, above = stack.pop()
        labels, children = _node(node, f"{path}: {place or 'the top node'}")
        labels += above
        if not children:
            yield HierarchyRow(labels)
        below = ((child, f"{place}.children[{i}]".lstrip("."), labels) for i, child in enumerate(children))
        stack.extend(reversed(list(below)))


def _node(node: Any, where: str) -> tuple[tuple[str, ...], list[Any]]:
    if not isinstance(node, dict):
        raise FileError(f'{where} is not an object {{"value": …, "children": […]}}')
    for key in node:
        if key == "numeric":
            raise FileError(f'{where}: only the top node says "numeric"')
        if key not in KEYS:
            raise FileError(f"{where}: unknown key {key!r}; {did_you_mean(key, KEYS)}")
    if "value" not in node:
        raise FileError(f'{where} has no "value"')
    children = node.get("children", [])
    if not isinstance(children, list):
        raise FileError(f'{where}: "children" must be a list')
    return (label(node["value"], f'{where}: "value"'),), children


def label(value: Any, where: str) -> str:
    """A string or a number of a JSON file as a label."""
    if not isinstance(value, str):
        raise FileError(f"{where} must be a string or a number")
    if not value:
        raise FileError(f"{where} is empty")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise FileError(f"{where} holds half a surrogate pair, which is not text")
    return value


def write(hierarchy: Hierarchy) -> str:
    rows = hierarchy.level_zero_rows()
    ground = set(hierarchy.ground_labels)
    if any(row[0] != row[1] for row in rows):  # reading repeats a leaf up to the longest path: no need to write it
        rows = [_once(row) if row[0] in ground else row for row in rows]
    top: dict[str, Any] = {}
    for row in rows:
        node = top
        for name in reversed(row):
            node = node.setdefault(name, {})
    tree = _as_node(hierarchy.root_label, top.get(hierarchy.root_label, {}))
    document = {"numeric": True, **tree} if hierarchy.numeric else tree
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _once(row: tuple[str, ...]) -> tuple[str, ...]:
    repeats = next((at for at, name in enumerate(row) if name != row[0]), len(row))
    return row[repeats - 1 :]


def _as_node(name: str, below: dict[str, Any]) -> dict[str, Any]:
    if not below:
        return {"value": name}
    return {"value": name, "children": [_as_node(child, rest) for child, rest in below.items()]}

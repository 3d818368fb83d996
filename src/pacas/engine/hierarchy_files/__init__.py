"""Hierarchy files: ARX CSV and projects, JSON trees, and what Amnesia saves.

What a file holds decides how it is read; its name is a hint where the contents allow it. Every error is one line that
begins with the file's name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from pacas.core.hierarchy import Hierarchy
from pacas.engine.hierarchy_files import amnesia, arx, arx_project, json_tree
from pacas.engine.hierarchy_files.raw_hierarchy import RawHierarchy, read_text
from pacas.errors import FileError, InputError

__all__ = ["RawHierarchy", "read_hierarchy", "read_raw_hierarchy", "write_hierarchy"]

GivenHierarchy = Hierarchy | str | os.PathLike[str]
"""A hierarchy, or the file that it is in."""
GivenHierarchies = Mapping[str, GivenHierarchy]
"""By attribute."""

OBJECT = re.compile(r'\s*\{\s*["}]')
COMPRESSED = (".gz", ".zst")


def read_hierarchy(path: str | os.PathLike[str], *, numeric: bool = False, attribute: str | None = None) -> Hierarchy:
    """The hierarchy in a file; `numeric` makes 51 and 51.0 one value where the file itself cannot say so.

    Of an ARX project, the one of an attribute.
    """
    return read_raw_hierarchy(path, attribute).build(Path(path), numeric=numeric)


def as_hierarchies(given: GivenHierarchies | None) -> dict[str, Hierarchy]:
    """Hierarchies by attribute, those that are given as files read."""
    return {attribute: _as_hierarchy(attribute, one) for attribute, one in (given or {}).items()}


def _as_hierarchy(attribute: str, given: object) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, str | os.PathLike):
        return read_hierarchy(given, attribute=attribute)
    raise InputError(
        f"the hierarchy of {attribute!r} must be a Hierarchy, or the file it is in, not {type(given).__name__}; "
        "pacas.build_hierarchy makes one from a column"
    )


def read_raw_hierarchy(path: str | os.PathLike[str], attribute: str | None = None) -> RawHierarchy:
    """The rows of a file with their line numbers, whether or not they form a tree: what the linter looks at."""
    file = Path(path)
    project = arx_project.project_of(file)
    if project is not None:
        return arx.parse(arx_project.project_text(*project, attribute), file)
    text = read_text(file)
    if _suffix(file) == ".json" or OBJECT.match(text):
        document = json_tree.load(text, file)
        is_tree = "value" in document or not any(key in document for key in ("hierType", "level1"))
        return json_tree.parse(document, file) if is_tree else amnesia.parse_json(document, file)
    if amnesia.looks_like_text(text):
        return amnesia.parse_text(text, file)
    return arx.parse(text, file)


def write_hierarchy(hierarchy: Hierarchy, path: str | os.PathLike[str]) -> None:
    """Write ARX CSV, or a JSON tree if the name ends in .json; compressed if it then ends in .gz or .zst.

    Only JSON keeps `numeric`.
    """
    file = Path(path)
    try:
        text = json_tree.write(hierarchy) if _suffix(file) == ".json" else arx.write(hierarchy)
        with pa.output_stream(str(file), compression="detect") as stream:
            stream.write(text.encode())
    except RecursionError:
        raise FileError(f"{file}: {hierarchy.height} levels are too many for a JSON tree; write it as CSV") from None
    except OSError as error:
        raise FileError(f"{file}: the file cannot be written ({error.strerror or error})") from None


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""

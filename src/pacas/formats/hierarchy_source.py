"""A hierarchy as `provider.toml` and `client.toml` name it: a file, or how to build it from a column."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine, Source
from pacas.engine.hierarchy_files import read_hierarchy
from pacas.engine.questions import hierarchy_from
from pacas.errors import InputError

HIERARCHY = 'give a file, or { build = "intervals", widths = [10, 30] }'

HierarchySource = str | Mapping[str, Any]


def hierarchy_at(
    source: HierarchySource,
    attribute: str,
    folder: Path,
    relation: Source,
    engine: Engine[Any],
) -> Hierarchy:
    """Read the file, relative to `folder`, or build from the relation's column."""
    if isinstance(source, str):
        return read_hierarchy(folder / source, attribute=attribute)
    options = {name: _plain(option) for name, option in source.items()}
    method = options.pop("build", None)
    if not isinstance(method, str):
        raise InputError(HIERARCHY)
    return hierarchy_from(relation, attribute, method, options, engine=engine)


def _plain(option: Any) -> Any:
    """A builder's option, with floats where the file's exact decimals stood."""
    match option:
        case Decimal():
            return float(option)
        case list():
            return [_plain(part) for part in option]
        case _:
            return option

"""The search: which dependencies a table suggests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pacas.engine.contract import Engine
from pacas.engine.questions import Data
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.suggested import SuggestedDependencies

Tell = Callable[[str], None]


def suggest_dependencies(
    data: Data | CodedTable,
    *,
    pairs: bool = True,
    engine: Engine[Any] | None = None,
    progress: Tell | None = None,
) -> SuggestedDependencies:
    """The functional dependencies that a dirty table almost satisfies, best first, with their evidence.

    `data` is a table in memory (pandas, Polars, Arrow, DuckDB), `pacas.scan_relation(path)` for a file, or a table
    that was coded before. `pairs` says whether left sides of two attributes are looked at; they are always weak.
    """
    raise NotImplementedError

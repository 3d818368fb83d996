"""A hierarchy file's rows before anybody asks whether they form a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pacas.core.hierarchy import Hierarchy
from pacas.core.lint import HierarchyRow, lint
from pacas.errors import HierarchyError

from .raw_hierarchy import not_a_tree


@dataclass(frozen=True, slots=True)
class RawHierarchy:
    """The rows of a file with their line numbers, for the linter, and what else the file says.

    `header` names the levels where an ARX file has a header row.
    """

    rows: tuple[HierarchyRow, ...]
    numeric: bool = False
    header: tuple[str, ...] | None = None

    def build(self, path: Path, *, numeric: bool = False) -> Hierarchy:
        """The hierarchy, or its first problem together with the line it stands on."""
        numeric = numeric or self.numeric
        try:
            return Hierarchy.from_rows([row.labels for row in self.rows], numeric=numeric)
        except HierarchyError as error:
            for finding in lint(self.rows, numeric=numeric):
                if finding.severity == "problem":
                    raise not_a_tree(path, min(finding.lines, default=None), finding.message) from None
            raise not_a_tree(path, None, str(error)) from None


def pad(paths: Iterable[HierarchyRow]) -> tuple[HierarchyRow, ...]:
    """Leaf-to-root paths of one width: each leaf is repeated up to its parent's level."""
    uneven = list(paths)
    width = max((len(path.labels) for path in uneven), default=0)
    return tuple(HierarchyRow(p.labels[:1] * (width - len(p.labels)) + p.labels, p.line) for p in uneven)

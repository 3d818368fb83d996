"""A hierarchy file before anybody asks whether it is a tree: its text, its rows, and where it stops being one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from pacas.core.hierarchies.lint import HierarchyRow, lint
from pacas.core.hierarchy import Hierarchy
from pacas.errors import FileError, HierarchyError

FORMATS = (
    'the formats are ARX CSV (";" or "," separated, ground value first, root last), '
    'a JSON tree ({"value": …, "children": […]}), and Amnesia text or JSON'
)


def read_text(path: Path) -> str:
    """The whole file as text: UTF-8, with or without a byte order mark, plain, .gz or .zst."""
    data = _read_bytes(path)
    if data.startswith(b"PK\x03\x04"):  # a zip archive, whole or not
        raise FileError(
            f"{path}: an archive; end the name of an ARX project in .deid, or save a table as CSV; {FORMATS}"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"{at(path, line)}: not UTF-8 text (byte 0x{data[error.start]:02x}); save the file as UTF-8"
        ) from None
    if not text.strip():
        raise FileError(f"{path}: the file is empty; {FORMATS}")
    return text


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise FileError(f"{path}: a directory, not a hierarchy file; {FORMATS}")
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            return bytes(stream.read())
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except PermissionError:
        raise FileError(f"{path}: no permission to read the file") from None
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise FileError(f"{path}: the file cannot be read ({reason})") from None


def at(path: Path, line: int | None = None) -> str:
    """How an error names the place it is about."""
    return f"{path}" if line is None else f"{path}, line {line}"


def not_a_tree(path: Path, line: int | None, message: str) -> HierarchyError:
    return HierarchyError(f"{at(path, line)}: {message}")


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

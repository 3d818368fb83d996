"""`docs/paper-map.md` names no module, function, class or test that is not there; nor does any page a file of ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "pacas", ROOT / "tests"
PAGE = ROOT / "docs" / "paper-map.md"
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]

FILE = re.compile(r"[\w/]+(?:\.py|/)")
NAME = re.compile(r"(?:[A-Za-z_]\w*)?(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w+")
TEST = re.compile(r"test_\w*…?")


def spans(text: str) -> list[str]:
    """What stands between backticks, in running text."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def rows(page: str) -> list[tuple[str, ...]]:
    """The cells of the page's tables, line by line."""
    lines = [line for line in page.splitlines() if line.startswith("|") and not set(line) <= set("|- ")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]


def is_there(file: str) -> bool:
    path = file.removeprefix("src/pacas/").removeprefix("tests/")
    return any((folder / path).exists() for folder in (SOURCE, TESTS, ROOT))


@cache
def defined(folder: Path) -> dict[str, set[str]]:
    """Functions, classes and their members, by name, with the files that define them."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        for name in _names(ast.parse(path.read_text("utf-8")).body):
            found.setdefault(name, set()).add(path.relative_to(folder).as_posix())
    return found


def _names(body: list[ast.stmt], inside: str = "") -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield inside + name
                if isinstance(node, ast.ClassDef):
                    yield from _names(node.body, f"{name}.")
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield inside + name


def problems(page: str) -> list[str]:
    """What the tables of a page name that is not there; a name beside files must be in one of these."""
    found = []
    for row in rows(page):
        for cell in row:
            named = spans(cell)
            files = [span for span in named if FILE.fullmatch(span)]
            found += [f"no file {file}" for file in files if not is_there(file)]
            for span in named:
                if TEST.fullmatch(span):
                    if not any(_is_named(test, span) for test in defined(TESTS)):
                        found.append(f"no test {span}")
                elif span not in files and NAME.fullmatch(span) and not _is_defined(span, files):
                    found.append(f"no {span} in {', '.join(files) or 'src'}")
    return found


def _is_named(name: str, written: str) -> bool:
    return name.startswith(written[:-1]) if written.endswith("…") else name == written


def _is_defined(name: str, files: list[str]) -> bool:
    if name.startswith("pacas."):
        return (ROOT / "src" / Path(*name.split("."))).with_suffix(".py").is_file()
    if name.startswith("."):  # a member of what was named before it
        return any(known.endswith(name) for known in defined(SOURCE))
    where = defined(SOURCE).get(name, set())
    return bool(where) and (not files or any(path.startswith(file) for path in where for file in files))


def test_the_map_names_what_is_there() -> None:
    page = PAGE.read_text("utf-8")
    assert len(rows(page)) > 50
    assert problems(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = {span for span in spans(page.read_text("utf-8")) if FILE.fullmatch(span) and span.endswith(".py")}
    assert [file for file in sorted(named) if not is_there(file)] == []


@pytest.mark.parametrize(
    ("cell", "missing"),
    [
        ("`provider/book.py`", "no file provider/book.py"),
        ("`Hierarchies` in `core/hierarchy.py`", "no Hierarchies in core/hierarchy.py"),
        ("`Hierarchy` in `core/money.py`", "no Hierarchy in core/money.py"),
        ("`Provider._judge_all`", "no Provider._judge_all in src"),
        ("`pacas.examples`", "no pacas.examples in src"),
        ("`test_table_17`", "no test test_table_17"),
        ("`test_no_such_…`", "no test test_no_such_…"),
    ],
)
def test_what_is_not_there_is_found(cell: str, missing: str) -> None:
    assert problems(f"| a | {cell} |") == [missing]

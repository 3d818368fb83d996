"""The documentation keeps its word: the reference is current, links lead somewhere, commands print what is shown."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from pacas.cli.demo_files import write_files
from pacas.cli.main import run

ROOT = Path(__file__).parents[1]
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [ROOT / name for name in TOP if (ROOT / name).is_file()] + sorted((ROOT / "docs").rglob("*.md"))
WITH_COMMANDS = [page for page in PAGES if "```console\n" in page.read_text("utf-8")]


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


# ---- the reference -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cli_reference", ROOT / "scripts" / "cli_reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_current(reference: ModuleType) -> None:
    assert reference.PAGE.read_text("utf-8") == reference.render(), "run `make docs`"


def test_every_command_is_documented_with_all_its_parameters(reference: ModuleType) -> None:
    page = reference.PAGE.read_text("utf-8")
    sections = dict(re.findall(r"^## (pacas .*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    commands = dict(reference.commands())
    assert {"pacas demo", "pacas check", "pacas hierarchy build"} <= set(commands) == set(sections)
    for path, command in commands.items():
        for parameter in command.params:
            for name in [] if parameter.name == "help" else parameter.opts:
                assert f"`{name if name.startswith('-') else parameter.metavar}`" in sections[path], (path, name)
            assert parameter.help in sections[path].replace("\\|", "|") or parameter.name == "help", (
                path,
                parameter.name,
            )


def test_every_command_says_its_exit_codes_its_json_and_an_example(reference: ModuleType) -> None:
    page = reference.PAGE.read_text("utf-8")
    for section in page.split("\n## ")[1:]:
        path = section.split("\n", 1)[0]
        assert re.search(r"^Exit code 0: \w.*; 2: bad input\.$", section, re.MULTILINE), path
        assert re.search(r"^JSON: \w.*\.$", section, re.MULTILINE), path
        assert re.search(rf"^```sh\n{path} .*\n```$", section, re.MULTILINE), path


def test_every_example_of_the_reference_runs(
    reference: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path)
    (tmp_path / "age.csv").unlink()  # an example makes it, in the order of the page it is used before
    examples = re.findall(r"^```sh\n(pacas .*)\n```$", reference.PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(examples) == len(list(reference.commands()))
    monkeypatch.chdir(tmp_path)
    for example in sorted(examples, key=lambda line: "hierarchy build" not in line):
        assert run(shlex.split(example)[1:]) in (0, 1), example
    assert capsys.readouterr().err == ""


# ---- links -------------------------------------------------------------------------------------------------------

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
MADE_BY_HAND = {"benchmarks/RESULTS.md"}
"""Written by `make bench`, and so not there in every checkout."""


def broken_links(page: Path, text: str) -> Iterator[str]:
    """The links of a page that lead to no file or no heading."""
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if file.is_relative_to(ROOT) and str(file.relative_to(ROOT)) in MADE_BY_HAND:
            continue
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8") if path else text)):
            yield target


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken_links(page, page.read_text("utf-8"))) == []


def test_broken_links_are_found() -> None:
    page = ROOT / "README.md"
    text = (
        "# One, two\n[a](nowhere.md) [b](#one-two) [c](#three) [d](docs/reference/cli.md#pacas-chek) [e](https://x.org)"
    )
    assert list(broken_links(page, text)) == ["nowhere.md", "#three", "docs/reference/cli.md#pacas-chek"]


def test_the_readme_and_every_page_of_docs_are_linked_from_somewhere() -> None:
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in PAGES
        for target in LINK.findall(FENCE.sub("", page.read_text("utf-8")))
        if not re.match(r"[a-z]+:|#", target)
    }
    assert [page_id(page) for page in PAGES if page not in linked and page.name != "README.md"] == []


# ---- commands and what they print --------------------------------------------------------------------------------


class Step(NamedTuple):
    """A line after `$ `, and the lines that it should print."""

    command: str
    shown: list[str]


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Step(line.removeprefix("$ "), []))
            else:
                found[-1].shown.append(line)
    return found


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines are the same up to spaces at their ends; a line `…` stands for any lines, or none."""
    pattern = "".join("(?:.*\n)*" if line.strip() == "…" else re.escape(line.rstrip()) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def perform(command: str) -> list[str]:
    """Run a line of a page; `cd` moves the test, everything else must be ours."""
    program, *arguments = shlex.split(command, comments=True)
    if program == "cd":
        os.chdir(arguments[0])
        return []
    assert program == "pacas", f"a page may run pacas and cd, not {program}"
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        run(arguments)
    return printed.getvalue().splitlines()


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=page_id)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for step in steps(page.read_text("utf-8")):
        printed = perform(step.command)
        assert agrees(step.shown, printed), f"$ {step.command}\n" + "\n".join(printed)


def test_the_readme_and_the_tutorial_show_commands() -> None:
    shown = {page_id(page) for page in WITH_COMMANDS}
    assert "README.md" in shown
    assert any(page.startswith("docs/tutorial/") for page in shown)


def test_other_lines_do_not_agree() -> None:
    assert agrees(["a", "…", "z"], ["a", "z"])
    assert agrees(["a  ", "…", "z"], ["a", "b", "c", "z "])
    assert agrees(["…"], [])
    assert not agrees(["a", "…", "z"], ["a", "b"])
    assert not agrees(["a"], ["a", "b"])
    assert not agrees(["a.c"], ["abc"])
    assert not agrees([], ["a"])


def test_every_line_of_a_console_block_belongs_to_a_command() -> None:
    text = "```console\n$ pacas demo\nout\n…\n$ cd x\n```\ntext\n```sh\n$ not this\n```\n"
    assert steps(text) == [Step("pacas demo", ["out", "…"]), Step("cd x", [])]

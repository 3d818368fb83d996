"""The documentation keeps its word: the reference is current, links lead somewhere, commands print what is shown."""

from __future__ import annotations

import glob
import io
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from loaded_script import script

from pacas.cli.demo.files import write_files
from pacas.cli.main import run
from pacas.experiments.runs.results import read_table
from pacas.protocol.receipt import Receipt
from pacas.server.signing_key import SigningKey
from pacas.wire.shapes.failures import ErrorCode
from pacas.wire.shapes.receipts import ReceiptDocument

ROOT = Path(__file__).parents[1]
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [ROOT / name for name in TOP if (ROOT / name).is_file()] + sorted((ROOT / "docs").rglob("*.md"))
WITH_COMMANDS = [page for page in PAGES if re.search(r"^```(console|python)$", page.read_text("utf-8"), re.MULTILINE)]


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


# ---- the references ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return script("cli_reference")


def test_the_reference_is_current(reference: ModuleType) -> None:
    assert reference.PAGE.read_text("utf-8") == reference.render(), "run `make docs`"


def test_the_evaluation_says_what_its_results_say() -> None:
    evaluation = script("evaluation_page")
    assert evaluation.PAGE.read_text("utf-8") == evaluation.render(), "run `make docs`"


def test_by_these_results_several_providers_reach_their_targets() -> None:
    """Error, money, and never worse than the best of them: two strategies, random and stale errors."""
    lines = script("evaluation_page").PAGE.read_text("utf-8").splitlines()
    claims = [line for line in lines if line.startswith("| ") and "](#panel" in line]
    assert len(claims) == 12 and all("| agrees |" in claim for claim in claims)
    runs = {(r["side"], r["method"], r["sellers"], r["dataset"], r["seed"]): r["relative_error"] for r in _several()}
    panels = {case[:2] for case in runs if case[2] == "panel"}
    assert len(panels) == 4
    for side, method in panels:
        worse = [
            case[3:]
            for case, left in runs.items()
            if case[:3] == (side, method, "panel")
            and left > min(runs[side, method, who, *case[3:]] for who in ("first", "second", "cheap"))
        ]
        told = [line for line in lines if f"the best of them alone ({method})**" in line]
        line = told[1 if side == "stale" else 0]
        assert f"of 20 single runs {len(worse)} " in line
        assert all(f"{dataset}, seed {seed}, " in line for dataset, seed in worse)


def _several() -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = read_table(script("evaluation_page").SEVERAL).to_pylist()
    return lines


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


def write_receipt(folder: Path) -> None:
    """What an example verifies: a receipt, and the provider's public key."""
    key = SigningKey.generate()
    receipt = Receipt("ann", "MED", {"GEN": "male", "AGE": "51"}, 1, "NSAID", 700_000_000, "a", 1, "0" * 64)
    (folder / "receipts").mkdir()
    (folder / "receipts" / "a.json").write_text(ReceiptDocument.of(key.sign(receipt)).model_dump_json(), "utf-8")
    (folder / "provider.pem").write_text(key.public_key, "utf-8")


@pytest.mark.slow
def test_every_example_of_the_reference_runs(
    reference: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path)
    (tmp_path / "age.csv").unlink()  # an example makes it, in the order of the page it is used before
    write_receipt(tmp_path)
    examples = re.findall(r"^```sh\n(pacas .*)\n```$", reference.PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(examples) == len(list(reference.commands()))
    monkeypatch.chdir(tmp_path)
    for example in sorted(examples, key=lambda line: ("hierarchy build" not in line, "pacas init" in line)):
        if "pacas review" in example or "pacas witness" in example:  # for a browser, for a server: tested elsewhere
            continue
        if re.search("pacas offer (ask|accept|withdraw)", example):  # of an offer, or at a URL, that is not there
            continue
        if "pacas init" in example:  # which overwrites nothing
            table, made = shlex.split(example)[3], shlex.split(example)[2]
            shutil.copy("client.csv", table)
            Path(f"{made}.toml").unlink()
        assert run(shlex.split(example)[1:]) in (0, 1), example
    assert capsys.readouterr().err == ""


def test_the_http_reference_is_current_and_tells_of_every_path_shape_field_and_error() -> None:
    reference = script("http_reference")
    page = reference.FILE.read_text("utf-8")
    assert page == reference.render(), "run `make docs`"
    document = reference.Wire().call("GET", "/v1/openapi.json")
    sections = dict(re.findall(r"^##+ (.*?)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    operations = dict(reference.operations(document))
    assert {"GET /v1/catalogue", "POST /v1/purchases", "GET /metrics"} <= set(operations) <= set(sections)
    for name, operation in operations.items():
        said = [operation["summary"], *(f"{status} `" for status in operation["responses"] if status != "200")]
        said += [f"`{parameter['name']}`" for parameter in operation.get("parameters", [])]
        assert not [part for part in said if part not in sections[name]], name
    for name, shape in document["components"]["schemas"].items():
        assert not [field for field in shape.get("properties", ()) if f"| `{field}` |" not in sections[name]], name
    assert not [code for code in ErrorCode if f"| {code.status} | `{code.value}` | " not in sections["Errors"]]


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


PYTHON = "python"


class Step(NamedTuple):
    """A line after `$ `, and the lines that it should print; or, after PYTHON, a block of code."""

    command: str
    shown: list[str]


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    for kind, block in re.findall(r"^```(console|python)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if kind == PYTHON:
            found.append(Step(PYTHON, block.splitlines()))
            continue
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


PACAS = (sys.executable, "-c", "from pacas.cli.main import main; main()")
OF_OTHERS = ("openssl", "curl", "cat")


class Terminal:
    """Runs the lines of a page: what is ours, a few words of the shell, and programs that most machines have.

    A line with `&` at its end is a server, on a free port where the page has 8321 or 8322; it is waited for until it
    says that it listens. `export NAME=…` takes the token that was shown last.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._ports = {page: free_port() for page in ("8321", "8322")}
        self._servers: list[subprocess.Popen[str]] = []
        self._token = ""

    def perform(self, step: Step) -> list[str]:
        if step.command == PYTHON:
            printed = self._captured(exec, self._with_ports("\n".join(step.shown)), {})
            return [*step.shown, *(f"not told: {line}" for line in printed if line not in "\n".join(step.shown))]
        line = self._with_ports(step.command)
        printed = self._start(line.removesuffix(" &")) if line.endswith(" &") else self._run(line)
        for told in printed:
            self._token = told.removeprefix("token: ") if told.startswith("token: ") else self._token
        shown = "\n".join(printed)
        for page, port in self._ports.items():
            shown = shown.replace(port, page)
        return shown.splitlines()

    def stop(self) -> None:
        for server in self._servers:
            if server.poll() is None:
                server.kill()
            server.communicate()

    def _with_ports(self, text: str) -> str:
        for page, port in self._ports.items():
            text = text.replace(page, port)
        return text

    def _run(self, line: str) -> list[str]:
        program, *words = shlex.split(line, comments=True)
        arguments = [name for word in words for name in (sorted(glob.glob(word)) or [word])]
        match program:
            case "cd":
                os.chdir(arguments[0])
                return []
            case "export":
                name, _, value = arguments[0].partition("=")
                self._monkeypatch.setenv(name, self._token if value == "…" else value)
                return []
            case "kill":
                server = self._servers[int(arguments[0].removeprefix("%")) - 1]
                server.terminate()
                assert server.wait(timeout=60) == 0
                return []
            case "pacas":
                return self._captured(run, arguments)
        assert program in OF_OTHERS, f"a page does not run {program}"
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def _start(self, line: str) -> list[str]:
        program, *arguments = shlex.split(line)
        assert program == "pacas"
        arguments += [] if "--port" in arguments else ["--port", self._ports["8321"]]
        log = next((word for word in arguments if word.startswith("2>")), "2>server.log")
        with Path(re.sub("^2>+", "", log)).open("ab") as errors:
            command = [*PACAS, *(word for word in arguments if word != log)]
            server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        self._servers.append(server)
        assert server.stdout is not None
        return [server.stdout.readline().rstrip("\n")]

    def _captured(self, function: Any, *arguments: Any) -> list[str]:
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            function(*arguments)
        return printed.getvalue().splitlines()


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def paced(page: Path) -> Any:
    """A page as a parameter; one that starts servers is slow."""
    serves = re.search(r"^\$ .* &$", page.read_text("utf-8"), re.MULTILINE)
    return pytest.param(page, id=page_id(page), marks=[pytest.mark.slow] if serves else [])


@pytest.mark.parametrize("page", [paced(page) for page in WITH_COMMANDS])
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("PACAS_TOKEN", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    terminal = Terminal(monkeypatch)
    try:
        for step in steps(page.read_text("utf-8")):
            printed = terminal.perform(step)
            assert agrees(step.shown, printed), f"$ {step.command}\n" + "\n".join(printed)
    finally:
        terminal.stop()


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
    text = "```console\n$ pacas demo\nout\n…\n$ cd x\n```\ntext\n```sh\n$ not this\n```\n```python\nx = 1\n```\n"
    assert steps(text) == [Step("pacas demo", ["out", "…"]), Step("cd x", []), Step(PYTHON, ["x = 1"])]

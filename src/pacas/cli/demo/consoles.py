"""Both consoles on one example: a provider that serves its pages, and a client who reviews 20,000 dirty rows.

Each is the command that people would start themselves, in a process of its own, on files in a folder that goes when
both have ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, NoReturn

from pacas.cli.demo.large import FD, MATCH, POLICY, ROWS, TOTAL, hierarchy, make_tables
from pacas.cli.options import out, print_json, progress
from pacas.engine.hierarchy_files import write_hierarchy
from pacas.errors import PacasError
from pacas.formats.relations.relations import write_relation

CLIENT = f"""\
# A client: {ROWS:,} patients, a tenth of whom have the wrong medication.
data = "patients.csv"
fds = ["{FD}"]
"""
PROVIDER = f"""\
# A provider who knows the medications, and sells them at sealed quotes.
[relation]
data = "curated.csv"

[hierarchies]
MED = "med.csv"

[match]
MED = "{MATCH}"

[[policy]]
x = {json.dumps(POLICY.x)}
y = {json.dumps(POLICY.y)}
levels = {{ MED = 0 }}
k = {POLICY.k}
allow_linkage = true

[pricing]
total = {TOTAL}
"""
BUDGET, CREDIT = 40, 1_200
"""What the review begins with, and what the client's account may spend, in credits."""
ENDING = 15
"""Seconds that a console has to end."""
PACAS = (sys.executable, "-c", "from pacas.cli.main import main; main()")
CONSOLE = (*PACAS[:2], f"from {__name__} import end_with_parent; end_with_parent(); {PACAS[2]}")


def run_consoles(as_json: bool) -> None:
    """Start both, say where they are, and end both when one is ended or somebody presses Ctrl-C."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _interrupt)
    with (
        tempfile.TemporaryDirectory(prefix="pacas-consoles-") as name,
        suppress(KeyboardInterrupt),
        ExitStack() as ends,
    ):
        folder = Path(name)
        with progress() as tell:
            tell(f"making a table of {ROWS:,} rows")
            _write(folder)
            operator = _token(folder, "operator", "--role", "operator")
            client = _token(folder, "client", "--credit", str(CREDIT))
            tell("starting the provider's console")
            provider, service = ends.enter_context(_started(folder, "serve", "provider.toml", "--console"))
            tell("starting the client's console")
            line = ("review", "client.toml", "--provider", service, "--budget", str(BUDGET), "--no-browser")
            reviewed, review = ends.enter_context(_started(folder, *line, token=client))
        _say(as_json, f"{service}/console", operator, review)
        while provider.poll() is None and reviewed.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                reviewed.wait(1)
    if not as_json:
        out.print("\nBoth consoles have ended; their files are gone.")


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _write(folder: Path) -> None:
    tables = make_tables(ROWS)
    write_relation(tables.dirty, folder / "patients.csv")
    write_relation(tables.truth, folder / "curated.csv")
    write_hierarchy(hierarchy(), folder / "med.csv")
    (folder / "client.toml").write_text(CLIENT, "utf-8")
    (folder / "provider.toml").write_text(PROVIDER, "utf-8")


def _token(folder: Path, name: str, *more: str) -> str:
    """Add an account; its token."""
    line = [*PACAS, "account", "add", name, "provider.toml", *more, "--json"]
    said = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True).stdout
    token: str = json.loads(said)["token"]
    return token


@contextmanager
def _started(folder: Path, *arguments: str, token: str = "") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command that serves at a free port while it is needed, and its address, which is the first that it prints."""
    log = folder / f"{arguments[0]}.log"
    environment = {**os.environ, "PACAS_TOKEN": token, "PYTHONUNBUFFERED": "1"}
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*CONSOLE, *arguments, "--port", "0"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,  # nothing is ever written: it ends with this process, however that ends
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # Ctrl-C is for this process, which then tells each of them, once
        )
    try:
        assert process.stdout is not None
        yield process, _address(process.stdout, log)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def end_with_parent() -> None:
    """Have this process end, as by SIGTERM, when the other end of its standard input is gone."""

    def watch() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, name="watching the parent", daemon=True).start()


def _address(printed: IO[str], log: Path) -> str:
    for line in printed:
        found = next((word for word in line.split() if word.startswith("http")), None)
        if found is not None:
            return found
    said = log.read_text("utf-8").strip().splitlines()
    raise PacasError(f"a console did not start: {said[-1].removeprefix('pacas: ') if said else 'it says nothing'}")


def _say(as_json: bool, provider: str, operator: str, review: str) -> None:
    if as_json:
        print_json({"provider": provider, "token": operator, "client": review})
    else:
        out.print(f"The provider's console, where it sees what it sells:\n  {provider}", soft_wrap=True)
        out.print(f"  log in with this operator's token: {operator}\n", soft_wrap=True)
        out.print(f"The client's console, where {ROWS:,} rows wait for a review:\n  {review}\n", soft_wrap=True)
        out.print("Nothing is bought before you approve it. Ctrl-C ends both.")
    sys.stdout.flush()

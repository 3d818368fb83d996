"""Starts `pacas` commands as processes of their own, quickly: everything is imported once, and then forked.

Run as a script, so that no thread of the tests is forked along. It reads a JSON document a line and answers each with
another. At the end of its input it kills what still runs.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from pacas.cli.main import load_commands, run

LATER = ("pandas", "psycopg", "pydantic.v1", "uvloop")
"""What a server would load only when it starts; DuckDB looks for pandas."""

running: dict[int, int] = {}
"""Processes that were started and not yet reaped, and what they print to."""


def start(folder: str, arguments: list[str]) -> int:
    """Begin a command in a folder; its errors are added to `stderr.txt` there."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(writing, 1)
            os.dup2(os.open("stderr.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
            code = run(arguments)
        finally:
            os._exit(code)
    os.close(writing)
    running[pid] = reading
    return pid


def first_line(pid: int) -> str:
    """What it prints first; empty if it ends without a word."""
    said = b""
    while not said.endswith(b"\n") and (more := os.read(running[pid], 4096)):
        said += more
    return said.decode()


def reap(pid: int) -> tuple[str, int]:
    """Wait for the end: what was printed and not yet read, and the exit code, negative for a signal."""
    with open(running.pop(pid), "rb") as printed:
        said = printed.read().decode()
    return said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def answer(asked: dict[str, Any]) -> Any:
    match asked["do"]:
        case "start":
            return start(asked["folder"], asked["arguments"])
        case "first_line":
            return first_line(asked["pid"])
        case "reap":
            return reap(asked["pid"])


def main() -> None:
    load_commands()
    for name in LATER:
        with suppress(ImportError):
            import_module(name)
    try:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), flush=True)
    finally:
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()

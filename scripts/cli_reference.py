"""Write docs/reference/cli.md from the commands themselves: `make docs`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pacas.cli.main import load_commands

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"

INTRODUCTION = """\
# Command line

Made from the code by `make docs`; do not edit.

Every command takes `--json`, which prints one JSON document on stdout; progress goes to stderr, and only to a terminal.
Exit code 0: done. 1: the checked thing does not hold. 2: bad input, said in one line on stderr, with nothing on stdout.
3, of `pacas clean` alone: done and written, but more than a tenth of the written cells are doubtful.

`pacas --version` prints the version, `--help` after any command its help; `pacas --install-completion` lets your shell
complete commands and options.
`pacas demo --files DIR` writes the files that the examples use.
"""


def commands(group: Any = None, path: str = "pacas") -> Iterator[tuple[str, Any]]:
    """Every command that does something, with the words that call it."""
    group = group or load_commands()
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def render() -> str:
    """The whole page."""
    sections = [_section(path, command) for path, command in commands()]
    contents = "\n".join(f"- [`{path}`](#{path.replace(' ', '-')})" for path, _ in commands())
    return "\n".join([INTRODUCTION, contents, "", *sections])


def _section(path: str, command: Any) -> str:
    said = {"JSON": "", "Example": "", "Exit code 0": "done"}
    text = []
    for paragraph in inspect.cleandoc(command.help).split("\n\n"):
        head, _, rest = " ".join(paragraph.split()).partition(": ")
        if head in said:
            said[head] = rest
        else:
            text.append(paragraph)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    required = "".join(f" {p.opts[0]} {p.metavar}" for p in options if p.required)
    synopsis = " ".join([path, *(str(p.metavar) for p in arguments)])
    parts = [f"## {path}\n", *(f"{paragraph}\n" for paragraph in text)]
    parts.append(f"```\n{synopsis}{required} [OPTIONS]\n```\n")
    if arguments:
        rows = (f"| `{_cell(p.metavar)}` | {_cell(p.help)} |" for p in arguments)
        parts += ["| argument | |", "|---|---|", *rows, ""]
    parts += ["| option | |", "|---|---|", *map(_option, options), ""]
    parts.append(f"Exit code 0: {said['Exit code 0'].rstrip('.')}; 2: bad input.\n")
    parts += [f"JSON: {said['JSON']}.\n", f"```sh\n{said['Example']}\n```\n"]
    return "\n".join(parts)


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    value = "" if option.is_flag else f" `{_cell(option.metavar or str(option.name).upper())}`"
    default = "" if option.is_flag or option.default in (None, "", [], ()) else f" Default: `{option.default}`."
    required = " Required." if option.required else ""
    return f"| {names}{value} | {_cell(option.help)}{default}{required} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
    print(PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE, file=sys.stderr)

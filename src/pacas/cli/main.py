"""`pacas`: the commands, and how they end: 0 done, 1 the checked thing does not hold, 2 bad input (one line)."""

from __future__ import annotations

import atexit
import gc
import io
import os
import re
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pacas.cli.version import version_line
from pacas.errors import PacasError

COMMANDS = {
    "demo": "pacas.cli.demo.command",
    "check": "pacas.cli.check",
    "distance": "pacas.cli.distance",
    "anonymity": "pacas.cli.anonymity",
    "query": "pacas.cli.provider.query",
    "catalogue": "pacas.cli.market.catalogue",
    "quote": "pacas.cli.market.quote",
    "buy": "pacas.cli.market.buy",
    "clean": "pacas.cli.clean.command",
    "review": "pacas.cli.review",
    "audit": "pacas.cli.provider.audit",
    "backup": "pacas.cli.provider.backup",
    "restore": "pacas.cli.provider.restore",
    "lint": "pacas.cli.provider.lint",
    "leak": "pacas.cli.provider.leak",
    "serve": "pacas.cli.provider.serve",
    "verify": "pacas.cli.market.verify",
    "witness": "pacas.cli.market.witness",
    "init": "pacas.cli.start.app",
    "suggest": "pacas.cli.suggest.app",
    "errors": "pacas.cli.errors",
    "hierarchy": "pacas.cli.hierarchy",
    "account": "pacas.cli.provider.account",
    "key": "pacas.cli.provider.key",
    "offer": "pacas.cli.offer",
    "experiment": "pacas.cli.experiment",
}
"""Each command's module, which has its `command`, or its `app` of several."""

_HELP = re.compile(
    r'^(?:def (?:command|start)\(.*?^    |app = command_group\(\s*)"""(.*?)(?:\n\n|""")', re.DOTALL | re.MULTILINE
)
"""The first paragraph of a command's help, in the source of its module."""


class Commands(TyperGroup):
    """The commands of the table, each loaded when it is called: its name and first lines are known before."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name) for name in COMMANDS}
        self._loaded: set[str] = set()

    def load(self, name: str) -> Any:
        """A command with its parameters and all of its help."""
        if name not in self._loaded:
            module = import_module(COMMANDS[name])
            group = typer.Typer()
            if hasattr(module, "app"):
                group.add_typer(module.app, name=name)
            else:
                group.command(name)(module.command)
            self.commands[name] = typer.main.get_group(group).commands[name]
            self._loaded.add(name)
            if not gc.isenabled():
                gc.freeze()
                gc.enable()
        return self.commands[name]

    def get_command(self, context: Any, name: str) -> Any:
        found = super().get_command(context, name)
        if found is not None and name not in self._loaded:
            found.help = first_lines(name)
        return found

    def resolve_command(self, context: Any, arguments: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(context, arguments)
        return name, None if name is None else self.load(name), rest


def first_lines(name: str) -> str:
    """The first paragraph of a command's help, read and not loaded: that would take a moment for each."""
    source = Path(__file__).parents[2].joinpath(*COMMANDS[name].split(".")).with_suffix(".py").read_text("utf-8")
    found = _HELP.search(source)
    return " ".join(found[1].split()) if found else ""


app = typer.Typer(
    name="pacas",
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Privacy-aware data cleaning as a service.

    Example: pacas demo
    """
    if version:
        print(version_line())
        raise typer.Exit()
    if context.invoked_subcommand is None:
        context.get_help()  # prints it


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit as it says.

    What is loaded is no garbage: no search for it begins before a command is loaded, or looks at what was loaded by
    then; and nothing is taken apart at the end, which would take a fifth of the time of a short command.
    """
    gc.disable()
    code = run(arguments)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is none, or nobody reads it
            stream.flush()
    os._exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run a command; say what is wrong in one line on stderr."""
    given = sys.argv[1:] if arguments is None else arguments
    if not all(map(_is_text, given)):
        return _bad_input("an argument is not UTF-8 text")
    _never_fail_on_a_character()
    try:
        code = commands().main(given, prog_name="pacas", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        return _bad_input(f"{error.format_message()} (try '{context.command_path if context else 'pacas'} --help')")
    except PacasError as error:
        return _bad_input(str(error))
    except (BrokenPipeError, SystemExit):  # the reader, such as `head`, has seen enough; typer and rich exit on it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except OSError as error:
        return _bad_input(f"the system refused: {error.strerror or type(error).__name__}")
    except Exception as error:  # a mistake of ours; a traceback might show a provider's values
        if "PACAS_TRACEBACK" in os.environ:
            raise
        return _bad_input(f"an error inside PACAS ({type(error).__name__}); PACAS_TRACEBACK=1 shows where")


def _never_fail_on_a_character() -> None:
    """Let a terminal that cannot show a character show something else."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@cache
def commands() -> Any:
    """The commands, ready to be called."""
    return typer.main.get_command(app)


def load_commands() -> Any:
    """All commands with their parameters and help; it takes a moment to load every module."""
    group = commands()
    for name in COMMANDS:
        group.load(name)
    return group


def _is_text(argument: str) -> bool:
    """Whether an argument's bytes were UTF-8: Python keeps other bytes as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bad_input(message: str) -> int:
    print("pacas: " + " ".join(message.split()), file=sys.stderr)
    return 2

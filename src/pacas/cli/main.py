"""`pacas`: the commands, and how they end: 0 done, 1 the checked thing does not hold, 2 bad input (one line)."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pacas.cli.version import version_line
from pacas.errors import PacasError

COMMANDS = {
    "demo": (
        "pacas.cli.demo.command",
        "Walk through the paper's running example: violations, classes, quotes, a refusal, purchases, the repaired "
        "table.",
    ),
    "check": (
        "pacas.cli.check",
        "Count the violations of functional dependencies, general values considered, and find the classes to repair.",
    ),
    "distance": (
        "pacas.cli.distance",
        "Measure the semantic distance of two values: the information lost on the way from one to the other.",
    ),
    "anonymity": (
        "pacas.cli.anonymity",
        "Check k-, (X,Y)- and (X,Y,L)-anonymity, or another criterion, and say the strictest that holds.",
    ),
    "query": (
        "pacas.cli.provider.query",
        "Answer a generalized query over the provider's relations: the provider's own tool.",
    ),
    "catalogue": (
        "pacas.cli.market.catalogue",
        "Say what a provider sells, which columns a request needs, at which levels, and the prices where they are "
        "public.",
    ),
    "quote": (
        "pacas.cli.market.quote",
        "Say what requests would cost now, or why they are refused. Nothing is sold.",
    ),
    "buy": (
        "pacas.cli.market.buy",
        "Buy what is asked for, in order, each at the price of that moment. The ledger keeps every purchase.",
    ),
    "clean": (
        "pacas.cli.clean.command",
        "Repair a table by its own evidence where that suffices, and with values that are bought where they help most.",
    ),
    "review": (
        "pacas.cli.review",
        "Clean under your own eyes, in a browser: approve what is bought before it is paid, keep or undo each repair.",
    ),
    "audit": (
        "pacas.cli.provider.audit",
        "Check the policies, the sales and the ledger, everything derived anew from the ledger's entries.",
    ),
    "backup": (
        "pacas.cli.provider.backup",
        "Copy a provider's ledger with its accounts into one file, as of one moment, while it is sold from.",
    ),
    "restore": (
        "pacas.cli.provider.restore",
        "Put a copy in the ledger's place, and say what that forgets; servers that run sell nothing from it any more.",
    ),
    "lint": (
        "pacas.cli.provider.lint",
        "Find what to mend before selling: columns that tell protected ones, policies and hierarchies that protect "
        "little.",
    ),
    "leak": (
        "pacas.cli.provider.leak",
        "Measure what free quotes tell of each sold attribute, beyond the best guess from public columns.",
    ),
    "serve": (
        "pacas.cli.provider.serve",
        "Serve a provider over HTTP until it is stopped (Ctrl-C, SIGTERM); what was accepted by then is finished.",
    ),
    "verify": (
        "pacas.cli.market.verify",
        "Verify receipts: that the provider has sold just this, at this level, for this price, by its own ledger.",
    ),
    "witness": (
        "pacas.cli.market.witness",
        "Cosign the head of a provider's log, if it has grown out of the last one that was seen.",
    ),
    "init": (
        "pacas.cli.start.app",
        "Write a client.toml or a provider.toml to start from, each line with its reasons. Nothing is written over.",
    ),
    "suggest": (
        "pacas.cli.suggest.app",
        "Suggest what to declare: dependencies, hierarchies, matches, columns to protect, policies.",
    ),
    "errors": (
        "pacas.cli.errors",
        "Put errors into a clean table: such as break dependencies, random ones, and overwritten groups.",
    ),
    "hierarchy": (
        "pacas.cli.hierarchy",
        "Build, check and show generalization hierarchies.",
    ),
    "account": (
        "pacas.cli.provider.account",
        "Accounts of a provider's service: who may ask, and how much each may spend.",
    ),
    "key": (
        "pacas.cli.provider.key",
        "The key that signs a provider's receipts, and those before it.",
    ),
    "offer": (
        "pacas.cli.offer",
        "Private offers: terms for one account, made by its provider and accepted by its buyer.",
    ),
    "experiment": (
        "pacas.cli.experiment",
        "The paper's evaluation: run it again, and see what its claims come to.",
    ),
}
"""Each command's module, which has its `command`, or its `app` of several, and the first paragraph of its help."""


class Commands(TyperGroup):
    """The commands of the table, each loaded when it is called: their names and first lines are known before."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=line) for name, (_, line) in COMMANDS.items()}
        self._loaded: set[str] = set()

    def load(self, name: str) -> Any:
        """A command with its parameters and all of its help."""
        if name not in self._loaded:
            module = import_module(COMMANDS[name][0])
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

    def resolve_command(self, context: Any, arguments: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(context, arguments)
        return name, None if name is None else self.load(name), rest


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

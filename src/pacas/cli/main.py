"""`pacas`: the commands, and how they end: 0 done, 1 the checked thing does not hold, 2 bad input (one line)."""

from __future__ import annotations

import io
import os
import sys
from functools import cache
from importlib.metadata import version as installed_version
from typing import Annotated, Any

import typer

from pacas.cli import anonymity, check, distance, errors, experiment, hierarchy
from pacas.cli.clean import command as clean
from pacas.cli.demo import command as demo
from pacas.cli.market import buy, quote, verify
from pacas.cli.options import show_help
from pacas.cli.provider import account, audit, query, serve
from pacas.errors import PacasError

app = typer.Typer(
    name="pacas",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.command)
app.command("check")(check.command)
app.command("distance")(distance.command)
app.command("anonymity")(anonymity.command)
app.command("query")(query.command)
app.command("quote")(quote.command)
app.command("buy")(buy.command)
app.command("clean")(clean.command)
app.command("audit")(audit.command)
app.command("serve")(serve.command)
app.command("verify")(verify.command)
app.command("errors")(errors.command)
app.add_typer(hierarchy.app, name="hierarchy")
app.add_typer(account.app, name="account")
app.add_typer(experiment.app, name="experiment")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Privacy-aware data cleaning as a service.

    Example: pacas demo
    """
    if version:
        print(f"pacas {installed_version('pacas')}")
        raise typer.Exit()
    show_help(context)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit as it says."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run a command; say what is wrong in one line on stderr."""
    given = sys.argv[1:] if arguments is None else arguments
    if not all(map(_is_text, given)):
        return _bad_input("an argument is not UTF-8 text")
    _never_fail_on_a_character()
    try:
        code = _commands().main(given, prog_name="pacas", standalone_mode=False)
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
def _commands() -> Any:
    """The commands, ready to be called; reading their signatures takes a moment."""
    return typer.main.get_command(app)


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

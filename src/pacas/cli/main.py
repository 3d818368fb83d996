"""`pacas`: the commands, and how they end: 0 done, 1 the checked thing does not hold, 2 bad input (one line)."""

from __future__ import annotations

import os
import sys

import click
import typer

from pacas.cli import anonymity, check, demo, distance, hierarchy, query
from pacas.errors import PacasError

app = typer.Typer(
    name="pacas",
    help="Privacy-aware data cleaning as a service.",
    no_args_is_help=True,
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
app.add_typer(hierarchy.app, name="hierarchy")


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit as it says."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run a command; say what is wrong in one line on stderr."""
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="pacas", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "pacas"
        return _bad_input(f"{error.format_message()} (try '{command} --help')")
    except click.ClickException as error:
        return _bad_input(error.format_message())
    except PacasError as error:
        return _bad_input(str(error))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, click.Abort):
        print("pacas: stopped", file=sys.stderr)
        return 130


def _bad_input(message: str) -> int:
    print("pacas: " + " ".join(message.split()), file=sys.stderr)
    return 2

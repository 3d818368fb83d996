"""The choices that a file to start from is made of: what would be written, or what somebody says in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated

import typer

from pacas.cli.options import Tell, printable, progress
from pacas.errors import InputError

AskOption = Annotated[bool, typer.Option("--ask", help="Go through the choices in the terminal; Enter takes them.")]


class Choices:
    """Takes every choice as it is."""

    are_taken = True

    def progress(self) -> AbstractContextManager[Tell]:
        """What is going on is shown, unless it would stand between questions."""
        return progress()

    def confirm(self, question: str, suggested: bool) -> bool:
        return suggested

    def number(self, question: str, suggested: float, check: Callable[[str], None]) -> float:
        return suggested


class AskedChoices(Choices):
    """Asks about every choice, on stderr: stdout is for what was written."""

    are_taken = False

    def progress(self) -> AbstractContextManager[Tell]:
        return nullcontext(lambda what: None)

    def confirm(self, question: str, suggested: bool) -> bool:
        with _answered():
            return typer.confirm(printable(question), default=suggested, err=True)

    def number(self, question: str, suggested: float, check: Callable[[str], None]) -> float:
        """What is wrong with an answer is said, and it is asked for again: those before it were work."""
        while True:
            with _answered():
                answer: str = typer.prompt(printable(question), default=f"{suggested:g}", err=True)
            try:
                check(answer)
            except InputError as error:
                typer.echo(f"Error: {error}", err=True)
            else:
                return float(answer)


@contextmanager
def _answered() -> Iterator[None]:
    """Where nobody is at the terminal the answers end before the questions do; Ctrl-C is no mistake."""
    try:
        yield
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        typer.echo(err=True)
        raise InputError("--ask: the answers ended before the questions; ask in a terminal, or leave it out") from None


def choices(ask: bool) -> Choices:
    return AskedChoices() if ask else Choices()

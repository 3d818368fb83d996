"""The choices that a file to start from is made of: what would be written, or what somebody says in the terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import typer

from pacas.cli.options import Tell, printable, progress

AskOption = Annotated[bool, typer.Option("--ask", help="Go through the choices in the terminal; Enter takes them.")]


class Choices:
    """Takes every choice as it is."""

    def progress(self) -> AbstractContextManager[Tell]:
        """What is going on is shown, unless it would stand between questions."""
        return progress()

    def confirm(self, question: str, suggested: bool) -> bool:
        return suggested

    def text(self, question: str, suggested: str) -> str:
        return suggested


class AskedChoices(Choices):
    """Asks about every choice, on stderr: stdout is for what was written."""

    def progress(self) -> AbstractContextManager[Tell]:
        return nullcontext(lambda what: None)

    def confirm(self, question: str, suggested: bool) -> bool:
        return typer.confirm(printable(question), default=suggested, err=True)

    def text(self, question: str, suggested: str) -> str:
        answer: str = typer.prompt(printable(question), default=suggested, err=True)
        return answer


def choices(ask: bool) -> Choices:
    return AskedChoices() if ask else Choices()

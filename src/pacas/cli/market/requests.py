"""What `quote` and `buy` share: the requests they are given, and how a price is shown."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.text import Text

from pacas.core.money import in_credits, rounded_text
from pacas.errors import FileError
from pacas.formats.requests_file import Asked, read_requests
from pacas.protocol.messages import Answer, Offer, Quote, Refusal
from pacas.wire.shapes.receipts import ReceiptDocument

RequestsOption = Annotated[
    str | None,
    typer.Option("--requests", metavar="FILE", help="Requests as JSON lines; '-' reads them from standard input."),
]


class Requests:
    """The lines of a file or of standard input, read before a provider is opened, understood when it is."""

    def __init__(self, file: str) -> None:
        self._name = "standard input" if file == "-" else Path(file).name
        try:
            content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        except OSError as error:
            raise FileError(f"{file} cannot be read ({error.strerror}); give requests as JSON lines") from None
        self._lines = content.split(b"\n")

    def among(self, catalogue: Mapping[str, Offer]) -> list[Asked]:
        """The requests, each checked against what is for sale."""
        return read_requests(self._lines, self._name, catalogue)

    def fail(self, asked: Asked, problem: object) -> NoReturn:
        raise FileError(f"{self._name}, line {asked.line}: {problem}") from None


def as_json(told: Quote | Answer | Refusal) -> dict[str, Any]:
    """What a request was answered with; money in credits."""
    match told:
        case Quote(price):
            return {"price": in_credits(price)}
        case Answer(value, _, price, receipt):
            signed = {} if receipt is None else {"receipt": ReceiptDocument.of(receipt).model_dump()}
            return {"price": in_credits(price), "answer": value, **signed}
        case Refusal(reason, because):
            return {"refused": reason.value} | ({} if because is None else {"because": because})


def shown(told: Quote | Answer | Refusal) -> Text:
    """The price, or why there is none."""
    if isinstance(told, Refusal):
        return Text(told.because or told.reason.value, style="yellow")
    return Text(rounded_text(told.price))

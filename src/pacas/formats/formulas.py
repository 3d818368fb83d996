"""Cells that a spreadsheet would take for formulas, made plain in CSV: only where somebody asks for it.

A leading apostrophe is how spreadsheets are told that a cell is text. It changes the value, so tables that go on to
programs are better left as they are.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pacas.formats.replacing import replacing

BEGINNINGS = tuple("=+-@\t\r\n＝＋－＠")
"""Of what a spreadsheet may take for a formula."""


def neutral(text: str) -> str:
    """A text that no spreadsheet calculates; numbers stay numbers.

    >>> neutral("=1+1"), neutral("-5.2"), neutral("-a"), neutral("a=b")
    ("'=1+1", '-5.2', "'-a", 'a=b')
    """
    return f"'{text}" if text.startswith(BEGINNINGS) and not _is_number(text) else text


def neutralise_csv(path: Path, delimiter: str, encoding: str = "utf-8") -> None:
    """Make all cells of a plain CSV file neutral, its header too; all else in it stays as it was, quotes and all."""
    named = _with_mark(path, encoding)
    with (
        path.open(newline="", encoding=named, errors="surrogateescape") as given,
        replacing(path) as partial,
        partial.open("w", newline="", encoding=named, errors="surrogateescape") as made,
    ):
        made.writelines(_neutral_lines(given, delimiter))


def _with_mark(path: Path, encoding: str) -> str:
    """The encoding with the byte order mark that a text in UTF-8 may begin with: it belongs to no cell."""
    with path.open("rb") as text:
        return "utf-8-sig" if encoding == "utf-8" and text.read(3) == codecs.BOM_UTF8 else encoding


def _neutral_lines(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Lines of a CSV, whose fields in quotes may go over several."""
    end = f"[^{re.escape(delimiter)}\r\n]*"
    bare = re.compile(end)
    closing = re.compile(f'([^"]*(?:""[^"]*)*)("{end})?')
    is_open = False
    for line in lines:
        made: list[str] = []
        at = 0
        while at < len(line):
            is_quoted = not is_open and line[at] == '"'
            if is_open or is_quoted:
                found = closing.match(line, at + is_quoted)
                assert found is not None  # it matches nothing, too
                text, rest = found.groups()
                made += ['"', neutral(text)] if is_quoted else [text]
                made.append(rest or "")
                is_open = rest is None
            else:
                found = bare.match(line, at)
                assert found is not None
                made.append(neutral(found[0]))
            at = found.end()
            if not is_open:  # the delimiter, or the line's end
                until = at + 1 if line.startswith(delimiter, at) else len(line)
                made.append(line[at:until])
                at = until
        yield "".join(made)


def _is_number(text: str) -> bool:
    digits = text[1:] if text[:1] in "+-" else text
    whole, _, part = digits.partition(".")
    return digits.isascii() and (whole + part).isdigit()

"""Values of tables as people see them: cut where they are long, the invisible made visible, and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein, Postfix, Prefix

LONGEST = 240
"""Characters of a value that a page shows."""
ALIKE, NEARLY = 0.5, 0.8
"""How alike two values must be for what differs to be marked in them, and for single characters to be."""

_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Controls, what turns the direction of text, and what has no width."""


class Piece(NamedTuple):
    """A part of a value: `text` as it is, a `mark` for a character that nobody would see, or a word on the `rest`."""

    kind: str
    text: str


def shown(value: str, longest: int = LONGEST) -> Iterator[Piece]:
    """A value in pieces.

    >>> [tuple(piece) for piece in shown("a\u202eb")]
    [('text', 'a'), ('mark', 'U+202E'), ('text', 'b')]
    >>> [tuple(piece) for piece in shown("x" * 500, 3)]
    [('text', 'xxx'), ('rest', '… 500 characters')]
    """
    at, head = 0, value[:longest]
    for found in _INVISIBLE.finditer(head):
        if found.start() > at:
            yield Piece("text", head[at : found.start()])
        yield Piece("mark", f"U+{ord(found[0]):04X}")
        at = found.end()
    if at < len(head):
        yield Piece("text", head[at:])
    if len(value) > longest:
        yield Piece("rest", f"… {len(value):,} characters")


class Difference(NamedTuple):
    """A part of two values: what both have (`same`), what went (`old`), or what came (`new`)."""

    kind: str
    text: str


def differences(old: str, new: str) -> list[Difference]:
    """From one value to another: by characters where they are nearly the same, as the part between what they begin and
    end with where they are alike, else as a whole.

    >>> [tuple(part) for part in differences("Montreall", "Montreal")]
    [('same', 'Montreal'), ('old', 'l')]
    >>> [tuple(part) for part in differences("drug-29", "drug-92")]
    [('same', 'drug-'), ('old', '29'), ('new', '92')]
    >>> [tuple(part) for part in differences("flu", "Toronto")]
    [('old', 'flu'), ('new', 'Toronto')]
    """
    alike = 0.0 if max(len(old), len(new)) > LONGEST else Levenshtein.normalized_similarity(old, new)
    if alike >= NEARLY:
        found = _by_characters(old, new)
    else:
        head = Prefix.similarity(old, new) if alike >= ALIKE else 0
        tail = Postfix.similarity(old[head:], new[head:]) if alike >= ALIKE else 0
        ends = len(old) - tail, len(new) - tail
        found = iter(
            (
                Difference("same", old[:head]),
                Difference("old", old[head : ends[0]]),
                Difference("new", new[head : ends[1]]),
                Difference("same", old[ends[0] :]),
            )
        )
    return [part for part in found if part.text]


def _by_characters(old: str, new: str) -> Iterator[Difference]:
    for step in Levenshtein.opcodes(old, new):
        went, came = old[step.src_start : step.src_end], new[step.dest_start : step.dest_end]
        if step.tag == "equal":
            yield Difference("same", went)
        else:
            yield from (Difference("old", went), Difference("new", came))

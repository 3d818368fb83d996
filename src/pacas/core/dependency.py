"""Functional dependencies, and the matching dependencies that tie a client's columns to a provider's.

Paper: §2.1. Both are read from one line of text; a mistake is reported with the character where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from pacas.core.hierarchy import canonical_number
from pacas.core.normal_text import DateOrder
from pacas.errors import ParseError, SchemaError

_ARROW = re.compile(r'"(?:[^"]|"")*"|(?P<arrow>->|→)')


@dataclass(frozen=True, slots=True)
class FunctionalDependency:
    """X → B: tuples with equal ground values in X must have comparable values in B.

    >>> FunctionalDependency.parse("GEN, DIAG -> MED")[0]
    FunctionalDependency(lhs=('GEN', 'DIAG'), rhs='MED')
    """

    lhs: tuple[str, ...]
    rhs: str

    @classmethod
    def parse(cls, text: str) -> tuple[FunctionalDependency, ...]:
        """The dependencies of `X -> B, C`, split into one per attribute on the right."""
        arrows = [m for m in _ARROW.finditer(text) if m["arrow"]]
        if not arrows:
            raise ParseError("expected '->' between the two sides of the dependency", text, len(text))
        if len(arrows) > 1:
            raise ParseError("a second '->'", text, arrows[1].start())
        arrow = arrows[0]
        left = list(_names(text, 0, arrow.start(), "left"))
        right = list(_names(text, arrow.end(), len(text), "right"))
        for name, at in right:
            if name in dict(left):
                raise ParseError(f"{name!r} stands on both sides", text, at)
        return tuple(cls(tuple(name for name, _ in left), name) for name, _ in right)

    @classmethod
    def parse_all(cls, texts: Iterable[str | FunctionalDependency]) -> tuple[FunctionalDependency, ...]:
        """Several dependencies, each split, each kept once, in the order given."""
        split = (fd for text in texts for fd in ((text,) if isinstance(text, cls) else cls.parse(str(text))))
        kept: dict[tuple[frozenset[str], str], FunctionalDependency] = {}
        for fd in split:
            kept.setdefault((frozenset(fd.lhs), fd.rhs), fd)
        return tuple(kept.values())

    @property
    def attributes(self) -> tuple[str, ...]:
        return (*self.lhs, self.rhs)

    def check(self, columns: Sequence[str], where: str) -> None:
        """Raise unless a relation with these columns has the dependency's attributes."""
        SchemaError.check_there(self.attributes, columns, where)

    def __str__(self) -> str:
        return f"{', '.join(map(_quoted, self.lhs))} -> {_quoted(self.rhs)}"


class Similarity(Enum):
    """How a client's value and a provider's value may be alike (≈)."""

    EQUAL = "="
    WITHIN = "within"
    EDIT = "edit"
    JARO_WINKLER = "jaro_winkler"
    QGRAM = "qgram"
    COMPATIBLE = "compatible"
    NORMALIZED = "normalized"
    NORMALIZED_DAY_FIRST = "normalized dmy"
    NORMALIZED_MONTH_FIRST = "normalized mdy"

    @property
    def date_order(self) -> DateOrder | None:
        """How dates are read where values are normalized; None where they are not."""
        word, _, order = self.value.partition(" ")
        return DateOrder(order) if word == "normalized" else None

    @property
    def is_one_spelling(self) -> bool:
        """Whether values are alike that have one spelling, as they are or once normalized: it parts them into kinds."""
        return self is Similarity.EQUAL or self.date_order is not None


@dataclass(frozen=True, slots=True)
class MatchClause:
    """One conjunct: the client's column is like the provider's column."""

    client: str
    provider: str
    similarity: Similarity = Similarity.EQUAL
    threshold: float = 0.0

    def __str__(self) -> str:
        client, provider = _quoted(self.client), _quoted(self.provider)
        match self.similarity:
            case Similarity.EQUAL:
                return f"{client} = {provider}"
            case Similarity.WITHIN | Similarity.EDIT | Similarity.JARO_WINKLER | Similarity.QGRAM:
                return f"{client} ~ {provider} {self.similarity.value} {canonical_number(repr(self.threshold))}"
            case _:
                return f"{client} ~ {provider} {self.similarity.value}"


@dataclass(frozen=True, slots=True)
class MatchingDependency:
    """When a client's tuple and a provider's tuple speak of the same thing: all clauses hold.

    >>> print(MatchingDependency.parse("SEX ~ GEN normalized, AGE ~ AGE within 1, NAME ~ FULL_NAME jaro_winkler 0.9"))
    SEX ~ GEN normalized, AGE ~ AGE within 1, NAME ~ FULL_NAME jaro_winkler 0.9
    """

    clauses: tuple[MatchClause, ...]

    @classmethod
    def parse(cls, text: str) -> MatchingDependency:
        return cls(tuple(_clause(text, start, end) for start, end in _pieces(text)))

    @property
    def client_columns(self) -> tuple[str, ...]:
        """The columns that a client's tuple must have."""
        return tuple(dict.fromkeys(clause.client for clause in self.clauses))

    @property
    def provider_columns(self) -> tuple[str, ...]:
        """The provider's columns that it is matched with."""
        return tuple(dict.fromkeys(clause.provider for clause in self.clauses))

    @property
    def is_by_equality(self) -> bool:
        """Whether equality decides alone."""
        return all(clause.similarity is Similarity.EQUAL for clause in self.clauses)

    @property
    def is_by_spelling(self) -> bool:
        """Whether every clause asks for one spelling, so that a tuple finds the rows of one kind."""
        return all(clause.similarity.is_one_spelling for clause in self.clauses)

    def __str__(self) -> str:
        return ", ".join(map(str, self.clauses))


# ---- reading ----------------------------------------------------------------------------------------------------


def _names(text: str, start: int, end: int, side: str) -> Iterator[tuple[str, int]]:
    """The comma-separated names of one side, each with its position."""
    seen: set[str] = set()
    if not text[start:end].strip():
        raise ParseError(f"the {side} side is empty", text, start)
    for a, b in _pieces(text, start, end):
        name, at = _name(text, a, b)
        if name in seen:
            raise ParseError(f"{name!r} stands twice on the {side} side", text, at)
        seen.add(name)
        yield name, at


def _pieces(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The spans between commas, commas inside double quotes left alone."""
    end = len(text) if end is None else end
    quoted, first = False, start
    for i in range(start, end):
        if text[i] == '"':
            quoted = not quoted
        elif text[i] == "," and not quoted:
            yield first, i
            first = i + 1
    if quoted:
        raise ParseError("a quote that is not closed", text, text.rindex('"', start, end))
    yield first, end


def _name(text: str, start: int, end: int) -> tuple[str, int]:
    """The column name in a span; double quotes protect commas, arrows and signs."""
    raw = text[start:end]
    at = start + len(raw) - len(raw.lstrip())
    name = raw.strip()
    if not name:
        raise ParseError("a column name is missing", text, start)
    if name.startswith('"'):
        if not re.fullmatch(r'"(?:[^"]|"")+"', name):
            raise ParseError("a quoted name must end with its quote", text, at)
        return name[1:-1].replace('""', '"'), at
    if odd := re.search(r'["=~]', name):
        raise ParseError(
            f"{odd[0]!r} in a name; put the name in double quotes if it is part of it", text, at + odd.start()
        )
    return name, at


_SIGN = re.compile(r'"(?:[^"]|"")*"|([=~])')
_METHOD = re.compile(r"\s(within|edit|jaro_winkler|qgram)\s+(\S+)\s*$|\s(compatible|normalized(?:\s+(?:dmy|mdy))?)\s*$")


def _clause(text: str, start: int, end: int) -> MatchClause:
    sign = next((m for m in _SIGN.finditer(text, start, end) if m[1]), None)
    if sign is None:
        raise ParseError("expected '=' or '~' between a client's and a provider's column", text, end)
    client, _ = _name(text, start, sign.start())
    if sign[1] == "=":
        return MatchClause(client, _name(text, sign.end(), end)[0])
    method = _METHOD.search(text[:end], sign.end())
    if method is None:
        raise ParseError(
            "after '~' and a column expected 'within N', 'edit N', 'jaro_winkler N', 'qgram N', 'compatible' or "
            "'normalized'",
            text,
            end,
        )
    provider, _ = _name(text, sign.end(), method.start())
    if method[3]:
        return MatchClause(client, provider, Similarity(" ".join(method[3].split())))
    return MatchClause(client, provider, Similarity(method[1]), _threshold(text, method))


def _threshold(text: str, method: re.Match[str]) -> float:
    try:
        number = float(method[2])
    except ValueError:
        raise ParseError(f"expected a number after {method[1]!r}", text, method.start(2)) from None
    most = float("inf") if method[1] == "within" else 1.0
    if not 0 <= number <= most or number == float("inf"):
        raise ParseError(f"{method[1]!r} takes a number from 0{'' if most > 1 else ' to 1'}", text, method.start(2))
    return number


def _quoted(name: str) -> str:
    plain = re.fullmatch(r'[^\s,"=~](?:[^,"=~]*[^\s,"=~])?', name) and not _ARROW.search(name)
    return name if plain else '"' + name.replace('"', '""') + '"'

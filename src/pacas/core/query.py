"""Generalized queries: what is asked of a provider, and at which level.

Paper: Def. 1. ⟨Q, L⟩ is a select-project-join query Q with one level per output column; its answers are those of
Q, generalized to L, as a set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pacas.errors import InputError, ParseError, SchemaError, did_you_mean

MAIN = "relation"
"""The name of a provider's main relation, as in its file."""


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """A column of one of the query's relations; without a relation, of the only one that has it."""

    attribute: str
    relation: str | None = None

    def __str__(self) -> str:
        return f"{self.relation}.{self.attribute}" if self.relation else self.attribute


@dataclass(frozen=True, slots=True)
class Output:
    """An output column and the level at which it is answered."""

    column: QueryColumn
    level: int = 0


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of a column with a constant or with another column. A null compares with nothing."""

    left: QueryColumn
    operator: str
    right: QueryColumn | str


@dataclass(frozen=True, slots=True)
class From:
    """A relation of the query, under the name by which the query speaks of it."""

    relation: str = MAIN
    alias: str = MAIN


@dataclass(frozen=True, slots=True)
class GeneralizedQuery:
    """G = ⟨Q, L⟩: outputs with their levels, conditions that all must hold, and the relations joined.

    >>> GeneralizedQuery.parse("GEN:0, MED:1", "DIAG = migraine").outputs[1]
    Output(column=QueryColumn(attribute='MED', relation=None), level=1)
    """

    outputs: tuple[Output, ...]
    conditions: tuple[Condition, ...] = ()
    relations: tuple[From, ...] = (From(),)

    @classmethod
    def parse(cls, select: str, where: str = "", from_: str = MAIN) -> GeneralizedQuery:
        """A query from the texts of the command line.

        `select` is `GEN:0, MED:1` (no level: 0); `where` is comparisons joined by `and`; `from_` is
        `relation, doctors d` or `relation join doctors d on MED = d.MED`. A right side is a column if it is
        written `relation.column`, otherwise a constant; single quotes make anything a constant and double
        quotes make anything a name.
        """
        relations, joins = _relations(from_)
        aliases = [r.alias for r in relations]
        outputs = tuple(_output(piece, aliases) for piece in _Span.whole(select).split(_COMMA))
        conditions = tuple(_conditions([*joins, _Span.whole(where)], aliases))
        return cls(outputs, conditions, tuple(relations))

    def resolve(self, schemas: Mapping[str, Sequence[str]]) -> GeneralizedQuery:
        """The query with each column's relation filled in; `schemas` are the columns of each relation by name."""
        for source in self.relations:
            if source.relation not in schemas:
                raise InputError(f"no relation {source.relation!r}; {did_you_mean(source.relation, schemas)}")
        columns = {source.alias: schemas[source.relation] for source in self.relations}
        main = schemas.get(MAIN, ())
        rows = {s.alias for s in self.relations if main and set(main).isdisjoint(schemas[s.relation])}

        def full(side: QueryColumn | str) -> QueryColumn | str:
            return _resolve(side, columns, rows) if isinstance(side, QueryColumn) else side

        return GeneralizedQuery(
            tuple(Output(_resolve(o.column, columns, rows), o.level) for o in self.outputs),
            tuple(Condition(_resolve(c.left, columns, rows), c.operator, full(c.right)) for c in self.conditions),
            self.relations,
        )

    def columns(self) -> list[QueryColumn]:
        """Every column that the query speaks of."""
        right = [c.right for c in self.conditions if isinstance(c.right, QueryColumn)]
        return [*(o.column for o in self.outputs), *(c.left for c in self.conditions), *right]


def _resolve(column: QueryColumn, columns: Mapping[str, Sequence[str]], rows: AbstractSet[str]) -> QueryColumn:
    """The one relation that a column belongs to. What may be a row in a header's place is told by no error."""
    if column.relation is not None and column.relation not in columns:
        raise InputError(f"the query has no relation {column.relation!r}; {did_you_mean(column.relation, columns)}")
    among = [column.relation] if column.relation is not None else list(columns)
    having = [alias for alias in among if column.attribute in columns[alias]]
    if len(having) == 1:
        return QueryColumn(column.attribute, having[0])
    if having:
        raise SchemaError(
            f"column {column.attribute!r} is in {' and in '.join(having)}; write {having[0]}.{column.attribute}"
        )
    if not rows.isdisjoint(among):
        raise SchemaError(
            f"no column {column.attribute!r} in {' or '.join(among)}; is a first line lost, the header? (what is there "
            "is not shown: it may be somebody's)"
        )
    known = dict.fromkeys(name for alias in among for name in columns[alias])
    raise SchemaError.missing(column.attribute, known, " or ".join(among))


# ---- reading ----------------------------------------------------------------------------------------------------

_QUOTED = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\""""
_COMMA = re.compile(rf"{_QUOTED}|(?P<cut>,)")
_AND = re.compile(rf"{_QUOTED}|(?P<cut>(?<!\S)and(?!\S))", re.IGNORECASE)
_JOIN = re.compile(rf"{_QUOTED}|(?P<cut>,|(?<!\S)join(?!\S))", re.IGNORECASE)
_ON = re.compile(rf"{_QUOTED}|(?P<cut>(?<!\S)on(?!\S))", re.IGNORECASE)
_OPERATOR = re.compile(rf"{_QUOTED}|(?P<cut><=|>=|!=|<>|=|<|>)")
_LEVEL = re.compile(r":\s*([^\s\"']*)\s*$")


@dataclass(frozen=True, slots=True)
class _Span:
    """A piece of the text, so that a mistake can be shown where it stands."""

    text: str
    start: int
    end: int

    @classmethod
    def whole(cls, text: str) -> _Span:
        unclosed = re.search(r"['\"]", re.sub(_QUOTED, lambda quoted: "." * len(quoted[0]), text))
        if unclosed:
            raise ParseError(
                "a quote that is not closed (a quote inside quotes is written twice)", text, unclosed.start()
            )
        return cls(text, 0, len(text)).stripped()

    def stripped(self) -> _Span:
        raw = self.text[self.start : self.end]
        return _Span(self.text, self.start + len(raw) - len(raw.lstrip()), self.end - len(raw) + len(raw.rstrip()))

    def split(self, cut: re.Pattern[str]) -> list[_Span]:
        """The pieces between the cuts; what is quoted is never cut."""
        cuts = [m for m in cut.finditer(self.text, self.start, self.end) if m["cut"]]
        starts = [self.start, *(m.end() for m in cuts)]
        ends = [*(m.start() for m in cuts), self.end]
        return [_Span(self.text, a, b).stripped() for a, b in zip(starts, ends, strict=True)]

    def error(self, message: str) -> ParseError:
        return ParseError(message, self.text, self.start)

    def __str__(self) -> str:
        return self.text[self.start : self.end]


def _relations(text: str) -> tuple[list[From], list[_Span]]:
    """The relations of a `from`, and the conditions after each `on`."""
    relations: list[From] = []
    conditions: list[_Span] = []
    for piece in _Span.whole(text).split(_JOIN):
        name, *on = piece.split(_ON)
        words = str(name).split()
        if not 1 <= len(words) <= 2:
            raise name.error("expected a relation, and perhaps a short name for it")
        if words[-1] in [r.alias for r in relations]:
            raise name.error(f"{words[-1]!r} stands twice; give one a short name, as in '{words[0]} b'")
        relations.append(From(words[0], words[-1]))
        conditions += on
    return relations, conditions


def _output(span: _Span, aliases: Sequence[str]) -> Output:
    level = _LEVEL.search(str(span))
    if level is None:
        return Output(_column(span, aliases))
    name = _Span(span.text, span.start, span.start + level.start()).stripped()
    if not level[1].isdecimal() or len(level[1]) > 999:
        raise ParseError("expected a level (0 is ground) after ':'", span.text, span.start + level.start(1))
    return Output(_column(name, aliases), int(level[1]))


def _conditions(spans: Iterable[_Span], aliases: Sequence[str]) -> Iterable[Condition]:
    for span in spans:
        if str(span):
            yield from (_condition(piece, aliases) for piece in span.split(_AND))


def _condition(span: _Span, aliases: Sequence[str]) -> Condition:
    sign = next((m for m in _OPERATOR.finditer(span.text, span.start, span.end) if m["cut"]), None)
    if sign is None:
        raise span.error("expected a comparison such as DIAG = migraine")
    left = _Span(span.text, span.start, sign.start()).stripped()
    right = _Span(span.text, sign.end(), span.end).stripped()
    if not str(right):
        raise right.error("expected a value after the comparison")
    if span.text[sign.end()] == "=":
        raise ParseError("equality is written '='", span.text, sign.end())
    operator = "<>" if sign["cut"] == "!=" else sign["cut"]
    return Condition(_column(left, aliases), operator, _operand(right, aliases))


def _operand(span: _Span, aliases: Sequence[str]) -> QueryColumn | str:
    text = str(span)
    if text[0] not in "'\"" and (either := re.search(r"\sor\s", text, re.IGNORECASE)):
        raise ParseError(
            "conditions are joined by 'and' only; quote the value if 'or' is part of it",
            span.text,
            span.start + either.start() + 1,
        )
    if text.startswith("'") and text.endswith("'") and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text.startswith('"') or (text.partition(".")[0] in aliases and "." in text):
        return _column(span, aliases)
    return text


def _column(span: _Span, aliases: Sequence[str]) -> QueryColumn:
    text = str(span)
    if not text:
        raise span.error("a column name is missing")
    relation, dot, attribute = text.partition(".")
    if dot and relation in aliases:
        return QueryColumn(_unquoted(attribute), relation)
    return QueryColumn(_unquoted(text))


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if len(name) > 2 and name[0] == name[-1] == '"' else name

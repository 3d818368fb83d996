"""Which neighbours answer a generalized query differently, as one SQL statement over all of them.

Answers are sets, so a query sees of each relation only the set of what is left of its rows after cutting it down to the
columns shown and the rows kept. In `q0`, `q1`, … stand these sets, with how many rows make each member; in `dq0`,
`dq1`, …, for each place where the query names the main relation, what a neighbour adds to the set (+1) or takes from it
(−1). A query that names one relation differs exactly where such a set does.

A join is maintained incrementally: the ways in which an answer is derived change by the sum, over all non-empty choices
of the places that name the main relation, of the joins with dq at the chosen places and q at the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.contract import NeighbourDiffs
from pacas.engine.sql.answer_statement import Occurrence, Outline, where
from pacas.engine.sql.statements import OpenedRelation
from pacas.errors import InputError, SchemaError

NEIGHBOUR = "neighbour"
SIGN = "sign"

MOST_OCCURRENCES = 4
"""How often a query may name the main relation: the statement has a part for each choice of these places."""


def changing_columns(
    query: GeneralizedQuery, tables: Mapping[str, OpenedRelation], deltas: NeighbourDiffs
) -> dict[str, str]:
    """The main relation's columns that the query speaks of, and what SQL calls them; deltas must have them all."""
    resolved = query.resolve({name: table.columns for name, table in tables.items()})
    aliases = [source.alias for source in query.relations if source.relation == MAIN]
    if len(aliases) > MOST_OCCURRENCES:
        raise InputError(
            f"the query names the main relation {len(aliases)} times; neighbours can be told apart by queries that "
            f"name it up to {MOST_OCCURRENCES} times"
        )
    columns = dict.fromkeys(column.attribute for column in resolved.columns() if column.relation in aliases)
    SchemaError.check_there(columns, deltas.rows.column_names, "the deltas")
    return {attribute: tables[MAIN].sql_column(attribute) for attribute in columns}


def change_sql(outline: Outline, name: str, deltas: NeighbourDiffs) -> str | None:
    """The statement whose rows are the neighbours that answer differently; none where no relation ever changes.

    `name` is the deltas' own, with the columns called like those of the main relation.
    """
    changing = [o for o in outline.occurrences if o.relation == MAIN]
    if not changing:
        return None
    steps = [_members(o) for o in outline.occurrences]
    steps += [_member_changes(o, name, _most_removed(deltas)) for o in changing]
    if len(outline.occurrences) == 1:
        differing = f"SELECT DISTINCT {NEIGHBOUR} FROM {_delta(changing[0])}"
    else:
        steps += _joined_changes(outline, changing)
        same = _same([(f"c.{a}", f"b.{a}") for a in _answer(outline)])
        there = _turns("coalesce(b.ways, 0)", "c.ways")
        differing = f"SELECT DISTINCT c.{NEIGHBOUR} FROM changed c LEFT JOIN before b ON {same} WHERE {there}"
    return f"WITH {', '.join(steps)} {differing} ORDER BY {NEIGHBOUR}"


def _most_removed(deltas: NeighbourDiffs) -> int:
    """No neighbour removes more rows than this."""
    return int(np.unique(deltas.neighbour[deltas.sign < 0], return_counts=True)[1].max(initial=0))


def _answer(outline: Outline) -> list[str]:
    """What the columns of an answer are called."""
    return [f"a{i}" for i in range(len(outline.outputs))]


def _delta(occurrence: Occurrence) -> str:
    return f"d{occurrence.name}"


def _turns(before: str, change: str) -> str:
    """Something that was there is no longer, or the other way round."""
    return f"({before} > 0) <> ({before} + {change} > 0)"


def _same(pairs: Sequence[tuple[str, str]]) -> str:
    return " AND ".join(f"{a} IS NOT DISTINCT FROM {b}" for a, b in pairs) or "true"


def _members(occurrence: Occurrence) -> str:
    """What the query sees of a relation, each once, and how many rows it is seen in."""
    cut = f"SELECT {occurrence.listed('count(*) AS n')} {occurrence.source(occurrence.table.sql_name)}"
    return f"{occurrence.name} AS MATERIALIZED ({cut} GROUP BY ALL HAVING count(*) > 0)"


def _member_changes(occurrence: Occurrence, deltas: str, most: int) -> str:
    """What a neighbour adds to the members, or takes from them.

    No neighbour removes more than `most` rows, so a member of more is there before and after: most deltas end here.
    """
    shown = list(occurrence.columns.values())
    cut = f"SELECT {occurrence.listed(f't.{NEIGHBOUR}', f't.{SIGN}')} {occurrence.source(deltas)}"
    keys = ", ".join([f"c.{NEIGHBOUR}", *(f"c.{x}" for x in shown)])
    joined = f"({cut}) c LEFT JOIN {occurrence.name} q ON {_same([(f'c.{x}', f'q.{x}') for x in shown])}"
    rare = f"SELECT {keys}, coalesce(q.n, 0) AS n, sum(c.{SIGN}) AS change FROM {joined}"
    rare += f" WHERE coalesce(q.n, 0) <= {most} GROUP BY ALL"
    kept = ", ".join([NEIGHBOUR, *shown])
    changes = f"SELECT {kept}, sign(change)::BIGINT AS {SIGN} FROM ({rare}) WHERE {_turns('n', 'change')}"
    return f"{_delta(occurrence)} AS MATERIALIZED ({changes})"


def _joined_changes(outline: Outline, changing: Sequence[Occurrence]) -> list[str]:
    """The answers whose ways change, by how much in each neighbour, and how many ways there were before."""
    named = _answer(outline)
    outputs = ", ".join(f"{sql} AS {a}" for sql, a in zip(outline.outputs, named, strict=True))
    choices = [choice for choice in product((False, True), repeat=len(changing)) if any(choice)]
    terms = " UNION ALL ".join(_term(outline, changing, choice, outputs) for choice in choices)
    ways = f"SELECT {NEIGHBOUR}, {', '.join(named)}, sum({SIGN}) AS ways FROM ({terms})"
    sets = ", ".join(o.name for o in outline.occurrences)
    same = _same([(sql, f"a.{a}") for sql, a in zip(outline.outputs, named, strict=True)])
    derived = where([*outline.conditions, same])
    return [
        f"changed AS MATERIALIZED ({ways} GROUP BY ALL HAVING sum({SIGN}) <> 0)",
        f"answers AS MATERIALIZED (SELECT DISTINCT {', '.join(named)} FROM changed)",
        f"before AS (SELECT a.*, count(*) AS ways FROM answers a, {sets}{derived} GROUP BY ALL)",
    ]


def _term(outline: Outline, changing: Sequence[Occurrence], choice: Sequence[bool], outputs: str) -> str:
    """The join with the changes at the chosen places, all of one neighbour, and the unchanged sets elsewhere."""
    chosen = [o for o, is_chosen in zip(changing, choice, strict=True) if is_chosen]
    relations = ", ".join(f"{_delta(o)} AS {o.name}" if o in chosen else o.name for o in outline.occurrences)
    together = [f"{o.name}.{NEIGHBOUR} = {chosen[0].name}.{NEIGHBOUR}" for o in chosen[1:]]
    sign = " * ".join(f"{o.name}.{SIGN}" for o in chosen)
    conditions = where([*together, *outline.conditions])
    return f"SELECT {chosen[0].name}.{NEIGHBOUR}, {outputs}, {sign} AS {SIGN} FROM {relations}{conditions}"

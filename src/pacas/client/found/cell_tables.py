"""Tables that name cells: plain ones, pandera's failure cases, and the failed rows of dbt and Soda."""

from __future__ import annotations

from collections.abc import Sequence

from pacas.client.found.found_cells import FoundCells
from pacas.core.relation import Relation
from pacas.engine.questions import embedded_engine
from pacas.errors import InputError, SchemaError

ROW, ATTRIBUTE = "row", "attribute"
PANDERA, INDEX = ("schema_context", "column", "check"), "index"
"""Columns that pandera's failure cases are known by, and the one that has their rows, unless a key does."""
DBT_VALUES = ("value_field", "unique_field", "from_field")
"""Where dbt's accepted_values, unique and relationships tests keep the values of the column that they failed on."""

Texts = dict[str, list[str | None]]


def is_pandera(columns: Sequence[str]) -> bool:
    return {*PANDERA} <= {*columns}


def cells_of_table(relation: Relation, name: str, key: Sequence[str] = (), attribute: str | None = None) -> FoundCells:
    """The cells that a table names, a line each. `attribute` is what its lines are about, if they do not say so.

    A line names its row by the columns of the key, if the table has them all, else by number.
    """
    columns = relation.columns
    if is_pandera(columns):
        if attribute is not None:
            raise InputError(f"{name} says itself which columns failed; give it without {attribute}=")
        return _pandera(relation, name, tuple(key))
    listed = next((column for column in DBT_VALUES if column in columns and "n_records" in columns), None)
    if listed is not None or DBT_VALUES[-1] in columns:
        return _dbt_values(relation, name, listed or DBT_VALUES[-1], attribute)
    if attribute is None and ATTRIBUTE not in columns:
        raise SchemaError(
            f"no column {ATTRIBUTE!r} in {name}; if its lines are failed rows, say of which column: ATTR={name}"
        )
    by = _key_of(columns, key, ROW, name)
    texts = _texts(relation, [*by, *([ATTRIBUTE] if attribute is None else [])])
    attributes = texts.get(ATTRIBUTE) if attribute is None else [attribute] * len(relation)
    return _cells(texts, by, attributes or [], name, by_row=by == (ROW,) and ROW not in key)


def _pandera(relation: Relation, name: str, key: tuple[str, ...]) -> FoundCells:
    """A column's failure cases. Those of a whole frame name all of its columns, or none: they are of no cell."""
    by = _key_of(relation.columns, key, INDEX, name)
    named = [*dict.fromkeys([*by, *([INDEX] if INDEX in relation.columns else [])])]
    texts = _texts(relation, [*dict.fromkeys([*PANDERA, *named])])
    places = zip(*(texts[column] for column in named), strict=True)
    kept = [
        context == "Column" and any(value is not None for value in place)  # a row without its key is not passed over
        for context, place in zip(texts["schema_context"], places, strict=True)
    ]
    chosen = {
        column: [value for value, keep in zip(values, kept, strict=True) if keep] for column, values in texts.items()
    }
    found = _cells(chosen, by, chosen["column"], name, by_row=by == (INDEX,) and INDEX not in key)
    return FoundCells(found.cells, found.key, name=name, left_out=len(kept) - sum(kept))


def _dbt_values(relation: Relation, name: str, column: str, attribute: str | None) -> FoundCells:
    """Values that a dbt test has found wrong in a column: every cell that holds one is meant."""
    if attribute is None:
        raise InputError(f"{name} lists values that a dbt test has found, and not of which column; say it: ATTR={name}")
    values = _texts(relation, [column])[column]
    return FoundCells([((value,), attribute) for value in values], (attribute,), every=True, name=name)


def _key_of(columns: Sequence[str], key: Sequence[str], row: str, name: str) -> tuple[str, ...]:
    """The columns that name a line's row."""
    if key and all(column in columns for column in key):
        return tuple(key)
    if row in columns:
        return (row,)
    if key:
        raise SchemaError.missing(next(column for column in key if column not in columns), columns, name)
    raise SchemaError(f"no column {row!r} in {name}; give it, or say with a key (--key ID) which columns name rows")


def _texts(relation: Relation, columns: Sequence[str]) -> Texts:
    if not len(relation):  # a check that has found nothing
        return {column: [] for column in columns}
    engine = embedded_engine()
    taken = Relation(relation.table.select(list(columns)))
    found: Texts = engine.rows(engine.open(taken), None, list(columns)).to_pydict()
    return found


def _cells(
    texts: Texts, by: tuple[str, ...], attributes: Sequence[str | None], name: str, *, by_row: bool
) -> FoundCells:
    if None in attributes:
        raise InputError(f"{name}, cell {list(attributes).index(None) + 1}: the attribute is missing")
    named = [attribute or "" for attribute in attributes]
    if not by_row:
        places = zip(*(texts[column] for column in by), strict=True)
        return FoundCells(list(zip(places, named, strict=True)), by, name=name)
    rows = [_row(value, name, number) for number, value in enumerate(texts[by[0]], 1)]
    return FoundCells(list(zip(rows, named, strict=True)), name=name)


def _row(value: str | None, name: str, number: int) -> int:
    text = (value or "").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InputError(
            f"{name}, cell {number}: a row is a number from 0 on, not {text[:40]!r}; keys stand in a column "
            "that is called as the table's, and that --key names"
        )
    return int(text)

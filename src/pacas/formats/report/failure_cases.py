"""Violations in other tools' forms, for what reads those, and for `--cells`.

Pandera's failure cases, a line a cell; by the name `.json`, a validation result of Great Expectations; or, of one
attribute, whole rows, as dbt's `store_failures` and Soda's samplers keep them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pacas.client.classes.check import Check
from pacas.engine.contract import RelationFile, Source, Table
from pacas.errors import FileError, InputError, SchemaError, did_you_mean
from pacas.formats.replacing import check_is_text, check_writable, replacing, write_lines

HEADER = ("schema_context", "column", "check", "check_number", "failure_case", "index")
EXPECTATION = "expect_column_values_to_keep_dependency"
"""How a dependency is called among expectations."""
ROWS_AT_ONCE = 100_000


def write_failure_cases(path: Path, found: Check, source: Source, key: Sequence[str] = ()) -> None:
    """Write the cells of all violating groups, by dependency and row, with the columns of a key.

    The check is the dependency, the failure case the cell's value, and the index the row's number.
    """
    SchemaError.check_there(key, source.columns, source.name)
    _check_free(path, source)
    columns = {*key, *(dependency.fd.rhs for dependency in found.dependencies)}
    table = found.engine.open(source, [column for column in source.columns if column in columns])
    if path.suffix.lower() == ".json":
        with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
            json.dump(_validation(found, table, key), file)
        return
    numbers = range(len(found.dependencies))
    write_lines(path, [*HEADER, *key], (line for number in numbers for line in _lines(found, number, table, key)))


def write_failed_rows(path: Path, found: Check, source: Source, attribute: str) -> None:
    """Write the rows of groups that violate a dependency on the attribute, all columns, in the table's order."""
    judged = [dependency for dependency in found.dependencies if dependency.fd.rhs == attribute]
    if not judged:
        known = sorted({dependency.fd.rhs for dependency in found.dependencies})
        raise InputError(f"no dependency is about {attribute!r}; {did_you_mean(attribute, known)}")
    _check_free(path, source)
    table = found.engine.open(source, source.columns)
    rows = np.unique(np.concatenate([dependency.violating.rows for dependency in judged]))
    some = (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
    failed = (found.engine.rows(table, of_these, source.columns).to_pydict() for of_these in some)
    write_lines(path, source.columns, (line for texts in failed for line in zip(*texts.values(), strict=True)))


def _check_free(path: Path, source: Source) -> None:
    check_is_text(path)
    check_writable(path)
    if isinstance(source, RelationFile) and path.exists() and path.samefile(source.path):
        raise FileError(f"{path} is the table itself; give another name")


def _lines(found: Check, number: int, table: Table, key: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    dependency = found.dependencies[number]
    rows = dependency.violating.rows.copy()
    rows.sort()
    column = dependency.fd.rhs
    asked = list(dict.fromkeys([column, *key]))
    values = found.engine.rows(table, rows, asked).to_pydict() if len(rows) else dict.fromkeys(asked, ())
    keys = (values[name] for name in key)
    for row, value, *named in zip(rows.tolist(), values[column], *keys, strict=True):
        yield ("Column", column, str(dependency.fd), number, value, row, *named)


def _validation(found: Check, table: Table, key: Sequence[str]) -> dict[str, Any]:
    """A result for each dependency; its cells by the key, or by the row's number."""
    results = [_expectation(found, number, table, key) for number in range(len(found.dependencies))]
    good = sum(result["success"] for result in results)
    statistics = {
        "evaluated_expectations": len(results),
        "successful_expectations": good,
        "unsuccessful_expectations": len(results) - good,
        "success_percent": 100 * good / len(results) if results else None,
    }
    return {
        "success": good == len(results),
        "results": results,
        "suite_name": "pacas",
        "statistics": statistics,
        "meta": {},
    }


def _expectation(found: Check, number: int, table: Table, key: Sequence[str]) -> dict[str, Any]:
    fd = found.dependencies[number].fd
    lines = list(_lines(found, number, table, key))
    value, row, first_key = 4, 5, len(HEADER)
    places = [
        {fd.rhs: line[value], **dict(zip(key, line[first_key:], strict=True))} if key else line[row] for line in lines
    ]
    result = {
        "element_count": found.rows,
        "unexpected_count": len(lines),
        "unexpected_list": [line[value] for line in lines],
        "unexpected_index_list": places,
        **({"unexpected_index_column_names": list(key)} if key else {}),
    }
    return {
        "success": not lines,
        "expectation_config": {"type": EXPECTATION, "kwargs": {"column": fd.rhs, "dependency": str(fd)}, "meta": {}},
        "result": result,
        "meta": {},
        "exception_info": {"raised_exception": False, "exception_traceback": None, "exception_message": None},
    }

"""Great Expectations' validation result: the cells that its failed expectations list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pacas.client.found.found_cells import FoundCells, key_values
from pacas.errors import InputError

LISTED = "unexpected_index_list"
NAMES = "unexpected_index_column_names"
HOW = 'validate with result_format = {"result_format": "COMPLETE"}, and "unexpected_index_column_names" for a key'


def is_validation_result(document: object) -> bool:
    return isinstance(document, Mapping) and isinstance(document.get("results"), list) and "success" in document


def cells_of_validation(document: Mapping[str, Any], name: str) -> FoundCells:
    """The cells that failed expectations list, by the key columns that the result names, else by row.

    An expectation of a table or of several columns is about no single cell, and is left out.
    """
    failed = [_Failed(result, name) for result in document["results"] if not _succeeded(result, name)]
    of_cells = [failure for failure in failed if failure.column is not None]
    keys = {failure.key for failure in of_cells}
    if len(keys) > 1:
        raise InputError(f"{name}: expectations that name rows in different ways; {HOW}")
    key = next(iter(keys), ())
    places = [place for failure in of_cells for place in failure.places()]
    columns = [failure.column or "" for failure in of_cells for _ in failure.places()]
    cells = list(zip(key_values(places) if key else places, columns, strict=True))
    return FoundCells(cells, key, name=name, left_out=len(failed) - len(of_cells))


class _Failed:
    """A failed expectation."""

    def __init__(self, result: Mapping[str, Any], name: str) -> None:
        self._name = name
        try:
            config = result["expectation_config"]
            self._type = str(config.get("type") or config["expectation_type"])  # before its release 1.0
            self.column: str | None = config["kwargs"].get("column")
            found = result.get("result") or {}
            self._listed: Any = found.get(LISTED)
            self.key: tuple[str, ...] = tuple(found.get(NAMES) or ())
        except (KeyError, TypeError, AttributeError):
            raise _damaged(name) from None
        if not isinstance(self.column, str | None):
            raise _damaged(name)
        if self._listed is None and "unexpected_count" not in found:
            self.column = None  # a column's mean, its type: no cell is wrong
        elif self.column is not None and not isinstance(self._listed, list):
            raise InputError(f"{name}: {self._type} does not list its rows; {HOW}")

    def places(self) -> Iterator[Any]:
        for place in self._listed:
            if not self.key:
                if isinstance(place, bool) or not isinstance(place, int) or place < 0:
                    raise InputError(f"{self._name}: {self._type} lists rows by no number; {HOW}")
                yield place
                continue
            if not isinstance(place, Mapping) or any(column not in place for column in self.key):
                raise _damaged(self._name)
            yield tuple(place[column] for column in self.key)


def _succeeded(result: object, name: str) -> bool:
    if not isinstance(result, Mapping) or not isinstance(result.get("success"), bool):
        raise _damaged(name)
    return bool(result["success"])


def _damaged(name: str) -> InputError:
    return InputError(f"{name} is not a whole validation result of Great Expectations; write result.to_json_dict()")

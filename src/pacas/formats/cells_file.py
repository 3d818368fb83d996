"""Files that name cells which another tool has found wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pacas.client.found.cell_tables import cells_of_table
from pacas.client.found.found_cells import FoundCells
from pacas.client.found.great_expectations import cells_of_validation, is_validation_result
from pacas.core.relation import Relation
from pacas.errors import FileError, InputError, NoRowsError, PacasError
from pacas.formats.relations.relations import read_relation, scan_relation


class CellsFile(NamedTuple):
    """A file of cells, and the attribute that its lines are about, if they do not say so."""

    path: Path
    attribute: str | None = None

    @classmethod
    def parse(cls, text: str, option: str = "--cells") -> CellsFile:
        """`FILE`, or `ATTR=FILE`, as an option is given it."""
        attribute, sign, file = text.partition("=")
        if not sign or Path(text).exists():
            return cls(Path(text))
        if not attribute or not file:
            raise InputError(
                f"{option} takes a FILE, or ATTR=FILE for failed rows, such as MED=failed.csv; not {text!r}"
            )
        return cls(Path(file), attribute)

    def read(self, key: Sequence[str], encoding: str | None = None) -> FoundCells:
        """The named cells; whether the client's table has them is for the cleaning to check.

        `encoding` is that table's: a text that is not UTF-8, as most tools write, is taken to be like it.
        """
        if self.path.suffix.lower() != ".json":
            return cells_of_table(self._relation(encoding), self.path.name, key, self.attribute)
        document = _document(self.path)
        if not is_validation_result(document):
            raise FileError(
                f"{self.path.name} is no validation result of Great Expectations; write result.to_json_dict()"
            )
        if self.attribute is not None:
            raise InputError(f"{self.path.name} says itself which columns failed; give it without {self.attribute}=")
        return cells_of_validation(document, self.path.name)

    def _relation(self, encoding: str | None) -> Relation:
        try:
            return _lines(self.path)
        except FileError:
            with suppress(PacasError):
                if encoding is not None:
                    return _lines(self.path, encoding)
            raise


def _lines(path: Path, encoding: str | None = None) -> Relation:
    """A table's lines; none, where a check has found nothing."""
    try:
        return read_relation(path, encoding=encoding)
    except NoRowsError:
        return Relation.of({column: [] for column in scan_relation(path, encoding=encoding).columns})


def _document(path: Path) -> dict[str, object]:
    try:
        document: dict[str, object] = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give a file of cells") from None
    except (ValueError, RecursionError):
        raise FileError(f"{path.name} is not whole JSON; write it once more, with result.to_json_dict()") from None
    return document

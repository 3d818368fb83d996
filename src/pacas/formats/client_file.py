"""`client.toml`: a client's table, the dependencies that should hold in it, and its own hierarchies.

Reading checks the form of everything; nothing but the file itself is looked at until it is asked for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine, RelationFile
from pacas.errors import ConfigError, FileError, did_you_mean
from pacas.formats.hierarchy_source import HIERARCHY, hierarchy_at
from pacas.formats.provider_file import named
from pacas.formats.provider_sections import Section
from pacas.formats.relations import scan_relation

_EXAMPLES = {
    "data": 'give a file, as in data = "client.csv"',
    "fds": 'give a list, as in fds = ["GEN, DIAG -> MED"]',
    "hierarchies": 'give a section, [hierarchies] with MED = "med.csv"',
}


class ClientFile(Section):
    """A client's file; paths are relative to it."""

    data: str
    fds: list[str] = Field(default_factory=list)
    hierarchies: dict[str, str | dict[str, Any]] = Field(default_factory=dict)

    _folder: Path = Path()

    def dependencies(self) -> tuple[FunctionalDependency, ...]:
        """What should hold in the table, one right-hand attribute each."""
        with named("fds"):
            return tuple(FunctionalDependency.parse_all(self.fds))

    def scan(self) -> RelationFile:
        """The table; dependencies and hierarchies must speak of its columns."""
        with named("data"):
            file = scan_relation(self._folder / self.data)
        for fd in self.dependencies():
            with named("fds"):
                fd.check(file.columns, file.name)
        for attribute in self.hierarchies:
            if attribute not in file.columns:
                near = did_you_mean(attribute, file.columns)
                raise ConfigError(f"hierarchies.{attribute}: no such column in {file.name}; {near}")
        return file

    def read_hierarchies(self, engine: Engine[Any] | None = None) -> dict[str, Hierarchy]:
        """The client's hierarchies, read from files or built from its table."""
        read = {}
        for attribute, source in self.hierarchies.items():
            with named(f"hierarchies.{attribute}"):
                read[attribute] = hierarchy_at(source, attribute, self._folder, self.scan, engine)
        return read


def read_client_file(path: Path) -> ClientFile:
    """Read a client's file and check its form."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give a client.toml") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ConfigError(f"{path.name} is not TOML: {error}") from None
    try:
        file = ClientFile.model_validate(document)
    except ValidationError as error:
        raise ConfigError(f"{path.name}: {_first_problem(error)}") from None
    file._folder = path.parent
    file.dependencies()
    return file


def _first_problem(error: ValidationError) -> str:
    """pydantic's first complaint in one line, with the nearest known key where one is unknown."""
    problems = error.errors()
    places = [problem["loc"] for problem in problems]
    for place in places:
        if place[0] == "hierarchies" and len(place) > 1 and place[1] in ("data", "fds"):
            return f"{place[1]!r} stands at the top of the file, before [hierarchies]"
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])  # a typo explains what lacks
    key = str(problem["loc"][0])
    match problem["type"]:
        case "extra_forbidden":
            return f"unknown key {key!r}; {did_you_mean(key, ClientFile.model_fields)}"
        case "missing":
            return f"{key!r} is missing; {_EXAMPLES[key]}"
        case _:
            return _wrong_value(problem["loc"])


def _wrong_value(place: Sequence[int | str]) -> str:
    key = str(place[0])
    if key == "hierarchies" and len(place) > 1:
        return f"hierarchies.{place[1]}: {HIERARCHY}"
    return f"{key!r}: {_EXAMPLES[key]}"

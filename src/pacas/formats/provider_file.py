"""`provider.toml`: a provider's relations and hierarchies.

The sections on matching, policies, pricing and the ledger are the provider's own business and are read by it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pacas.core.hierarchy import Hierarchy
from pacas.core.query import MAIN
from pacas.engine.contract import RelationFile
from pacas.engine.questions import build_hierarchy
from pacas.errors import ConfigError, FileError, InputError, did_you_mean
from pacas.formats.hierarchies import read_hierarchy
from pacas.formats.relations import scan_relation


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class RelationSection(_Section):
    """Where a relation's rows are."""

    data: str


class ProviderFile(_Section):
    """A provider's file; paths are relative to it."""

    relation: RelationSection
    relations: dict[str, RelationSection] = Field(default_factory=dict)
    hierarchies: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    match: dict[str, str] = Field(default_factory=dict)
    policy: list[dict[str, Any]] = Field(default_factory=list)
    pricing: dict[str, Any] = Field(default_factory=dict)
    ledger: dict[str, Any] = Field(default_factory=dict)
    _folder: Path = Path()

    def scan_relations(self) -> dict[str, RelationFile]:
        """Every relation by name, the main one first."""
        sections = {MAIN: self.relation, **self.relations}
        return {name: scan_relation(self._folder / section.data) for name, section in sections.items()}

    def read_hierarchies(self, attributes: Iterable[str] | None = None) -> dict[str, Hierarchy]:
        """The hierarchies of some attributes (all, if none are named), read from files or built from the relation."""
        wanted = (
            self.hierarchies if attributes is None else dict.fromkeys(a for a in attributes if a in self.hierarchies)
        )
        return {attribute: self._hierarchy(attribute, self.hierarchies[attribute]) for attribute in wanted}

    def _hierarchy(self, attribute: str, source: str | Mapping[str, Any]) -> Hierarchy:
        if isinstance(source, str):
            return read_hierarchy(self._folder / source)
        options = dict(source)
        method = options.pop("build", None)
        if not isinstance(method, str):
            raise ConfigError(f'hierarchies.{attribute}: give a file, or {{ build = "intervals", widths = [10, 30] }}')
        try:
            return build_hierarchy(scan_relation(self._folder / self.relation.data), attribute, method, **options)
        except InputError as error:
            raise ConfigError(f"hierarchies.{attribute}: {error}") from None


def read_provider_file(path: Path) -> ProviderFile:
    """Read and check a provider's file."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give a provider.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} is not TOML: {error}") from None
    try:
        file = ProviderFile.model_validate(document)
    except ValidationError as error:
        raise ConfigError(f"{path.name}: {_first_problem(error)}") from None
    file._folder = path.parent
    return file


def _first_problem(error: ValidationError) -> str:
    """pydantic's first complaint, in one line, with the nearest known key where one is unknown."""
    problem = error.errors()[0]
    *section, key = problem["loc"]
    where = ".".join(map(str, problem["loc"]))
    match problem["type"]:
        case "extra_forbidden":
            known = RelationSection.model_fields if section else ProviderFile.model_fields
            return f"unknown key {where!r}; {did_you_mean(str(key), known)}"
        case "missing":
            return f"{where!r} is missing"
        case _:
            return f"{where!r}: {problem['msg'].lower()}"

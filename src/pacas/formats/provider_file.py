"""`provider.toml`: a provider's relations and hierarchies.

Matching dependencies and policies are read and checked for form; `pricing` and `ledger` are kept as they are until
there is a provider to read them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pacas.core.anonymity import Policy
from pacas.core.dependency import MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.query import MAIN
from pacas.engine.contract import Engine, RelationFile
from pacas.engine.questions import hierarchy_from
from pacas.errors import ConfigError, FileError, InputError, did_you_mean
from pacas.formats.hierarchies import read_hierarchy
from pacas.formats.relations import scan_relation

HIERARCHY = 'give a file, or { build = "intervals", widths = [10, 30] }'


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class RelationSection(_Section):
    """Where a relation's rows are."""

    data: str


class PolicySection(_Section):
    """(X, Y, L) with value k; D5 needs `allow_linkage` where a match says more than X."""

    x: list[str]
    y: list[str]
    levels: dict[str, int] = Field(default_factory=dict)
    k: int
    allow_linkage: bool = False


class ProviderFile(_Section):
    """A provider's file; paths are relative to it."""

    relation: RelationSection
    relations: dict[str, RelationSection] = Field(default_factory=dict)
    hierarchies: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    match: dict[str, str] = Field(default_factory=dict)
    policy: list[PolicySection] = Field(default_factory=list)
    pricing: dict[str, Any] = Field(default_factory=dict)
    ledger: dict[str, Any] = Field(default_factory=dict)
    _folder: Path = Path()

    def scan_relations(self) -> dict[str, RelationFile]:
        """Every relation by name, the main one first; a hierarchy for a column that none has is a mistake."""
        if MAIN in self.relations:
            raise ConfigError(f"relations.{MAIN}: that name is the main relation's; choose another")
        scanned = {MAIN: self._scan("relation", self.relation)}
        scanned |= {name: self._scan(f"relations.{name}", section) for name, section in self.relations.items()}
        columns = dict.fromkeys(column for relation in scanned.values() for column in relation.columns)
        for attribute in self.hierarchies:
            if attribute not in columns:
                raise ConfigError(f"hierarchies.{attribute}: no such column; {did_you_mean(attribute, columns)}")
        return scanned

    def read_hierarchies(
        self, attributes: Iterable[str] | None = None, *, engine: Engine[Any] | None = None
    ) -> dict[str, Hierarchy]:
        """The hierarchies of some attributes (all, if none are named), read from files or built from the relation."""
        wanted = self.hierarchies if attributes is None else {a: None for a in attributes if a in self.hierarchies}
        return {attribute: self._hierarchy(attribute, engine) for attribute in wanted}

    def _scan(self, section: str, relation: RelationSection) -> RelationFile:
        with _named(f"{section}.data"):
            return scan_relation(self._folder / relation.data)

    def _hierarchy(self, attribute: str, engine: Engine[Any] | None) -> Hierarchy:
        source = self.hierarchies[attribute]
        with _named(f"hierarchies.{attribute}"):
            if isinstance(source, str):
                return read_hierarchy(self._folder / source)
            options = dict(source)
            method = options.pop("build", None)
            if not isinstance(method, str):
                raise InputError(HIERARCHY)
            relation = scan_relation(self._folder / self.relation.data)
            return hierarchy_from(relation, attribute, method, options, engine=engine)


@contextmanager
def _named(key: str) -> Iterator[None]:
    """Say which key of the file an error is about."""
    try:
        yield
    except InputError as error:
        raise ConfigError(f"{key}: {error}") from None


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
    for attribute, text in file.match.items():
        with _named(f"match.{attribute}"):
            MatchingDependency.parse(text)
    for number, section in enumerate(file.policy, start=1):
        with _named(f"policy {number}"):
            Policy(tuple(section.x), tuple(section.y), section.levels, section.k)
    return file


def _first_problem(error: ValidationError) -> str:
    """pydantic's first complaint, in one line, with the nearest known key where one is unknown."""
    problems = error.errors()
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])  # a typo explains what lacks
    *section, key = problem["loc"]
    where = ".".join(map(str, problem["loc"]))
    match problem["type"]:
        case "extra_forbidden":
            models: dict[str, type[_Section]] = {
                "relation": RelationSection,
                "relations": RelationSection,
                "policy": PolicySection,
            }
            known = models[str(section[0])].model_fields if section else ProviderFile.model_fields
            return f"unknown key {where!r}; {did_you_mean(str(key), known)}"
        case "missing":
            return f"{where!r} is missing"
        case "model_type":
            return f'{where!r}: give a section, [{where}] with data = "…"'
        case _ if section[:1] == ["hierarchies"]:  # the last part of the place says which kind was tried
            return f"{'.'.join(map(str, section))}: {HIERARCHY}"
        case _:
            return f"{where!r}: {problem['msg'].lower()}"

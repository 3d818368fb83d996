"""`client.toml`: a client's table, the dependencies that should hold in it, its own hierarchies, and where it buys.

Reading checks the form of everything; nothing but the file itself is looked at until it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, ValidationError

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.toml import toml_key, toml_list
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine, Source
from pacas.errors import ConfigError, did_you_mean
from pacas.formats.hierarchy_source import HIERARCHY, hierarchy_at
from pacas.formats.relations.relations import AS_IT_IS, Reading, locate
from pacas.formats.replacing import replacing
from pacas.formats.toml_sections import EngineName, Key, Memory, Section, named, read_toml, unknown_key

TOP_KEYS = ("data", "encoding", "null", "sheet", "key", "engine", "master", "memory", "fds", "provider", "budget")
"""Keys that stand before the first section."""
SECTIONS = ("hierarchies", "columns", "providers", "send")

_EXAMPLES = {
    "data": 'give a file, as in data = "client.csv"',
    "encoding": 'give the text\'s, as in encoding = "latin-1"',
    "null": 'give what stands for no value, as in null = "NA", or a list',
    "sheet": 'give its name, as in sheet = "2026"',
    "key": 'give a column, as in key = "ID", or a list of them',
    "master": 'give Spark\'s, as in master = "spark://host:7077"',
    "fds": 'give a list, as in fds = ["GEN, DIAG -> MED"]',
    "provider": 'give its file or its URL, as in provider = "provider.toml"',
    "providers": 'give a section for each, [providers.A] with provider = "a.toml"',
    "budget": "give a number of credits from 0 on, as in budget = 2.5",
    "columns": 'give a section, [columns] with your_column = "the provider\'s column", or false for none',
    "hierarchies": 'give a section, [hierarchies] with MED = "med.csv"',
    "send": 'give a section, [send] with MED = ["GEN", "AGE"], the columns that may be sent for it',
}


_KNOWN = dict.fromkeys((*TOP_KEYS, *SECTIONS), "") | {"hierarchies": '[hierarchies] with MED = "med.csv"'}
"""Each key, and how a section is written."""


class ProviderSection(Section):
    """One of several providers."""

    provider: str
    """Its file or its URL."""


class ClientFile(Section):
    """A client's file; paths are relative to it."""

    data: str
    encoding: str | None = None
    null: Key = ()
    sheet: str | None = None
    key: Key = ()
    engine: EngineName | None = None
    master: str | None = None
    memory: Memory | None = None
    fds: list[str] = Field(default_factory=list)
    provider: str | None = None
    providers: dict[str, ProviderSection] = Field(default_factory=dict)
    """By name, where there are several."""
    budget: Annotated[int | float | None, Field(ge=0, allow_inf_nan=False)] = None
    hierarchies: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    columns: dict[str, str | Literal[False]] = Field(default_factory=dict)
    """The client's columns that the provider calls by other names: those names. False: it has another of that name."""

    send: dict[str, list[str]] | None = None
    """By attribute, the provider's columns that it may be sent."""

    _path: Path = Path("client.toml")
    _agreed: dict[str, list[str]] = PrivateAttr(default_factory=dict)
    """What somebody has agreed to send, by attribute, since the file was read."""
    _unsent: str = ""
    """The file's text before that."""

    @property
    def path(self) -> Path:
        return self._path

    def dependencies(self) -> tuple[FunctionalDependency, ...]:
        """What should hold in the table, one right-hand attribute each."""
        with named("fds"):
            return tuple(FunctionalDependency.parse_all(self.fds))

    @property
    def own_columns(self) -> dict[str, str | None]:
        return {own: theirs or None for own, theirs in self.columns.items()}

    @property
    def may_send(self) -> Mapping[str, Sequence[str]] | frozenset[str]:
        """What may be sent to a provider at a URL: as `[send]` says, or the columns that the file names at all."""
        return self.send if self.send is not None else self._agreed or self.named_columns

    @property
    def named_columns(self) -> frozenset[str]:
        """The columns that the file names, as the provider calls them."""
        sides = (name for fd in self.dependencies() for name in fd.attributes)
        theirs = (self.own_columns.get(own, own) for own in (*sides, *self.hierarchies, *self.columns))
        return frozenset(name for name in theirs if name is not None)

    def agree(self, send: Mapping[str, Sequence[str]]) -> None:
        """Write at the end of the file, which had no `[send]`, what may be sent, and what was agreed to before."""
        if not self._agreed:
            self._unsent = self._path.read_text("utf-8").rstrip("\n")
        for attribute, columns in send.items():
            self._agreed[attribute] = list(dict.fromkeys((*self._agreed.get(attribute, ()), *columns)))
        lines = (f"{toml_key(attribute)} = {toml_list(columns)}" for attribute, columns in self._agreed.items())
        with replacing(self._path) as partial:
            partial.write_text("\n".join((self._unsent, "", "[send]", *lines, "")), "utf-8")

    @property
    def provider_named(self) -> str | None:
        """The provider that the client buys from, as it is named from the current folder."""
        return None if self.provider is None else self._from_here(self.provider)

    @property
    def providers_named(self) -> dict[str, str]:
        """Several providers, by name, each as it is named from the current folder."""
        return {name: self._from_here(section.provider) for name, section in self.providers.items()}

    def _from_here(self, provider: str) -> str:
        return provider if "://" in provider else str(self._path.parent / provider)

    @property
    def engine_choice(self) -> EngineChoice:
        return EngineChoice(self.engine, self.master, self.memory)

    @property
    def reading(self) -> Reading:
        """What the table's file does not say of itself."""
        return Reading(self.encoding, self.null, self.sheet)

    def scan(self, engine: Engine[Any], key: Sequence[str] = (), reading: Reading = AS_IT_IS) -> Source:
        """The table, numbered by a key in place of the file's own, if one is given.

        Dependencies and hierarchies must speak of its columns.
        """
        with named("data"):
            file = locate(self.data, self._path.parent, key or self.key, engine, reading.over(self.reading))
        for fd in self.dependencies():
            with named("fds"):
                fd.check(file.columns, file.name)
        for section, named_there in (("hierarchies", self.hierarchies), ("columns", self.columns)):
            for attribute in named_there:
                if attribute not in file.columns:
                    near = did_you_mean(attribute, file.columns)
                    raise ConfigError(f"{section}.{attribute}: no such column in {file.name}; {near}")
        return file

    def read_hierarchies(self, table: Source, engine: Engine[Any]) -> dict[str, Hierarchy]:
        """The client's hierarchies, read from files or built from its table."""
        read = {}
        for attribute, source in self.hierarchies.items():
            with named(f"hierarchies.{attribute}"):
                read[attribute] = hierarchy_at(source, attribute, self._path.parent, table, engine)
        return read


def read_client_file(path: Path) -> ClientFile:
    """Read a client's file and check its form."""
    document = read_toml(path, "a client.toml")
    try:
        file = ClientFile.model_validate(document)
    except ValidationError as error:
        raise ConfigError(f"{path.name}: {_first_problem(error, document)}") from None
    file._path = path
    file.dependencies()
    if file.provider is not None and file.providers:
        raise ConfigError(f"{path.name}: 'provider' names one, and [providers] several; leave out one of the two")
    return file


def _first_problem(error: ValidationError, document: Mapping[str, Any]) -> str:
    """pydantic's first complaint in one line, with the nearest known key where one is unknown."""
    if "relation" in document and "data" not in document:
        return (
            "a [relation] is a provider's, and this is read as a client's file, which begins with data = \"client.csv\""
        )
    problems = error.errors()
    places = [problem["loc"] for problem in problems]
    for place in places:
        if place[0] in SECTIONS and len(place) > 1 and place[1] in TOP_KEYS:
            return f"{place[1]!r} stands at the top of the file, before [{place[0]}]"
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])  # a typo explains what lacks
    key = str(problem["loc"][0])
    match problem["type"]:
        case "extra_forbidden":
            return unknown_key(key, _KNOWN, {})
        case "missing":
            return f"{key!r} is missing; {_EXAMPLES[key]}"
        case "engine" | "memory":
            return f"{key!r}: {problem['msg']}"
        case _:
            return _wrong_value(problem["loc"])


def _wrong_value(place: Sequence[int | str]) -> str:
    key = str(place[0])
    if key == "providers" and len(place) > 1:
        return f"providers.{place[1]}: {_EXAMPLES[key]}"
    if key == "hierarchies" and len(place) > 1:
        return f"hierarchies.{place[1]}: {HIERARCHY}"
    return f"{key!r}: {_EXAMPLES[key]}"

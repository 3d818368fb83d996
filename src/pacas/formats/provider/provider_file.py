"""`provider.toml`: a provider's relations and hierarchies, what it sells, and on what terms.

Reading checks the form of everything; nothing but the file itself is looked at until it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pacas.core.anonymity import Policy
from pacas.core.criteria.named import criterion_named
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.money import nanocredits
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.core.rates.schedule import Schedule
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine, Source
from pacas.errors import ConfigError, InputError, SchemaError, did_you_mean
from pacas.formats.hierarchy_source import hierarchy_at
from pacas.formats.provider.sections import (
    PointSection,
    PolicySection,
    PricingSection,
    ProviderSections,
    RelationSection,
    first_problem,
)
from pacas.formats.relations.relations import Reading, locate
from pacas.formats.toml_sections import named, read_toml
from pacas.provider.quote_mode import QuoteMode, quote_mode, sealed_keys
from pacas.provider.support.mix import Mix
from pacas.provider.support.support_set import ONLY_UPDATES, Generated
from pacas.provider.support.weights import check_total
from pacas.provider.terms import ViewPrice

MOST_SHOWN = 6
"""Columns that an error names."""
LIST = "; there is "
"""Before a list of columns in an error."""
_QUOTED = re.compile(r"'([^']*)'")


class ProviderFile(ProviderSections):
    """A provider's file; paths are relative to it."""

    _folder: Path = Path()
    _name: str = "provider.toml"

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def path(self) -> Path:
        return self._folder / self._name

    @property
    def engine_choice(self) -> EngineChoice:
        return EngineChoice(self.engine, self.master, self.memory)

    @property
    def ledger_url(self) -> str:
        """Where the ledger is kept; by default beside the file, named after it."""
        return self.ledger.url or f"sqlite:///{Path(self._name).stem}.ledger.db"

    @property
    def signing_key(self) -> Path:
        """Where the key that signs receipts is kept; by default beside the file, named after it."""
        return self._folder / (self.service.signing_key or f"{Path(self._name).stem}.key.pem")

    @property
    def quotes(self) -> QuoteMode:
        """Sealed, unless the file says otherwise or asks for what only the paper's quotes have (D12)."""
        pricing = self.pricing
        only_paper = {
            "pricing.support": "support" in pricing.model_fields_set,
            "pricing.points": bool(pricing.points),
            "pricing.seed": pricing.seed is not None,
            "history": self.history == "per_buyer",
        }
        keys = ("reserve", "spread", "prior", "members")
        only_sealed = {f"pricing.{key}": key in pricing.model_fields_set for key in keys}
        only_sealed["ledger.sold_before"] = bool(self.ledger.sold_before)
        of_paper, of_sealed = ([key for key, given in only.items() if given] for only in (only_paper, only_sealed))
        of_sealed += [*["dependency"] * bool(self.dependency), *sealed_keys(self.policies())]
        try:
            return quote_mode(pricing.quotes, of_paper, of_sealed)
        except InputError as error:
            raise ConfigError(str(error)) from None

    def protected(self) -> list[str]:
        """What is sold, or protected by a policy."""
        return list(dict.fromkeys([*self.match, *(a for policy in self.policies() for a in policy.y)]))

    def built_among(self, attributes: Iterable[str]) -> list[str]:
        """Those attributes whose hierarchies are made from the relation: one tells which values there are."""
        return [a for a in attributes if a in self.hierarchies and not isinstance(self.hierarchies[a], str)]

    def scan_relations(self, engine: Engine[Any]) -> dict[str, Source]:
        """Every relation by name, the main one first; a hierarchy for a column that none has is a mistake."""
        if MAIN in self.relations:
            raise ConfigError(f"relations.{MAIN}: that name is the main relation's; choose another")
        scanned = {MAIN: self._scan("relation", self.relation, engine)}
        self.check_header(scanned[MAIN], "relation.data")
        scanned |= {name: self._scan(f"relations.{name}", section, engine) for name, section in self.relations.items()}
        columns = {column for relation in scanned.values() for column in relation.columns}
        for attribute in self.hierarchies:
            if attribute not in columns:
                near = did_you_mean(attribute, scanned[MAIN].columns)
                raise ConfigError(f"hierarchies.{attribute}: no such column; {near}")
        return scanned

    def read_hierarchies(
        self, relation: Source, engine: Engine[Any], attributes: Iterable[str] | None = None
    ) -> dict[str, Hierarchy]:
        """The hierarchies of some attributes (all, if none are named), read from files or built from the relation."""
        wanted = self.hierarchies if attributes is None else {a: None for a in attributes if a in self.hierarchies}
        return {attribute: self._hierarchy(attribute, relation, engine) for attribute in wanted}

    def dependencies(self) -> dict[str, MatchingDependency]:
        """What is sold, and how a client's tuple finds it."""
        parsed = {}
        for attribute, text in self.match.items():
            with named(f"match.{attribute}"):
                parsed[attribute] = MatchingDependency.parse(text)
        return parsed

    def published(self) -> tuple[FunctionalDependency, ...]:
        """The dependencies that clients are told of."""
        with named("service.publish_dependencies"):
            return FunctionalDependency.parse_all(self.service.publish_dependencies)

    def policies(self) -> tuple[Policy, ...]:
        """What must stay hidden."""
        made = []
        for number, section in enumerate(self.policy, start=1):
            with named(f"policy {number}"):
                made.append(_policy(section))
        return tuple(made)

    def generated_support(self) -> Generated | None:
        """How the support set is generated, or None if it is in a file."""
        section = self.pricing.support
        with named("pricing.support"):
            given = [key for key in ("per_cell", "size", "file") if getattr(section, key) is not None]
            if len(given) > 1:
                raise InputError(f"give {' or '.join(given)}, not both")
            if section.file is not None:
                if section.mix is not None:
                    raise InputError("mix is for a support set that is made, not for one in a file")
                return None
            mix = ONLY_UPDATES if section.mix is None else Mix.of({k: float(n) for k, n in section.mix.items()})
            return Generated(10 if section.per_cell is None else section.per_cell, section.size, mix)

    def seed(self) -> int | None:
        """What fixes the support set; None makes it a secret."""
        inside, beside = self.pricing.support.seed, self.pricing.seed
        if inside is not None and beside is not None:
            raise ConfigError("pricing.seed and pricing.support.seed are one and the same; give it once")
        return beside if inside is None else inside

    def schedule(self) -> Schedule:
        """What list prices cost who has bought so much."""
        with named("pricing.schedule"):
            return Schedule() if self.pricing.schedule is None else Schedule.of(self.pricing.schedule)

    def price_points(self) -> tuple[ViewPrice, ...]:
        """The views whose prices are given."""
        points = tuple(_price_point(number, section) for number, section in enumerate(self.pricing.points, start=1))
        names = [point.name for point in points]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"pricing.points: two of them are named {name!r}; an error could not tell which")
        return points

    def _scan(self, section: str, relation: RelationSection, engine: Engine[Any]) -> Source:
        with named(f"{section}.data"):
            reading = Reading(relation.encoding, relation.null, relation.sheet)
            try:
                return locate(relation.data, self._folder, relation.key, engine, reading)
            except SchemaError as error:
                told = str(error)
                known = {*self._named_columns(), *relation.key}
                is_told = LIST not in told and known.issuperset(_QUOTED.findall(told))
                if is_told or (self._folder / relation.data).is_dir():
                    raise
                raise InputError(
                    f"the columns of {relation.data} are doubled, empty, or not those of its key; has it lost its "
                    "first line, the header? (what is there is not shown: it may be somebody's)"
                ) from None

    def check_header(self, relation: Source, key: str) -> None:
        """A relation has one of the columns that this file names, or none of its own are told: they may be a row."""
        named_here = self._named_columns()
        if named_here and not any(column in named_here for column in relation.columns):
            shown = ", ".join(list(named_here)[:MOST_SHOWN])
            raise ConfigError(
                f"{key}: {relation.name} has none of the columns that are named here, such as {shown}; "
                "has it lost its first line, the header? (what is there is not shown: it may be somebody's)"
            )

    def _named_columns(self) -> dict[str, None]:
        """The columns of the relation that the file names, in order."""
        named_here = [*self.match, *self.hierarchies]
        for dependency in self.dependencies().values():
            named_here += dependency.provider_columns
        for policy in self.policy:
            named_here += [*policy.x, *policy.y]
        return dict.fromkeys(named_here)

    def _hierarchy(self, attribute: str, relation: Source, engine: Engine[Any]) -> Hierarchy:
        source = self.hierarchies[attribute]
        with named(f"hierarchies.{attribute}"):
            return hierarchy_at(source, attribute, self._folder, relation, engine)


def read_provider_file(path: Path) -> ProviderFile:
    """Read a provider's file and check its form."""
    document = read_toml(path, "a provider.toml", exact=True)
    try:
        file = ProviderFile.model_validate(document)
    except ValidationError as error:
        raise ConfigError(f"{path.name}: {first_problem(error)}") from None
    file._folder, file._name = path.parent, path.name
    file.dependencies()
    file.published()
    file.policies()
    file.generated_support()
    file.seed()
    file.schedule()
    file.price_points()
    _ = file.quotes
    if file.policy and file.relation.about == "things":
        raise ConfigError(
            'relation.about: "things" says that nobody is to be protected, and there is a policy; leave it out'
        )
    _check_amounts(file.pricing)
    return file


def _check_amounts(pricing: PricingSection) -> None:
    if pricing.total is not None:
        with named("pricing"):
            check_total(nanocredits(str(pricing.total), "total"))
    for attribute, factor in pricing.sensitivity.items():
        if factor <= 0:
            raise ConfigError(f"pricing.sensitivity.{attribute}: a factor must be above 0, not {factor}")
    if pricing.sensitivity and pricing.points:
        raise ConfigError("pricing: sensitivity and points both say what neighbours weigh; leave one of them out")


def _policy(section: PolicySection) -> Policy:
    criterion = criterion_named(section.criterion, {"k": section.k, "l": section.l, "c": section.c, "t": section.t})
    return Policy(
        tuple(section.x),
        tuple(section.y),
        dict(section.levels),
        allow_linkage=section.allow_linkage,
        keep=section.keep,
        scope=section.scope,
        criterion=criterion,
    )


def _price_point(number: int, section: PointSection) -> ViewPrice:
    with named(f"pricing.points {number}"):
        price = nanocredits(str(section.price), "price")
        if price < 0:
            raise InputError("a price must not be negative")
        return ViewPrice(
            section.name or f"point {number}",
            GeneralizedQuery.parse(section.select, section.where, section.from_),
            price,
        )

"""From `provider.toml` to the provider: its files are read, and all names checked, before a ledger is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pacas.core.hierarchy import Hierarchy
from pacas.core.money import nanocredits
from pacas.core.query import MAIN
from pacas.engine.contract import Engine, Source
from pacas.errors import ConfigError, LedgerChangedError, did_you_mean
from pacas.formats.provider.provider_file import ProviderFile
from pacas.formats.provider.sealing import sealing_of
from pacas.formats.provider.support_file import read_support
from pacas.formats.toml_sections import named
from pacas.provider.circle import Circle
from pacas.provider.ledger.checkpoint import Checkpoints
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import QuoteMode
from pacas.provider.quoter.declared import EarlierSales
from pacas.provider.shop.contract import Tell
from pacas.provider.support.support_set import Generated, GivenSupport
from pacas.provider.terms import HistoryScope, Terms

_KEYS = {
    "match": "[match]",
    "policies": "[[policy]]",
    "support set": "pricing.support",
    "weights": "pricing.total, sensitivity or points",
    "dependencies": "[[dependency]], pricing.prior or members",
    "prices": "pricing.total, sensitivity or spread, or max_matches",
    "schedule": "pricing.schedule",
    "circle": "circle",
    "draw": "this version of PACAS keeps others back of the rows that a [[dependency]] ties",
    "registry": "pricing.members",
    "reserve": "pricing.reserve, or keep or scope of a [[policy]]",
    "sold before": "ledger.sold_before",
    "seed": "pricing.seed",
}
"""The keys of the file that parts of a ledger's fingerprint follow from."""


def named_in(file: ProviderFile, changed: LedgerChangedError) -> LedgerChangedError:
    """The same error, with the file and the key of each part, and what to do."""
    return LedgerChangedError(changed.parts, dict(_places(file)), _remedy(file))


def _places(file: ProviderFile) -> Iterator[tuple[str, str]]:
    name = file.path.name
    yield "relation", f"{file.relation.data}, relation.data in {name}"
    for other, section in file.relations.items():
        yield f"relation {other}", f"{section.data}, relations.{other}.data in {name}"
    for attribute, source in file.hierarchies.items():
        key = f"hierarchies.{attribute} in {name}"
        yield f"hierarchy of {attribute}", f"{source}, {key}" if isinstance(source, str) else key
    for part, key in _KEYS.items():
        given = file.pricing.support.file if part == "support set" else None
        yield part, f"{key} in {name}" if given is None else f"{given}, {key}.file in {name}"


def _remedy(file: ProviderFile) -> str:
    counting = ", and this one in [ledger] sold_before" if file.quotes is QuoteMode.SEALED else ""
    return f"values were sold by it: restore it, or name another ledger in [ledger] url of {file.path.name}{counting}"


def make_provider(
    file: ProviderFile,
    engine: Engine[Any],
    ledger: Callable[[], Ledger],
    sold_before: Sequence[EarlierSales],
    tell: Tell,
    circle: Circle | None = None,
    checkpoints: Checkpoints | None = None,
) -> Provider:
    """The provider that a file describes. The ledger is asked for when everything that the file says has been checked.

    `sold_before` are the sales of the earlier ledgers that the file names. What only the data can tell (D1, D3,
    whether price points can be met) shows after that; nothing is then written.
    """
    tell("reading the hierarchies")
    relations = file.scan_relations(engine)
    terms = _terms(file, relations, engine, sold_before, circle)
    _check(file, terms, relations)
    try:
        return Provider.on_terms(
            relations,
            terms,
            ledger(),
            seed=file.seed(),
            engine=engine,
            tell=tell,
            circle=circle,
            checkpoints=checkpoints,
        )
    except LedgerChangedError as error:
        raise named_in(file, error) from None


def _terms(
    file: ProviderFile,
    relations: Mapping[str, Source],
    engine: Engine[Any],
    sold_before: Sequence[EarlierSales],
    circle: Circle | None,
) -> Terms:
    return Terms(
        hierarchies=_hierarchies(file, relations[MAIN], engine),
        match=file.dependencies(),
        policies=file.policies(),
        support=_support(file, relations[MAIN], engine),
        total=None if file.pricing.total is None else nanocredits(str(file.pricing.total), "total"),
        sensitivity=dict(file.pricing.sensitivity),
        points=file.price_points(),
        schedule=file.schedule(),
        history=HistoryScope(file.history),
        max_matches=file.max_matches,
        floor=file.floor,
        common_trees={a: digest.removeprefix("sha256:") for a, digest in file.circle.trees.items()},
        circle=None if circle is None else circle.digest,
        sealing=sealing_of(file, engine, sold_before),
        published=file.published(),
        about=file.relation.about,
    )


def _hierarchies(file: ProviderFile, relation: Source, engine: Engine[Any]) -> dict[str, Hierarchy]:
    """What is read or built; where values may be published and quotes are sealed, two levels for what has none."""
    trees = file.read_hierarchies(relation, engine)
    if file.quotes is QuoteMode.SEALED and file.service.publish_built:
        for attribute in (a for a in file.protected() if a not in trees and a in relation.columns):
            values = engine.histogram(engine.open(relation, [attribute]), [attribute], {}).column(attribute)
            trees[attribute] = Hierarchy.flat(sorted(value for value in values if value is not None))
    return trees


def _support(file: ProviderFile, relation: Source, engine: Engine[Any]) -> Generated | GivenSupport:
    generated = file.generated_support()
    if generated is not None:
        return generated
    rows = len(engine.open(relation, relation.columns[:1]))
    with named("pricing.support.file"):
        return read_support(file.folder / str(file.pricing.support.file), relation.columns, rows)


def _check(file: ProviderFile, terms: Terms, relations: Mapping[str, Source]) -> None:
    """Raise where the terms name a column, an attribute or a level that is not there, or nothing is for sale."""
    if not terms.match:
        raise ConfigError('match: nothing is for sale; say what, and how it is found, as in MED = "GEN = GEN"')
    for attribute in terms.sensitivity:
        if attribute not in terms.protected:
            near = did_you_mean(attribute, terms.protected)
            raise ConfigError(f"pricing.sensitivity.{attribute}: neither sold nor protected; {near}")
    terms.check_names(relations[MAIN].columns, relations[MAIN].name)
    schemas = {name: relation.columns for name, relation in relations.items()}
    for number, point in enumerate(terms.points, start=1):
        with named(f"pricing.points {number}"):
            for output in point.view.resolve(schemas).outputs:
                tree = terms.hierarchies.get(output.column.attribute) or Hierarchy.flat(())
                tree.check_level(output.level, f"the hierarchy of {output.column.attribute!r}")

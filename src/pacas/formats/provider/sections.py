"""The sections of `provider.toml`: which keys there are, and what each may hold.

Amounts and factors are read exactly as they are written: 0.1 is a tenth. Reading says what is wrong in one line, with
the nearest known key where one is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import Discriminator, Field, PlainValidator, Tag, ValidationError
from pydantic_core import PydanticCustomError

from pacas.errors import did_you_mean
from pacas.formats.hierarchy_source import HIERARCHY
from pacas.formats.toml_sections import EngineName, Key, Memory, Section, unknown_key

TOP_KEYS = ("engine", "master", "memory", "history", "reasons", "max_matches", "floor")
"""Keys that stand before the first table of the file."""


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
        raise PydanticCustomError("number", "give a number, such as 0.5")
    return Decimal(value)


Number = Annotated[Decimal, PlainValidator(_number)]
"""A number as the file writes it."""

_AS_TEXT, _AS_TABLE = "as text", "as a table"
"""How a value is written that may be either; pydantic puts it into the place of an error."""

_BY_FORM = Discriminator(lambda value: _AS_TABLE if isinstance(value, dict | Section) else _AS_TEXT)


class RelationSection(Section):
    """Where a relation's rows are, and what numbers them where that is not the order of a file."""

    data: str
    key: Key = ()
    encoding: str | None = None
    null: Key = ()
    sheet: str | None = None


class SoldRelationSection(RelationSection):
    """The relation that is sold from, and whether its rows are about people, whom a policy should protect."""

    about: Literal["people", "things"] = "people"


class PolicySection(Section):
    """(X, Y, L) with value k, or another criterion; D5 needs `allow_linkage` where a match says more than X."""

    x: list[str] = Field(default_factory=list)
    y: list[str]
    levels: dict[str, int] = Field(default_factory=dict)
    criterion: str = "distinct"
    k: int | None = None
    l: Number | None = None  # noqa: E741  # the literature's letter
    c: Number | None = None
    t: Number | None = None
    allow_linkage: bool = False
    keep: int = Field(default=1, ge=1)
    scope: Literal["group", "row"] = "group"


class DependencySection(Section):
    """A dependency between columns of the relation; where its left side is private, with the tuples that it allows."""

    fd: str
    dictionary: str | None = None


class SupportSection(Section):
    """How the support set is made, or the file that it is in; one of `per_cell`, `size` and `file`."""

    per_cell: int | None = Field(default=None, ge=1, le=10**6)
    size: int | None = Field(default=None, ge=1, le=10**9)
    file: str | None = None
    mix: dict[str, Number] | None = None
    seed: int | None = None


class PointSection(Section):
    """A view whose price, in credits, is given."""

    name: str | None = None
    select: str
    where: str = ""
    from_: str = Field(default="relation", alias="from")
    price: Number


class NoisyPriorSection(Section):
    """A prior from the relation itself, with differential privacy."""

    dp_epsilon: Number


class RegistrySection(Section):
    """A public list of people, of whom the relation has some."""

    registry: str
    key: Key = ()
    share: Number = Decimal("0.5")


Prior = Annotated[Annotated[str, Tag(_AS_TEXT)] | Annotated[NoisyPriorSection, Tag(_AS_TABLE)], _BY_FORM]
Members = Annotated[Annotated[Literal["public"], Tag(_AS_TEXT)] | Annotated[RegistrySection, Tag(_AS_TABLE)], _BY_FORM]


class PricingSection(Section):
    """What everything costs together, in credits, and how that is spread over the support set."""

    total: Number | None = None
    quotes: Literal["sealed", "paper"] | None = None
    reserve: Literal["fixed", "last"] | None = None
    spread: Literal["even", "domain"] | None = None
    prior: Prior | None = None
    members: Members = "public"
    support: SupportSection = SupportSection()
    seed: int | None = None
    sensitivity: dict[str, Number] = Field(default_factory=dict)
    schedule: list[list[Number]] | None = None
    """Pairs: above so many list credits, per cent."""
    points: list[PointSection] = Field(default_factory=list)


def _ledgers(value: Any) -> tuple[str, ...]:
    urls = [value] if isinstance(value, str) else value
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise PydanticCustomError("ledgers", 'give the earlier ledger, such as "sqlite:///old.db", or a list of them')
    return tuple(urls)


class LedgerSection(Section):
    """Where the ledger is kept, and where earlier ones are, whose sales count, the oldest first."""

    url: str | None = None
    sold_before: Annotated[tuple[str, ...], PlainValidator(_ledgers)] = ()


_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*[^\s?#/])?")


def _reconcile(value: Any) -> bool | str:
    if isinstance(value, bool) or (isinstance(value, str) and _ADDRESS.fullmatch(value)):
        return value
    raise PydanticCustomError(
        "reconcile", 'give true, or the address at which clients find it, such as "https://pacas.example.org"'
    )


_DIGEST = re.compile("(sha256:)?[0-9a-f]{64}")


def _digest(value: Any) -> str:
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return value
    raise PydanticCustomError("digest", "give the 64 digits that pacas hierarchy check prints for the tree")


class CircleSection(Section):
    """What a provider has in common with others, so that they are safe together: by attribute a hierarchy's digest."""

    trees: dict[str, Annotated[str, PlainValidator(_digest)]] = Field(default_factory=dict)
    house: str | None = Field(default=None, min_length=1)
    """The clearing house: a PACAS service's URL, or postgresql://…"""
    secret: str | None = Field(default=None, min_length=1)
    """The file with the secret that members share, and the house does not have."""
    member: str | None = Field(default=None, min_length=1)
    """How this provider is called there; at a service, by its account."""
    token: str | None = Field(default=None, min_length=1)
    """The file with the token of that account."""
    ca: str | None = Field(default=None, min_length=1)


class ServiceSection(Section):
    """What the service allows, and the key that it signs receipts with."""

    quotes_per_minute: int = Field(default=600_000, ge=1, le=10**12)
    max_body_bytes: int = Field(default=16 * 2**20, ge=1024, le=2**31 - 1)
    max_batch: int = Field(default=100_000, ge=1, le=10**7)
    connections_per_address: int = Field(default=128, ge=1, le=10**6)
    idle_seconds: float = Field(default=20.0, ge=1, le=86_400)
    request_seconds: float = Field(default=60.0, ge=1, le=86_400)
    signing_key: str | None = Field(default=None, min_length=1)
    publish_built: bool = False
    """Whether hierarchies that are made from the relation are published: each is a list of its column's values."""
    publish_prices: bool = True
    """Whether sealed prices are published as lists."""
    publish_dependencies: list[str] = Field(default_factory=list)
    """Dependencies that hold exactly in the relation, and that clients are told of."""
    clearing_house: bool = False
    """Whether accounts of the role member may keep lines here, of what providers have sold."""
    reconcile: Annotated[bool | str, PlainValidator(_reconcile)] = False
    """Whether OpenRefine and its like may ask and buy; a text is the address at which they find the service."""


class ProviderSections(Section):
    """All that a provider's file may say."""

    engine: EngineName | None = None
    master: str | None = None
    memory: Memory | None = None
    relation: SoldRelationSection
    relations: dict[str, RelationSection] = Field(default_factory=dict)
    hierarchies: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    match: dict[str, str] = Field(default_factory=dict)
    policy: list[PolicySection] = Field(default_factory=list)
    dependency: list[DependencySection] = Field(default_factory=list)
    pricing: PricingSection = PricingSection()
    ledger: LedgerSection = LedgerSection()
    circle: CircleSection = CircleSection()
    service: ServiceSection = ServiceSection()
    history: Literal["pooled", "per_buyer"] = "pooled"
    reasons: bool | None = None
    """Whether buyers over the wire are told why they are refused; if nothing is said, where quotes are sealed."""
    max_matches: int = Field(default=1000, ge=1, le=10**9)
    floor: dict[str, int] = Field(default_factory=dict)
    """By attribute the finest level that anybody may buy."""


# ---- what is wrong with a file -------------------------------------------------------------------------------------

_EXAMPLES = {
    "relation": '[relation] with data = "…"',
    "relations": '[relations.NAME] with data = "…"',
    "hierarchies": '[hierarchies] with MED = "med.csv"',
    "match": '[match] with MED = "GEN = GEN, AGE = AGE"',
    "pricing": "[pricing] with total = 1.0",
    "support": "support = { per_cell = 10 }",
    "schedule": "schedule = [[0, 100], [5, 80]]",
    "points": "[[pricing.points]] with select and price",
    "policy": "[[policy]] with x, y and k",
    "dependency": '[[dependency]] with fd = "A -> B"',
    "floor": "floor = { MED = 1 }",
    "ledger": '[ledger] with url = "…"',
    "circle": '[circle] with trees = { MED = "…" }, the digest that pacas hierarchy check prints',
    "service": "[service] with quotes_per_minute = 600000",
}

_LISTS = {"x": '["GEN", "AGE"]', "y": '["MED"]'}
"""What is a list of names, and how it is written."""

_MEANT = {
    "data": "it stands in [relation]",
    "fds": "a provider's are [[dependency]], with fd; a client's file has fds",
    **dict.fromkeys(("table", "tables"), "relation"),
    **dict.fromkeys(("sold", "sell", "sells", "md", "mds"), "match"),
    **dict.fromkeys(("price", "prices"), "pricing"),
    **dict.fromkeys(("privacy", "protect"), "policy"),
}
"""What people write, and what it is called here."""

_EITHER = {
    "prior": '"uniform", a file such as "prior.csv", or { dp_epsilon = 0.1 }',
    "members": '"public", or { registry = "people.csv" }',
}
"""What may stand where both a text and a table may."""


def first_problem(error: ValidationError) -> str:
    """pydantic's first complaint, in one line, with the nearest known key where one is unknown."""
    problems = error.errors()
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])  # a typo explains what lacks
    place = [part for part in problem["loc"] if part not in (_AS_TEXT, _AS_TABLE)]
    *section, key = place
    where = _place(place)
    match problem["type"]:
        case "extra_forbidden" if not section:
            known = {name: _EXAMPLES.get(name, "") for name in ProviderSections.model_fields}
            return unknown_key(str(key), known, _MEANT)
        case "extra_forbidden":
            return f"unknown key {where!r}; {_nearest(str(key), section)}"
        case "missing":
            return f"{where!r} is missing{f'; give {_EXAMPLES[where]}' if where in _EXAMPLES else ''}"
        case "list_type" if key in _LISTS:
            return f"{where!r}: give a list, as in {key} = {_LISTS[str(key)]}"
        case _ if problem["loc"][-1] == _AS_TEXT:
            return f"{where!r}: give {_EITHER[str(key)]}"
        case "model_type" | "list_type" if example := _example(place):
            return f"{where!r}: give a section, {example}"
        case _ if section[:1] == ["hierarchies"]:  # the last part of the place says which kind was tried
            return f"{_place(section)}: {HIERARCHY}"
        case _:
            return f"{where!r}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"


def _place(location: Sequence[int | str]) -> str:
    """`pricing.points 2.price`: a place in the file, the tables of a list counted from 1 as people do.

    >>> _place(("pricing", "points", 1, "price"))
    'pricing.points 2.price'
    """
    return "".join(f" {part + 1}" if isinstance(part, int) else f".{part}" for part in location).removeprefix(".")


def _nearest(key: str, section: Sequence[int | str]) -> str:
    model = _model_at(section)
    if section and key in ProviderSections.model_fields and key not in model.model_fields:
        plain = key in TOP_KEYS
        return (
            f"{key!r} stands at the top of the file, before any [section]" if plain else f"[{key}] is its own section"
        )
    return did_you_mean(key, [field.alias or name for name, field in model.model_fields.items()])


def _example(location: Sequence[int | str]) -> str | None:
    names = [part for part in location if part in _EXAMPLES]
    return _EXAMPLES[str(names[-1])] if names else None


def _model_at(section: Sequence[int | str]) -> type[Section]:
    """The section that a place in the file is of."""
    model: type[Section] = ProviderSections
    for part in section:
        field = model.model_fields.get(str(part))
        model = (_section_in(field.annotation) if field else None) or model
    return model


def _section_in(annotation: Any) -> type[Section] | None:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for part in get_args(annotation) if (found := _section_in(part))), None)

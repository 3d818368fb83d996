"""The JSON that crosses the wire, and what it means: the only module that knows its shapes.

All money is whole nanocredits (10⁻⁹ credit). What a client sends is read strictly: no key but those that are known, no
value of another type. What a server sends may gain keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    StringConstraints,
    Tag,
    TypeAdapter,
    ValidationInfo,
    field_validator,
)
from pydantic import create_model as model_of

from pacas.core.schedule import LIST, Schedule
from pacas.protocol.circle import CircleLine, CircleLines
from pacas.protocol.messages import (
    LARGEST,
    MOST_QUOTED,
    REASONS,
    ListedLadder,
    ListedPrices,
    Payment,
    QuotedLadder,
    Request,
)
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import LoggedEntry, SignedTreeHead, TreeHead

if TYPE_CHECKING:
    from pacas.core.hierarchy import Hierarchy

LONGEST_NAME = 1000
LONGEST_TEXT = 10_000
MOST_COLUMNS = 1000
MOST_KEYS = 1000
"""Keys that a provider may have signed with before the present one."""
MOST_PROOFS = 1000
"""Proofs of each kind that are asked for in one call."""
MOST_LINKED, MOST_VECTORS = 32, 10**7
"""The attributes of a price list, and the level vectors that they have together: more are not read."""

MOST_LEVELS = 1000
"""Levels of a hierarchy that quotes are told of."""
DOTS = (".", "..")
"""What stands in a path for something else, so that no purchase could be asked about under such a key."""
JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"

Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Amount = Annotated[int, Field(ge=0, le=LARGEST, description="In nanocredits.")]
Level = Annotated[int, Field(ge=0, le=LARGEST, description="0 is ground.")]
Sizes = Annotated[list[Annotated[int, Field(ge=1, le=LARGEST)]], FailFast(), Field(max_length=MOST_PROOFS)]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Tuple = Annotated[
    dict[Name, Text | None], Field(max_length=MOST_COLUMNS, description="The client's tuple: just the match columns.")
]


class ClientShape(BaseModel):
    """JSON that a client sends: nothing in it but what is known."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class ServerShape(BaseModel):
    """JSON that a server answers: it may gain members."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


# ---- what a client sends --------------------------------------------------------------------------------------------


class QuoteRequest(ClientShape):
    """A value to be quoted, at one level or, without one, at all of them."""

    tuple: Tuple
    attribute: Name
    level: Level | None = None

    def request(self, level: int) -> Request:
        return Request(self.tuple, self.attribute, level)


class QuotesBody(ClientShape):
    """Any number of requests, up to the catalogue's `max_batch`."""

    requests: Annotated[list[QuoteRequest], FailFast()]


def quotes_reader(most: int) -> Callable[[bytes], QuotesBody]:
    """Reads a QuotesBody, and no further than to the first request that is one too many."""
    requests = Annotated[list[QuoteRequest], FailFast(), Field(max_length=most)]
    body = model_of("QuotesBody", __base__=QuotesBody, requests=(requests, ...))
    return TypeAdapter(body).validator.validate_json  # without what pydantic's own methods do before they call this


class PurchaseRequest(ClientShape):
    """A value to be bought, at a level."""

    tuple: Tuple
    attribute: Name
    level: Level

    def request(self) -> Request:
        return Request(self.tuple, self.attribute, self.level)


class PurchaseBody(ClientShape):
    """One purchase, and the most that it may cost."""

    request: PurchaseRequest
    ceiling: Amount


class PurchasesBody(ClientShape):
    """Several purchases, paid in order. The key of each is that of the call, a slash, and its place from 0."""

    purchases: Annotated[list[PurchaseBody], FailFast()]


class OfferBody(ClientShape):
    """Terms that an account wishes for."""

    rate: int = Field(ge=1, le=10_000, description="In hundredths of a per cent: 8000 is 80 % of the list.")
    prepaid: Amount = 0
    days: int = Field(ge=1, le=3660, description="How long they are to last.")


class ProofsBody(ClientShape):
    """Which proofs are asked for."""

    size: Annotated[int, Field(ge=1, le=LARGEST, description="How many entries the log had in the head to prove for.")]
    heads: Sizes = Field([], description="The sizes of earlier heads.")
    entries: Sizes = Field([], description="The sequence numbers of entries.")


class CircleBody(ClientShape):
    """A line that a member of a circle adds: what it is about to sell of whom the key is about."""

    if_version: int = Field(ge=0, le=LARGEST, description="The key's version as it was read; 0: it had no lines.")
    attribute: Name
    level: Level


class QuotedTuple(ClientShape):
    """What a tuple was quoted, by which a purchase was planned."""

    tuple: Tuple
    attribute: Name
    prices: list[Annotated[int, Field(ge=-len(REASONS), le=LARGEST)]] = Field(
        description="At each level, from ground to root; a refusal is below 0, as in Arrow.", max_length=MOST_LEVELS
    )


class RunPurchase(PurchaseBody):
    """One of several purchases that are made as long as all comes as it was planned."""

    key: str = Field(description="Its idempotency key.")
    quoted: Annotated[list[QuotedTuple], FailFast()] = Field(
        default=[],
        max_length=MOST_QUOTED,
        description="Quotes by which it was planned: if one is another by then, it is not made.",
    )

    def payment(self) -> Payment:
        quoted = (QuotedLadder(one.attribute, one.tuple, tuple(one.prices)) for one in self.quoted)
        return Payment(self.request.request(), self.ceiling, self.key, tuple(quoted))


class RunBody(ClientShape):
    """Several purchases, paid in order and in one step, up to the first that does not cost its ceiling."""

    run: Annotated[list[RunPurchase], FailFast(), Field(min_length=1)]


@cache
def run_reader(most: int) -> Callable[[bytes], RunBody]:
    """Reads a RunBody, and no further than to the first purchase that is one too many."""
    run = Annotated[list[RunPurchase], FailFast(), Field(min_length=1, max_length=most)]
    body = model_of("RunBody", __base__=RunBody, run=(run, ...))
    return TypeAdapter(body).validator.validate_json


def _one_or_many(given: Any) -> str:
    many = "purchases" in given if isinstance(given, dict) else isinstance(given, PurchasesBody)
    return "many" if many else "one"


@cache
def purchases_reader(most: int) -> Callable[[bytes], PurchaseBody | PurchasesBody]:
    """Reads a PurchaseBody or a PurchasesBody, and no further than to the first purchase that is one too many."""
    purchases = Annotated[list[PurchaseBody], FailFast(), Field(max_length=most)]
    many: Any = model_of("PurchasesBody", __base__=PurchasesBody, purchases=(purchases, ...))
    either: Any = Annotated[PurchaseBody, Tag("one")] | Annotated[many, Tag("many")]
    return TypeAdapter(Annotated[either, Discriminator(_one_or_many)]).validator.validate_json


# ---- what a server answers ------------------------------------------------------------------------------------------


class ErrorCode(Enum):
    """What went wrong, for programs."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    TOKEN_EXPIRED = "token_expired"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    UNPROCESSABLE = "unprocessable"
    RATE_LIMITED = "rate_limited"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"

    @property
    def status(self) -> int:
        return STATUS[self]


STATUS = dict(zip(ErrorCode, (400, 401, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503), strict=True))


class ErrorDetail(ServerShape):
    """What went wrong."""

    code: ErrorCode
    message: str = Field(description="For people, in one line.")


class ErrorBody(ServerShape):
    """The one shape of all errors."""

    error: ErrorDetail


class Price(ServerShape):
    """What a request costs."""

    price: Amount


class Refused(ServerShape):
    """A request that is not answered at any price."""

    refused: Literal["no_match", "ambiguous", "unsafe", "ceiling", "credit", "refused"] = Field(
        description='"refused", unless the catalogue says that this provider gives its reasons.'
    )


class Ladder(ServerShape):
    """A request's quotes at all levels, from ground to root."""

    levels: list[Price | Refused]


class QuotesAnswer(ServerShape):
    """The quotes, in the order of the requests."""

    quotes: list[Price | Refused | Ladder]


class TreeHeadDocument(BaseModel):
    """A signed head of the provider's log. What is signed is described with `pacas.wire.signatures`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)

    size: int = Field(ge=0, le=LARGEST, description="How many entries the log has; 0 until something was sold.")
    root: Digest = Field(description="The root of their Merkle tree (RFC 6962), in hex.")
    time: int = Field(ge=0, le=LARGEST, description="When it was signed: seconds since 1970, UTC.")
    key_id: str = Field(description="Which key has signed: 16 hex digits.")
    signature: str = Field(description="The Ed25519 signature, in base64.", repr=False)

    @classmethod
    def of(cls, signed: SignedTreeHead) -> TreeHeadDocument:
        return cls(**signed.head.members(), key_id=signed.key_id, signature=signed.signature)

    def signed(self) -> SignedTreeHead:
        return SignedTreeHead(TreeHead(self.size, self.root, self.time), self.key_id, self.signature)


class LoggedEntryDocument(BaseModel):
    """That an entry is in the provider's log."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)

    head: TreeHeadDocument
    path: list[Digest] = Field(description="The inclusion proof: hashes in hex, from the leaf to the root.", repr=False)

    @classmethod
    def of(cls, logged: LoggedEntry) -> LoggedEntryDocument:
        return cls(head=TreeHeadDocument.of(logged.signed_head), path=list(logged.path))

    def logged(self) -> LoggedEntry:
        return LoggedEntry(self.head.signed(), tuple(self.path))


class ProofsAnswer(ServerShape):
    """Proofs for the log as it was with so many entries."""

    consistency: list[list[Digest]] = Field(description="Of each earlier head, in order: that nothing was forgotten.")
    inclusion: list[list[Digest]] = Field(description="Of each entry, in order: that it is in the log.")


class ReceiptDocument(BaseModel):
    """A signed receipt. What is signed is described with `pacas.wire.signatures`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)

    version: int = Field(
        ge=1, le=2, description="The form of the receipt and of what is signed: 2, or 1 without a time."
    )
    account: str = Field(description="Who bought.")
    attribute: str = Field(description="The attribute that was sold.")
    tuple: dict[str, str | None] = Field(description="The client's tuple, as far as it was sent.", repr=False)
    level: int = Field(ge=0, description="The level at which it was sold; 0 is ground.")
    answer: str = Field(description="What was sold.", repr=False)
    price: int = Field(ge=0, description="What it cost, in nanocredits.")
    idempotency_key: str = Field(description="The key of the purchase.", repr=False)
    sequence: int = Field(ge=1, description="The number of its entry in the provider's ledger.")
    hash: str = Field(description="The hash of that entry, in hex.")
    time: int | None = Field(
        None,
        ge=0,
        validate_default=True,
        exclude_if=lambda time: time is None,
        description="When it was sold: seconds since 1970, UTC. From version 2 on.",
    )
    key_id: str = Field(description="Which of the provider's keys has signed: 16 hex digits.")
    signature: str = Field(description="The Ed25519 signature, in base64.", repr=False)
    log: LoggedEntryDocument | None = Field(
        None,
        exclude_if=lambda log: log is None,
        description="That the entry is in the provider's log; it is signed by itself. Earlier receipts have none.",
    )

    @classmethod
    def of(cls, signed: SignedReceipt) -> ReceiptDocument:
        receipt = signed.receipt
        log = None if signed.logged is None else LoggedEntryDocument.of(signed.logged)
        members = receipt.members() | {"key_id": signed.key_id, "signature": signed.signature, "log": log}
        return cls(version=receipt.version, **members)

    @field_validator("time")
    @classmethod
    def _from_version_2_on(cls, time: int | None, info: ValidationInfo) -> int | None:
        if "version" in info.data and (info.data["version"] == 2) != (time is not None):
            raise ValueError("a receipt has a time from version 2 on")
        return time

    def signed(self) -> SignedReceipt:
        receipt = Receipt(**self.model_dump(exclude={"version", "key_id", "signature", "log"}))
        return SignedReceipt(receipt, self.key_id, self.signature, None if self.log is None else self.log.logged())


class Bought(ServerShape):
    """A purchase: what was bought, for how much, and the provider's word for it."""

    id: str = Field(description="Its idempotency key: GET /v1/purchases/{id} tells of it again.")
    price: Amount
    level: Level
    answer: str
    receipt: ReceiptDocument | None = Field(
        None, description="None of a root that costs nothing: it would prove who is in the table, and is not recorded."
    )


class PurchaseAnswer(ServerShape):
    """The answer to one purchase."""

    purchase: Bought | Refused


class PurchasesAnswer(ServerShape):
    """The answers to several, in order."""

    purchases: list[Bought | Refused]


class RunAnswer(ServerShape):
    """The answers to the first of a run's purchases; the others were not made."""

    purchases: list[Bought | Refused]


class PastPurchase(Bought):
    """A purchase, with the request that it was for."""

    request: PurchaseRequest


class PublishedHierarchy(ServerShape):
    """An attribute's generalization hierarchy."""

    levels: list[list[str]] = Field(description="A path per value of level 0: the value, its ancestors, the root.")
    numeric: bool = Field(default=False, description="Whether values are compared as numbers: 51 and 51.0 are one.")
    digest: str | None = Field(default=None, description="SHA-256 of the tree, in hex: one tree has one.")

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> PublishedHierarchy:
        return cls(
            levels=[list(row) for row in hierarchy.level_zero_rows()],
            numeric=hierarchy.numeric,
            digest=hierarchy.digest,
        )


class OfferedLadder(ServerShape):
    """What so many keys cost who has bought nothing."""

    prices: list[Amount] = Field(description="At each level, from ground to root.")
    floor: Level = Field(description="Below this level they are not sold.")
    keys: int


class OfferedPrices(ServerShape):
    """What an attribute costs, where quotes are sealed and a client can work them out."""

    path: str = Field(description="Where the price list is: an Arrow stream that need not be fetched twice.")
    keys: int = Field(description="How many keys are in it.")
    linked: list[str] = Field(description="The attributes whose purchases bear on the price.")
    ladders: list[OfferedLadder] = Field(description="Those that most keys have.")

    @classmethod
    def of(cls, prices: ListedPrices, path: str) -> OfferedPrices:
        ladders = [OfferedLadder(prices=list(one.prices), floor=one.floor, keys=one.keys) for one in prices.ladders]
        return cls(path=path, keys=prices.keys, linked=list(prices.linked), ladders=ladders)

    def listed(self) -> ListedPrices:
        ladders = (ListedLadder(tuple(one.prices), one.floor, one.keys) for one in self.ladders)
        return ListedPrices(self.keys, tuple(self.linked), tuple(ladders))


class ListedKeyColumn(ServerShape):
    """A client's column that is part of a key."""

    column: str
    numeric: bool = Field(description="Whether its values are compared as numbers.")


class PriceListHead(ServerShape):
    """What the keys of a price list share; it is in the metadata of the stream's schema."""

    version: int = Field(ge=1, le=1)
    attribute: str
    height: int = Field(ge=1)
    salt: str = Field(pattern="^([0-9a-f]{2}){16,64}$")
    key: list[ListedKeyColumn] = Field(min_length=1)
    linked: list[str] = Field(description="The attributes that a level vector has levels of, in order.")
    levels: list[Annotated[int, Field(ge=2)]]
    tables: list[list[Amount]]
    presence: list[Amount] | None

    @property
    def is_whole(self) -> bool:
        """Do its parts fit each other?"""
        dearest = max((max(table, default=0) for table in self.tables), default=0) + max(self.presence or (), default=0)
        return (
            self.attribute in self.linked
            and len(set(self.linked)) == len(self.linked) == len(self.levels) <= MOST_LINKED
            and prod(self.levels) <= MOST_VECTORS
            and all(len(table) == prod(self.levels) and table[-1] == 0 for table in self.tables)
            and dearest <= LARGEST
            and (self.presence is None or len(self.presence) == len(self.tables))
            and self.levels[self.linked.index(self.attribute)] == self.height + 1 + (self.presence is not None)
        )


class OfferedAttribute(ServerShape):
    """An attribute that is for sale."""

    attribute: str
    columns: list[str] = Field(description="What a tuple must have, and nothing else.")
    height: int = Field(description="The level of the root.")
    hierarchy: PublishedHierarchy | None = Field(
        description="null where it has no levels but its values, which are not told, and the root."
    )
    may_be_absent: bool = Field(
        default=False, description='Whether an answer may be "absent": quotes are about a registry of people.'
    )
    prices: OfferedPrices | None = Field(
        default=None, description="What it costs, where a price list says so; null: ask for quotes."
    )
    is_sealed: bool = Field(default=False, description="Whether quotes tell nothing of the values.")
    floor: Level = Field(default=0, description="The finest level that anybody may buy.")


class Limits(ServerShape):
    """How much may be asked."""

    max_body_bytes: int
    max_batch: int = Field(description="Requests in one call.")
    max_run: int = Field(default=1, description="Purchases in one call of /v1/runs.")
    quotes_per_minute: int = Field(description="Tuples that an account may ask about, refusals included.")


class RateStep(ServerShape):
    """A step of a schedule of rates."""

    above: Amount = Field(description="List credits from which on it applies, in nanocredits.")
    rate: int = Field(ge=1, le=10_000, description="In hundredths of a per cent: 10000 is what the list says.")

    @classmethod
    def all_of(cls, schedule: Schedule) -> list[RateStep]:
        return [cls(above=above, rate=rate) for above, rate in schedule.pairs()]


def schedule_of(steps: Sequence[RateStep]) -> Schedule:
    """The schedule that was told; an InputError if it is none."""
    return Schedule.of_pairs((step.above, step.rate) for step in steps) if steps else LIST


class CircleLineDocument(ServerShape):
    """What a member has sold, or was about to sell."""

    attribute: str
    level: Level
    member: str


class CircleAnswer(ServerShape):
    """All that members have sold of whom a key is about."""

    version: int = Field(ge=0, description="How often a line was added: 0, if there is none.")
    lines: list[CircleLineDocument]

    @classmethod
    def of(cls, found: CircleLines) -> CircleAnswer:
        lines = [CircleLineDocument(attribute=a, level=level, member=member) for a, level, member in found.lines]
        return cls(version=found.version, lines=lines)

    def told(self) -> CircleLines:
        lines = (CircleLine(one.attribute, one.level, one.member) for one in self.lines)
        return CircleLines(self.version, tuple(lines))


class OfferDocument(ServerShape):
    """A private offer, or what the account has asked for."""

    id: str
    state: Literal["asked", "answered", "made", "accepted", "withdrawn"]
    stands: bool = Field(description="Whether it can be accepted.")
    schedule: list[RateStep]
    prepaid: Amount = Field(description="The least that is paid for purchases while the terms last, in nanocredits.")
    days: int = Field(description="How long the terms last, once accepted.")
    stands_until: int = Field(description="Until when it can be accepted: seconds since 1970, UTC.")


class OfferAnswer(ServerShape):
    """One offer, as it is now."""

    offer: OfferDocument


class OffersAnswer(ServerShape):
    """The offers of an account, in the order in which they were made."""

    offers: list[OfferDocument]


class TermsDocument(ServerShape):
    """Terms that an account has accepted, as long as they last."""

    schedule: list[RateStep]
    prepaid: Amount
    unused: Amount = Field(description="What is prepaid and not used, in nanocredits.")
    until: int | None = Field(description="When they end: seconds since 1970, UTC.")


class Catalogue(ServerShape):
    """What is for sale, and on what terms."""

    attributes: list[OfferedAttribute]
    limits: Limits
    reasons: bool = Field(description="Whether refusals say why.")
    dependencies: list[str] = Field(
        default=[], description="What the provider publishes of those that hold in its table, such as ZIP -> City."
    )
    schedule: list[RateStep] = Field(
        default=[], description="What list prices cost who has bought so much; none: what the list says."
    )
    currency: Literal["nanocredits"] = "nanocredits"


class AccountAnswer(ServerShape):
    """The caller's account, and a page of its purchases in the order in which they were made."""

    account: str
    role: Literal["client", "operator"]
    credit: Amount | None = Field(description="The most that may be spent, in nanocredits; null: no limit.")
    spent: Amount
    remaining: Amount | None
    listed: Amount = Field(default=0, description="List credits: what all its purchases cost by the list.")
    schedule: list[RateStep] = Field(default=[], description="What list prices cost this account, as in the catalogue.")
    terms: TermsDocument | None = Field(default=None, description="Its own terms, where it has accepted an offer.")
    purchases: list[PastPurchase]
    next: str | None = Field(description="`after` for the next page; null on the last.")


class AccountLine(ServerShape):
    """An account, as an operator sees it."""

    account: str
    role: Literal["client", "operator", "reconcile", "member"]
    credit: Amount | None
    spent: Amount
    purchases: int
    listed: Amount = Field(default=0, description="List credits: what all its purchases cost by the list.")
    terms: TermsDocument | None = Field(default=None, description="Its own terms, where it has accepted an offer.")
    revoked: bool
    quotes_per_minute: int | None = Field(default=None, description="A rate of its own; null: that of the service.")


class KeyHandover(ServerShape):
    """A key that was used before, and its word that the next one follows it: the next in the list, or the present."""

    public_key: str = Field(description="In PEM.")
    time: int = Field(ge=0, le=LARGEST, description="When it was followed: seconds since 1970, UTC.")
    signature: str = Field(description="Its own signature over that, Ed25519 in base64.")
    countersignature: str = Field(description="The next key's signature over the same.")


class KeyAnswer(ServerShape):
    """The key that receipts are verified with, and those before it: what is signed is in `pacas.wire.key_history`."""

    algorithm: Literal["Ed25519"] = "Ed25519"
    public_key: str = Field(description="In PEM.")
    history: list[KeyHandover] = Field(default=[], max_length=MOST_KEYS, description="Earlier keys, the first first.")


class Status(ServerShape):
    """Whether the service is there."""

    status: Literal["ok"] = "ok"

"""Write docs/reference/http.md from the service's own OpenAPI document: `make docs`."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from pacas import example
from pacas.core.anonymity import Policy
from pacas.protocol.messages import REASONS, refused
from pacas.provider.ledger.accounts import Account, MemoryAccounts, Role, token_hash
from pacas.provider.provider import Provider
from pacas.server.app import create_app
from pacas.server.authentication import LONGEST_TOKEN
from pacas.server.limits import BYTES, MEBIBYTE, ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.openapi import DOCUMENT
from pacas.server.routes import LARGEST_PAGE, PAGE, PAGE_BYTES, PROOFS, PURCHASES
from pacas.server.signing_key import SigningKey
from pacas.server.trading.circle import LINES
from pacas.wire import signatures
from pacas.wire.shapes.base import LONGEST_NAME, LONGEST_TEXT, MOST_COLUMNS
from pacas.wire.shapes.failures import ErrorCode
from pacas.wire.shapes.receipts import MOST_PROOFS

FILE = Path(__file__).parents[1] / "docs" / "reference" / "http.md"
TOKEN = "the-token-of-ann"

INTRODUCTION = f"""\
# HTTP

Made from the code by `make docs`; do not edit. The service publishes the same as OpenAPI, at `{DOCUMENT}`, without a
token.

- A caller is known by its token: `Authorization: Bearer TOKEN`. `pacas account add` makes one.
- Bodies are JSON in UTF-8, unless another type is named. What a client sends is read strictly: a key that is not known
  and a value of another type are errors. What a server answers may gain keys; ignore those you do not know.
- All money is whole nanocredits: 1 credit is 1,000,000,000. The command line shows credits.
- A refusal is an answer (200), not an error. It says `refused` and no more, unless the catalogue has `"reasons": true`.
- Where quotes are sealed, the length of an answer follows from the question alone: white space makes a price as long as
  a refusal, and a purchase as long as any answer to it would be.
- `/console`, where `pacas serve --console` has it, is pages for operators ([how to](../how-to/watch-a-provider.md)) and
  nothing for programs: what is there may change with any release.
- Everything may be sent again. Quotes change nothing, and a purchase is charged once under its `Idempotency-Key`.

[Clean over the wire](../how-to/clean-over-the-wire.md) shows the ready-made client;
[run a service](../how-to/run-a-service.md) is for the other side.
"""

RECONCILE = """\
The W3C Reconciliation Service API 0.2, where `provider.toml` has `reconcile = true`: not part of the OpenAPI document,
and for accounts of the role `reconcile` alone, whose token stands in the path. [How to use
OpenRefine](../how-to/use-openrefine.md) shows it at work. Pages of any origin may call these paths (CORS), and no
others. Errors have the one shape; an unknown or revoked token is 401.
"""
RECONCILE_PATHS = {
    "GET /reconcile/{token}": """the manifest: the types of rows, what is sold, and the settings `level`, `pay` and
        `ceiling`. No entity suggest, preview or view""",
    "POST /reconcile/{token}, `queries`": """as a form: candidates for rows. A `type` says which match column `query`
        is; `properties` have the others, by their names. The type may be named without what is sold, and
        columns in other capitals. Without a type all match columns must be properties, unless one is all there
        is. What lacks a column or a type has one candidate, no match, whose `name` says what is missing, since
        OpenRefine shows nothing else. `id` is the tuple, encrypted; `match` is false where what is found is
        ambiguous. Where refusals do not say why, every tuple has a candidate. A tuple counts once per attribute
        that is found so against `quotes_per_minute`. `GET` with `?queries=…` does the same""",
    "POST /reconcile/{token}, `extend`": """as a form: per row and property one text, or `[{}]` where there is none.
        Without both `pay` (`on`, `true`) and `ceiling` (in credits, for one value) it quotes, in words, and the
        column's name ends in `(price; configure to buy)`, or says what is wrong with the ceiling. With them it buys:
        at `level`, or at the finest level within the ceiling. What is refused, dearer, or above the account's credit
        is `[{}]`, and not charged""",
    "GET /reconcile/{token}/properties": "what is sold, of rows of a `type` (`propose_properties`)",
    "GET /reconcile/{token}/columns": """names of columns to send along, as the catalogue has them (`suggest`,
        `property`): those of a `type`, or all and what is sold; what begins with `prefix`, or has it, comes first""",
}
RECONCILE_KEYS = """\
A purchase has no `Idempotency-Key`: its key follows from account, id, attribute and level, so that what is sent again
is charged once. `finest` is a level like the others in this: what was bought so is told again, and a finer level is
bought by its number. OpenRefine adds a column with ten ids a call, and previews it for all rows in sight in one. So a
call buys for at most ten ids; with more it quotes, `pay` or not, and the column's name ends in `(price; OK buys it)`.
A form has at most 1 MiB, and its bytes count like those of any body.
It may have as many ids times properties as `max_batch`. `batchSize` of the manifest is how many queries to send at
once. Where quotes are sealed, lengths tell nothing here, either.
"""

WHEN = {
    ErrorCode.BAD_REQUEST: "The body is not JSON, or not an Arrow stream; the `Idempotency-Key` is missing.",
    ErrorCode.UNAUTHORIZED: "No token, an unknown one, or a revoked one; which of them is not said.",
    ErrorCode.TOKEN_EXPIRED: "The token is an account's, and its time is over; the provider gives a new one.",
    ErrorCode.FORBIDDEN: """The account has another role: operators do not ask or buy, clients do not watch, and tokens
        of the role `reconcile` open nothing but their path.""",
    ErrorCode.NOT_FOUND: "There is no such path; the caller has no purchase of that id.",
    ErrorCode.METHOD_NOT_ALLOWED: "The path does not take the method.",
    ErrorCode.CONFLICT: "The idempotency key was used for another request. Nothing was bought.",
    ErrorCode.TOO_LARGE: "The body has too many bytes, or too many requests. Send fewer at once.",
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: "The `Content-Type` is not the one that the path takes.",
    ErrorCode.UNPROCESSABLE: """It can be read and makes no sense: a wrong type, an unknown key, attribute or level, a
        column that the match needs and the tuple lacks, or one that it does not need.""",
    ErrorCode.RATE_LIMITED: "The account has asked too much. `Retry-After` says for how many seconds to wait.",
    ErrorCode.INTERNAL: "A mistake of the service's own; its log says where. Nothing is told about the data.",
    ErrorCode.UNAVAILABLE: """The ledger cannot be used now, or the service is stopping. Try again, a purchase with the
        same key.""",
}

MORE = {
    "catalogue": "For clients and operators. It does not change while the service runs.",
    "quotes": """For clients. Each request, refused or not, counts once against `quotes_per_minute`. A quote is an upper
        bound for its buyer. Where prices are published it holds until the buyer itself buys; else it is no promise, as
        somebody else's purchase may make a request unsafe before it is paid.""",
    "quotes_arrow": """For clients. The body is an Arrow IPC stream, uncompressed, with a text column (utf8) for each
        match column and a tuple in each row. So is the answer: int64 columns `0`, `1`, … up to the root, a row for each
        tuple. A number below 0 is a refusal: {codes}. Each tuple counts once against `quotes_per_minute`.""",
    "prices": """For clients. Where quotes are sealed and follow nobody else's purchases, they can be worked out from
        this; the catalogue says where there is a list, and under which version it may be kept for ever. A row is a key:
        `digest` is the keyed BLAKE2b hash, of 8 bytes read from the lowest, of its columns in their order, each as its
        length in characters, a colon, and its text (a number in its one spelling: 51.0 is 51); rows are sorted by it.
        What the key finds is `unit`: below 0, rows of several units (-2) or too many (-3). What such a unit costs is
        the table number `kind`, a price for each vector of levels of the `linked` attributes, the last one's level
        changing first; it is not sold below level `floor`. The metadata "pacas price list" of the schema has all that
        keys share as JSON: `attribute`, `height`, `salt` (the hash's key, in hex), `key` (each `column`, and whether it
        is `numeric`), `linked`, `levels` (how many each has), `tables`, and `presence` (per kind, what the first answer
        about a unit costs besides, where it may be absent). A price is the table's entry at what is bought
        with this request and before, less that at what was bought before. Keys that are not there find nothing.""",
    "buy": """For clients. Send one purchase (`request`, `ceiling`), or many (`purchases`), which are paid in their
        order. Price and safety are judged again at that moment; what is dearer than its `ceiling` is refused. The
        answer is sent when the ledger has it durably. The id of one purchase is the `Idempotency-Key`; those of many
        are `KEY/0`, `KEY/1`, … Sent again with the same key, what was sold is told again and not charged; what was
        refused is tried anew. What was bought under a key is never something else (409). A key names a purchase, not a
        call: a longer list that begins alike buys what is new in it, and `KEY` is another purchase than `KEY/0`. Many
        are checked before the first is paid for, so that a mistake in one leaves nothing behind. Each purchase that was
        not made before counts against `quotes_per_minute`, refused or not; many count all at once, before the first is
        paid for. The root, where it costs nothing, is answered like a quote: it is not recorded, has no `receipt`, and
        cannot be asked for by its id. A service that stops finishes what it can; where many take too long for that,
        they end between two of them, with 503.""",
    "purchase": "For clients, each for its own: another account's purchase is not found.",
    "offers": """For clients, each for its own: what the provider holds out to it, and what it has asked for.""",
    "ask_offer": """For clients. Nothing changes by it: the provider sees the wish (`pacas offer list`), and may make an
        offer (`pacas offer make`) or not. At most 20 wishes may wait for an answer, those
        counted that were taken back before their 30 days were over.""",
    "accept_offer": """For clients. The terms count from then on, for `days` days: a purchase costs f(W + p) − f(W), W
        being the account's list credits and f the offer's schedule. What is prepaid is the least that purchases cost
        while they last, used or not. Sent again, it is accepted once. 409: it does not stand any more, what is prepaid
        is beyond the credit, or an earlier prepayment is not used up.""",
    "withdraw_offer": """For clients. 409: it was accepted.""",
    "circle_lines": """For accounts of the role `member`, where the service keeps a clearing house (`clearing_house =
        true`). A key that nobody has written to has version 0.""",
    "circle_reserve": """For accounts of the role `member`. The line is added in the account's name if the key's version
        is `if_version`, and is durable when this is answered; 409 if it is another by now: read, and judge again. A
        line that is there already is not added again. None is ever taken away.""",
    "run": """For clients. Each purchase has its `request`, its `ceiling`, which is what it is planned to cost,
        its own idempotency `key`, and in `quoted` up to 16 quotes that it was planned by. They are paid in their
        order and in one transaction, up to the first surprise: a refusal or a price other than the ceiling ends the
        run after it, a quote that is another one by now ends it before. What was sold is answered, in order; what is
        missing was not sold. The same run sent again is answered with what was sold under its keys, and goes on from
        there if it still may. At most `max_run` of the catalogue's limits go in a call. Each purchase counts once
        against `quotes_per_minute`, as does each quote of another tuple.""",
    "account": """For clients and operators. The totals are those of now, the purchases a page of all. A page has no
        more than `limit` of them and, unless it is a single one, {page_bytes} MiB: go on with `next` until it is
        null.""",
    "accounts": "No token is in it, and no hash of one.",
    "log_head": """For clients and operators. Every entry of the ledger is a leaf of a Merkle tree (RFC 6962): SHA-256
        of a byte 0 and the 32 bytes of its hash, which is salted. What is signed is described with
        `pacas.wire.signatures`. A head that was seen once must be one that all later ones have grown out of.""",
    "log_proofs": """For clients and operators. Proofs as RFC 6962 (2.1.1 and 2.1.2) has them, hashes in hex, for the
        log as it was with `size` entries; at most {proofs} of each kind in a call, and {cost} of them count like a
        tuple against `quotes_per_minute`.""",
    "key": "No token is needed. Note the key when you first buy: who can replace the server can replace the key.",
    "health": "No token is needed. For whoever restarts processes.",
    "ready": "No token is needed. 503 while it cannot. For load balancers.",
    "metrics": "No label names an account or holds a value. Counts are those of one process, since its start.",
}


class Wire:
    """The running example's service, without a network."""

    def __init__(self) -> None:
        policy = Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 0}, k=3)
        match, hierarchies = {"MED": example.md}, example.hierarchies
        provider = Provider(example.provider, match=match, policies=[policy], hierarchies=hierarchies, total=6, seed=7)
        accounts = MemoryAccounts()
        accounts.add(Account("ann", Role.CLIENT, None, False, token_hash(TOKEN)))
        self._app = create_app(
            provider, accounts, ServiceSettings(), SigningKey.generate(), log=make_log(io.StringIO())
        )

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        return asyncio.run(self._call(method, path, body, headers))

    async def _call(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Any:
        sent = {"Authorization": f"Bearer {TOKEN}"} | {name.replace("_", "-"): text for name, text in headers.items()}
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            told = await client.request(method, path, json=body, headers=sent)
        assert told.status_code == 200, told.text
        return told.json()


def operations(document: Any) -> Iterator[tuple[str, Any]]:
    """Every operation, by the words of its heading."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def render() -> str:
    """The whole page."""
    wire = Wire()
    document = wire.call("GET", DOCUMENT)
    examples = _examples(wire)
    contents = "\n".join(f"- [`{name}`](#{_anchor(name)}): {op['summary']}" for name, op in operations(document))
    parts = [INTRODUCTION, contents, "", *_errors(), *_limits()]
    for name, operation in operations(document):
        parts += _section(name, operation, examples.get(operation["operationId"], ()))
    parts += [
        *_reconcile(),
        "## Shapes\n",
        *(line for name, s in document["components"]["schemas"].items() for line in _shape(name, s)),
    ]
    return "\n".join(parts)


def _reconcile() -> list[str]:
    rows = (f"| {path} | {_line(text)} |" for path, text in RECONCILE_PATHS.items())
    return ["## /reconcile/{token}\n", RECONCILE, "| | |", "| --- | --- |", *rows, "", RECONCILE_KEYS]


def _errors() -> list[str]:
    rows = (f"| {code.status} | `{code.value}` | {_line(WHEN[code])} |" for code in ErrorCode)
    intro = 'Every error has one shape, [ErrorBody](#errorbody): `{"error": {"code": "…", "message": "one line"}}`.\n'
    return ["## Errors\n", intro, "| status | code | when |", "| --- | --- | --- |", *rows, ""]


def _limits() -> list[str]:
    default = ServiceSettings()
    rows = {
        "bytes in a body": f"`max_body_bytes`, {default.max_body_bytes:,} unless the provider says otherwise; "
        "one of more than 256 KiB of JSON is one list and nothing besides",
        "requests in a call": f"`max_batch`, {default.max_batch:,} unless the provider says otherwise",
        "tuples asked about in a minute": f"`quotes_per_minute`, {default.quotes_per_minute:,} unless the provider "
        "says otherwise; for each account and each server process. So many may come at once after a quiet minute. "
        f"By the work that they take, {BYTES:,} bytes of a body count like a tuple (where it asks about fewer), and so "
        f"do {PURCHASES} purchases on a page of an account; a call about offers counts like one, as does one to a "
        f"clearing house, with each {LINES} lines of its answer",
        "characters of a value": f"{LONGEST_TEXT:,}",
        "characters of a name": f"{LONGEST_NAME:,}",
        "columns of a tuple": f"{MOST_COLUMNS:,}",
        "characters of a token": f"{LONGEST_TOKEN:,}",
        "purchases on a page": f"{LARGEST_PAGE:,}; {PAGE} if the call does not say",
    }
    return [
        "## How much may be asked\n",
        "| | |",
        "| --- | --- |",
        *(f"| {what} | {most} |" for what, most in rows.items()),
        "",
    ]


def _section(name: str, operation: Any, examples: tuple[str, ...]) -> list[str]:
    codes = ", ".join(f"{refused(reason)} `{reason.value}`" for reason in REASONS)
    more = _line(MORE[operation["operationId"]]).replace("{codes}", codes)
    more = more.replace("{proofs}", f"{MOST_PROOFS:,}").replace("{cost}", str(PROOFS))
    more = more.replace("{page_bytes}", str(PAGE_BYTES // MEBIBYTE))
    parts = [f"## {name}\n", f"{operation['summary']} {more}\n"]
    if parameters := operation.get("parameters"):
        parts += ["| parameter | in | | |", "| --- | --- | --- | --- |", *map(_parameter, parameters), ""]
    if body := operation.get("requestBody"):
        parts.append(f"Takes {_content(body['content'])}.\n")
    answers = operation["responses"]
    parts.append(f"Answers {_content(answers['200']['content'])}.\n")
    failing = (f"{status} `{told['description']}`" for status, told in answers.items() if status != "200")
    parts.append(f"Errors: {', '.join(failing)}.\n")
    return [*parts, *examples]


def _parameter(given: Any) -> str:
    needed = "required" if given["required"] else "optional"
    return f"| `{given['name']}` | {given['in']} | {needed}, {_type(given['schema'])} | {given['description']} |"


def _content(content: Any) -> str:
    ((media_type, given),) = content.items()
    plain = given["schema"].get("type") == "string"
    return f"`{media_type}`" if plain else f"{_type(given['schema'])} as `{media_type}`"


def _shape(name: str, schema: Any) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"{schema['description']}\n"
    if name == "ReceiptDocument":
        yield f"{_line(_what_is_signed())}\n"
    if "enum" in schema:
        yield f"{_type(schema)}.\n"
        return
    yield "| field | | |"
    yield "| --- | --- | --- |"
    for field, inner in schema["properties"].items():
        optional = "optional, " if "additionalProperties" in schema and field not in schema["required"] else ""
        yield f"| `{field}` | {optional}{_type(inner)} | {inner.get('description', '')} |"
    yield ""


def _what_is_signed() -> str:
    """The paragraph of the signing module that others need to verify a receipt by themselves."""
    return next(part for part in (signatures.__doc__ or "").split("\n\n") if part.startswith("**What is signed"))


def _type(schema: Any) -> str:
    """What a value may be, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{_anchor(name)})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(one) for one in schema[several])
    if "const" in schema or "enum" in schema:
        return ", ".join(f'`"{value}"`' for value in schema.get("enum", [schema.get("const")]))
    match schema["type"]:
        case "array":
            return f"list of {_type(schema['items'])}"
        case "object":
            most = f", {schema['maxProperties']:,} at most" if "maxProperties" in schema else ""
            return f"object of {_type(schema['additionalProperties'])}{most}"
        case kind:
            return f"{kind}{_bounds(schema)}"


def _bounds(schema: Any) -> str:
    said = ""
    if "pattern" in schema:
        said += f" like `{schema['pattern']}`"
    if "maxLength" in schema:
        said += f" of {schema['minLength']} to" if schema.get("minLength") else " of at most"
        said += f" {schema['maxLength']:,} characters"
    elif schema.get("minLength"):
        said += " that is not empty"
    least, most = (None if schema.get(bound) is None else int(schema[bound]) for bound in ("minimum", "maximum"))
    if most is not None and most == least:
        return f"{said} {least}"
    if most is not None and most < 2**62:
        return f"{said} from {least} to {most:,}"
    return said if least is None else f"{said} ≥ {least}"


def _examples(wire: Wire) -> dict[str, tuple[str, ...]]:
    """Calls to the running example, as they were made just now; what differs each time is left out."""
    person = {"tuple": {"GEN": "male", "AGE": "51"}, "attribute": "MED"}
    nobody = {"tuple": {"GEN": "male", "AGE": "45"}, "attribute": "MED", "level": 1}
    asked = {"requests": [person | {"level": 1}, person, nobody]}
    bought = {"request": person | {"level": 1}, "ceiling": 700_000_000}
    sold = wire.call("POST", "/v1/purchases", bought, Idempotency_Key="order-17")
    sold["purchase"]["receipt"] |= {name: "…" for name in ("hash", "key_id", "signature", "log")}
    fresh = Wire().call("POST", "/v1/quotes", asked)
    return {"quotes": _shown(asked, fresh), "buy": _shown(bought, sold)}


def _shown(sent: Any, told: Any) -> tuple[str, ...]:
    lines = (json.dumps(document, ensure_ascii=False) for document in (sent, told))
    return tuple(f"```json\n{line}\n```\n" for line in lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _anchor(heading: str) -> str:
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c in "-_")


if __name__ == "__main__":
    FILE.write_text(render(), "utf-8")
    print(FILE.relative_to(Path.cwd()) if FILE.is_relative_to(Path.cwd()) else FILE, file=sys.stderr)

"""A provider with hostile names, some sales and refusals, served with its console on a loopback port."""

from __future__ import annotations

import io
import json
import re
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from running_service import KEY, served, with_account

from pacas.console.app import ProviderConsole
from pacas.console.figures import Look, OwnFindings
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.protocol.messages import Answer, Request
from pacas.provider.ledger.accounts import Accounts, Role
from pacas.provider.lint.finding import ProviderFinding
from pacas.provider.provider import Provider
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.url import open_accounts, open_refusals

MED, WARD, ID = "<script>alert('med')</script>", 'javascript:"ward"&<b>', "id \u202e turned"
"""Columns that would do something, if a page took them for more than text."""
HOSTILE = "<img src=x onerror=alert(1)>"
"""An account."""
FAMILIES = ("<script>alert('label')</script>", "javascript:alert('label')", "family \u202e turned")
DAY = 86_400
NOW = 1_800_000_000


def hierarchy(leaves: int = 4) -> Hierarchy:
    """Families of hostile names, with so many values each."""
    return Hierarchy.from_rows(
        [
            (f"secret-med-{family}-{leaf}", label, "all")
            for family, label in enumerate(FAMILIES)
            for leaf in range(leaves)
        ]
    )


@dataclass
class Clock:
    """The time, which passes when a test says so."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now


@dataclass
class ServedConsole:
    """A console that is served, and ways to look at it."""

    url: str
    provider: Provider
    accounts: Accounts
    log: io.StringIO
    clock: Clock
    values: set[str]
    """All values of the provider's table."""
    client: httpx.Client = field(repr=False)

    def log_in(self, token: str = "token-of-olga") -> httpx.Response:
        return self.client.post("/console/login", data={"token": token})

    def page(self, path: str = "") -> str:
        answer = self.client.get(f"/console{path}")
        assert answer.status_code == 200, (path, answer.status_code)
        return answer.text

    def csrf(self) -> str:
        found = re.search(r'name="csrf" value="([\w-]+)"', self.page("/ledger"))
        assert found is not None
        return found[1]

    def send(self, path: str, **form: Any) -> httpx.Response:
        """A form of the session's own."""
        return self.client.post(f"/console{path}", data={"csrf": self.csrf(), **form})

    def lines(self, event: str) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.log.getvalue().splitlines()) if line["event"] == event]


FOUND = OwnFindings(
    [ProviderFinding("rare-groups", "warning", MED, 7, "says <b>so</b>", 'k = "<i>2</i>"')],
    "free quotes tell the MED of 12.0% more of the people than public columns do; see pacas leak",
)


@contextmanager
def served_console(
    folder: Path,
    *,
    quotes: str = "sealed",
    context: ssl.SSLContext | None = None,
    leaves: int = 4,
    sales: int = 30,
    look: Look | None = None,
    **settings: Any,
) -> Iterator[ServedConsole]:
    """A provider of 60 rows in six wards, `sales` of them sold over ten days, with its console."""
    clock, log = Clock(), io.StringIO()
    url = f"sqlite:///{folder / 'provider.ledger.db'}"
    tree = hierarchy(leaves)
    rows = [(f"secret-id-{n}", f"secret-ward-{n % 6}", tree.ground_labels[n % 12]) for n in range(60)]
    columns = {name: list(column) for name, column in zip((ID, WARD, MED), zip(*rows, strict=True), strict=True)}
    when = iter(range(NOW - 10 * DAY, NOW, 10 * DAY // max(sales, 1)))
    with ExitStack() as stack:
        ledger = SqliteLedger(folder / "provider.ledger.db", clock=lambda: next(when, int(clock.now)))
        provider = stack.enter_context(
            Provider(
                Relation.of(columns),
                match={MED: f'"{ID}" = "{ID}"'},
                policies=[Policy((WARD,), (MED,), {MED: 0}, 2, allow_linkage=True)],
                hierarchies={MED: tree},
                total=100,
                quotes=quotes,
                ledger=ledger,
            )
        )
        accounts = stack.enter_context(closing(open_accounts(url, Path())))
        refusals = stack.enter_context(closing(open_refusals(url, Path())))
        for name in ("ann", "bob", HOSTILE):
            with_account(accounts, name, credit=None if name == "ann" else 10**10)
        with_account(accounts, "olga", role=Role.OPERATOR)
        for number in range(sales):
            request = Request({ID: f"secret-id-{number}"}, MED, number % 3)
            buyer = ("ann", "bob", HOSTILE)[number % 3]
            if isinstance(provider.pay(request, 10**12, str(number), buyer=buyer), Answer) and buyer == "bob":
                accounts.set_credit("bob", provider.ledger.total("bob").spent)
        console = ProviderConsole(
            "provider.toml", refusals, look or (lambda: FOUND), None if look else FOUND, clock=clock
        )
        allowed = ServiceSettings(**({"reasons": True} | settings))
        app = create_app(provider, accounts, allowed, KEY, log=make_log(log), beside=console)
        at = stack.enter_context(served(app, context=context))
        client = stack.enter_context(httpx.Client(base_url=at, trust_env=False, timeout=30, verify=False))
        values = {value for column in columns.values() for value in column}
        yield ServedConsole(at, provider, accounts, log, clock, values, client)

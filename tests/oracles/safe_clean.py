"""SafeClean (Alg. 3 to 5, SPEC §4), recounting every pair in every iteration and asking for one quote at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from oracles.cleaning import Cell, Dependency, Row, errors, generate_eqs, resolved, tree_of, violations
from oracles.pricing import Purchase, Request
from oracles.tree import Tree, Value


class Market(Protocol):
    """A provider; a quote is a price, or the reason of a refusal."""

    def quote(self, what: Request, buyer: str) -> int | str: ...

    def buy(self, what: Request, buyer: str, ceiling: int | None = None) -> Purchase | str: ...


class Offer(NamedTuple):
    columns: tuple[str, ...]
    height: int


class Settings(NamedTuple):
    """Budget in nanocredits; `max_level` by attribute; `named` cells."""

    budget: int
    max_level: Mapping[str, int] = {}
    allocation: str = "errors"
    prefer: str = "finest"
    repair: str = "refine"
    rounds: int = 1
    named: frozenset[Cell] = frozenset()


class Bought(NamedTuple):
    attribute: str
    rows: list[int]
    row: int
    level: int
    value: str
    price: int
    written: str


class Result(NamedTuple):
    rows: list[dict[str, Value]]
    bought: list[Bought]
    unrepaired: list[tuple[str, list[int], str]]
    remaining: int


NEAREST_TO_A_SALE = ["refused", "credit", "ceiling", "unsafe", "ambiguous", "max_matches", "no_match"]


def safe_clean(
    table: Sequence[Row],
    fds: Sequence[Dependency],
    trees: Mapping[str, Tree],
    offers: Mapping[str, Offer],
    market: Market,
    buyer: str,
    settings: Settings,
) -> Result:
    rows = [dict(row) for row in table]
    columns, named, remaining = list(rows[0]), set(settings.named), settings.budget
    bought: list[Bought] = []
    for _ in range(settings.rounds):
        unrepaired: list[tuple[str, list[int], str]] = []
        eqs = [eq for eq in generate_eqs(rows, fds, trees) if not resolved(rows, eq, trees) or eq & named]
        iteration, before = 0, len(bought)
        while remaining > 0 and eqs:
            counts = [count(rows, fds, trees, eq, named) for eq in eqs]
            at = min(range(len(eqs)), key=lambda i: (-counts[i], *place(eqs[i], columns)))
            eq, error_count = eqs[at], counts[at]
            attribute, members = cells_of(eq)
            if error_count == 0:
                eqs.remove(eq)
                continue
            iteration += 1
            allowance = {
                "errors": Fraction(error_count, sum(counts)) * remaining,
                "harmonic": Fraction(remaining, iteration),
                "uniform": Fraction(remaining, len(eqs)),
            }[settings.allocation]
            found = generate_request(rows, attribute, members, offers, market, buyer, allowance, settings)
            eqs.remove(eq)
            if isinstance(found, str):
                unrepaired.append((attribute, members, found))
                continue
            row, level, price = found
            paid = market.buy(request(rows, row, attribute, level, offers), buyer, price)
            if isinstance(paid, str):
                unrepaired.append((attribute, members, "credit_used_up" if paid == "credit" else paid))
                continue
            remaining -= paid.price
            new = repair_value(rows, attribute, members, paid.answer, trees, settings.repair)
            for i in members:
                if tree_of(attribute, trees).key(rows[i][attribute]) != new:
                    rows[i][attribute] = new
            named -= eq
            bought.append(Bought(attribute, members, row, level, paid.answer, paid.price, new))
        for eq in sorted(eqs, key=lambda eq: place(eq, columns)):
            if count(rows, fds, trees, eq, named) > 0:
                attribute, members = cells_of(eq)
                unrepaired.append((attribute, members, "budget_spent" if attribute in offers else "not_sold"))
        if len(bought) == before or remaining == 0:
            break
    return Result(rows, bought, unrepaired, remaining)


def cells_of(eq: set[Cell]) -> tuple[str, list[int]]:
    ((attribute,), members) = {a for _, a in eq}, sorted(i for i, _ in eq)
    return attribute, members


def place(eq: set[Cell], columns: Sequence[str]) -> tuple[int, int]:
    attribute, members = cells_of(eq)
    return members[0], columns.index(attribute)


def count(
    rows: Sequence[Row], fds: Sequence[Dependency], trees: Mapping[str, Tree], eq: set[Cell], named: set[Cell]
) -> int:
    """errors(R, Σ, eq) on the relation as it is; a named cell is one more."""
    return len(errors({fd: violations(rows, fd, trees) for fd in fds}, eq)) + len(eq & named)


def request(rows: Sequence[Row], row: int, attribute: str, level: int, offers: Mapping[str, Offer]) -> Request:
    return Request({c: rows[row][c] for c in offers[attribute].columns}, attribute, level)


def generate_request(
    rows: Sequence[Row],
    attribute: str,
    members: Sequence[int],
    offers: Mapping[str, Offer],
    market: Market,
    buyer: str,
    allowance: Fraction,
    settings: Settings,
) -> tuple[int, int, int] | str:
    """Alg. 5: (row, level, price), or why there is none."""
    if attribute not in offers:
        return "not_sold"
    height = offers[attribute].height
    l_max = min(settings.max_level.get(attribute, height - 1), height)
    chosen: tuple[int, int, int] | None = None
    reasons: set[str] = set()
    for c in members:
        ladder = {at: market.quote(request(rows, c, attribute, at, offers), buyer) for at in range(l_max + 1)}
        too_many = market.quote(request(rows, c, attribute, height, offers), buyer) == "ambiguous"
        told = {q if isinstance(q, str) else "too_expensive" for q in ladder.values()}
        reasons |= {"max_matches" if q == "ambiguous" and too_many else q for q in told}
        affordable = {at: p for at, p in ladder.items() if not isinstance(p, str) and p <= allowance}
        if not affordable:
            continue
        if settings.prefer == "finest":
            level = min(affordable)
            better = chosen is None or level < chosen[1]
        else:
            level = max(affordable)
            better = chosen is None or level > chosen[1]
        price = affordable[level]
        if better or (chosen is not None and level == chosen[1] and price <= chosen[2]):
            chosen = c, level, price
    if chosen is not None:
        return chosen
    return next(reason for reason in ["too_expensive", *NEAREST_TO_A_SALE] if reason in reasons)


def repair_value(
    rows: Sequence[Row], attribute: str, members: Sequence[int], value: str, trees: Mapping[str, Tree], how: str
) -> str:
    """D11: what is written for a bought value."""
    tree = tree_of(attribute, trees)
    value = str(tree.key(value))
    if how == "replace":
        return value

    def known(v: Value) -> bool:
        return v is not None and (attribute not in trees or tree.key(v) in tree.known)

    here = [str(tree.key(rows[i][attribute])) for i in members if known(rows[i][attribute])]
    fitting = Counter(v for v in here if tree.precedes(v, value))
    if fitting:
        return max(fitting, key=lambda v: (fitting[v], -here.index(v)))
    if how == "ground":
        column = Counter(str(tree.key(row[attribute])) for row in rows if known(row[attribute]))
        below = [v for v in ground_values(tree, column) if tree.precedes(v, value) and column[v]]
        if below:
            return max(below, key=lambda v: column[v])  # the first of several
    return value


def ground_values(tree: Tree, column: Counter[str]) -> list[str]:
    """In the order of the hierarchy's rows; without one, those of the column, in order."""
    listed = [row[0] for row in tree.rows] or list(column)
    return [v for v in dict.fromkeys(listed) if tree.is_ground(v)]

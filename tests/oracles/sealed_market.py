"""A market with sealed quotes, literally: every pair of tuples, every answer, every row and every group is looked at.

Two attributes A and B are sold, found by K; policies protect one of them in the groups of X; Z may say which tuples are
possible, or determine both. No value of a relation is anywhere in here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import product
from math import prod

from oracles import criteria, sealed
from oracles.tree import Tree

Levels = dict[str, int]
"""Per attribute the lowest level that was told."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A policy: Y at ground, and by which criterion."""

    y: str
    criterion: str
    parameters: Mapping[str, object]
    keep: int
    scope: str


@dataclass(eq=False)
class SealedMarket:
    """What is public, and who has bought what at which level."""

    rows: Sequence[tuple[str, str, str]]
    """(K, X, Z)."""
    trees: Mapping[str, Tree]
    domain: Callable[[str], Sequence[tuple[str, ...]]]
    """The tuples of (A, B) that are possible for a Z."""
    linked: bool
    by_z: bool
    """Whether Z is on the left side of what links them."""
    tied: bool
    rules: Sequence[Rule]
    total: int
    spread: str
    sensitivity: Mapping[str, int]
    prior: Mapping[str, Mapping[str, int]]
    last: bool
    listed: bool
    """Whether rows are a registry's, of which the relation is believed to have one half."""
    salt: bytes
    bought: dict[tuple[str, str], Levels] = field(default_factory=dict)
    """By buyer and unit; by nobody and unit, what all have bought together."""

    def __post_init__(self) -> None:
        self.heights = {a: tree.height for a, tree in self.trees.items()}
        self.top = {a: height + (self.listed) for a, height in self.heights.items()}
        if self.listed:
            self.trees = {a: _taller(tree) for a, tree in self.trees.items()}
        self.components = ["AB"] if self.linked else ["A", "B"]
        self.worth = cache(self.worth_of_row)
        self.floors = [self._floors(rule) for rule in self.rules]

    # ---- units -----------------------------------------------------------------------------------------------

    def unit(self, row: int) -> str:
        return self.rows[row][2] if self.tied else f"row {row}"

    def rows_of(self, unit: str) -> list[int]:
        return [row for row in range(len(self.rows)) if self.unit(row) == unit]

    def found(self, key: str) -> list[int]:
        return [row for row, (k, _, _) in enumerate(self.rows) if k == key]

    def units_found(self, key: str) -> list[str]:
        return sorted({self.unit(row) for row in self.found(key)})

    def public(self, row: int) -> list[str]:
        """What the index has of a row: what it is found by, grouped by, and what its values depend on."""
        k, x, z = self.rows[row]
        return [k, *[x] * bool(self.rules), *[z] * (self.by_z or self.tied)]

    def lot(self, unit: str) -> bytes:
        row = self.rows_of(unit)[0]
        text = "".join(f"{len(v)}:{v}" for v in ([self.rows[row][2]] if self.tied else self.public(row)))
        return sha256(f"{self.salt.hex()} {text}".encode()).digest()[:8]

    # ---- prices ----------------------------------------------------------------------------------------------

    def tuples(self, row: int, component: str) -> tuple[list[tuple[str, ...]], list[int]]:
        """What is possible for a row in a component, with how likely it is."""
        place = ["AB".index(a) for a in component]
        found = sorted({tuple(values[n] for n in place) for values in self.domain(self.rows[row][2])})
        weights = [prod(likely(self.prior, a, v) for a, v in zip(component, t, strict=True)) for t in found]
        if not self.listed:
            return found, weights
        return [*found, ("absent 0",) * len(component)], [*weights, sum(weights)]

    def weights(self, is_first: bool) -> dict[str, int]:
        """What an attribute's neighbours of a row weigh: alike, but for the first row, by its texts."""
        told = {(n,): self.sensitivity.get("AB"[n], 1) for n in range(2) if self.listed or self._can_differ(n)}
        each = sealed.largest_remainder(self.total, told)  # type: ignore[arg-type]
        n = len(self.rows)
        return {a: (w := each.get(("AB".index(a),), 0)) // n + (w % n if is_first else 0) for a in "AB"}

    def _can_differ(self, place: int) -> bool:
        """Whether two tuples that are possible together differ in an attribute."""
        return any(len({t[place] for t in self.domain(z)}) > 1 for z in ("z0", "z1", "z2"))

    def price_of(self, row: int, component: str, vector: tuple[int, ...], is_first: bool = False) -> int:
        """P(λ) of a component."""
        tuples, prior = self.tuples(row, component)
        weights = [self.weights(is_first)[a] for a in component]
        return sealed.price([self.trees[a] for a in component], tuples, prior, weights, self.spread, vector)

    def worth_of_row(self, row: int, a: int, b: int) -> int:
        """What answers about a row at two levels are worth: that it is there is paid once."""
        levels = {"A": a, "B": b}
        is_first = row == min(range(len(self.rows)), key=self.public)
        worth = existence = 0
        for component in self.components:
            vector, top = (tuple(of[n] for n in component) for of in (levels, self.top))
            worth += self.price_of(row, component, vector, is_first)
            if self.listed:
                told = self.price_of(row, component, (self.heights[component[0]], *top[1:]), is_first)
                existence += told
                worth -= told if vector != top else 0
        return worth + (existence if levels != self.top else 0)

    def price(self, unit: str, attribute: str, level: int, buyer: str) -> int:
        now = self.bought.get((buyer, unit), dict(self.top))
        then = now | {attribute: min(level, now[attribute])}
        return sum(
            self.worth(row, then["A"], then["B"]) - self.worth(row, now["A"], now["B"]) for row in self.rows_of(unit)
        )

    # ---- refusals --------------------------------------------------------------------------------------------

    def is_open(self, rule: Rule, row: int, levels: Levels) -> bool:
        """Does every answer at these levels leave the row enough, whatever it holds?"""
        if self.listed:
            return levels == self.top
        component = next(c for c in self.components if rule.y in c)
        trees = [self.trees[a] for a in component]
        tuples, prior = self.tuples(row, component)
        vector = tuple(levels[a] for a in component)
        place = component.index(rule.y)
        overall: Counter[tuple[str | None, ...]] = Counter()
        blocks: dict[tuple[str, ...], Counter[tuple[str | None, ...]]] = {}
        for t, weight in zip(tuples, prior, strict=True):
            for counter in (overall, blocks.setdefault(sealed.answers(trees, t, vector), Counter())):
                counter[(t[place],)] += weight
        must = rule.criterion, rule.parameters
        return all(criteria.holds(*must, left, overall) for left in blocks.values())  # type: ignore[arg-type]

    def values_left(self, rule: Rule, row: int, levels: Levels) -> int:
        """How many values answers at these levels leave a row at the least, whatever it holds; of a relation's rows."""
        component = next(c for c in self.components if rule.y in c)
        trees, place = [self.trees[a] for a in component], component.index(rule.y)
        tuples, _ = self.tuples(row, component)
        left: dict[tuple[str, ...], set[str]] = {}
        for t in tuples:
            left.setdefault(sealed.answers(trees, t, tuple(levels[a] for a in component)), set()).add(t[place])
        return min(map(len, left.values()))

    def margins(self, rule: Rule) -> dict[str, int]:
        """Per X-group: what the rows that keep its secret best have left, at the least, beyond what is enough.

        That is a number of values; for other criteria, and for a registry's rows, 0 or −1: enough, or not.
        """
        is_number = rule.criterion == "distinct" and not self.listed
        found = {}
        for x in {x for _, x, _ in self.rows}:
            at = {row: self.pooled(self.unit(row)) for row in self.group(x)}
            left = [
                self.values_left(rule, row, levels) - int(str(rule.parameters["k"]))
                if is_number
                else self.is_open(rule, row, levels) - 1
                for row, levels in at.items()
            ]
            needed = len(left) if rule.scope == "row" else min(rule.keep, len(left))
            found[x] = sorted(left, reverse=True)[needed - 1]
        return found

    def safe_levels(self, rule: Rule, row: int) -> Levels:
        """φ: the dearest levels that leave a row open, by the prices that rows have but the first."""
        if self.listed:
            return dict(self.top)
        component = next(c for c in self.components if rule.y in c)
        best, found = -1, None
        for vector in product(*(range(self.top[a] + 1) for a in component)):
            levels = self.top | dict(zip(component, vector, strict=True))
            price = self.price_of(row, component, vector)
            if price > best and self.is_open(rule, row, levels):
                best, found = price, levels
        assert found is not None
        return {a: found[a] for a in component}

    def group(self, x: str) -> list[int]:
        return [row for row, (_, found, _) in enumerate(self.rows) if found == x]

    def can_be_bought(self, unit: str) -> bool:
        return any(self.units_found(k) == [unit] for k, _, _ in self.rows)

    def _floors(self, rule: Rule) -> dict[str, Levels]:
        """Per unit that is kept back, the levels below which it is."""
        if self.last and rule.scope == "group":
            return {}
        kept = {self.unit(row) for row in range(len(self.rows))} if rule.scope == "row" else self._reserved(rule)
        floors: dict[str, Levels] = {}
        for unit in kept:
            for row in self.rows_of(unit):
                for a, level in self.safe_levels(rule, row).items():
                    mine = floors.setdefault(unit, {})
                    mine[a] = max(mine.get(a, 0), level)
        return floors

    def _reserved(self, rule: Rule) -> set[str]:
        """The units that are kept back of every group: those first that buyers miss least.

        Nothing contradicts a row alone; of two nobody knows the right one, and a pair counts as twenty rows.
        """
        short: dict[str, int] = {}
        for _, x, _ in self.rows:
            rows = self.group(x)
            free = sum(not self.can_be_bought(self.unit(row)) for row in rows)
            short[x] = max(0, min(rule.keep, len(rows)) - free)
        units = sorted({self.unit(row) for row in range(len(self.rows)) if self.can_be_bought(self.unit(row))})
        count = {u: Counter(self.rows[row][1] for row in self.rows_of(u)) for u in units}
        cost = {u: {1: 0.5, 2: 20.0}.get(size, size) for u, size in ((u, len(self.rows_of(u))) for u in units)}
        simple = all(len(groups) == 1 for groups in count.values())
        if simple and (rule.keep == 1 or all(n == 1 for groups in count.values() for n in groups.values())):
            return {
                u
                for x, need in short.items()
                for u in sorted((u for u in units if x in count[u]), key=lambda u: (cost[u], self.lot(u)))[:need]
            }
        chosen: list[str] = []

        def gain(unit: str) -> float:
            return sum(min(n, short[x]) for x, n in count[unit].items() if short[x] > 0) / cost[unit]

        while left := [u for u in units if u not in chosen and gain(u)]:
            best = min(left, key=lambda u: (-gain(u), self.lot(u)))
            chosen.append(best)
            for x, n in count[best].items():
                short[x] -= n
        for unit in sorted(chosen, key=lambda u: (-cost[u], self.lot(u))):
            if all(short[x] + n <= 0 for x, n in count[unit].items()):
                chosen.remove(unit)
                for x, n in count[unit].items():
                    short[x] += n
        return set(chosen)

    def kept_rows(self, rule: Rule) -> int:
        """How many rows are kept back: by units beforehand or, of every group, as many as must be left open."""
        if self.last and rule.scope == "group":
            return sum(min(rule.keep, len(self.group(x))) for x in {x for _, x, _ in self.rows})
        return sum(len(self.rows_of(unit)) for unit in self._floors(rule))

    def open_rows(self, rule: Rule) -> int | None:
        """Of how many rows all that was sold leaves enough, where any of them may be kept back."""
        if not self.last or rule.scope == "row":
            return None
        return sum(self.is_open(rule, row, self.pooled(self.unit(row))) for row in range(len(self.rows)))

    def lowest_sold(self, rule: Rule) -> dict[str, set[int]]:
        """Per attribute, the levels below which rows are not sold that are kept back."""
        found = [self.safe_levels(rule, row) for row in range(len(self.rows))]
        return {a: {levels[a] for levels in found if levels[a] <= self.heights[a]} for a in found[0]}

    def is_safe(self, unit: str, attribute: str, level: int) -> bool:
        """May a unit be sold at a level, now?"""
        if any(level < floors.get(unit, {}).get(attribute, 0) for floors in self.floors):
            return False
        if not self.last:
            return True
        after = self.pooled(unit)
        after = after | {attribute: min(level, after[attribute])}
        for rule in (rule for rule in self.rules if rule.scope == "group"):
            for x in {self.rows[row][1] for row in self.rows_of(unit)}:
                rows = self.group(x)
                open_now = sum(self.is_open(rule, row, self.pooled(self.unit(row))) for row in rows)
                levels = [after if self.unit(row) == unit else self.pooled(self.unit(row)) for row in rows]
                open_then = sum(self.is_open(rule, row, at) for row, at in zip(rows, levels, strict=True))
                if open_then < open_now and open_then < min(rule.keep, len(rows)):
                    return False
        return True

    def pooled(self, unit: str) -> Levels:
        return self.bought.get(("", unit), dict(self.top))

    # ---- what is told ----------------------------------------------------------------------------------------

    def quote(self, key: str, attribute: str, level: int, buyer: str) -> int | str:
        """A price, or why there is none (D4)."""
        units = self.units_found(key)
        if not units:
            return "no_match"
        if len(units) > 1:
            return "ambiguous" if level < self.top[attribute] else 0
        if not self.is_safe(units[0], attribute, level):
            return "unsafe"
        return self.price(units[0], attribute, level, buyer)

    def buy(self, key: str, attribute: str, level: int, buyer: str) -> int | str:
        told = self.quote(key, attribute, level, buyer)
        units = self.units_found(key)
        if isinstance(told, int) and len(units) == 1:
            for name in (buyer, ""):
                now = self.bought.get((name, units[0]), dict(self.top))
                self.bought[name, units[0]] = now | {attribute: min(level, now[attribute])}
        return told


def likely(prior: Mapping[str, Mapping[str, int]], attribute: str, value: str) -> int:
    """How often a value is believed to occur: once at least, and once where nothing is said."""
    return max(1, prior.get(attribute, {}).get(value, 1))


def _taller(tree: Tree) -> Tree:
    """A level above the root, under which what is absent stands alone."""
    absent = [*(f"absent {n}" for n in range(tree.height + 1)), "any"]
    return Tree([*([*row, "any"] for row in tree.rows), absent])

"""Several sources about one class, literally: over all ground values, one by one, with plain floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

from pacas.core.distance import SemanticDistance
from pacas.core.hierarchy import Hierarchy

NEARLY, CAREFUL = 0.9, 0.9


def base(tree: Hierarchy, label: str) -> frozenset[str]:
    """The ground values at or below a node."""
    return frozenset(v for v in tree.ground_labels if tree.precedes(tree.code(v), tree.code(label)))


class Said(NamedTuple):
    """An answer, or the client's own majority."""

    source: str | None
    inside: frozenset[str]
    nodes: int


def said(source: str | None, tree: Hierarchy, label: str, level: int) -> Said:
    return Said(source, base(tree, label), _nodes(tree, level))


def own(cells: Sequence[str], tree: Hierarchy, values: Sequence[str]) -> list[Said]:
    """What a class's known cells say: which of their values is the most frequent, and that it is one of theirs."""
    different = set(cells)
    most = {v for v in different if cells.count(v) == max(map(cells.count, cells))}
    shown, named = (frozenset().union(*(base(tree, v) for v in of)) for of in (different, most))
    return [Said(None, named, len(different) // len(most)), Said("", shown, len(values) // len(shown))]


def _nodes(tree: Hierarchy, level: int) -> int:
    return len({tree.generalize_value(v, level) for v in tree.ground_labels})


def belief(values: Sequence[str], opinions: Sequence[Said], rates: Mapping[str | None, float]) -> dict[str, float]:
    chance = dict.fromkeys(values, 1.0)
    for opinion in opinions:
        if opinion.nodes == 1:
            continue
        r = rates[opinion.source]
        for v in values:
            chance[v] *= r if v in opinion.inside else (1 - r) / (opinion.nodes - 1)
    total = sum(chance.values())
    return {v: p / total for v, p in chance.items()}


def gain(values: Mapping[str, float], tree: Hierarchy, level: int, rate: float) -> float:
    """I(answer; value), from the joint distribution, answer by answer and value by value."""
    nodes = sorted({str(tree.generalize_value(v, level)) for v in tree.ground_labels})
    if len(nodes) == 1:
        return 0.0
    joint: dict[tuple[str, str], float] = {}
    for node in nodes:
        inside = base(tree, node)
        for v, p in values.items():
            if v not in tree:
                joint[node, v] = p / len(nodes)
            else:
                joint[node, v] = p * (rate if v in inside else (1 - rate) / (len(nodes) - 1))
    of_node = {node: sum(joint[node, v] for v in values) for node in nodes}
    return sum(p * log2(p / (of_node[node] * values[v])) for (node, v), p in joint.items() if p > 0)


def share(rate: float, nodes: int) -> float:
    """Two nodes are as likely: how much oftener one is right after an answer, of how often after a faultless one."""
    first = [rate] + [(1 - rate) / (nodes - 1)] * (nodes - 1)  # the chances of what is named if the first is the truth
    second = [first[1], first[0], *first[2:]]
    guessed = sum(max(a, b) / 2 for a, b in zip(first, second, strict=True))
    return (guessed - 0.5) / (1 - 0.5)


class Offered(NamedTuple):
    """What may be bought: of whom, at which level, for how much, and its bits."""

    provider: str
    level: int
    price: int
    gain: float


def choice(offers: Sequence[Offered]) -> Offered | None:
    telling = [offer for offer in offers if offer.gain > 1e-6]
    if not telling:
        return None
    best = max(offer.gain for offer in telling)
    near = [offer for offer in telling if offer.gain >= NEARLY * best]
    cheapest = min(offer.price for offer in near)
    return max((offer for offer in near if offer.price == cheapest), key=lambda offer: offer.gain)


def settled(values: Mapping[str, float], delta: SemanticDistance, own: Hierarchy, bought: bool) -> str | None:
    """The likeliest value, or what lies above it: least expected δ, the finest of several."""
    best = max(values, key=lambda v: values[v])
    if not bought and values[best] < CAREFUL:
        return None
    tree = own.admit(values)
    line = dict.fromkeys(str(tree.generalize_value(best, level)) for level in range(tree.height + 1))
    expected = {node: sum(p * delta(node, v) for v, p in values.items()) for node in line}
    least = min(expected.values())
    return next(node for node in line if expected[node] <= least + 1e-9)


def learnt(
    classes: Sequence[Sequence[Said]],
    values: Sequence[str],
    credit: Mapping[str | None, tuple[float, float]],
    turns: int = 60,
) -> dict[str | None, float]:
    """Expectation and maximization, class by class."""
    rates = {source: right / (right + wrong) for source, (right, wrong) in credit.items()}
    for _ in range(turns):
        right = {source: given[0] for source, given in credit.items()}
        heard = {source: sum(given) for source, given in credit.items()}
        for opinions in classes:
            believed = belief(values, opinions, rates)
            for opinion in opinions:
                if opinion.nodes > 1:
                    right[opinion.source] += sum(believed[v] for v in opinion.inside if v in believed)
                    heard[opinion.source] += 1
        new = {source: min(max(right[source] / heard[source], 0.02), 0.998) for source in rates}
        settled = max(abs(new[source] - rates[source]) for source in rates) < 1e-5
        rates = new
        if settled:
            break
    return rates

"""Many worlds of sealed quotes at one provider: what is dear to ask is asked about all of them at once.

A process, a store, an engine or a command takes long to begin with, and hardly longer for a hundred worlds than for
one. The worlds of a town share the provider's terms. Each has keys, X-groups, tied rows, values and purchases of its
own, so that nothing in one of them bears on another: each is an example of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from lanes import examples

import pacas
from oracles.sealed_cases import Case, Inputs, Operation, Private, inputs
from pacas.protocol.messages import Answer
from pacas.provider.quoter.public_view import Reserve

EXAMPLES = 2048
"""Worlds that a test looks at, in however many towns."""
ROUNDS = 4
"""How often everything is asked for, while purchases go on."""


def towns(worlds: int, reserve: Reserve | None = None) -> st.SearchStrategy[Case]:
    """Towns of so many worlds; if a reserve is given, with that."""
    terms = inputs() if reserve is None else inputs().map(lambda drawn: drawn._replace(reserve=reserve))
    return st.builds(town, terms, st.just(worlds), st.integers(0, 2**32))


def town_examples(worlds: int) -> settings:
    """As many towns as have all the worlds; in a faster lane fewer."""
    return examples(EXAMPLES // worlds, suppress_health_check=list(HealthCheck))


def town(terms: Inputs, worlds: int, seed: int) -> Case:
    """Worlds that share terms, drawn by chance; and two private relations that fit them."""
    chance, rows, made = Random(seed), [], []
    by_z = terms.dictionaries is not None and terms.given
    for world in range(worlds):
        few = chance.choice([2, 30])
        for _ in range(chance.randint(1, 8)):
            z = f"z{chance.randrange(3)}"
            own = f"{world} {z}" if terms.tied or not by_z else z
            rows.append((f"{world} k{chance.randint(0, few)}", f"{world} x{chance.randrange(2)}", own))
        for _ in range(chance.randint(0, 8)):
            key = f"{world} k{chance.randint(0, few)}"
            made.append(
                Operation(chance.choice("uv"), chance.random() < 0.7, chance.choice("AB"), key, chance.randrange(3))
            )
    chance.shuffle(made)
    linked = terms.dictionaries and {row[2]: terms.dictionaries[row[2].split()[-1]] for row in rows}
    public = terms._replace(rows=rows, dictionaries=linked, operations=made)
    return public, _private(public, chance), _private(public, chance)


def _private(public: Inputs, chance: Random) -> Private:
    units = sorted({row[2] for row in public.rows}) if public.tied else [row[2] for row in public.rows]
    domains = {z: public.domain(z) for z in set(units)}
    order = chance.sample(range(len(public.rows)), len(public.rows))
    present = chance.randint(1, len(public.rows)) if public.listed else len(public.rows)
    return Private([chance.choice(domains[z]) for z in units], order[:present])


def rounds(public: Inputs) -> Iterator[list[tuple[int, Operation]]]:
    """The operations by number, some after the other."""
    numbered = [*enumerate(public.operations)]
    for first in range(ROUNDS):
        yield numbered[first * len(numbered) // ROUNDS : (first + 1) * len(numbered) // ROUNDS]


def request(public: Inputs, one: Operation) -> pacas.Request:
    return pacas.Request({"K": one.key}, one.attribute, min(one.level, public.hierarchies[one.attribute].height))


def keys(public: Inputs) -> list[str]:
    return [*sorted({row[0] for row in public.rows}), "nobody"]


def said(public: Inputs, provider: pacas.Provider, number: int, one: Operation) -> str:
    """What a buyer is told of an operation; of a paid answer everything but the value."""
    asked = request(public, one)
    if not one.pays:
        return str(provider.quote(asked, buyer=one.buyer))
    sold = provider.pay(asked, 10**15, f"{number}", buyer=one.buyer)
    return f"sold at {sold.level} for {sold.price}" if isinstance(sold, Answer) else str(sold)


def ladders(public: Inputs, provider: pacas.Provider, buyer: str) -> list[list[list[int]]]:
    """What a buyer is told of everybody."""
    asked = {"K": keys(public)}
    return [provider.quote_batch(attribute, asked, buyer=buyer).prices.tolist() for attribute in "AB"]


def terms_told(provider: pacas.Provider) -> list[str]:
    """What everybody is told before they ask, and what a ledger keeps of what is public."""
    return [*map(repr, provider.catalogue().values()), repr(provider.shop.fingerprint())]

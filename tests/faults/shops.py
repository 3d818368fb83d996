"""Small providers on the brink: in every X-group all but one of the people can be sold, and then no more.

The values of a group lie below one value of level 1, and the policy asks for two: the second one is known only from
neighbours, and each sale takes those of one person away. Whoever sells the last one too breaks the policy.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from oracles.matching import Clause
from oracles.pricing import Neighbour, Policy
from oracles.tree import Tree
from oracles.worlds import World

KINDS = {
    "NSAID": ["ibuprofen", "naproxen", "aspirin"],
    "statin": ["lipitor", "zocor", "crestor"],
    "opioid": ["codeine", "tramadol", "fentanyl"],
}
MEDICINES = Tree([[value, kind, "*"] for kind, values in KINDS.items() for value in values])
GROUPS, PEOPLE = 8, 3
"""X-groups, and people in each."""

_PROVIDER = """\
reasons = true
[relation]
data = "people.csv"
[hierarchies]
MED = "med.csv"
[match]
MED = "ID = ID"
[[policy]]
x = ["GEN", "AGE"]
y = ["MED"]
levels = { MED = 1 }
k = 2
allow_linkage = true
[pricing]
support = { file = "support.jsonl" }
[ledger]
url = "LEDGER"
"""


def fragile_world(seed: int) -> World:
    """A provider whose support set is given; in every other one some neighbours change people of two groups."""
    chance = random.Random(seed)
    rows = [_person(group, number, chance) for group in range(GROUPS) for number in range(PEOPLE)]
    neighbours = [Neighbour(ops, _weight(chance)) for row in range(len(rows)) for ops in _changes(rows, row, chance)]
    if seed % 2:
        neighbours += [Neighbour(_swap(rows, chance), _weight(chance)) for _ in range(GROUPS)]
    policies = [Policy(("GEN", "AGE"), {"MED": 1}, 2)]
    return World(rows, {"MED": MEDICINES}, {"MED": (Clause("ID", "ID"),)}, policies, neighbours, {})


class Shop(NamedTuple):
    """A provider's file in a folder of its own, and what the provider is made of."""

    folder: Path
    world: World
    ledger_url: str


def open_shop(folder: Path, world: World, ledger_url: str) -> Shop:
    """Write the files of a provider."""
    folder.mkdir(parents=True)
    lines = [",".join(world.rows[0]), *(",".join(str(value) for value in row.values()) for row in world.rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "med.csv").write_text("".join(",".join(row) + "\n" for row in MEDICINES.rows))
    (folder / "support.jsonl").write_text(world.support_lines())
    (folder / "provider.toml").write_text(_PROVIDER.replace("LEDGER", ledger_url))
    return Shop(folder, world, ledger_url)


def _person(group: int, number: int, chance: random.Random) -> dict[str, str | None]:
    kind = list(KINDS)[group % len(KINDS)]
    gender, age = ("female", "male")[group % 2], str(20 + 10 * (group // 2))
    return {"ID": f"{group}-{number}", "GEN": gender, "AGE": age, "MED": chance.choice(KINDS[kind])}


def _changes(rows: list[dict[str, str | None]], row: int, chance: random.Random) -> list[tuple[dict[str, object]]]:
    """One neighbour with a value of the same kind, and two with values of other kinds."""
    now = rows[row]["MED"]
    own = next(kind for kind, values in KINDS.items() if now in values)
    near = [value for value in KINDS[own] if value != now]
    far = [value for kind, values in KINDS.items() if kind != own for value in values]
    return [({"set": row, "values": {"MED": value}},) for value in [chance.choice(near), *chance.sample(far, 2)]]


def _swap(rows: list[dict[str, str | None]], chance: random.Random) -> tuple[dict[str, object], ...]:
    one, other = chance.sample(range(len(rows)), 2)
    return (
        {"set": one, "values": {"MED": rows[other]["MED"]}},
        {"set": other, "values": {"MED": rows[one]["MED"]}},
    )


def _weight(chance: random.Random) -> int:
    return chance.randint(1, 5) * 10**6

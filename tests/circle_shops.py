"""Members of a circle in processes of their own, and a service that keeps their house. Run, it is one member."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from circles import ATTRIBUTES, SECRET, World

import pacas
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HouseError
from pacas.protocol.messages import Answer, Request
from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.storage.url import open_accounts

SERVE = "from pacas.cli.main import main; main()"
LEDGER = "sqlite:///shop.ledger.db"
_PROVIDER = """\
reasons = true
[relation]
data = "people.csv"
[hierarchies]
DRUG = "DRUG.csv"
CONDITION = "CONDITION.csv"
[match]
DRUG = "K = K"
CONDITION = "K = K"
[[policy]]
x = ["K"]
y = ["DRUG", "CONDITION"]
k = {k}
[pricing]
quotes = "sealed"
reserve = "last"
[ledger]
url = "sqlite:///shop.ledger.db"
"""


def race_world(people: int, k: int = 3) -> World:
    """Three drugs and three conditions, of which three pairs must stay possible: who is told one of the two is told all
    that may be."""
    trees = {a: Hierarchy.from_rows([(f"{a}{n}", f"any {a}") for n in range(3)]) for a in ATTRIBUTES}
    rows: dict[str, list[str]] = {"K": [f"p{n}" for n in range(people)]}
    rows |= {a: [f"{a}{(n * 7 + len(a)) % 3}" for n in range(people)] for a in ATTRIBUTES}
    return World(rows, trees, k)


def write_shop(folder: Path, world: World, more: str = "") -> None:
    """A provider of all that the world has."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(world.rows)
        writer.writerows(zip(*world.rows.values(), strict=True))
    for attribute, tree in world.trees.items():
        (folder / f"{attribute}.csv").write_text("".join(f"{';'.join(row)}\n" for row in tree.level_zero_rows()))
    (folder / "provider.toml").write_text(_PROVIDER.format(k=world.k) + more)


def write_member(folder: Path, world: World, name: str, house: str) -> None:
    """A member of the circle of a house, whose token, if it needs one, is made of its name."""
    trees = ", ".join(f'{a} = "{tree.digest}"' for a, tree in world.trees.items())
    more = f'[circle]\nhouse = "{house}"\nsecret = "circle.key"\nmember = "{name}"\ntrees = {{ {trees} }}\n'
    if house.startswith("http"):
        more += 'token = "circle.token"\n'
    write_shop(folder, world, more)
    (folder / "circle.key").write_bytes(SECRET)
    (folder / "circle.token").write_text(f"token-of-{name}\n")


def write_house(folder: Path, members: Sequence[str]) -> None:
    """A service that keeps a house, and an account for each member."""
    write_shop(folder, race_world(5), "[service]\nclearing_house = true\n")
    with closing(open_accounts(LEDGER, folder)) as accounts:
        for name in members:
            accounts.add(Account(name, Role.MEMBER, None, False, token_hash(f"token-of-{name}")))


class HouseProcess:
    """The service, which may be killed and started again at the same port."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port, self.url = folder, 0, ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-c", SERVE, "serve", "provider.toml", "--port", str(self.port)]
        with (self._folder / "house.log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("listening on "), (self._folder / "house.log").read_text()
        self.url = line.split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def running_house(folder: Path, members: Sequence[str]) -> Iterator[HouseProcess]:
    write_house(folder, members)
    house = HouseProcess(folder)
    try:
        yield house
    finally:
        house.kill()


class MemberProcess:
    """A member that sells to who buys what it can get, until it is told to end."""

    def __init__(self, folder: Path, seed: int, seconds: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(folder), str(seed), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None and self._process.stdout.readline() == "ready\n"

    def go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """What it has sold (person, attribute, answer), how often the house was away, and sales a second."""
        told, _ = self._process.communicate()
        assert self._process.returncode == 0
        found: dict[str, Any] = json.loads(told)
        return found


def race(folders: Sequence[Path], seed: int, seconds: float) -> list[dict[str, Any]]:
    """Let members sell to the same people at once; what each has sold."""
    members = [MemberProcess(folder, seed * 100 + number, seconds) for number, folder in enumerate(folders)]
    for member in members:
        member.go()
    return [member.end() for member in members]


def broken(world: World, told: Sequence[dict[str, Any]]) -> int:
    """The literal definition over all members: people of whom fewer than k pairs stay possible."""
    sold: dict[tuple[str, str], set[str]] = {}
    for one in told:
        for person, attribute, answer in one["sold"]:
            sold.setdefault((person, attribute), set()).add(answer)
    return sum(world.possible(sold, person) < world.k for person in world.rows["K"])


def _sell(folder: Path, seed: int, seconds: float) -> None:
    chance, sold, away = Random(seed), [], 0
    with pacas.open_provider(folder / "provider.toml") as provider:
        with (folder / "people.csv").open(newline="") as file:
            people = [row["K"] for row in csv.DictReader(file)]
        wished = [(person, attribute) for person in people for attribute in ATTRIBUTES]
        chance.shuffle(wished)
        print("ready", flush=True)
        sys.stdin.readline()
        begun = time.monotonic()
        for number, (person, attribute) in enumerate(wished):
            if time.monotonic() - begun > seconds:
                break
            try:
                told = provider.pay(Request({"K": person}, attribute, 0), 10**15, str(number))
            except HouseError:
                away += 1
                continue
            if isinstance(told, Answer):
                sold.append((person, attribute, told.value))
        took = time.monotonic() - begun
    print(json.dumps({"sold": sold, "away": away, "rate": len(sold) / took}))


if __name__ == "__main__":
    _sell(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))

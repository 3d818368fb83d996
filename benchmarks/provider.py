"""The provider's figures: building, quotes alone and in batches, durable purchases, audits, memory."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

import data
import measure
import numpy as np
import pyarrow as pa

import pacas
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.protocol.messages import Answer, Request
from pacas.provider.audit import audit
from pacas.provider.in_memory.shop import InMemoryShop
from pacas.provider.ledger.checkpoint import Checkpoints
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.server.signing_key import SigningKey
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.url import open_checkpoints

KEY = ("age", "status", "gender", "timeframe")
"""What people are found and grouped by: about one row each."""
WIDE = ("age", "status", "gender")
"""The same with about 20 rows each."""
HEIGHT = 3
MIB = 2**20
HIGH = 10**18
INTRODUCTION = f"""
A relation of 29 columns, `drug` for sale (73 values, {HEIGHT + 1} levels), found by {len(KEY)} columns that single out
about one row, 10 neighbours a cell, one policy over the same columns with k = 3 at level 1. Prices and refusals are
those of Alg. 1 and 2, which the tests hold them to. Safety is judged for everything at load and kept until a sale
touches it, so a quote mostly looks it up.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows = 34_500 if small else 345_000
    path = data.file(folder, rows, 29, 0.0, "parquet")
    few = data.file(folder, rows // 100, 29, 0.0, "parquet")
    build = min(measure.seconds(lambda: open_provider(path)) for _ in range(3))
    provider, small_one, wide = open_provider(path), open_provider(few), open_provider(path, WIDE)
    lines = ["| what | figure | target |", "| --- | --- | --- |"]
    lines += [
        f"| build from Parquet, {rows:,} rows, {len(provider.stock.support):,} neighbours | {build:.2f} s | ≤ 3 s |"
    ]
    lines += _batches(path, provider, wide)
    lines += _single(path, few, provider, small_one)
    lines += [_literal(folder, provider, path)]
    lines += _purchases(path, 300 if small else 3_000)
    lines += _audit(path, 5_000 if small else 100_000)
    return "\n".join(["## The provider", "", INTRODUCTION, "", *lines, "", *_memory(path, provider)])


def hierarchy() -> Hierarchy:
    values = range(data.VALUES["drug"])
    return Hierarchy.from_rows([(f"drug-{i}", f"family-{i // 4}", f"class-{i // 16}", "*") for i in values])


def open_provider(
    path: Path, key: tuple[str, ...] = KEY, ledger: Ledger | None = None, checkpoints: Checkpoints | None = None
) -> Provider:
    return Provider(
        pacas.scan_relation(path),
        match={"drug": ", ".join(f"{column} = {column}" for column in key)},
        policies=[Policy(key, ("drug",), {"drug": 1}, 3)],
        hierarchies={"drug": hierarchy()},
        ledger=ledger,
        checkpoints=checkpoints,
        seed=7,
    )


def tuples(path: Path, key: tuple[str, ...], most: int) -> dict[str, list[str]]:
    """Some client tuples, all of them in the relation."""
    table = pa.parquet.read_table(path, columns=list(key))
    rows = np.random.default_rng(7).permutation(len(table))[:most]
    return {column: table[column].take(pa.array(rows)).to_pylist() for column in key}


def requests(columns: dict[str, list[str]], level: int | None = None) -> list[Request]:
    rows = zip(*columns.values(), strict=True)
    return [
        Request(dict(zip(columns, values, strict=True)), "drug", i % (HEIGHT + 1) if level is None else level)
        for i, values in enumerate(rows)
    ]


def _batches(path: Path, provider: Provider, wide: Provider) -> Iterator[str]:
    """All levels of 35,000 tuples in one call; the first time, when nothing is kept yet, and after."""
    for what, seller, key in (("one row each", provider, KEY), ("20 rows each", wide, WIDE)):
        asked = tuples(path, key, 35_000)
        pairs = len(asked[key[0]]) * (HEIGHT + 1)
        batch = partial(seller.quote_batch, "drug", asked)
        cold = measure.seconds(batch)
        warm = measure.medians({"": batch}, 9)[""]
        yield (
            f"| batch of {len(asked[key[0]]):,} tuples, {what}, (request, level) pairs a second: first, later "
            f"| {pairs / cold / 1e6:.1f} M, {pairs / warm / 1e6:.1f} M | ≥ 2 M |"
        )


def _single(path: Path, few: Path, provider: Provider, small_one: Provider) -> Iterator[str]:
    """One request at a time; the two providers take turns."""
    many_requests, few_requests = (requests(tuples(p, KEY, 3_000)) for p in (path, few))
    matcher = provider.stock.inquiries["drug"].matcher
    shop = provider.shop
    assert isinstance(shop, InMemoryShop)
    cache = shop.sales.quote_caches["drug"]
    slots = [matcher.slot(request.tuple) for request in many_requests]
    known = shop.sales.known("local")
    took = measure.medians(
        {
            "array": lambda: [cache.quote(slot, 1, known) for slot in slots],
            "friendly": lambda: [provider.quote(request) for request in many_requests],
            "small": lambda: [small_one.quote(request) for request in few_requests],
        },
        9,
    )
    array, friendly = (took[name] / len(many_requests) * 1e6 for name in ("array", "friendly"))
    small = took["small"] / len(few_requests) * 1e6
    yield f"| one quote, of a row that is found already | {array:.1f} µs | ≤ 10 µs |"
    yield f"| one quote, `Provider.quote(Request(…))` | {friendly:.1f} µs | ≤ 50 µs |"
    yield (
        f"| the same with 1/100 of rows and neighbours | {small:.1f} µs, ratio {friendly / small:.2f} "
        "| ≤ 1.5, or ≤ 10 µs |"
    )


def _literal(folder: Path, provider: Provider, path: Path) -> str:
    """The algorithm as it is written, on 1,000 rows and ten neighbours only: its time grows with their number.

    With k = 1, so that it does not stop at the first group that is short.
    """
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from oracles.matching import Clause
    from oracles.pricing import LiteralProvider, Neighbour
    from oracles.pricing import Policy as LiteralPolicy
    from oracles.pricing import Request as LiteralRequest
    from oracles.tree import Tree

    table = pa.parquet.read_table(data.file(folder, 1_000, 29, 0.0, "parquet"))
    rows = table.to_pylist()
    trees = {"drug": Tree([list(row) for row in hierarchy().rows()])}
    neighbours = [Neighbour(({"set": i, "values": {"drug": f"drug-{i}"}},), 100) for i in range(10)]
    match = {"drug": tuple(Clause(column, column) for column in KEY)}
    literal = LiteralProvider(rows, trees, match, [LiteralPolicy(KEY, {"drug": 1}, 1)], neighbours)
    asked = LiteralRequest({column: rows[0][column] for column in KEY}, "drug", 2)
    theirs = measure.seconds(lambda: literal.quote(asked, "local"))
    mine = requests(tuples(path, KEY, 1_000))
    ours = measure.medians({"": lambda: [provider.quote(request) for request in mine]})[""] / len(mine)
    slower = f"{theirs:.1f} s, {theirs / ours:,.0f} × slower"
    return f"| literal Alg. 2, 1,000 rows, 10 neighbours in all, k = 1 | {slower} | ≥ 1,000 × |"


def _purchases(path: Path, most: int) -> Iterator[str]:
    """A sale that is on disk before its answer is given, beside a bare commit of as many bytes on the same disk."""
    with (
        tempfile.TemporaryDirectory(dir=path.parent) as folder,
        measure.BareCommits(Path(folder) / "bare.db") as bare,
        closing(SqliteLedger(Path(folder) / "ledger.db")) as ledger,
    ):
        provider = open_provider(path, ledger=ledger)
        asked = iter(requests(tuples(path, KEY, 20 * most), level=2))
        keys = count()
        durable, commit = [], []
        for _ in range(most):
            commit.append(measure.seconds(bare))
            durable.append(measure.seconds(lambda: _buy(provider, asked, keys)))
    ratio = np.median(durable) / np.median(commit)
    memory = open_provider(path)
    asked = iter(requests(tuples(path, KEY, 20 * most), level=2))
    plain = np.median([measure.seconds(lambda: _buy(memory, asked, keys)) for _ in range(most)])
    yield (
        f"| a durable purchase (SQLite, synced) beside a bare commit | {np.median(durable) * 1e6:.0f} µs, "
        f"{np.median(commit) * 1e6:.0f} µs, ratio {ratio:.2f} | ≤ 2 |"
    )
    yield f"| a purchase with the ledger in memory | {plain * 1e6:.0f} µs | |"


def _buy(provider: Provider, asked: Iterator[Request], keys: Iterator[int], buyer: str = "local") -> None:
    """Buy the next request that is not refused."""
    while not isinstance(provider.pay(next(asked), HIGH, str(next(keys)), buyer=buyer), Answer):
        pass


def _audit(path: Path, most: int) -> Iterator[str]:
    """Verify the chain of many purchases, and derive from it what every buyer has left."""
    with (
        tempfile.TemporaryDirectory(dir=path.parent) as folder,
        closing(SqliteLedger(Path(folder) / "ledger.db")) as ledger,
    ):
        provider = open_provider(path, ledger=ledger)
        asked, keys = iter(requests(tuples(path, KEY, 3 * most), level=2)), count()
        with ledger.transaction():  # one commit for all: this is not what is measured
            for number in range(most):
                _buy(provider, asked, keys, f"buyer {number % 10}")
        start = time.perf_counter()
        found = audit(provider)
        took = time.perf_counter() - start
        assert found.holds and sum(b.purchases for b in found.buyers.values()) == most
        opened = _opened(path, ledger, Path(folder))
    yield f"| audit of {most:,} purchases | {took:.1f} s | ≤ 5 s |"
    yield f"| opening a provider that has made them; from a checkpoint; and one that has sold nothing | {opened} | |"


def _opened(path: Path, ledger: SqliteLedger, folder: Path) -> str:
    """Seconds that opening takes over all entries, from a checkpoint, and over none."""
    ways = openings(path, lambda: ledger, folder)
    opened = measure.medians(dict(zip(("all", "after", "nothing"), ways, strict=True)), 5)
    return "; ".join(f"{took:.2f} s" for took in opened.values())


def openings(path: Path, ledger: Callable[[], Ledger], folder: Path) -> list[Callable[[], Provider]]:
    """Ways to open a provider: over all entries, from a checkpoint, and over none."""
    key = SigningKey.generate()
    checkpoints = partial(Checkpoints, lambda: open_checkpoints("sqlite:///ledger.db", folder), lambda: key)
    open_provider(path, ledger=ledger(), checkpoints=checkpoints())
    return [
        lambda: open_provider(path, ledger=ledger()),
        lambda: open_provider(path, ledger=ledger(), checkpoints=checkpoints()),
        lambda: open_provider(path),
    ]


def _memory(path: Path, provider: Provider) -> list[str]:
    support = provider.stock.support
    arrays = [a for cells in support.cells.values() for a in (cells.first, cells.new, cells.divergence)]
    base = measure.peak_memory("import pacas, pacas.provider.provider, duckdb, pyarrow.parquet; duckdb.connect()")
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import provider, pathlib; "
    code += "p = provider.open_provider(pathlib.Path(sys.argv[1]))"
    peak = measure.peak_memory(code, str(path))
    return [
        f"{len(support):,} neighbours take {sum(a.nbytes for a in arrays) / MIB:.0f} MiB. A process that builds the "
        f"provider peaks at {peak / MIB:,.0f} MiB, of which {base / MIB:,.0f} MiB are Python and its libraries "
        "(target for support set and provider: 300 MB).",
    ]

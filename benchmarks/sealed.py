"""Sealed quotes: building, quotes alone and in batches, purchases; and where the relation is larger than memory."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

import data
import duckdb
import measure
import numpy as np
import scale
from provider import HEIGHT, KEY, WIDE, hierarchy, requests, tuples

import pacas
from pacas.core.anonymity import Policy
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.protocol.messages import Answer
from pacas.provider.provider import Provider
from pacas.provider.sealed.shop import SealedShop
from pacas.wire.price_list_stream import read_price_list, write_price_list

INTRODUCTION = f"""
The relation and the attribute of the provider above, found by the same {len(KEY)} columns, at sealed quotes: one policy
over {len(WIDE)} of them, in groups of about 20 rows, with k = 3 at level 1. What is quoted follows from public columns
alone, and under `fixed` nothing that is sold changes it for others, so that there is nothing to refresh.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows = 34_500 if small else 345_000
    path = data.file(folder, rows, 29, 0.0, "parquet")
    few = data.file(folder, rows // 100, 29, 0.0, "parquet")
    build = min(measure.seconds(lambda: open_provider(path)) for _ in range(3))
    provider, small_one = open_provider(path), open_provider(few)
    lines = ["| what | figure | target |", "| --- | --- | --- |"]
    lines += [f"| build from Parquet, {rows:,} rows | {build:.2f} s | ≤ 3 s |"]
    lines += [_batch(path, provider)]
    lines += _single(path, few, provider, small_one)
    lines += [_bought(path, provider)]
    lines += _listed(path, provider)
    return "\n".join(["## Sealed quotes", "", INTRODUCTION, "", *lines])


def open_provider(path: Path) -> Provider:
    return Provider(
        pacas.scan_relation(path),
        match={"drug": ", ".join(f"{column} = {column}" for column in KEY)},
        policies=[Policy(WIDE, ("drug",), {"drug": 1}, 3, allow_linkage=True)],
        hierarchies={"drug": hierarchy()},
        quotes="sealed",
    )


def _batch(path: Path, provider: Provider) -> str:
    """All levels of 35,000 tuples in one call."""
    asked = tuples(path, KEY, 35_000)
    pairs = len(asked[KEY[0]]) * (HEIGHT + 1)
    took = measure.medians({"": partial(provider.quote_batch, "drug", asked)}, 9)[""]
    what = f"batch of {len(asked[KEY[0]]):,} tuples, (request, level) pairs a second"
    return f"| {what} | {pairs / took / 1e6:.1f} M | ≥ 3 M |"


def _single(path: Path, few: Path, provider: Provider, small_one: Provider) -> Iterator[str]:
    """One request at a time; the two providers take turns."""
    many_requests, few_requests = (requests(tuples(p, KEY, 3_000)) for p in (path, few))
    shop = provider.shop
    assert isinstance(shop, SealedShop)
    found = [shop.quoters.find_one(request) for request in many_requests]
    took = measure.medians(
        {
            "found": lambda: [shop.price(one, "drug", 1, "local") for one in found],
            "friendly": lambda: [provider.quote(request) for request in many_requests],
            "small": lambda: [small_one.quote(request) for request in few_requests],
        },
        9,
    )
    alone, friendly = (took[name] / len(many_requests) * 1e6 for name in ("found", "friendly"))
    small = took["small"] / len(few_requests) * 1e6
    yield f"| one quote, of a row that is found already | {alone:.1f} µs | ≤ 2 µs |"
    yield f"| one quote, `Provider.quote(Request(…))` | {friendly:.1f} µs | ≤ 6 µs |"
    yield f"| the same with 1/100 of the rows | {small:.1f} µs, ratio {friendly / small:.2f} | ≤ 1.5 |"


def _listed(path: Path, provider: Provider) -> Iterator[str]:
    """The attribute's price list: what it takes to make, to send, to read, and to quote by on the other side."""
    lists, bought = provider.shop.price_lists, BoughtLevels()
    assert lists is not None
    began = time.perf_counter()
    content = write_price_list(lists.of("drug"))
    made = time.perf_counter() - began
    keys = lists.offered["drug"].keys
    read = measure.medians({"": lambda: read_price_list(content, keys)})[""]
    listed, asked = read_price_list(content, keys), tuples(path, KEY, 35_000)
    assert listed is not None
    assert np.array_equal(listed.ladders(asked, bought), provider.quote_batch("drug", asked).prices)
    took = measure.medians({"": partial(listed.ladders, asked, bought)}, 9)[""]
    pairs = len(asked[KEY[0]]) * (HEIGHT + 1)
    figures = f"{made:.1f} s; {len(content) / 1e6:.1f} MB; {read:.2f} s"
    yield f"| price list of {keys:,} keys: made; its size; read | {figures} | |"
    yield f"| the same batch by the list, pairs a second | {pairs / took / 1e6:.1f} M | |"


def _bought(path: Path, provider: Provider) -> str:
    """A batch for a buyer that has bought a thousand values, beside the same for one that has bought none."""
    asked = requests(tuples(path, KEY, 1_500), level=HEIGHT - 1)
    keys = count()
    sold = [isinstance(provider.pay(r, 10**18, str(next(keys)), buyer="regular"), Answer) for r in asked]
    many = tuples(path, KEY, 35_000)
    took = measure.medians(
        {buyer: partial(provider.quote_batch, "drug", many, buyer=buyer) for buyer in ("regular", "new")}, 9
    )
    ratio = took["regular"] / took["new"]
    return f"| the batch, for a buyer of {sum(sold):,} values, beside a new one | ratio {ratio:.2f} | |"


# ---- larger than memory ---------------------------------------------------------------------------------------------


def larger(folder: Path, *, small: bool) -> str:
    """A provider whose index stays on the engine: found by a number each, grouped by sex, diagnosis and decade."""
    rows, memory = (1_000_000, "150MB") if small else (scale.ROWS[-1], scale.MEMORY)
    place = _shop(folder, rows)
    asked = np.random.default_rng(7).integers(0, rows, scale.BATCH)
    lines = [json.dumps({"tuple": {"ID": f"p{number}"}, "attribute": "MED"}) + "\n" for number in asked.tolist()]
    (place / "requests.jsonl").write_text("".join(lines))
    (place / "one.jsonl").write_text(lines[0])
    told = []
    for engine in [e for e in scale.ENGINES if e == "duckdb" or (small and shutil.which("java"))]:
        (place / "provider.ledger.db").unlink(missing_ok=True)
        one, batch = (
            scale.command(
                "quote",
                str(place / "provider.toml"),
                *("--requests", str(place / name), "--engine", engine, "--memory", memory),
            )
            for name in ("one.jsonl", "requests.jsonl")
        )
        told.append(
            f"A sealed provider over {rows:,} rows ({engine}, {memory}), its index on the engine: started from "
            f"Parquet, and one request answered, in {one.seconds:.1f} s; with a batch of {scale.BATCH:,} requests at "
            f"all levels, {batch.seconds:.1f} s; peak memory {max(one.peak, batch.peak) / 10**9:.2f} GB "
            f"(targets: start under 60 s, {memory} + 25 %)."
        )
    return "\n".join(["## Sealed quotes, larger than memory", "", *told])


def _shop(folder: Path, rows: int) -> Path:
    place = (folder / f"sealed-{rows}").resolve()
    if not (place / "done").exists():
        place.mkdir(parents=True, exist_ok=True)
        with closing(duckdb.connect(config={"memory_limit": "4GB"})) as connection:
            connection.execute(
                f"""COPY (SELECT 'p' || i AS ID, CASE WHEN hash(i) % 2 = 0 THEN 'female' ELSE 'male' END AS GEN,
                'D' || (hash(i * 7) % {rows // 2_000}) AS DIAG, 10 * (1 + hash(i * 3) % 8) AS AGE,
                'med' || (hash(i * 11) % {scale.MEDICINES}) AS MED FROM range({rows}) AS t(i))
                TO '{place / "provider.parquet"}' (FORMAT parquet)"""
            )
        families = [f"med{i};family {i // 5};class {i // 25};*" for i in range(scale.MEDICINES)]
        (place / "med.csv").write_text("\n".join(families) + "\n")
        (place / "provider.toml").write_text(
            '[relation]\ndata = "provider.parquet"\n[hierarchies]\nMED = "med.csv"\n[match]\nMED = "ID = ID"\n'
            '[[policy]]\nx = ["GEN", "DIAG", "AGE"]\ny = ["MED"]\nlevels = { MED = 1 }\nk = 2\nallow_linkage = true\n'
            f"[pricing]\ntotal = {max(rows // 10**6, 1)}\n"
        )
        (place / "done").touch()
    return place

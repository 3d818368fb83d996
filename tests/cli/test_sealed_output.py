"""The gate at the command line: what `pacas quote` and `pacas buy` print is a function of what is public."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from oracles.sealed_cases import MATCH, Case, Inputs, Operation, Private, table
from oracles.sealed_towns import keys, request, town_examples, towns

from pacas.cli.main import run
from pacas.core.relation import Relation
from pacas.engine.hierarchy_files import arx

QUOTE = '"'
ANSWER = re.compile(r'"answer": "(?:[^"\\]|\\.)*"')


def write(folder: Path, public: Inputs, private: Private) -> None:
    """A provider's files."""
    pq.write_table(table(public, private), folder / "data.parquet")
    for attribute, hierarchy in public.hierarchies.items():
        (folder / f"{attribute}.csv").write_text(arx.write(hierarchy))
    (folder / "provider.toml").write_text("\n".join(_provider_file(folder, public)))


def _provider_file(folder: Path, public: Inputs) -> Iterator[str]:
    yield '[relation]\ndata = "data.parquet"'
    yield '[hierarchies]\nA = "A.csv"\nB = "B.csv"'
    yield "[match]"
    yield from (f'{attribute} = "{match}"' for attribute, match in MATCH.items())
    for policy in public.policies:
        yield f"[[policy]]\nx = {json.dumps(policy.x)}\ny = {json.dumps(policy.y)}\nallow_linkage = true"
        yield f"keep = {policy.keep}\nscope = {json.dumps(policy.scope)}"
        if policy.criterion is None:
            yield f"k = {policy.k}"
        else:
            yield f"criterion = {json.dumps(policy.criterion.name)}"
            yield from (f"{name} = {float(value):g}" for name, value in policy.criterion.parameters.items())
    for number, declared in enumerate(public.sealing.dependencies):
        yield f'[[dependency]]\nfd = "{declared.fd}"'
        if declared.dictionary is not None:
            pq.write_table(pa.Table.from_pylist(list(map(dict, declared.dictionary))), folder / f"{number}.parquet")
            yield f'dictionary = "{number}.parquet"'
    yield f'[pricing]\ntotal = 1000\nreserve = "{public.reserve.value}"\nspread = "{public.spread.value}"'
    yield f"sensitivity = {{ {', '.join(f'{a} = {factor}' for a, factor in public.sensitivity.items())} }}"
    if public.prior:
        lines = [f'{a},"{v.replace(QUOTE, QUOTE * 2)}",{n}' for a, of in public.prior.items() for v, n in of.items()]
        (folder / "prior.csv").write_text("\n".join(["attribute,value,count", *lines]))
        yield 'prior = "prior.csv"'
    if isinstance(registry := public.sealing.registry, Relation):
        pq.write_table(registry.table, folder / "registry.parquet")
        yield 'members = { registry = "registry.parquet" }'


def printed(folder: Path, public: Inputs) -> list[tuple[int, str, str]]:
    """What is printed to two buyers who buy, one after the other, and then ask; of a paid answer not the value."""
    everything: list[dict[str, object]] = [
        {"tuple": {"K": key}, "attribute": attribute} for attribute in "AB" for key in keys(public)
    ]
    told = []
    for buyer in "uv":
        paid = [_request(public, one) for one in public.operations if one.buyer == buyer]
        told.append(_command(folder, "buy", buyer, paid))
    return [*told, *(_command(folder, "quote", buyer, everything) for buyer in "uv")]


def _request(public: Inputs, operation: Operation) -> dict[str, object]:
    asked = request(public, operation)
    return {"tuple": dict(asked.tuple), "attribute": asked.attribute, "level": asked.level}


def _command(folder: Path, name: str, buyer: str, asked: list[dict[str, object]]) -> tuple[int, str, str]:
    (folder / "asked.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        requests = str(folder / "asked.jsonl")
        code = run([name, str(folder / "provider.toml"), "--requests", requests, "--as", buyer, "--json"])
    assert code == 0, err.getvalue()
    return code, ANSWER.sub('"answer": ""', out.getvalue()), err.getvalue()


@town_examples(64)
@given(towns(64))
def test_what_is_printed_is_a_function_of_what_is_public(case: Case) -> None:
    """Of many worlds at once: a command is dear, and so are files."""
    public, *privates = case
    told = []
    for private in privates:
        with TemporaryDirectory() as folder:
            write(Path(folder), public, private)
            told.append(printed(Path(folder), public))
    assert told[0] == told[1]

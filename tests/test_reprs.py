"""Whatever the front door offers, and whatever that gives, says what it is in a line, and no value of a provider's."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pacas
from pacas.cli.demo.files import write_files
from pacas.client.outcome.repairs import ListedRepairs
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.remote.verifying import CheckedReceipt, CheckedReceipts

MARK = "SECRET"
"""What every cell of the provider's private column begins with."""
OWN_EYES = {"shop", "stock", "ledger", "engine", "source", "table", "dirty"}
"""What is not followed further: the provider's own, and the engine's."""
LONGEST = 400

TREE = pacas.Hierarchy.from_rows([(f"{MARK}-{n}", f"family {n % 3}", "*") for n in range(9)])
FDS = ["K -> V"]


def curated() -> dict[str, list[str]]:
    return {"K": [f"k{n}" for n in range(9)], "V": [f"{MARK}-{n}" for n in range(9)]}


def dirty() -> dict[str, list[str]]:
    return {"K": [f"k{n // 2}" for n in range(18)], "V": [f"mine {n}" for n in range(18)]}


def offered() -> dict[str, Any]:
    """One thing of every class that the front door names, and some that its verbs give."""
    provider = pacas.Provider(
        curated(),
        hierarchies={"V": TREE},
        match={"V": "K = K"},
        quotes="sealed",
        total=9,
    )
    cleaner = pacas.SafeClean(FDS, 9, hierarchies={"V": TREE}, max_level=1, prefer="coarsest", repair="replace")
    cleaning = cleaner.clean(dirty(), provider)
    weighed = pacas.SafeClean(FDS, 0, hierarchies={"V": TREE}).clean(dirty(), provider)
    request = pacas.Request({"K": "k8"}, "V", 1)
    policy = pacas.Policy(("K",), ("V",), {"V": 1}, 2)
    receipt = SignedReceipt(Receipt("ann", "V", {"K": MARK}, 1, MARK, 7, MARK, 1, "0" * 64), "0" * 16, MARK)
    return {
        "Anonymity": pacas.anonymity(curated(), policy, {"V": TREE}),
        "Answer": provider.pay(request, 10**9, "a key"),
        "Check": pacas.check(dirty(), FDS),
        "CheckedReceipts": CheckedReceipts("0" * 16, (CheckedReceipt("r.json", receipt, True),), {}),
        "Cleaning": cleaning,
        "Judgement": weighed.weighing,
        "Closeness": pacas.Closeness(0.2),
        "DeclaredDependency": pacas.DeclaredDependency(pacas.FunctionalDependency.parse("K -> V")[0]),
        "DistinctValues": pacas.DistinctValues(2),
        "EntropyDiversity": pacas.EntropyDiversity(2),
        "EquivalenceClass": pacas.check(dirty(), FDS).classes[0],
        "Explanation": pacas.explain(cleaning, 1, "V"),
        "FunctionalDependency": pacas.FunctionalDependency.parse("K -> V")[0],
        "GeneralizedQuery": pacas.GeneralizedQuery.parse("V:1", "K = k1"),
        "Generated": pacas.Generated(),
        "Hierarchy": TREE,
        "InputError": pacas.InputError("what is wrong"),
        "MatchingDependency": pacas.MatchingDependency.parse("K = K"),
        "PacasError": pacas.PacasError("what is wrong"),
        "Policy": policy,
        "Provider": provider,
        "a buyer's view": provider.as_buyer("ann"),
        "a catalogue's offer": provider.catalogue()["V"],
        "Quote": provider.quote(request),
        "quotes of many": provider.quote_batch("V", {"K": ["k1", "nobody"]}),
        "RecursiveDiversity": pacas.RecursiveDiversity(2, 2),
        "Refusal": provider.quote(pacas.Request({"K": "nobody"}, "V", 1)),
        "Relation": pacas.Relation.of(curated()),
        "RemoteError": pacas.RemoteError("what is wrong"),
        "RemoteProvider": pacas.RemoteProvider("http://127.0.0.1:1", MARK),
        "Request": request,
        "SafeClean": cleaner,
        "Score": cleaning.score(dirty()),
        "Sealing": pacas.Sealing(),
        "SemanticDistance": pacas.semantic_distance(curated(), "V", TREE),
        "suggested dependencies": pacas.suggest_dependencies(curated()),
        "a suggested hierarchy": next(
            iter(pacas.suggest_hierarchies({k: v * 3 for k, v in curated().items()}).values())
        ),
        "a suggested role": pacas.suggest_roles(curated())[0],
        "a suggested policy": pacas.suggest_policy(curated(), "V", TREE, ["K"]),
        "an engine": pacas.open_engine(),
        "a ledger": provider.ledger,
    }


@cache
def found() -> list[Any]:
    """All of these, and what can be read off them, three steps far: one of each class."""
    seen: dict[type, Any] = {}

    def walk(thing: Any, steps: int) -> None:
        if not type(thing).__module__.startswith("pacas.") or type(thing) in seen:
            return
        seen[type(thing)] = thing
        if steps:
            for part in parts(thing):
                walk(part, steps - 1)

    for thing in offered().values():
        walk(thing, 3)
    return list(seen.values())


def parts(thing: Any) -> Iterator[Any]:
    for name in dir(thing):
        if name.startswith("_") or name in OWN_EYES or inspect.ismethod(getattr(type(thing), name, None)):
            continue
        try:
            value = getattr(thing, name)
        except pacas.PacasError:  # a property of another engine's
            continue
        if isinstance(value, tuple | list | ListedRepairs):
            yield from value[:3]
        elif isinstance(value, Mapping):
            yield from list(value.values())[:3]
        elif not callable(value):
            yield value


def test_every_class_of_the_front_door_is_among_them(tmp_path: Path) -> None:
    classes = {getattr(pacas, name) for name in pacas.__all__ if inspect.isclass(getattr(pacas, name))}
    assert classes - {type(thing) for thing in found()} == {pacas.Client, pacas.KeyedFrame}
    write_files(tmp_path)
    assert repr(pacas.open_client(tmp_path / "client.toml")) == (
        "Client(client.csv: ID, GEN, AGE, DIAG, MED; GEN, DIAG -> MED)"
    )
    assert repr(pacas.open_provider(tmp_path / "provider.toml")) == "Provider(6 rows, sells MED)"
    assert "KeyedFrame(" in inspect.getsource(pacas.KeyedFrame.__repr__)


def test_each_says_what_it_is_in_a_line() -> None:
    assert len(found()) > 45
    for thing in found():
        said = repr(thing)
        assert " object at 0x" not in said, type(thing)
        assert "\n" not in said and len(said) <= LONGEST, (type(thing), said)


def test_none_shows_a_value_of_the_provider_s() -> None:
    for thing in found():
        assert MARK not in repr(thing), type(thing)

"""The journal: what is recorded is recalled, at whatever moment the run that wrote it ended."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import BoughtValue, Order, Unrepaired
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import FileError, KeyReusedError
from pacas.formats.journal.journal import Journal
from pacas.formats.journal.lines import Ordered
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Reason, Refusal, Request, refused

if sys.platform != "win32":
    import fcntl

ENGINE = DuckEngine(threads=1)
PARTS = {"data": "d", "budget": 10}
ROWS = np.array([2, 5], dtype=np.int64)
ORDER = Order(0, "B", 5, Request({"K": "é\n", "L": None}, "B", 1), 7, "run:0", np.array([2], dtype=np.int64))
BOUGHT = BoughtValue("B", ROWS, 5, 1, 'X, "Y"', 6, "run:0", ORDER.differing)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.csv.journal"


class Ended(BaseException):
    """The run is over, wherever it was."""


def begun(path: Path, *steps: Callable[[Journal], None]) -> str:
    """A journal of a run that ended after some steps; the run's name."""
    journal = Journal(path, PARTS)
    for step in steps:
        step(journal)
    journal.close()
    return journal.run


def resumed(path: Path) -> Journal:
    return Journal(path, PARTS, resume=True)


def same(a: object, b: object) -> bool:
    return repr(a) == repr(b)


# ---- what is recalled ---------------------------------------------------------------------------------------------


def test_outcomes_and_a_last_order_are_recalled(path: Path) -> None:
    left = Unrepaired("C", ROWS, "too_expensive")
    second = Order(2, "B", 5, ORDER.request, 0, "run:2")
    run = begun(
        path,
        lambda j: j.ordering(ORDER),
        lambda j: j.settled(0, BOUGHT),
        lambda j: j.settled(1, left),
        lambda j: j.ordering(second),
    )
    journal = resumed(path)
    assert journal.run == run and journal.steps == 2 and not journal.is_done
    for step, recorded in enumerate([BOUGHT, left, second, None]):
        assert same(journal.recall(step), recorded)


def test_a_refusal_at_the_counter_ends_its_order(path: Path) -> None:
    begun(path, lambda j: j.ordering(ORDER), lambda j: j.settled(0, Unrepaired("B", ROWS, "unsafe")))
    journal = resumed(path)
    assert isinstance(journal.recall(0), Unrepaired) and journal.recall(1) is None


def test_every_cut_of_the_file_is_read_up_to_its_last_whole_line(path: Path) -> None:
    begun(path, lambda j: j.ordering(ORDER), lambda j: j.settled(0, BOUGHT))
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        journal = resumed(path)
        lines = sum(end <= cut for end in ends)
        assert [journal.recall(0) is not None, isinstance(journal.recall(0), BoughtValue)] == [lines >= 2, lines >= 3]
        if lines == 2:
            journal.settled(0, BOUGHT)
        journal.close()
        if lines >= 2:
            assert path.read_bytes() == whole, "it goes on where the last whole line ends"


def test_a_journal_whose_first_line_was_cut_is_begun_again(path: Path) -> None:
    path.write_bytes(b'{"jour')
    assert Journal(path, PARTS).steps == 0
    assert path.read_bytes().endswith(b"}\n")


# ---- whose it is --------------------------------------------------------------------------------------------------


def test_an_interrupted_run_is_not_written_over(path: Path) -> None:
    begun(path)
    with pytest.raises(FileError, match="was interrupted; continue it with --resume, or remove it to begin anew"):
        Journal(path, PARTS)


@pytest.mark.parametrize(
    ("parts", "differ"),
    [
        ({"data": "e", "budget": 10}, "data differs"),
        ({"data": "e", "budget": 9}, "data, budget differ"),
        ({"data": "d", "budget": 10, "cells": "x"}, "cells differs"),
    ],
)
def test_another_run_is_told_by_what_differs(path: Path, parts: dict[str, Any], differ: str) -> None:
    begun(path)
    with pytest.raises(FileError, match=f"is of another run: {differ}; "):
        Journal(path, parts, resume=True)


def test_a_done_run_is_replaced_or_replayed(path: Path) -> None:
    run = begun(path, lambda j: j.ordering(ORDER), lambda j: j.settled(0, BOUGHT), lambda j: j.finish(1, 6))
    content = path.read_bytes()
    journal = resumed(path)
    assert journal.is_done and journal.run == run
    journal.finish(1, 6)
    assert path.read_bytes() == content
    fresh = Journal(path, PARTS)
    assert fresh.run != run and fresh.recall(0) is None


def done(path: Path) -> bytes:
    """The content of a journal of a run that was done."""
    begun(path, lambda j: j.ordering(ORDER), lambda j: j.settled(0, BOUGHT), lambda j: j.finish(1, 6))
    return path.read_bytes()


def test_a_done_run_is_replaced_with_the_first_order_and_not_before(path: Path) -> None:
    content = done(path)
    journal = Journal(path, PARTS)
    journal.settled(0, Unrepaired("C", ROWS, "too_expensive"))
    assert path.read_bytes() == content and not journal.ordered
    second = Order(1, "B", 5, ORDER.request, 7, f"{journal.run}:1")
    journal.ordering(second)
    assert journal.ordered
    with pytest.raises(FileError, match="another run is writing it"):
        resumed(path)
    journal.close()
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    again = resumed(path)
    assert again.run == journal.run
    assert isinstance(again.recall(0), Unrepaired) and same(again.recall(1), second)


def test_a_done_run_is_replaced_at_the_end_of_one_that_ordered_nothing(path: Path) -> None:
    content = done(path)
    run = begun(path, lambda j: j.settled(0, Unrepaired("C", ROWS, "no_match")), lambda j: j.finish(0, 0))
    assert path.read_bytes() != content
    assert resumed(path).run == run


@pytest.mark.parametrize("call", ["replace", "fsync", "write"])
@pytest.mark.parametrize("error", [OSError(28, "no space"), Ended()])
def test_a_done_run_stays_if_its_successor_cannot_be_written(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    content = done(path)
    journal = Journal(path, PARTS)

    def fails(*_: Any) -> Any:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fails)
        with pytest.raises((FileError, Ended)):
            journal.ordering(ORDER)
    assert not journal.ordered
    journal.discard()
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_at_every_moment_the_old_journal_or_the_new_one_is_there_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = done(path)
    journal = Journal(path, PARTS)
    seen: list[bytes] = []
    with monkeypatch.context() as patched:
        for name in ("write", "fsync", "fdatasync", "replace", "ftruncate", "open", "close"):
            call = getattr(os, name)

            def looked_after(*what: Any, call: Any = call) -> Any:
                result = call(*what)
                seen.append(path.read_bytes())
                return result

            patched.setattr(os, name, looked_after)
        journal.ordering(ORDER)
    journal.close()
    assert len(seen) > 3 and seen[0] == content
    assert set(seen) == {content, path.read_bytes()}
    assert same(resumed(path).recall(0), ORDER)


def test_what_a_killed_run_left_beside_a_journal_is_no_part_of_the_next(path: Path) -> None:
    done(path)
    path.with_name(f".partial-{path.name}").write_bytes(b'{"journal":1,"run":"killed')
    run = begun(path, lambda j: j.ordering(ORDER))
    assert resumed(path).run == run
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_two_runs_do_not_share_a_journal(path: Path) -> None:
    first = Journal(path, PARTS)
    with pytest.raises(FileError, match="another run is writing it"):
        resumed(path)
    first.close()
    resumed(path).close()


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_a_journal_that_another_run_replaces_at_this_moment_is_not_shared(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(path)
    flock = fcntl.flock

    def too_late(file: int, how: int) -> None:
        path.write_bytes(path.rename(path.with_name("old")).read_bytes())
        flock(file, how)

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", too_late)
        with pytest.raises(FileError, match="another run is writing it"):
            resumed(path)
    resumed(path).close()


def test_a_journal_in_which_nothing_was_ordered_can_go(path: Path) -> None:
    journal = Journal(path, PARTS)
    assert not journal.ordered
    journal.discard()
    assert not path.exists()
    journal = Journal(path, PARTS)
    journal.ordering(ORDER)
    assert journal.ordered


# ---- damage -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        (2, b"\0\0\0"),
        (2, b'{"ordering":0}'),
        (2, b'{"ordering":1,"attribute":"B","row":5,"tuple":{},"level":1,"ceiling":7,"key":"k","differing":[]}'),
        (3, b'{"settled":1,"rows":[2,5],"level":1,"value":"X","price":6}'),
        (3, b'{"settled":0,"rows":[2,5],"level":1,"value":"X","price":-6}'),
        (3, b'{"settled":0,"rows":["2"],"level":1,"value":"X","price":6}'),
        (2, b'{"settled":0,"rows":[2,5],"level":1,"value":"X","price":6}'),
        (3, b'{"done":true,"purchases":1,"spent":6}'),
    ],
)
def test_a_damaged_line_is_named(path: Path, line: int, instead: bytes) -> None:
    begun(path, lambda j: j.ordering(ORDER), lambda j: j.settled(0, BOUGHT))
    lines = path.read_bytes().splitlines()
    lines[line - 1] = instead
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(FileError, match=rf"out.csv.journal, line {line} .*damaged"):
        resumed(path)


@pytest.mark.parametrize("content", [b"dear diary", b"dear diary\n", b"{}\n", b"[1]\n", b"\n"])
def test_another_file_is_no_journal_and_stays_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for resume in (False, True):
        with pytest.raises(FileError, match="is not a journal of pacas clean"):
            Journal(path, PARTS, resume=resume)
    assert path.read_bytes() == content


def test_another_layout_is_not_guessed_at(path: Path) -> None:
    begun(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "journal": 2}) + "\n")
    with pytest.raises(FileError, match="has the layout 2, and this release reads layout 1"):
        resumed(path)


def test_a_journal_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the journal, cannot be written"):
        Journal(tmp_path / "none" / "j", PARTS)


# ---- a run that ends at every moment ------------------------------------------------------------------------------


class Shop:
    """Sells B by K; what was bought of a key makes all others cheaper, and one is refused at the counter."""

    tree = Hierarchy.from_rows([("x", "XY", "*"), ("y", "XY", "*"), ("z", "Z", "*")])

    def __init__(self) -> None:
        self.keys: dict[str, tuple[Request, Answer]] = {}
        self.moment: Callable[[], None] = lambda: None

    @property
    def spent(self) -> int:
        return sum(answer.price for _, answer in self.keys.values())

    def catalogue(self) -> dict[str, Offer]:
        return {"B": Offer("B", ("K",), self.tree)}

    def _price(self, key: str | None, level: int) -> int:
        if key == "k9":
            return refused(Reason.NO_MATCH)
        return max(0, 40 - 20 * level - 2 * len(self.keys))

    def quote(self, request: Request) -> Quote | Refusal:
        return Quote(self._price(request.tuple["K"], request.level))

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.array([[self._price(str(key), level) for level in range(3)] for key in tuples["K"]]))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        self.moment()
        if key in self.keys:
            if self.keys[key][0] != request:
                raise KeyReusedError.at(0)
        elif str(request.tuple["K"]).endswith("3"):
            return Refusal(Reason.UNSAFE)
        else:
            value = str(self.tree.generalize_value("xyz"[len(self.keys) % 3], request.level))
            self.keys[key] = request, Answer(value, request.level, self._price(request.tuple["K"], request.level))
        self.moment()
        return self.keys[key][1]


TABLE = {
    "K": ["k0", "k0", "k1", "k1", "k9", "k9", "k3", "k3", "k4", "k4"],
    "A": ["a0", "a0", "a1", "a1", "a2", "a2", "a3", "a3", "a4", "a4"],
    "B": ["x", "y", "y", "z", "z", "x", "x", "w", "x", "z"],
    "C": ["c", "d", "d", "d", "d", "d", "d", "d", "d", "d"],
}


def cleaned(path: Path, shop: Shop, moment: Callable[[], None] = lambda: None) -> Cleaning:
    shop.moment = moment
    journal = Journal(path, PARTS, resume=True)
    for name in ("ordering", "settled"):
        told = getattr(journal, name)

        def between(*what: Any, told: Any = told) -> None:
            moment()
            told(*what)
            moment()

        setattr(journal, name, between)
    try:
        cleaner = SafeClean(["A -> B", "K -> C"], "0.0000003", strategy="paper")
        return cleaner.clean(TABLE, shop, run=journal.run, observer=journal, engine=ENGINE)
    finally:
        journal.close()


class At:
    """Ends the run at the n-th moment."""

    def __init__(self, fatal: int) -> None:
        self.count, self.fatal = 0, fatal

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.fatal:
            raise Ended


def told(cleaning: Cleaning) -> Any:
    purchases = [(p.attribute, p.rows.tolist(), p.row, p.level, p.value, p.price) for p in cleaning.purchases]
    left = [(u.attribute, u.rows.tolist(), u.reason) for u in cleaning.unrepaired]
    return cleaning.relation.table.to_pydict(), purchases, left, cleaning.spent_nanocredits


def test_a_run_that_ends_at_any_moment_is_continued_to_the_same_end(path: Path) -> None:
    shop, at = Shop(), At(0)
    expected = told(cleaned(path, shop, at))
    spent, moments = shop.spent, at.count
    assert len(shop.keys) == 3 and moments > 20
    assert {reason for _, _, reason in expected[2]} == {"no_match", "unsafe", "not_sold"}
    for fatal in range(1, moments + 1):
        path.unlink()
        shop = Shop()
        with pytest.raises(Ended):
            cleaned(path, shop, At(fatal))
        assert told(cleaned(path, shop)) == expected
        assert shop.spent == spent == expected[3]


@pytest.mark.attack
def test_a_line_that_was_changed_left_out_or_moved_is_noticed(path: Path) -> None:
    begun(
        path, lambda j: j.ordering(ORDER), lambda j: j.settled(0, BOUGHT), lambda j: j.ordering(ORDER._replace(step=1))
    )
    lines = path.read_bytes().splitlines(keepends=True)
    changed = [*lines[:2], lines[2].replace(b'"price":6', b'"price":5'), *lines[3:]]
    assert changed != lines
    for damaged in (changed, [lines[0], *lines[2:]], [lines[0], lines[2], lines[1]], [*lines, lines[-1]]):
        path.write_bytes(b"".join(damaged))
        with pytest.raises(FileError, match="does not follow from those before it: the journal is damaged"):
            resumed(path)


def test_a_journal_of_an_earlier_release_is_continued_without_a_chain(path: Path) -> None:
    header = b'{"journal":1,"run":"r","parts":%b}\n' % json.dumps(PARTS).encode()
    path.write_bytes(header + Ordered.of(ORDER).encode())
    journal = resumed(path)
    journal.settled(0, BOUGHT)
    journal.close()
    assert b"chain" not in path.read_bytes()
    assert same(resumed(path).recall(0), BOUGHT)

"""`pacas clean --resume` with several providers over HTTP, one of which is away by then."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from interrupted_offices import At, Ended
from lanes import share
from reviewed_offices import settled
from running_service import served, with_account

from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.remote.remote_provider import RemoteProvider
from pacas.review.session import ReviewSession
from pacas.review.views import orders
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.signing_key import SigningKey
from pacas.wire.connection_file import ConnectionFile

NAMES = ("A", "B", "C")
STRATEGIES = ("paper", "weigh")


class Office:
    """A provider that is served at one address, now and then."""

    def __init__(self, name: str, provider: Any) -> None:
        self.name, self.provider = name, provider
        self.accounts, self.key, self.port = MemoryAccounts(), SigningKey.generate(), 0
        self.token = with_account(self.accounts, "ann")
        self._serving = ExitStack()

    def open(self, app: Any = None) -> None:
        url = self._serving.enter_context(served(app or self.app(self.provider), port=self.port))
        if not self.port:
            Path(f"{self.name}.pacas").unlink(missing_ok=True)
            ConnectionFile(url, "ann", self.token, self.key.public_key).write(Path(f"{self.name}.pacas"))
        self.port = int(url.rpartition(":")[2])

    def app(self, provider: Any) -> Any:
        return create_app(provider, self.accounts, ServiceSettings(), self.key, log=make_log(io.StringIO()))

    def close(self) -> None:
        self._serving.close()

    @property
    def charged(self) -> int:
        with RemoteProvider(f"http://127.0.0.1:{self.port}", self.token) as account:
            return account.balance().spent


@contextmanager
def offices(folder: Path) -> Iterator[dict[str, Office]]:
    """Three that sell the same table, with nothing sold yet."""
    text = (folder / "provider.toml").read_text()
    with ExitStack() as stack:
        found = {}
        for name in NAMES:
            (folder / f"{name}.ledger.db").unlink(missing_ok=True)
            (folder / f"{name}.toml").write_text(text.replace("provider.ledger.db", f"{name}.ledger.db"))
            provider = stack.enter_context(opened_provider(read_provider(str(folder / f"{name}.toml"))))
            found[name] = Office(name, provider)
            found[name].open()
            stack.callback(found[name].close)
        for path in folder.glob("out.csv*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield found


def command(strategy: str, *more: str) -> list[str]:
    named = [word for name in NAMES for word in ("--provider", f"{name}={name}.pacas")]
    how = ["--budget", "4", "--strategy", strategy, "--output", "out.csv", "--patience", "1", "--json"]
    return ["clean", "client.toml", *named, *how, *more]


@pytest.fixture
def ended(pacas: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run the command until a moment around what its journal is told, and end it there as a kill would."""

    def run(strategy: str, moment: Callable[[], None], *more: str) -> None:
        with monkeypatch.context() as patch:
            for name in ("ordering", "settled", "quoted", "finish"):
                real = getattr(Journal, name)

                def between(journal: Journal, *what: Any, real: Any = real) -> None:
                    moment()
                    real(journal, *what)
                    moment()

                patch.setattr(Journal, name, between)
            patch.setattr(Journal, "discard", Journal.close)  # who is killed tidies nothing up
            pacas(*command(strategy, *more))

    return run


def money(told: dict[str, Any], found: dict[str, Office]) -> None:
    """What was spent is what the providers have charged, but for what may have been."""
    charged = {name: office.charged for name, office in found.items()}
    spent = round(told["spent"] * 10**9)
    assert spent == sum(round(one["price"] * 10**9) for one in told["purchases"])
    assert spent <= sum(charged.values()) <= spent + round(told["may_have_cost"] * 10**9) <= 4 * 10**9
    for one in told["providers"]:
        assert round(one["spent"] * 10**9) <= charged[one["name"]]


def after_sales(found: dict[str, Office], name: str) -> Callable[[], None]:
    """A moment that ends a run once a provider has sold, and the answer is recorded."""

    def moment() -> None:
        if found[name].charged and any('"price":' in line for line in _settled()):
            raise Ended

    def _settled() -> list[str]:
        return [line for line in Path("out.csv.journal").read_text().splitlines() if '"value"' in line]

    return moment


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_goes_on_without_one_that_is_away_and_pays_nothing_twice(
    pacas: Any, folder: Path, ended: Callable[..., None], strategy: str
) -> None:
    with offices(folder) as found:
        with pytest.raises(Ended):
            ended(strategy, after_sales(found, "A"), "--receipts", "out.csv.receipts")
        sold = found["A"].charged
        found["A"].close()
        done = pacas(*command(strategy, "--resume", "--changes", "changes.csv"))
        assert done.code in (0, 3), done.err
        told = json.loads(done.out)
        found["A"].open()
        money(told, found)
        assert found["A"].charged == sold and sum(one["provider"] == "A" for one in told["purchases"]) == 1
        (of_a,) = [one for one in told["providers"] if one["name"] == "A"]
        assert "127.0.0.1" in of_a["away"] and of_a["spent"] * 10**9 == pytest.approx(sold)
        lines = done.err.splitlines()
        assert [line for line in lines if line.startswith("pacas: A is away, and called again at the end: ")]
        assert "pacas: A: the run goes on with what is recorded of it, and may call it again at the end" in lines
        assert lines[-1] == f"pacas: A: {of_a['away']}"
        assert any((folder / "out.csv.receipts" / "A").iterdir()) and "A/receipt-" in Path("changes.csv").read_text()
        recorded = recorded_run(folder / "out.csv.journal")
        assert recorded is not None and recorded.is_done and recorded.chain is not None
        again = pacas(*command(strategy, "--resume"))
        assert json.loads(again.out)["purchases"] == told["purchases"], "A is back, and nobody is asked anything"
        money(told, found)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_ends_as_if_nothing_had_been_where_all_are_back(
    pacas: Any, folder: Path, ended: Callable[..., None], strategy: str
) -> None:
    with offices(folder) as found:
        whole = pacas(*command(strategy)).document
        table, charged = (folder / "out.csv").read_bytes(), {name: one.charged for name, one in found.items()}
    with offices(folder) as found:
        with pytest.raises(Ended):
            ended(strategy, after_sales(found, "A"))
        found["A"].close()
        found["A"].open()
        continued = pacas(*command(strategy, "--resume")).document
        assert continued == whole and (folder / "out.csv").read_bytes() == table
        assert {name: one.charged for name, one in found.items()} == charged


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_wherever_it_was_ended_it_never_ends_in_an_error(
    pacas: Any, folder: Path, ended: Callable[..., None], strategy: str
) -> None:
    with offices(folder):
        ended(strategy, at := At())
        assert at.count > 20
    for number, fatal in enumerate(range(1, at.count + 1, max(1, at.count // share(16)))):
        with offices(folder) as found:
            with pytest.raises(Ended):
                ended(strategy, At(fatal))
            gone = found[NAMES[number % 3]]
            gone.close()
            done = pacas(*command(strategy, "--resume"))
            assert done.code in (0, 3), f"at {fatal}: {done.err}"
            gone.open()
            money(json.loads(done.out), found)


async def _nonsense(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while (asked := await receive())["type"] == "lifespan.startup":
            await send({"type": f"{asked['type']}.complete"})
        return await send({"type": f"{asked['type']}.complete"})
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b'{"attributes": 7}'})


def test_one_that_answers_nonsense_is_away_too(pacas: Any, folder: Path, ended: Callable[..., None]) -> None:
    with offices(folder) as found:
        with pytest.raises(Ended):
            ended("paper", after_sales(found, "A"))
        found["A"].close()
        found["A"].open(_nonsense)
        done = pacas(*command("paper", "--resume"))
        assert done.code == 0, done.err
        assert json.loads(done.out)["providers"][0]["away"]
        found["A"].close()
        found["A"].open()
        money(json.loads(done.out), found)


def test_one_that_is_back_when_it_is_called_sells(
    pacas: Any, folder: Path, ended: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An order was on its way when the run ended: it is charged once, and its answer counts."""
    with offices(folder) as found:

        def ordered() -> None:
            orders = [line for line in Path("out.csv.journal").read_text().splitlines() if '"ordering"' in line]
            if orders and '"provider":"A"' in orders[-1]:
                raise Ended

        with pytest.raises(Ended):
            ended("paper", ordered)
        assert not found["A"].charged
        found["A"].close()
        recorded, back = Journal.settled, list[int]()

        def reopened(journal: Journal, step: int, outcome: Any) -> None:
            recorded(journal, step, outcome)
            if getattr(outcome, "reason", None) == "away" and not back:
                back.append(step)
                found["A"].open()

        monkeypatch.setattr(Journal, "settled", reopened)
        told = json.loads(pacas(*command("paper", "--resume")).out)
        money(told, found)
        assert back and found["A"].charged and not told["may_have_cost"]
        assert told["providers"][0]["away"] is None and told["providers"][0]["purchases"]


def test_another_catalogue_is_refused_at_first_and_not_bought_from_at_the_end(
    pacas: Any, folder: Path, ended: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack, offices(folder) as found:
        with pytest.raises(Ended):
            ended("paper", after_sales(found, "A"))
        sold = found["A"].charged
        text = (folder / "A.toml").read_text().replace("A.ledger", "changed.ledger")
        (folder / "changed.toml").write_text(text.replace("GEN = GEN, AGE = AGE", "AGE = AGE"))
        changed = stack.enter_context(opened_provider(read_provider("changed.toml")))
        found["A"].close()
        quoted, back = Journal.quoted, list[int]()

        def reopened(journal: Journal, number: int, prices: Any) -> None:
            quoted(journal, number, prices)
            if not len(prices) and not back:
                back.append(number)
                found["A"].open(found["A"].app(changed))

        with monkeypatch.context() as patch:
            patch.setattr(Journal, "quoted", reopened)
            shutil.copy("out.csv.journal", "kept.journal")
            done = pacas(*command("paper", "--resume"))
        assert done.code == 0 and back, done.err
        assert json.loads(done.out)["providers"][0]["away"] == "it does not offer what it did when this run was begun"
        shutil.copy("kept.journal", "out.csv.journal")
        at_once = pacas(*command("paper", "--resume"))
        assert at_once.code == 0, "who offers something else costs a line, like who is away"
        assert "pacas: A: it does not offer what it did when this run was begun; the run goes on" in at_once.err
        found["A"].close()
        found["A"].open()
        assert found["A"].charged == sold and not changed.till.tab("ann").listed


def test_a_journal_of_an_earlier_release_goes_on_as_it_did(
    pacas: Any, folder: Path, ended: Callable[..., None]
) -> None:
    with offices(folder) as found:
        with pytest.raises(Ended):
            ended("paper", after_sales(found, "A"))
        _forget(folder / "out.csv.journal")
        before = (folder / "out.csv.journal").read_bytes()
        found["A"].close()
        refused = pacas(*command("paper", "--resume")).err
        assert "A: not there now, or not named, and the run was begun with it; try again later, or remove " in refused
        assert (folder / "out.csv.journal").read_bytes() == before
        found["A"].open()
        told = pacas(*command("paper", "--resume")).document
        assert "catalogues" not in (folder / "out.csv.journal").read_text()
        money(told, found)


def _forget(journal: Path) -> None:
    """The journal as an earlier release would have written it: without what is kept, each line chained anew."""
    from pacas.formats.journal.lines import Chain

    first, *lines = journal.read_bytes().splitlines()
    was, header = Chain(first), json.loads(first)
    header.pop("catalogues", None)
    first = json.dumps(header, separators=(",", ":")).encode()
    chain, found = Chain(first), [first + b"\n"]
    for line in lines:
        plain = was.follow(line)
        assert plain is not None
        found.append(chain.linked(plain))
        chain.follow(found[-1].rstrip())
    journal.write_bytes(b"".join(found))


def test_who_is_not_named_is_not_left_out_silently_and_nobody_is_no_panel(
    pacas: Any, folder: Path, ended: Callable[..., None]
) -> None:
    with offices(folder) as found:
        with pytest.raises(Ended):
            ended("paper", after_sales(found, "A"))
        without = [word for word in command("paper", "--resume") if not word.startswith("A=")]
        without.remove("--provider")
        assert "A: not there now, or not named, and the run was begun with it" in pacas(*without).err
        for office in found.values():
            office.close()
        assert (
            "none of the providers is there; try again, and nothing is lost" in pacas(*command("paper", "--resume")).err
        )


def test_what_a_provider_in_this_process_offers_is_not_kept(pacas: Any, folder: Path) -> None:
    """Its tree may be made of its own values."""
    (folder / "other.toml").write_text((folder / "provider.toml").read_text().replace("provider.led", "other.led"))
    both = ("--provider", "A=provider.toml", "--provider", "B=other.toml")
    assert pacas("clean", "client.toml", "--budget", "4", *both, "--output", "out.csv", "--json").code in (0, 3)
    assert "catalogues" not in (folder / "out.csv.journal").read_text()


def test_a_review_goes_on_without_one_that_is_away_and_the_other_way_round(
    pacas: Any, folder: Path, ended: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A review takes up what clean has left, is closed midway, and clean goes on with that: A is away all the time."""
    bought: list[int] = []

    def served_to_somebody(session: ReviewSession, *_: Any) -> None:
        session.start()
        try:
            settled(session)
            assert session.waiting is not None and session.waiting.order.provider != "A"
            assert "A" not in {one.order.provider for one in session.plan()}
            assert orders.plan_part(session)["providers"][0]["away"]
            session.approve(session.waiting.order.key)
            settled(session)
            bought.append(len(session.run.recalled.purchases))
        finally:
            session.close()

    with offices(folder) as found:
        with pytest.raises(Ended):
            ended("paper", after_sales(found, "A"))
        sold = found["A"].charged
        found["A"].close()
        monkeypatch.setattr("pacas.cli.review._serve", served_to_somebody)
        told = pacas("review", *command("paper")[1:])
        assert told.code == 0 and bought == [2], told.err
        assert "pacas: A: the run goes on with what is recorded of it, and may call it again at the end" in told.err
        done = pacas(*command("paper", "--resume"))
        assert done.code == 0, done.err
        found["A"].open()
        money(json.loads(done.out), found)
        assert found["A"].charged == sold


def test_a_review_keeps_what_is_published_for_whoever_goes_on(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def served_to_somebody(session: ReviewSession, *_: Any) -> None:
        session.start()
        try:
            settled(session)
            assert session.waiting is not None
            session.approve(session.waiting.order.key)
            settled(session)
        finally:
            session.close()

    with offices(folder) as found:
        monkeypatch.setattr("pacas.cli.review._serve", served_to_somebody)
        assert pacas("review", *command("paper")[1:]).code == 0
        (seller,) = [name for name, office in found.items() if office.charged]
        found[seller].close()
        done = pacas(*command("paper", "--resume"))
        assert done.code == 0, done.err
        found[seller].open()
        money(json.loads(done.out), found)


def reopening(found: Office, what: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Open an office once the journal has been told so much of something; it was away till then."""
    real, back = getattr(Journal, what), list[int]()

    def reopened(journal: Journal, *told: Any) -> None:
        real(journal, *told)
        if not back:
            back.append(1)
            found.open()

    monkeypatch.setattr(Journal, what, reopened)
    return back


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_that_is_away_when_a_run_begins_sells_at_its_end(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    """A and B are there, and find nobody; C is back before the end. The run is looked at again while C is away."""
    with offices(folder) as found:
        found["C"].close()
        for name in ("A", "B"):
            monkeypatch.setattr(type(found[name].provider), "quote_batch", _only_of(found["C"].provider))
        with monkeypatch.context() as patch:
            reopening(found["C"], "quoted", patch)
            done = pacas(*command(strategy, "--receipts", "receipts", "--lineage", "events.jsonl"))
        assert done.code in (0, 3), done.err
        told = json.loads(done.out)
        money(told, found)
        assert "pacas: C is away, and called again at the end: no provider answers" in done.err
        assert {one["provider"] for one in told["purchases"]} == {"C"} and found["C"].charged
        (of_c,) = [one for one in told["providers"] if one["name"] == "C"]
        assert of_c["away"] is None and of_c["reliability"]
        assert len([*Path("receipts/C").iterdir()]) == of_c["purchases"]
        inputs = [len(json.loads(line)["inputs"]) for line in Path("events.jsonl").read_text().splitlines()]
        assert inputs == [3, 4], "the table, and all who were asked"
        recorded = recorded_run(Path("out.csv.journal"))
        assert recorded is not None and recorded.joined["C"].buyer == f"ann at http://127.0.0.1:{found['C'].port}"
        found["C"].close()
        again = pacas(*command(strategy, "--resume"))
        assert again.code == done.code and json.loads(again.out)["purchases"] == told["purchases"], again.err
        assert "pacas: C: the run goes on with what is recorded of it" in again.err
        without = [word for word in command(strategy, "--resume") if not word.startswith("C=")]
        without.pop(len(without) - 1 - without[::-1].index("--provider"))
        assert "C: not there now, or not named, and the run was begun with it" in pacas(*without).err
        found["C"].open()


def _only_of(provider: Any) -> Any:
    """Quotes of one provider; of all others none: they find nobody."""
    real = type(provider).quote_batch

    def quoted(self: Any, *what: Any, **how: Any) -> Any:
        ladders = real(self, *what, **how)
        if self is not provider:
            ladders.prices[:] = -1
        return ladders

    return quoted


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_order_that_nobody_answered_is_settled_by_resume(
    pacas: Any, folder: Path, ended: Callable[..., None], strategy: str
) -> None:
    """A was sent an order, and was away to the end of the run: once it is back, it is charged once, and told."""
    with offices(folder) as found:

        def ordered() -> None:
            orders = [line for line in Path("out.csv.journal").read_text().splitlines() if '"ordering"' in line]
            if orders and '"provider":"A"' in orders[-1]:
                raise Ended

        with pytest.raises(Ended):
            ended(strategy, ordered)
        found["A"].close()
        told = json.loads(pacas(*command(strategy, "--resume")).out)
        assert told["may_have_cost"]
        found["A"].open()
        money(told, found)
        settled = json.loads(pacas(*command(strategy, "--resume")).out)
        assert not settled["may_have_cost"] and found["A"].charged
        assert round(settled["spent"] * 10**9) == sum(office.charged for office in found.values())
        recorded = recorded_run(Path("out.csv.journal"))
        assert recorded is not None and recorded.is_done


def test_where_a_journal_was_put_back_no_provider_is_said_to_have_broken_its_word(
    pacas: Any, folder: Path, ended: Callable[..., None]
) -> None:
    """The copy knows nothing of what was sold after it was made: the provider is as honest as before."""
    with offices(folder) as found:
        with pytest.raises(Ended):
            ended("paper", At(1))
        shutil.copy("out.csv.journal", "older.journal")
        with pytest.raises(Ended):
            ended("paper", after_sales(found, "A"), "--resume")
        shutil.copy("older.journal", "out.csv.journal")
        done = pacas(*command("paper", "--resume"))
        assert done.code in (0, 3), done.err
        assert re.search(r"charged \S+ credits \(20\d\d-.* UTC\), and no more than \S+ credits was agreed to", done.err)
        assert "unless that was earlier: then it was paid for under this key before" in done.err
        told = json.loads(done.out)
        assert told["overcharged"] > 0 and told["spent"] == pytest.approx(sum(p["spent"] for p in told["providers"]))
        charged = sum(office.charged for office in found.values())
        assert round((told["spent"] + told["overcharged"]) * 10**9) == charged, "what was paid once is told once"
        again = json.loads(pacas(*command("paper", "--resume")).out)
        assert (again["spent"], again["overcharged"]) == (told["spent"], told["overcharged"]), "the journal keeps it"


def test_a_review_asks_who_comes_late(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A and B find nobody, and C is there at the end: its orders wait to be approved like all others."""
    sold: list[str | None] = []

    def served_to_somebody(session: ReviewSession, *_: Any) -> None:
        session.start()
        try:
            settled(session)
            while session.waiting is not None:
                shown = orders.orders_page(session, {})
                assert shown["waiting"]["ladder"] and [one["name"] for one in shown["providers"]] == [*NAMES]
                session.approve(session.waiting.order.key)
                settled(session)
            assert session.run.state == "done", session.run.error
            sold.extend(one.provider for one in session.run.recalled.purchases)
        finally:
            session.close()

    with offices(folder) as found:
        found["C"].close()
        for name in ("A", "B"):
            monkeypatch.setattr(type(found[name].provider), "quote_batch", _only_of(found["C"].provider))
        monkeypatch.setattr("pacas.cli.review._serve", served_to_somebody)
        reopening(found["C"], "quoted", monkeypatch)
        told = pacas("review", *command("paper")[1:])
        assert told.code == 0 and {*sold} == {"C"}, told.err
        assert found["C"].charged and not found["A"].charged

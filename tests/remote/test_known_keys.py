"""A provider that changes its key is believed by the signed history of its keys, and by nothing else."""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from remote_shop import CREDIT, FIRST, SECRET, shop
from running_service import served, with_account

import pacas
from pacas.cli.main import run
from pacas.errors import FileError, InputError, RemoteError
from pacas.protocol.messages import Answer
from pacas.protocol.receipt import SignedReceipt
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.remote.provider_log import ProviderLog
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.signing_key import SigningKey
from pacas.wire.connection_file import ConnectionFile
from pacas.wire.key_history import joined_keys
from pacas.wire.shapes.receipts import KeyAnswer, ReceiptDocument

NOW = 1_800_000_000
FORGED = r"has not handed over|no signed history joins"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("receipts").mkdir()


@contextmanager
def serving(key: SigningKey, ledger: Ledger | None = None) -> Iterator[str]:
    accounts = MemoryAccounts()
    with_account(accounts, "ann", token=SECRET)
    settings = ServiceSettings(reasons=True)
    with served(create_app(shop(ledger), accounts, settings, key, log=make_log(io.StringIO()))) as url:
        yield url


def buy(url: str, name: str, known: SigningKey | None) -> SignedReceipt:
    with RemoteProvider(url, SECRET, patience=2, public_key=None if known is None else known.public_key) as remote:
        answer = remote.pay(FIRST, 9 * CREDIT, name)
    assert isinstance(answer, Answer) and answer.receipt is not None
    Path("receipts", f"{name}.json").write_text(ReceiptDocument.of(answer.receipt).model_dump_json())
    return answer.receipt


@pytest.fixture
def keys() -> list[SigningKey]:
    """One key, and two that have followed it."""
    path = Path("provider.key.pem")
    found = [SigningKey.load_or_create(path)]
    for time in (NOW, NOW + 1):
        found.append(found[-1].rotate(path, time))
    Path("first.pem").write_text(found[0].public_key)
    return found


def test_a_key_rotates_in_its_own_file_with_its_history(keys: list[SigningKey]) -> None:
    path = Path("provider.key.pem")
    read = SigningKey.load_or_create(path)
    assert (read.key_id, read.published) == (keys[2].key_id, keys[2].published)
    assert [one.public_key for one in read.published.history] == [keys[0].public_key, keys[1].public_key]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(one.name for one in Path().iterdir()) == ["first.pem", "provider.key.pem", "receipts"]
    assert b"PRIVATE" not in keys[2].published.model_dump_json().encode()


@pytest.mark.attack
def test_a_key_file_whose_history_was_altered_is_not_taken(keys: list[SigningKey]) -> None:
    path = Path("provider.key.pem")
    whole = path.read_text()
    for wrong in (
        whole.replace(f":{NOW},", f":{NOW + 9},"),
        whole.replace('"signature":"', '"signature":"A'),
        whole[:-9],
    ):
        path.write_text(wrong)
        with pytest.raises(FileError, match="what it says of earlier keys does not hold"):
            SigningKey.load_or_create(path)


@pytest.mark.parametrize("known", [0, 1, 2])
def test_who_knows_one_key_follows_the_history_to_the_others(keys: list[SigningKey], known: int) -> None:
    ledger = MemoryLedger()
    for number, key in enumerate(keys):
        with serving(key, ledger) as url:
            signed = buy(url, f"n{number}", keys[known] if known <= number else None)
            assert signed.key_id == key.key_id
    Path("known.pem").write_text(keys[known].public_key)
    Path("published.json").write_text(keys[2].published.model_dump_json())
    alone = pacas.verify("receipts", "known.pem")
    assert [one.holds for one in alone.receipts] == [number == known for number in range(3)]
    assert pacas.verify("receipts", "known.pem", history="published.json").holds
    with serving(keys[2], ledger) as url:
        assert pacas.verify("receipts", "known.pem", history=f"{url}/v1/key").holds
        assert pacas.verify("receipts", "known.pem", log=url, token=SECRET).holds
        assert pacas.verify("receipts", "known.pem", log=url, token=SECRET).holds, "by the head that was kept, too"
        assert pacas.verify("receipts", f"{url}/v1/key").holds
        with ProviderLog(url, SECRET, keys[known].public_key) as log:
            assert log.head().key_id == keys[2].key_id


def test_a_connection_file_with_the_old_key_goes_on_after_a_rotation(keys: list[SigningKey]) -> None:
    with serving(keys[2]) as url:
        ConnectionFile(url, "ann", SECRET, keys[0].public_key).write(Path("buyer.pacas"))
        with RemoteProvider.of_file("buyer.pacas") as remote:
            assert isinstance(remote.pay(FIRST, 9 * CREDIT, "a"), Answer)


class Impostor(SigningKey):
    """A key that publishes what it likes."""

    def publishing(self, published: KeyAnswer) -> Impostor:
        self.published = published
        return self


def forgeries(keys: list[SigningKey]) -> dict[str, KeyAnswer]:
    """What one without the provider's private keys could publish to be taken for the provider."""
    true, own = keys[2].published, SigningKey.generate()
    Path("own.pem").touch()
    after = own.rotate(Path("own.pem"), NOW).published.history[0]
    first = true.history[0]
    return {
        "no history": KeyAnswer(public_key=own.public_key),
        "a true history that does not lead to it": KeyAnswer(public_key=own.public_key, history=true.history),
        "the signatures of another handover": KeyAnswer(
            public_key=own.public_key, history=[after.model_copy(update={"public_key": keys[0].public_key})]
        ),
        "a true signature over another key": KeyAnswer(public_key=own.public_key, history=[first]),
        "a link left out": KeyAnswer(public_key=true.public_key, history=true.history[:1]),
        "links in another order": KeyAnswer(public_key=true.public_key, history=true.history[::-1]),
        "a key before, to which nobody agreed": KeyAnswer(
            public_key=keys[0].public_key, history=[after.model_copy(update={"countersignature": first.signature})]
        ),
    }


@pytest.mark.attack
@pytest.mark.parametrize("which", range(7))
def test_a_forged_history_is_not_believed(keys: list[SigningKey], which: int) -> None:
    name, published = list(forgeries(keys).items())[which]
    with pytest.raises(InputError, match=FORGED):
        joined_keys(published, keys[0].public_key, "there")
    impostor = Impostor.generate()
    assert isinstance(impostor, Impostor)
    with serving(impostor.publishing(published)) as url:
        with pytest.raises(RemoteError, match=FORGED):
            buy(url, "a", keys[0])
        with (
            pytest.raises(RemoteError, match=FORGED),
            ProviderLog(url, SECRET, keys[0].public_key) as log,
        ):
            log.head()
    assert name


@pytest.mark.attack
def test_a_true_history_is_no_word_for_another_s_receipts(keys: list[SigningKey]) -> None:
    impostor = Impostor.generate()
    assert isinstance(impostor, Impostor)
    with (
        serving(impostor.publishing(keys[2].published)) as url,
        pytest.raises(RemoteError, match="not signed with the key that is known"),
    ):
        buy(url, "a", keys[0])


def test_the_command_rotates_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("A,B\n1,2\n")
    Path("provider.toml").write_text('[relation]\ndata = "t.csv"\n\n[match]\nB = "A = A"\n')
    assert run(["key", "rotate", "provider.toml"]) == 2
    assert "nothing was signed yet" in capsys.readouterr().err
    old = SigningKey.load_or_create(Path("provider.key.pem"))
    assert run(["key", "rotate", "provider.toml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    new = SigningKey.load_or_create(Path("provider.key.pem"))
    assert told == {"key_id": new.key_id, "before": old.key_id, "public_key": new.public_key, "keys": 2}
    assert run(["key", "rotate", "provider.toml"]) == 0
    assert f"follows {new.key_id}; 3 keys in its history" in " ".join(capsys.readouterr().out.split())

"""Calls over the network: a server that is away or not ready, who may ask, and TLS."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import ssl
import tracemalloc
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from ssl import PEM_cert_to_DER_cert
from threading import Thread
from time import sleep
from typing import Any

import httpx
import pytest
from certificates import Authority, Signed
from remote_shop import CREDIT, FIRST, SECRET, Before, free_port, in_turn, nothing, shop
from running_service import app_of, served, service, stop_the_clock_of_limits, with_account

from pacas.errors import InputError, RemoteError
from pacas.protocol.messages import Answer, Quote
from pacas.provider.ledger.accounts import Account, MemoryAccounts, Role, token_hash
from pacas.remote.connection import CONNECTING, Connection, Tries
from pacas.remote.known_keys import published_at
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.serving import Tls

pytestmark = pytest.mark.attack

# ---- a server that is away ---------------------------------------------------------------------------------------


def test_a_server_that_is_away_is_one_clear_line(short_waits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tries, "seconds", property(lambda tries: tries.count / 100))  # on a busy machine, too
    url = f"http://127.0.0.1:{free_port()}"
    with RemoteProvider(url, SECRET, patience=0.05) as remote, pytest.raises(RemoteError) as raised:
        remote.catalogue()
    line = str(raised.value)
    assert line.startswith(f"no provider answers at {url}; is it running? (") and line.endswith("tries in 0 s)")


def test_a_server_that_says_nothing_is_given_up_after_the_time_for_an_answer(short_waits: None) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        RemoteProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=0.05, patience=0.05) as remote,
        pytest.raises(RemoteError, match="no provider answers"),
    ):
        remote.catalogue()


def test_the_first_answer_is_not_waited_for_as_long_as_others(
    monkeypatch: pytest.MonkeyPatch, accounts: MemoryAccounts, short_waits: None
) -> None:
    with served(app_of(shop(), accounts)) as url, RemoteProvider(url, SECRET, timeout=3600) as remote:
        given: list[float] = []
        send = httpx.Client.send

        def noted(client: httpx.Client, asked: httpx.Request, **how: Any) -> httpx.Response:
            given.append(asked.extensions["timeout"]["read"])
            return send(client, asked, **how)

        monkeypatch.setattr(httpx.Client, "send", noted)
        remote.quote(FIRST)
    assert given == [CONNECTING, 3600]
    monkeypatch.setattr("pacas.remote.connection.CONNECTING", 0.05)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        RemoteProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=3600, patience=0.01) as remote,
        pytest.raises(RemoteError, match="no provider answers"),
    ):
        remote.catalogue()


def test_it_waits_longer_and_longer_and_gives_up_when_the_patience_is_gone(waits: list[float]) -> None:
    tries = Tries(1000.0)
    for tries.count in range(1, 9):
        assert tries.again()
    for wait, full in zip(waits, (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0), strict=True):
        assert full / 2 <= wait <= full
    assert not Tries(1.0, 1).again(at_least=2.0), "longer than the patience is not waited"
    assert len(waits) == 8


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_server_that_is_not_ready_is_asked_again(status: int, accounts: MemoryAccounts, waits: list[float]) -> None:
    app = Before(app_of(shop(), accounts), in_turn((status, {}), (status, {})))
    with served(app) as url, RemoteProvider(url, SECRET) as remote:
        assert isinstance(remote.quote(FIRST), Quote)
    assert app.paths == ["/v1/catalogue", *["/v1/quotes"] * 3]
    assert len(waits) == 2


def test_a_server_that_is_never_ready_is_one_clear_line(accounts: MemoryAccounts, short_waits: None) -> None:
    app = Before(app_of(shop(), accounts), lambda path: (503, {"Retry-After": "1000"}, b""))
    with (
        served(app) as url,
        RemoteProvider(url, SECRET) as remote,
        pytest.raises(RemoteError, match=r"is not ready \(503; 1 try in 0 s\); try again later"),
    ):
        remote.catalogue()


def test_a_limit_is_waited_for_as_long_as_the_server_says(accounts: MemoryAccounts, waits: list[float]) -> None:
    app = Before(app_of(shop(), accounts), in_turn((429, {"Retry-After": "7"})))
    with served(app) as url, RemoteProvider(url, SECRET) as remote:
        assert isinstance(remote.pay(FIRST, 6 * CREDIT, "a"), Answer)
    assert waits == [7.0]


def test_a_limit_that_would_take_too_long_is_one_clear_line(accounts: MemoryAccounts) -> None:
    app = Before(app_of(shop(), accounts), in_turn((429, {"Retry-After": "600"})))
    with (
        served(app) as url,
        RemoteProvider(url, SECRET) as remote,
        pytest.raises(RemoteError, match="asks to wait for 600 s"),
    ):
        remote.quote(FIRST)


def test_a_limit_of_the_service_itself_is_waited_for(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock_of_limits(monkeypatch)
    with service(shop(), quotes_per_minute=2) as (url, token), RemoteProvider(url, token, patience=10.0) as remote:
        remote.quote(FIRST)
        remote.quote(FIRST)
        with pytest.raises(RemoteError, match="asks to wait for 30 s"):
            remote.quote(FIRST)


# ---- what comes back ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "GZIP"])
def test_an_answer_that_is_to_be_inflated_is_refused(accounts: MemoryAccounts, coding: str) -> None:
    """A megabyte of gzip is a gigabyte of zeros."""
    content = gzip.compress(b" " * 10**8) if "zip" in coding.lower() else b"x"
    app = Before(app_of(shop(), accounts), lambda path: (200, {"Content-Encoding": coding}, content))
    with served(app) as url, RemoteProvider(url, SECRET) as remote:
        tracemalloc.start()
        with pytest.raises(RemoteError, match="sends compressed what was asked for plain"):
            remote.catalogue()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 10**7


def test_an_answer_without_an_end_is_not_read_to_it(accounts: MemoryAccounts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection.ask, "__kwdefaults__", {"most": 10_000})
    app = Before(app_of(shop(), accounts), lambda path: (200, {}, b" " * 10_001))
    with (
        served(app) as url,
        RemoteProvider(url, SECRET) as remote,
        pytest.raises(RemoteError, match="sends more than 10,000 bytes, as no provider would"),
    ):
        remote.catalogue()


BEGUN = {
    "head": (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"a"),
    "not yet": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.mark.parametrize("begun", BEGUN)
def test_an_answer_that_trickles_in_is_given_up(begun: str, short_waits: None) -> None:
    """A little comes again and again, each time well within the time for an answer."""
    first, more = BEGUN[begun]
    heard_out: list[str] = []

    def trickle() -> None:
        end, _ = listener.accept()
        with end, suppress(OSError):
            end.sendall(first)
            for _ in range(300):
                end.sendall(more)
                sleep(0.01)
            heard_out.append(begun)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=trickle)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            RemoteProvider(url, timeout=0.1, patience=0) as remote,
            pytest.raises(RemoteError, match="no provider answers"),
        ):
            remote.catalogue()
        thread.join()
    assert not heard_out


def test_a_large_answer_may_take_longer(accounts: MemoryAccounts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part that comes buys time for the next."""
    monkeypatch.setattr("pacas.remote.connection.SLOWEST", 1)
    now = iter(range(0, 10**6, 2))  # two seconds pass whenever somebody looks
    monkeypatch.setattr("pacas.remote.connection.monotonic", lambda: float(next(now)))
    with served(app_of(shop(), accounts)) as url, RemoteProvider(url, SECRET, timeout=5) as remote:
        assert isinstance(remote.quote(FIRST), Quote)


# ---- who may ask -------------------------------------------------------------------------------------------------

TOKEN = "the token is missing, wrong or revoked; give it with --token or PACAS_TOKEN"


def test_without_a_valid_token_one_is_told_so(accounts: MemoryAccounts) -> None:
    with served(app_of(shop(), accounts)) as url:
        for token in (None, "wrong", SECRET + "x"):
            with RemoteProvider(url, token) as remote, pytest.raises(RemoteError, match=TOKEN):
                remote.catalogue()
        with RemoteProvider(url, SECRET) as remote:
            assert isinstance(remote.pay(FIRST, 6 * CREDIT, "a"), Answer)
            accounts.revoke("ann")
            with pytest.raises(RemoteError, match=TOKEN):
                remote.pay(FIRST, 6 * CREDIT, "b")


def test_an_operator_may_not_buy(accounts: MemoryAccounts) -> None:
    token = with_account(accounts, "op", role=Role.OPERATOR)
    with (
        served(app_of(shop(), accounts)) as url,
        RemoteProvider(url, token) as remote,
        pytest.raises(RemoteError, match="does not allow it: "),
    ):
        remote.pay(FIRST, 6 * CREDIT, "a")


def test_a_redirect_is_not_followed_and_nobody_else_gets_the_token() -> None:
    elsewhere = Before(nothing, lambda path: (200, {}, b"{}"))
    with served(elsewhere) as other:
        moved = Before(nothing, lambda path: (307, {"Location": other + path}, b""))
        with (
            served(moved) as url,
            RemoteProvider(url, SECRET) as remote,
            pytest.raises(RemoteError, match=r"sends elsewhere \(307\)"),
        ):
            remote.catalogue()
    assert moved.tokens == [f"Bearer {SECRET}".encode()]
    assert elsewhere.tokens == []


@pytest.mark.parametrize("url", ["http://example.org", "http://192.168.0.1:8080", "http://localhost.example.org"])
def test_plain_http_stays_on_the_machine_unless_it_is_told_otherwise(url: str) -> None:
    with pytest.raises(InputError, match="give its https:// address"):
        RemoteProvider(url, SECRET)
    RemoteProvider(url, SECRET, insecure=True).close()


@pytest.mark.parametrize(
    "url", ["", "example.org", "ftp://example.org", "http://", "https://a b", "https://[::1", "https://h:x"]
)
def test_what_is_no_url_is_bad_input(url: str) -> None:
    with pytest.raises(InputError, match="is no URL"):
        RemoteProvider(url, SECRET)


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "ä"])
def test_what_is_no_token_is_bad_input_and_is_not_repeated(token: str) -> None:
    with pytest.raises(InputError) as raised:
        RemoteProvider("https://127.0.0.1:1", token)
    assert not token or token not in str(raised.value)


def test_the_token_is_in_no_repr_error_or_log_line(
    accounts: MemoryAccounts, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    body = json.dumps({"error": {"code": "x", "message": "no"}}).encode()
    left = [301, 400, 401, 403, 404, 413, 418, 422, 429, 500, 503]
    with served(Before(nothing, lambda path: (left[0], {}, body))) as url:
        while left:
            remote = RemoteProvider(url, SECRET, patience=0.0)
            with pytest.raises((RemoteError, InputError)) as raised:
                remote.catalogue()
            said += [str(raised.value), repr(raised.value), repr(remote), repr(vars(remote))]
            remote.close()
            left.pop(0)
    assert len(said) == 44
    assert SECRET not in "\n".join(said) + caplog.text


# ---- TLS ---------------------------------------------------------------------------------------------------------


def test_a_server_is_trusted_by_its_authority_and_for_its_name_only(tmp_path: Path, accounts: MemoryAccounts) -> None:
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    context = Tls(*authority.sign("server")).context()
    with served(app_of(shop(), accounts), context=context) as url:
        with RemoteProvider(url, SECRET, ca=authority.certificate) as remote:
            assert isinstance(remote.quote(FIRST), Quote)
        assert b"-----BEGIN PUBLIC KEY" in published_at(f"{url}/v1/key", ca=authority.certificate)
        named = url.replace("127.0.0.1", "localhost")
        for at, ca, hint in (
            (url, None, "if its authority is a private one, give it with --ca"),
            (url, other.certificate, "is its authority the one in the --ca file?"),
            (named, authority.certificate, "is the address the one that it is for?"),
        ):
            with RemoteProvider(at, SECRET, ca=ca) as remote, pytest.raises(RemoteError) as problem:
                remote.catalogue()
            said = str(problem.value)
            assert said.startswith(f"the certificate of {at} is not trusted (") and said.endswith(f"); {hint}")


def test_plain_http_at_a_port_for_tls_and_the_other_way_round(
    tmp_path: Path, accounts: MemoryAccounts, short_waits: None
) -> None:
    authority = Authority(tmp_path)
    with served(app_of(shop(), accounts), context=Tls(*authority.sign("server")).context()) as url:
        plain = url.replace("https", "http")
        with (
            RemoteProvider(plain, SECRET, patience=0.01) as remote,
            pytest.raises(RemoteError, match=f"what is at {plain} hangs up on plain http; does it want https://"),
        ):
            remote.catalogue()
    with served(app_of(shop(), accounts)) as url:
        secure = url.replace("http", "https")
        with (
            RemoteProvider(secure, SECRET, ca=authority.certificate) as remote,
            pytest.raises(RemoteError, match=rf"no secure connection to {secure} \(.*\); does it speak plain http"),
        ):
            remote.catalogue()


def test_a_server_may_ask_for_a_clients_certificate(
    tmp_path: Path, accounts: MemoryAccounts, short_waits: None
) -> None:
    authority = Authority(tmp_path)
    context = Tls(*authority.sign("server"), authority.certificate).context()
    with served(app_of(shop(), accounts), context=context) as url:
        with RemoteProvider(
            url, SECRET, ca=authority.certificate, client_certificate=authority.sign("client")
        ) as remote:
            assert isinstance(remote.pay(FIRST, 6 * CREDIT, "a"), Answer)
        with (
            RemoteProvider(url, SECRET, ca=authority.certificate, patience=0.05) as remote,
            pytest.raises(RemoteError, match=r"does it ask for a certificate \(--cert\)"),
        ):
            remote.catalogue()
        foreign = Authority(tmp_path, "other").sign("foreign")
        with (
            RemoteProvider(url, SECRET, ca=authority.certificate, client_certificate=foreign, patience=0.05) as remote,
            pytest.raises(RemoteError, match=r"is it a certificate that it accepts \(--cert\)"),
        ):
            remote.catalogue()


def test_files_that_are_no_certificates_are_named(tmp_path: Path) -> None:
    certificate = Authority(tmp_path).certificate
    signed = Authority(tmp_path).sign("client", password=b"secret")
    with pytest.raises(InputError, match=r"none\.pem holds no certificates of an authority"):
        RemoteProvider("https://127.0.0.1:1", ca=tmp_path / "none.pem")
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(InputError, match=r"none\.pem holds no certificates of an authority"):
        RemoteProvider("https://127.0.0.1:1", ca=tmp_path / "none.pem")
    for own in ((certificate, tmp_path / "none.pem"), (tmp_path / "lacks.pem", signed.key), signed):
        with pytest.raises(InputError, match="are no client certificate"):
            RemoteProvider("https://127.0.0.1:1", client_certificate=own)


def test_the_context_verifies_and_speaks_no_old_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr("httpx.Client", lambda **options: made.append(options))
    RemoteProvider("https://127.0.0.1:1", SECRET)
    RemoteProvider("http://127.0.0.1:1", SECRET)
    for options in made:
        context = options["verify"]
        assert context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname
        assert not options["follow_redirects"]
    assert made[0]["verify"].minimum_version >= ssl.TLSVersion.TLSv1_2


def test_a_token_that_is_bound_to_a_certificate_counts_over_its_connections_only(tmp_path: Path) -> None:
    """A stolen token, in the hands of somebody whose own certificate the server accepts, too."""
    authority, accounts = Authority(tmp_path), MemoryAccounts()
    mine, stranger = authority.sign("client"), authority.sign("stranger")
    bound = sha256(PEM_cert_to_DER_cert(mine.certificate.read_text())).hexdigest()
    accounts.add(Account("ann", Role.CLIENT, None, False, token_hash(SECRET), certificate=bound))
    app, server = app_of(shop(), accounts), authority.sign("server")

    def asks(url: str, certificate: Signed | None) -> RemoteProvider:
        return RemoteProvider(url, SECRET, ca=authority.certificate, client_certificate=certificate)

    with served(app, context=Tls(*server, authority.certificate).context()) as url:
        with asks(url, mine) as remote:
            assert isinstance(remote.pay(FIRST, 6 * CREDIT, "a"), Answer)
            with asks(url, stranger) as thief, pytest.raises(RemoteError, match="token"):
                thief.pay(FIRST, 6 * CREDIT, "b")
            assert isinstance(remote.quote(FIRST), Quote), "what the thief is told is remembered of nobody else"
            accounts.set_certificate("ann", sha256(b"another").hexdigest())
            sleep(0.2)
            with pytest.raises(RemoteError, match="token"):
                remote.quote(FIRST)
        accounts.set_certificate("ann", None)
        sleep(0.2)
        with asks(url, stranger) as anybody:
            assert isinstance(anybody.quote(FIRST), Quote)
        accounts.set_certificate("ann", bound)
    with (
        served(app_of(shop(), accounts), context=Tls(*server).context()) as url,
        asks(url, mine) as remote,
        pytest.raises(RemoteError, match="token"),
    ):
        remote.catalogue()  # nobody is asked for a certificate there

"""Listening: addresses, TLS, client certificates, and what the server itself says."""

from __future__ import annotations

import errno
import io
import json
import logging
import socket
import ssl
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from certificates import Authority
from example_shop import Shop, example_provider
from running_service import app_of, served

from pacas.errors import FileError, InputError
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.server.monitoring.logs import ServerLines, make_log, place
from pacas.server.serving import ListeningAddress, Tls


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1"])
def test_a_loopback_address_needs_no_tls(host: str) -> None:
    assert ListeningAddress.of(host, 0, tls=False).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_can_reach_needs_tls_or_to_be_forced(host: str) -> None:
    with pytest.raises(InputError, match="in the clear; give --tls-cert and --tls-key, or --insecure"):
        ListeningAddress.of(host, 8321, tls=False)
    assert ListeningAddress.of(host, 8321, tls=True).url().startswith("https://")
    assert ListeningAddress.of(host, 8321, tls=False, insecure=True).url().startswith("http://")


@pytest.mark.parametrize(
    ("host", "here"),
    [("0.0.0.0", "http://127.0.0.1:7"), ("::", "http://[::1]:7"), ("127.8.8.8", "http://127.8.8.8:7")],
)
def test_who_listens_everywhere_is_reached_at_the_loopback_address(host: str, here: str) -> None:
    assert ListeningAddress.of(host, 0, tls=False, insecure=True).url_here(7) == here


def test_an_address_that_is_none() -> None:
    with pytest.raises(InputError, match="--host: there is no address"):
        ListeningAddress.of("no such host.invalid", 1, tls=False)
    with pytest.raises(InputError, match=r"cannot listen on 192\.0\.2\.1, port 0: .*; give another --port"):
        ListeningAddress.of("192.0.2.1", 0, tls=True).bind()


def test_the_url_has_the_port_that_was_free() -> None:
    address = ListeningAddress.of("127.0.0.1", 0, tls=False)
    with address.bind() as listener:
        port = listener.getsockname()[1]
        assert address.listen(listener) == f"http://127.0.0.1:{port}"
        with pytest.raises(InputError, match=f"port {port}: Address already in use"):
            ListeningAddress.of("127.0.0.1", port, tls=False).bind()
    assert ListeningAddress.of("::1", 8321, tls=True).url() == "https://[::1]:8321"


def test_two_that_have_bound_cannot_both_listen() -> None:
    address = ListeningAddress.of("127.0.0.1", 0, tls=False)
    with address.bind() as first:
        port = first.getsockname()[1]
        same = ListeningAddress.of("127.0.0.1", port, tls=False)
        with same.bind() as second:
            address.listen(first)
            with pytest.raises(InputError, match="Address already in use"):
                same.listen(second)


def test_answers_are_sent_at_once_without_uvloop() -> None:
    """asyncio's own loop, as on Windows, asks for that only where a socket says what it is."""
    with closing(ListeningAddress.of("127.0.0.1", 0, tls=False).bind()) as listener:
        assert listener.proto == socket.IPPROTO_TCP


# ---- TLS ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def health(url: str, verify: ssl.SSLContext) -> httpx.Response:
    with httpx.Client(verify=verify, trust_env=False) as client:
        return client.get(f"{url}/v1/health")


def test_tls_and_client_certificates(authority: Authority) -> None:
    server, client = authority.sign("server"), authority.sign("client")
    foreign = Authority(authority.certificate.parent, "other").sign("foreign")
    app = app_of(example_provider(), MemoryAccounts())
    trusting = ssl.create_default_context(cafile=str(authority.certificate))
    with served(app, context=Tls(*server).context()) as url:
        assert url.startswith("https://")
        assert health(url, trusting).json() == {"status": "ok"}
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            health(url, ssl.create_default_context())
    app = app_of(example_provider(), MemoryAccounts())
    with served(app, context=Tls(*server, authority.certificate).context()) as url:
        with pytest.raises(httpx.TransportError):
            health(url, trusting)
        for files, let_in in ((foreign, False), (client, True)):
            context = ssl.create_default_context(cafile=str(authority.certificate))
            context.load_cert_chain(*files)
            if let_in:
                assert health(url, context).status_code == 200
            else:
                with pytest.raises(httpx.TransportError):
                    health(url, context)


def test_certificates_that_are_none(authority: Authority, tmp_path: Path) -> None:
    server, other, locked = authority.sign("a"), authority.sign("b"), authority.sign("c", password=b"pw")
    text = tmp_path / "text"
    text.write_text("hello")
    for files, said in (
        ((tmp_path / "none", server.key), r"none cannot be read \(No such file"),
        ((server.certificate, tmp_path), r"cannot be read \(Is a directory"),
        ((server.certificate, other.key), "b.key is not the key of the certificate"),
        ((text, server.key), "are not a certificate and its key in PEM"),
        ((server.certificate, text), "are not a certificate and its key in PEM"),
        ((locked.certificate, locked.key), "the key has a password"),
        ((*server, text), "--client-ca: .* holds no certificate in PEM"),
        ((*server, tmp_path / "none"), "none cannot be read"),
    ):
        with pytest.raises(FileError, match=said) as problem:
            Tls(*files).context()
        assert "\n" not in str(problem.value)


# ---- the log --------------------------------------------------------------------------------------------------------


def test_what_the_server_says_is_logged_without_what_it_is_about() -> None:
    stream = io.StringIO()
    logger = logging.Logger("uvicorn.error")
    logger.addHandler(ServerLines(make_log(stream)))
    logger.info("Started server process [%d]", 7)
    logger.warning("Invalid HTTP request received.\nsecret")
    logger.warning("Cancel %s running task(s)", 2)
    try:
        ListeningAddress.of("secret name.invalid", 1, tls=False)
    except InputError as error:
        logger.error("Exception in ASGI application for %s", "secret", exc_info=error)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["level"], line["message"]) for line in lines] == [
        ("warning", "Invalid HTTP request received."),
        ("warning", "Cancel 2 running task(s)"),
        ("error", "Exception in ASGI application for %s"),
    ]
    assert lines[-1]["error"] == "InputError" and lines[-1]["place"].startswith("server/serving.py:")
    assert "secret" not in stream.getvalue()


def test_a_log_that_cannot_be_written_harms_nobody(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(shop.log, "write", full)
        assert shop.call("GET", "/v1/health", None).status_code == 200
        broken.setattr(shop.provider.ledger, "after", full)
        until_ready(shop, 503)
    until_ready(shop, 200)
    assert [line["event"] for line in shop.log_lines()].count("ledger is back") == 1
    shop.log.close()
    assert shop.call("GET", "/v1/health", None).status_code == 200


def until_ready(shop: Shop, status: int) -> None:
    for _ in range(5000):
        if shop.call("GET", "/v1/ready", None).status_code == status:
            return
    raise AssertionError(f"never {status}")


def test_who_asks_for_another_protocol_is_no_news(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket"}
    assert shop.call("GET", "/v1/health", None, headers).status_code == 200
    assert caplog.messages == []


def test_an_error_from_elsewhere_has_no_place_of_ours() -> None:
    assert place(ValueError()) == "outside of pacas"

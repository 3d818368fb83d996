"""`pacas serve`: what it prints, how it is refused, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from certificates import Authority

from pacas.storage.sqlite import SqliteLedger

PACAS = (sys.executable, "-c", "from pacas.cli.main import main; main()")
MED = {"tuple": {"GEN": "male", "AGE": "51"}, "attribute": "MED", "level": 1}


class Served:
    """`pacas serve` in a process of its own, in the example's folder."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.stderr = folder / "stderr.txt"
        with self.stderr.open("wb") as log:
            self.process = subprocess.Popen(
                [*PACAS, "serve", *arguments],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code, and what it printed after the first line."""
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode, rest

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


Serve = Callable[..., Served]


@pytest.fixture
def serve(folder: Path) -> Iterator[Serve]:
    started: list[Served] = []

    def start(*arguments: str) -> Served:
        started.append(Served(folder, *arguments))
        return started[-1]

    yield start
    for served in started:
        served.stop()


def call(
    url: str, path: str, token: str | None = None, body: Any = None, key: str = "k", **more: Any
) -> httpx.Response:
    headers = {} if token is None else {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
    with httpx.Client(trust_env=False, timeout=60, **more) as client:
        return client.request("GET" if body is None else "POST", url + path, headers=headers, json=body)


def test_it_serves_until_it_is_told_to_stop_and_ends_well(pacas: Any, serve: Serve, folder: Path) -> None:
    token = pacas("account", "add", "ann", "provider.toml", "--credit", "10", "--json").document["token"]
    served = serve("provider.toml", "--port", "0")
    assert served.line.startswith("listening on http://127.0.0.1:") and served.line.endswith("\n")
    url = served.line.split()[-1]
    assert call(url, "/v1/quotes", token, {"requests": [MED]}).json() == {"quotes": [{"price": 700_000_000}]}
    bought = call(url, "/v1/purchases", token, {"request": MED, "ceiling": 10**9}).json()["purchase"]
    assert bought["answer"] == "NSAID"
    assert served.end() == (0, "")
    lines = [json.loads(line) for line in served.stderr.read_text().splitlines()]
    assert [line["status"] for line in lines] == [200, 200]
    assert token not in served.stderr.read_text() and "NSAID" not in served.stderr.read_text()
    assert (folder / "provider.key.pem").stat().st_mode & 0o777 == 0o600
    again = serve("provider.toml", "--port", "0", "--json")
    url = json.loads(again.line)["url"]
    assert call(url, "/v1/purchases/k", token).json()["receipt"] == bought["receipt"], "the key is kept"
    assert again.end(signal.SIGINT) == (0, "")


def test_what_was_accepted_is_finished(pacas: Any, serve: Serve, folder: Path) -> None:
    token = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    served = serve("provider.toml", "--port", "0")
    url = served.line.split()[-1]
    ledger = SqliteLedger(folder / "provider.ledger.db")
    try:
        with ThreadPoolExecutor(1) as pool:
            with ledger.transaction():  # the purchase is accepted, and has to wait for this one
                buying = pool.submit(call, url, "/v1/purchases", token, {"request": MED, "ceiling": 10**9})
                while not _waits_for_the_ledger(url, token):
                    assert not buying.done()
                served.process.send_signal(signal.SIGTERM)
                while _listens(url):
                    pass
                assert not buying.done()
                assert served.process.poll() is None
            assert buying.result().json()["purchase"]["answer"] == "NSAID"
        assert served.process.wait(60) == 0
        assert ledger.total("ann") == (1, 700_000_000)
    finally:
        ledger.close()


def _waits_for_the_ledger(url: str, token: str) -> bool:
    """Whether the server holds the ledger's lock in a purchase: then other reads of it wait, too."""
    try:
        with httpx.Client(trust_env=False, timeout=0.3) as client:
            client.get(f"{url}/v1/account", headers={"Authorization": f"Bearer {token}"})
    except httpx.TimeoutException:
        return True
    return False


def _listens(url: str) -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 5).close()
    except OSError:
        return False
    return True


def test_tls_with_client_certificates(pacas: Any, serve: Serve, folder: Path) -> None:
    authority = Authority(folder)
    server, client = authority.sign("server"), authority.sign("client")
    options = ["--tls-cert", str(server.certificate), "--tls-key", str(server.key)]
    served = serve("provider.toml", "--port", "0", *options, "--client-ca", str(authority.certificate))
    url = served.line.split()[-1]
    assert url.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile=str(authority.certificate))
    with pytest.raises(httpx.TransportError):
        call(url, "/v1/health", verify=context)
    context.load_cert_chain(*client)
    assert call(url, "/v1/health", verify=context).json() == {"status": "ok"}
    assert served.end()[0] == 0


def test_before_the_first_account_it_says_how_to_add_one(serve: Serve, folder: Path) -> None:
    text = (folder / "provider.toml").read_text()
    (folder / "built.toml").write_text(text.replace('MED = "med.csv"', 'MED = { build = "prefix" }'))
    for name in ("provider.toml", "built.toml"):
        served = serve(name, "--port", "0")
        served.end()
        said = served.stderr.read_text()
        assert f"pacas account add NAME {name} --credit 10\n" in said
        assert ("the hierarchy of MED is made from the data" in said) == (name == "built.toml")


def test_the_example_comes_with_an_account_and_a_line_to_try(serve: Serve, folder: Path) -> None:
    served = serve("--example", "--port", "0")
    url = served.line.split()[-1]
    (line,) = [line.split() for line in served.stderr.read_text().splitlines() if "pacas clean" in line]
    assert line[:5] == ["pacas", "clean", "pacas-example/client.toml", "--provider", url]
    token = line[line.index("--token") + 1]
    assert call(url, "/v1/account", token).json()["remaining"] == 10**10
    cleaned = subprocess.run([*PACAS, *line[1:]], cwd=folder, capture_output=True, text=True)
    assert cleaned.returncode == 0, cleaned.stderr
    assert served.end()[0] == 0
    assert "nobody has an account" not in served.stderr.read_text()


def test_check_makes_ready_and_serves_nothing(pacas: Any, folder: Path) -> None:
    assert pacas("serve", "provider.toml", "--check").lines == ["ready to serve at http://127.0.0.1:8321"]
    assert pacas("serve", "provider.toml", "--check", "--json").document == {"url": "http://127.0.0.1:8321"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give the PROVIDER.toml to serve, or --example"),
        (("none.toml",), "none.toml cannot be read"),
        (("http://127.0.0.1:1",), "give its provider.toml"),
        (("provider.toml", "--example"), "--example brings its own provider"),
        (("provider.toml", "--host", "0.0.0.0"), "give --tls-cert and --tls-key, or --insecure"),
        (("provider.toml", "--host", "192.0.2.1", "--insecure"), "cannot listen on 192.0.2.1, port 8321"),
        (("provider.toml", "--port", "65536"), "less than or equal to 65535"),
        (("provider.toml", "--tls-cert", "client.csv"), "--tls-cert and --tls-key go together"),
        (("provider.toml", "--client-ca", "client.csv"), "--client-ca needs --tls-cert"),
        (("provider.toml", "--tls-cert", "client.csv", "--tls-key", "no.key"), "no.key cannot be read"),
        (("provider.toml", "--tls-cert", "client.csv", "--tls-key", "sp.csv"), "not a certificate and its key in PEM"),
    ],
)
def test_what_cannot_be_served(pacas: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in pacas("serve", *arguments).complaint


def test_a_port_in_use(pacas: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        complaint = pacas("serve", "provider.toml", "--port", str(port)).complaint
    assert complaint == f"cannot listen on 127.0.0.1, port {port}: Address already in use; give another --port"


def test_a_key_that_cannot_be_kept_and_a_ledger_in_memory(pacas: Any, folder: Path) -> None:
    text = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(text + '[service]\nsigning_key = "none/k.pem"\n')
    assert "the signing key, cannot be made in its folder" in pacas("serve", "provider.toml", "--port", "0").complaint
    (folder / "provider.toml").write_text(text + '[ledger]\nurl = "memory:"\n')
    assert "a ledger in memory has no accounts" in pacas("serve", "provider.toml").complaint


def test_the_example_s_folder_is_not_overwritten(pacas: Any, folder: Path) -> None:
    (folder / "pacas-example").mkdir()
    (folder / "pacas-example" / "provider.toml").write_text("mine")
    assert "is there already and differs" in pacas("serve", "--example").complaint
    assert os.listdir(folder / "pacas-example") == ["provider.toml"]

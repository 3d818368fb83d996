"""`pacas serve`: what it prints, how it is refused, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import httpx
import pytest
from certificates import Authority

from pacas.cli.demo.files import write_files
from pacas.cli.provider.serve import ServedExample, present, program, warn_of_writers
from pacas.errors import InputError
from pacas.formats.provider.provider_file import read_provider_file
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.server.signing_key import SigningKey
from pacas.storage.sqlite.ledger import SqliteLedger

pytestmark = pytest.mark.slow

PACAS = (sys.executable, "-c", "from pacas.cli.main import main; main()")
MED = {"tuple": {"GEN": "male", "AGE": "51"}, "attribute": "MED", "level": 1}
MANY = 500


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
    said = served.stderr.read_text().splitlines()
    warnings = [line.removeprefix("pacas: ") for line in said if line.startswith("pacas: ")]
    assert warnings[0].startswith("free quotes tell the MED of ") and warnings[0].endswith("see pacas leak")
    assert warnings[1:3] == [f"warning: {rule}: MED" for rule in ("rare-groups", "small-families")]
    assert warnings[3] == "pacas lint provider.toml says more of these, and what mends them"
    assert warnings[5].startswith("provider.toml gives a seed")
    lines = [json.loads(line) for line in said[len(warnings) :]]
    assert [line["status"] for line in lines] == [200, 200]
    assert token not in served.stderr.read_text() and "NSAID" not in served.stderr.read_text()
    assert (folder / "provider.key.pem").stat().st_mode & 0o777 == 0o600
    again = serve("provider.toml", "--port", "0", "--json")
    url = json.loads(again.line)["url"]
    told = call(url, "/v1/purchases/k", token).json()["receipt"]
    assert told | {"log": None} == bought["receipt"] | {"log": None}, "the key is kept; a log's head has its own time"
    assert again.end(signal.SIGINT) == (0, "")


def test_openrefine_is_served_where_the_file_says_so(pacas: Any, serve: Serve, folder: Path) -> None:
    file = folder / "provider.toml"
    file.write_text(file.read_text() + "\n[service]\nreconcile = true\n")
    asked = ("account", "add", "refine", "provider.toml", "--role", "reconcile", "--credit", "2", "--json")
    token = pacas(*asked).document["token"]
    served = serve("provider.toml", "--port", "0", "--host", "0.0.0.0", "--insecure")
    url = f"http://127.0.0.1:{served.line.split(':')[-1].strip()}"
    told = call(url, f"/reconcile/{token}").json()
    assert told["extend"]["propose_properties"]["service_url"] == f"{url}/reconcile/{token}"
    assert call(url, "/v1/catalogue", token).status_code == 403
    pacas("account", "revoke", "refine", "provider.toml")
    time.sleep(0.3)  # an account is believed for 100 ms
    assert call(url, f"/reconcile/{token}").status_code == 401
    assert served.end() == (0, "")
    said = served.stderr.read_text()
    assert "reconcile = true sends OpenRefine to http://" in said and token not in said
    assert '"route":"/reconcile/{token}"' in said


def test_what_was_accepted_is_finished(pacas: Any, serve: Serve, folder: Path) -> None:
    token = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    served = serve("provider.toml", "--port", "0")
    url = served.line.split()[-1]
    with closing(SqliteLedger(folder / "provider.ledger.db")) as ledger:
        with ledger.transaction():  # the purchase is accepted, and has to wait for this one
            buying = accepted(url, token, {"request": MED, "ceiling": 10**9})
            served.process.send_signal(signal.SIGTERM)
            while _listens(url):
                pass
            assert served.process.poll() is None
        status, document = answer_of(buying)
        assert (status, document["purchase"]["answer"]) == (200, "NSAID")
        assert served.process.wait(60) == 0
        assert ledger.total("ann") == (1, 700_000_000)


def test_a_call_of_many_that_was_accepted_is_finished(pacas: Any, serve: Serve, folder: Path) -> None:
    token = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    served = serve("provider.toml", "--port", "0")
    url = served.line.split()[-1]
    with closing(SqliteLedger(folder / "provider.ledger.db")) as ledger:
        buying = accepted(url, token, {"purchases": [{"request": MED, "ceiling": 10**9}] * MANY})
        while not ledger.total("ann").purchases:
            pass
        with ledger.transaction():
            served.process.send_signal(signal.SIGTERM)
            while _listens(url):
                pass
            assert ledger.total("ann").purchases < MANY
        status, document = answer_of(buying)
        assert status == 200
        assert [one["id"] for one in document["purchases"]] == [f"k/{i}" for i in range(MANY)]
        assert served.process.wait(60) == 0
        assert ledger.total("ann") == (MANY, 700_000_000)


def accepted(url: str, token: str, body: Any) -> socket.socket:
    """Send purchases; the server has asked for them, so that they are its to answer."""
    content = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 60)
    connection.sendall(
        b"POST /v1/purchases HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\n"
        b"Authorization: Bearer %b\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n"
        % (token.encode(), len(content))
    )
    assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(content)
    return connection


def answer_of(connection: socket.socket) -> tuple[int, Any]:
    with closing(connection), HTTPResponse(connection) as response:
        response.begin()
        return response.status, json.loads(response.read())


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
    served = serve("provider.toml", "--port", "0")
    served.end()
    assert "pacas account add NAME provider.toml --credit 10\n" in served.stderr.read_text()


def test_a_hierarchy_made_from_the_data_is_published_only_if_that_is_wanted(
    pacas: Any, serve: Serve, folder: Path
) -> None:
    text = (folder / "provider.toml").read_text().replace('MED = "med.csv"', 'MED = { build = "prefix" }')
    (folder / "provider.toml").write_text(text)
    for more in ((), ("--check",)):
        complaint = pacas("serve", "provider.toml", *more).complaint
        assert "hierarchies: MED" in complaint and "publish_built = true in [service]" in complaint
    (folder / "provider.toml").write_text(text + "[service]\npublish_built = true\n")
    token = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    served = serve("provider.toml", "--port", "0")
    (offer,) = call(served.line.split()[-1], "/v1/catalogue", token).json()["attributes"]
    assert "ibuprofen" in {path[0] for path in offer["hierarchy"]["levels"]}
    assert served.end()[0] == 0


@pytest.mark.parametrize(("more", "keys"), [("", 6), ("[service]\npublish_prices = false\n", None)])
def test_prices_are_published_unless_the_file_says_otherwise(
    pacas: Any, serve: Serve, folder: Path, more: str, keys: int | None
) -> None:
    (folder / "provider.toml").unlink()
    write_files(folder)  # with a provider whose quotes are sealed
    with (folder / "provider.toml").open("a") as file:
        file.write(more)
    token = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    served = serve("provider.toml", "--port", "0")
    (offer,) = call(served.line.split()[-1], "/v1/catalogue", token).json()["attributes"]
    assert (offer["prices"] and offer["prices"]["keys"]) == keys
    assert served.end()[0] == 0


def test_a_key_that_others_can_read_is_warned_of(pacas: Any, folder: Path) -> None:
    server = Authority(folder).sign("server")
    tls = ("--tls-cert", str(server.certificate), "--tls-key", str(server.key))
    server.key.chmod(0o600)
    assert pacas("serve", "provider.toml", "--check", *tls).err == ""
    server.key.chmod(0o640)
    (folder / "provider.key.pem").chmod(0o604)
    said = pacas("serve", "provider.toml", "--check", *tls).err.splitlines()
    assert said == [
        "pacas: provider.key.pem, the signing key, is open to others than its owner; chmod 600 provider.key.pem",
        f"pacas: {server.key}, the TLS key, is open to others than its owner; chmod 600 {server.key}",
    ]


def test_the_example_comes_with_an_account_and_a_line_to_try(
    serve: Serve, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    served = serve("--example", "--port", "0")
    url = served.line.split()[-1]
    (line,) = [line for line in served.stderr.read_text().splitlines() if "pacas clean" in line]
    given, _, *arguments = line.split()
    assert arguments[:4] == ["clean", "pacas-example/client.toml", "--provider", url]
    token = given.removeprefix("PACAS_TOKEN=")
    assert call(url, "/v1/account", token).json()["remaining"] == 10**10
    without = {name: value for name, value in os.environ.items() if name != "PACAS_TOKEN"} | {"PATH": os.defpath}
    cleaned = subprocess.run(line, shell=True, cwd=folder, env=without, capture_output=True, text=True)
    assert cleaned.returncode == 0, cleaned.stderr
    assert served.end()[0] == 0
    assert "nobody has an account" not in served.stderr.read_text()


def test_the_line_to_try_has_the_certificate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ServedExample(Path("provider.toml"), "https://127.0.0.1:7", Path("my tls.pem")).invite(MemoryAccounts())
    assert "--provider https://127.0.0.1:7 --ca 'my tls.pem' " in capsys.readouterr().err


def test_the_program_is_named_as_the_shell_finds_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = folder / ".venv" / "bin" / "pacas"
    there.parent.mkdir(parents=True)
    there.touch(0o755)
    monkeypatch.setattr(sys, "argv", [".venv/bin/pacas", "serve"])
    monkeypatch.setenv("PATH", os.defpath)
    assert program() == ".venv/bin/pacas"
    monkeypatch.setenv("PATH", str(there.parent))
    assert program() == "pacas"
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setattr(sys, "argv", ["-c"])
    monkeypatch.setattr(sys, "executable", str(folder / "elsewhere" / "python"))
    assert program() == "pacas"
    monkeypatch.setattr(sys, "executable", str(there.with_name("python")))
    monkeypatch.chdir(there.parent)
    assert program() == "pacas" or program() == str(there)


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


def test_files_that_everybody_may_write_to_are_warned_of(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = read_provider_file(folder / "provider.toml")
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    warn_of_writers(file)
    assert capsys.readouterr().err == ""
    (folder / "provider.toml").chmod(0o666)
    folder.chmod(0o777)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    warn_of_writers(file)
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" can be ")[0].rpartition("/")[2] for line in told[:2]] == ["provider.toml", folder.name]
    assert told[2].startswith("pacas: this runs as root") and len(told) == 3


def test_a_key_that_cannot_be_kept_and_a_ledger_in_memory(pacas: Any, folder: Path) -> None:
    text = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(text + '[service]\nsigning_key = "none/k.pem"\n')
    assert "the signing key, cannot be made in its folder" in pacas("serve", "provider.toml", "--port", "0").complaint
    (folder / "provider.toml").write_text(text + '[ledger]\nurl = "memory:"\n')
    assert "a ledger in memory has no accounts" in pacas("serve", "provider.toml").complaint


@pytest.mark.parametrize(("line", "differing"), [("floor = { MED = 1 }", "floor"), ("max_matches = 7", "max_matches")])
def test_processes_that_quote_differently_do_not_serve_one_ledger(folder: Path, line: str, differing: str) -> None:
    path, key = folder / "provider.toml", SigningKey.load_or_create(folder / "key.pem")
    before, text = read_provider_file(path), path.read_text()
    path.write_text(f"floor = {{ MED = 0 }}\n{text}")
    with present(before, key), present(read_provider_file(path), key):
        path.write_text(f"{line}\n{text}")
        with pytest.raises(InputError, match=f"with another {differing}, and"), present(read_provider_file(path), key):
            pass


def test_the_example_s_folder_is_not_overwritten(pacas: Any, folder: Path) -> None:
    (folder / "pacas-example").mkdir()
    (folder / "pacas-example" / "provider.toml").write_text("mine")
    assert "is there already and differs" in pacas("serve", "--example").complaint
    assert os.listdir(folder / "pacas-example") == ["provider.toml"]


# ---- --console ------------------------------------------------------------------------------------------------------


LOADED = """
import atexit, sys
rooms = lambda: sorted({".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("pacas.")} & ROOMS)
ROOMS = {"pacas.console", "pacas.pages", "pacas.review"}
atexit.register(lambda: print("rooms:", *rooms(), "jinja2" in sys.modules, file=sys.stderr))
from pacas.cli.main import main
main()
"""


def test_without_a_console_there_is_no_route_and_nothing_of_it_is_loaded(
    folder: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PACAS", (sys.executable, "-c", LOADED))
    served = serve("provider.toml", "--port", "0")
    url = served.line.split()[-1]
    for path in ("/console", "/console/login", "/console/assets/pacas.css"):
        answer = httpx.get(url + path, trust_env=False)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert served.end()[0] == 0
    assert served.stderr.read_text().splitlines()[-1] == "rooms: False"


def test_a_console_is_served_and_its_counts_outlast_a_restart(pacas: Any, folder: Path, serve: Serve) -> None:
    served = serve("provider.toml", "--port", "0", "--console")
    assert "nobody is an operator yet" in served.stderr.read_text()
    served.end()
    token = pacas("account", "add", "olga", "provider.toml", "--role", "operator", "--json").document["token"]
    for times in (1, 2):
        served = serve("provider.toml", "--port", "0", "--console")
        url = served.line.split()[-1]
        assert f"The console is at {url}/console" in served.stderr.read_text()
        assert call(url, "/v1/account", "nobody").status_code == 401
        with httpx.Client(base_url=url, trust_env=False, follow_redirects=True) as client:
            overview = client.post("/console/login", data={"token": token})
            assert overview.status_code == 200
            told = " ".join(re.sub("<[^>]+>", " ", overview.text).split())
            assert f"unauthorized {times} {times}" in told
        assert served.end()[0] == 0
        log = served.stderr.read_text()
        assert token not in log and '"done":"log in","operator":"olga"' in log


def test_over_tls_the_cookie_is_for_tls_alone(pacas: Any, folder: Path, serve: Serve) -> None:
    files = Authority(folder).sign("server")
    token = pacas("account", "add", "olga", "provider.toml", "--role", "operator", "--json").document["token"]
    tls = ("--tls-cert", str(files.certificate), "--tls-key", str(files.key))
    url = serve("provider.toml", "--port", "0", "--console", *tls).line.split()[-1]
    context = ssl.create_default_context(cafile=str(folder / "authority.pem"))
    with httpx.Client(base_url=url, trust_env=False, verify=context) as client:
        answer = client.post("/console/login", data={"token": token})
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"].lower()
        assert "; secure" in cookie and "httponly" in cookie and "samesite=strict" in cookie
        assert client.get("/console").status_code == 200

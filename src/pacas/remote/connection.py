"""A client's connection to a provider's server: kept alive, patient, and strict about whom it talks to.

Every request may be sent again: quotes change nothing, and a purchase is charged once under its idempotency key. So
whatever is lost on the way, the request or its answer, is simply asked for again.
"""

from __future__ import annotations

import json
import random
import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import local
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from pacas.errors import FileError, InputError, KeyReusedError, PacasError, RemoteError
from pacas.remote.address import Address

if TYPE_CHECKING:
    import httpx

Certificate = tuple[str | Path, str | Path]
"""A client's certificate and its private key, two PEM files."""

AT_FIRST = 3.0
"""Seconds of patience with a server that has not answered yet: its address may be wrong."""
CONNECTING = 10.0
"""The most seconds for a connection to be made, and for the first answer to begin."""
TIMEOUT = 30.0
"""Seconds that a server may take for one answer."""
SLOWEST = 100_000
"""Bytes of an answer that are given another second: a large one may take longer, a trickle may not."""
SHORTEST_WAIT = 0.1
"""Seconds to wait after the first try; twice as long after each further one."""
LONGEST_WAIT = 5.0
PLAIN = {"Accept-Encoding": "identity"}
"""A few bytes could inflate to any number."""
LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer that are read, where a caller does not expect more."""
LONGEST_MESSAGE = 400
"""Characters of a server's message that are shown."""
_TOKEN = "the token is missing, wrong or revoked; give it with --token or PACAS_TOKEN"
_LATER = frozenset({429, 502, 503, 504})
"""Answers that say: not now."""
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"})
"""What OpenSSL says of an answer that is no TLS, over its releases."""
_OTHER_NAME = frozenset({62, 64})
"""OpenSSL's numbers for a certificate that holds, but for another name or another IP address."""


class Connection:
    """Sends requests to one server, for any number of threads. The token is sent there and to nobody else."""

    def __init__(
        self,
        address: Address,
        token: str | None,
        *,
        timeout: float,
        patience: float,
        ca: str | Path | None,
        client_certificate: Certificate | None,
    ) -> None:
        import httpx  # takes longer to load than most commands to run

        self._http = httpx
        self._address = address
        self._patience = patience
        self._has_answered = False
        self._has_authority, self._has_certificate = ca is not None, client_certificate is not None
        self._timeout = timeout
        self._answer = _Answer()
        self._client = httpx.Client(
            headers=PLAIN if token is None else {**PLAIN, "Authorization": f"Bearer {_checked(token)}"},
            verify=_context(ca, client_certificate) if address.is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECTING)),
            follow_redirects=False,
            trust_env=not address.is_loopback,  # a proxy is not asked for what is here
        )

    def __repr__(self) -> str:
        return f"Connection({self._address.url!r})"

    def close(self) -> None:
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        most: int = LARGEST_ANSWER,
    ) -> httpx.Response:
        """A successful answer; anything else is an error of ours, with the server's own line where it has one."""
        try:
            request = self._client.build_request(method, self._address.url + path, content=content, headers=headers)
        except (self._http.InvalidURL, UnicodeError):
            raise InputError(f"{self._address.url} is no URL that can be asked") from None
        tries = Tries(self._patience if self._has_answered else min(self._patience, AT_FIRST))
        while True:
            tries.count += 1
            told = self._send(request, most)
            if isinstance(told, self._http.Response):
                self._has_answered, tries.patience = True, self._patience
                if told.status_code not in _LATER:
                    _raise_for(told, self._address.url)
                    return told
            if not tries.again(_retry_after(told) if isinstance(told, self._http.Response) else 0.0):
                raise self._given_up(told, tries)

    def _send(self, request: httpx.Request, most: int) -> httpx.Response | httpx.TransportError:
        """One try: what came back, or why nothing did."""
        http = self._http
        try:
            seconds = self._timeout
            if not self._has_answered:
                seconds = min(seconds, CONNECTING)
                request.extensions["timeout"] = http.Timeout(seconds).as_dict()
            request.extensions["trace"] = self._made
            self._answer.until = monotonic() + seconds
            with closing(self._client.send(request, stream=True)) as told:
                return self._read(told, request, most)
        except (http.TimeoutException, http.NetworkError, http.RemoteProtocolError) as error:
            if (tls := _tls_fault(error)) is not None:
                raise self._untrusted(tls) from None
            fault: httpx.TransportError = error
            return fault
        except http.HTTPError as error:
            raise RemoteError(f"{self._address.url} cannot be asked ({type(error).__name__})") from None

    def _made(self, event: str, about: Mapping[str, Any]) -> None:
        """Of each connection that is made, what is read counts: httpx has a time for each read, none for an answer."""
        if not event.endswith(("connect_tcp.complete", "start_tls.complete")):
            return
        stream, answer = about["return_value"], self._answer
        read = stream.read

        def in_time(most: int, timeout: float | None = None) -> bytes:
            left = answer.until - monotonic()
            if left <= 0:
                raise self._http.ReadTimeout("the answer does not end")
            part: bytes = read(most, left if timeout is None else min(left, timeout))
            answer.until += len(part) / SLOWEST
            return part

        stream.read = in_time

    def _read(self, told: httpx.Response, request: httpx.Request, most: int) -> httpx.Response:
        """An answer as it came, counted as it comes: one that is to be inflated was not asked for."""
        url = self._address.url
        if told.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
            raise RemoteError(f"{url} sends compressed what was asked for plain; is there a proxy in between?")
        parts, size = [], 0
        for part in told.iter_raw():
            size += len(part)
            if size > most:
                raise RemoteError(f"{url} sends more than {most:,} bytes, as no provider would; is the address right?")
            parts.append(part)
        response: httpx.Response = self._http.Response(
            told.status_code, headers=told.headers, content=b"".join(parts), request=request
        )
        return response

    def _given_up(self, told: httpx.Response | httpx.TransportError, tries: Tries) -> RemoteError:
        url = self._address.url
        if isinstance(told, self._http.Response):
            if told.status_code == 429:
                wait = f"{_retry_after(told):.0f} s"
                return RemoteError(f"the provider at {url} asks to wait for {wait}, for too much was asked ({tries})")
            return RemoteError(f"the provider at {url} is not ready ({told.status_code}; {tries}); try again later")
        hung_up = isinstance(told, self._http.RemoteProtocolError | self._http.ReadError)
        if hung_up and not self._has_answered:
            return RemoteError(f"what is at {url} hangs up{self._why_it_may()} ({tries})")
        if isinstance(told, self._http.ReadTimeout) and self._has_answered:
            return RemoteError(f"the provider at {url} takes too long for an answer ({tries}); try again later")
        return RemoteError(f"no provider answers at {url}; is it running? ({tries})")

    def _why_it_may(self) -> str:
        """Why somebody may hang up before the first answer."""
        if not self._address.is_secure:
            return " on plain http; does it want https://?"
        return f"; {self._on_certificate()}"

    def _on_certificate(self) -> str:
        if self._has_certificate:
            return "is it a certificate that it accepts (--cert)?"
        return "does it ask for a certificate (--cert)?"

    def _untrusted(self, fault: ssl.SSLError) -> RemoteError:
        url = self._address.url
        if isinstance(fault, ssl.SSLCertVerificationError):
            reason = (fault.verify_message or "it cannot be verified").rstrip(".")
            return RemoteError(f"the certificate of {url} is not trusted ({reason}); {self._on_trust(fault)}")
        reason = (fault.reason or "no reason given").lower().replace("_", " ")
        hint = "does it speak plain http?" if fault.reason in _NO_TLS else self._on_certificate()
        return RemoteError(f"no secure connection to {url} ({reason}); {hint}")

    def _on_trust(self, fault: ssl.SSLCertVerificationError) -> str:
        if fault.verify_code in _OTHER_NAME:
            return "is the address the one that it is for?"
        if self._has_authority:
            return "is its authority the one in the --ca file?"
        return "if its authority is a private one, give it with --ca"


class _Answer(local):
    """The answer that a thread waits for."""

    until: float
    """When it must have come to its end, if no more of it comes."""


def _tls_fault(error: BaseException | None) -> ssl.SSLError | None:
    """What TLS has against the other side, if that is why a request failed; a connection that was cut is no such."""
    while error is not None:
        if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _checked(token: str) -> str:
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise InputError("the token is no token: one has letters, digits, '-' and '_' only")
    return token


def _context(ca: str | Path | None, client_certificate: Certificate | None) -> ssl.SSLContext:
    """Whom to trust, and how to prove who we are."""
    import httpx

    context: Any = httpx.create_ssl_context() if ca is None else _trusting(ca)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if client_certificate is not None:
        certificate, key = client_certificate
        try:
            context.load_cert_chain(certificate, key, password=lambda: "")  # never asks for one at the terminal
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            raise FileError(f"{certificate} and {key} are no client certificate ({_why(error)})") from None
    found: ssl.SSLContext = context
    return found


def _trusting(ca: str | Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca))
    except (OSError, ValueError) as error:
        raise FileError(f"{ca} holds no certificates of an authority ({_why(error)}); give a PEM file") from None


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "not PEM").lower().replace("_", " ")
    return getattr(error, "strerror", None) or "not PEM"


# ---- trying again ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tries:
    """The tries of one request, made as long as `patience` (seconds) lasts.

    Each wait is drawn at random between half of its length and all of it, so that clients that lost a server at the
    same moment do not come back at the same moment.
    """

    patience: float
    count: int = 0
    _began: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        """Since the first try began."""
        return monotonic() - self._began

    def again(self, at_least: float = 0.0) -> bool:
        """Wait, `at_least` so long, before the next try; False, without waiting, where the patience is at its end."""
        doubled = min(LONGEST_WAIT, SHORTEST_WAIT * 2 ** min(self.count - 1, 16))
        wait = max(at_least, doubled * random.uniform(0.5, 1.0))
        if self.seconds + wait > self.patience:
            return False
        sleep(wait)
        return True

    def __str__(self) -> str:
        tries = "1 try" if self.count == 1 else f"{self.count} tries"
        return f"{tries} in {self.seconds:.0f} s"


# ---- what an answer says is wrong -----------------------------------------------------------------------------------


def _raise_for(response: httpx.Response, url: str) -> None:
    """Raise what the answer says is wrong, if it does."""
    if response.status_code != 200:
        raise _error_of(response.status_code, _message_of(response), url)


def _retry_after(response: httpx.Response) -> float:
    """The seconds that a server asks to wait; 0 where it does not say, or says it as a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0


def no_provider(url: str) -> RemoteError:
    """For an answer that no provider would give."""
    return RemoteError(f"what answers at {url} is not a provider, or one of another release; is the address right?")


def _error_of(status: int, message: str | None, url: str) -> PacasError:
    match status:
        case 401 if message and "expired" in message:
            return RemoteError(f"{url}: {message}")
        case 401:
            return RemoteError(f"{url}: {_TOKEN}")
        case 403 if message:
            return RemoteError(f"{url} does not allow it: {message}")
        case 409 if message:
            return KeyReusedError(message)
        case 413:
            return InputError(f"{url} takes no request of that size{f' ({message})' if message else ''}")
        case 400 | 404 | 415 | 422 if message:
            return InputError(message)
        case _ if 300 <= status < 400:
            return RemoteError(f"{url} sends elsewhere ({status}), where the token is not for; give the final address")
        case _ if status >= 500:
            return RemoteError(f"the provider at {url} failed ({status}); its own log says why")
        case _:
            return no_provider(url)


def _message_of(response: httpx.Response) -> str | None:
    """The server's one line, with nothing in it that a terminal would obey; None where there is none."""
    try:
        error = json.loads(response.content)["error"]
        message = error["message"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(message, str) or not message.strip():
        return None
    line = "".join(c if c.isprintable() else " " for c in message).strip()
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"

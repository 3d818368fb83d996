"""What a server's refusal means to its client: HTTP's status codes as errors of ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pacas.errors import InputError, KeyReusedError, PacasError, RemoteError

if TYPE_CHECKING:
    import httpx

MOST = 400
"""Characters of a server's message that are shown."""

_TOKEN = "the token is missing, wrong or revoked; give it with --token or PACAS_TOKEN"


def raise_for(response: httpx.Response, url: str) -> None:
    """Raise what the answer says is wrong, if it does."""
    if response.status_code != 200:
        raise _error(response.status_code, _message(response), url)


def retry_after(response: httpx.Response) -> float:
    """The seconds that a server asks to wait; 0 where it does not say, or says it as a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0


def no_provider(url: str) -> RemoteError:
    """For an answer that no provider would give."""
    return RemoteError(f"what answers at {url} is not a provider, or one of another release; is the address right?")


def _error(status: int, message: str | None, url: str) -> PacasError:
    match status:
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


def _message(response: httpx.Response) -> str | None:
    """The server's one line, with nothing in it that a terminal would obey; None where there is none."""
    try:
        error = json.loads(response.content)["error"]
        message = error["message"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(message, str) or not message.strip():
        return None
    line = "".join(c if c.isprintable() else " " for c in message).strip()
    return line if len(line) <= MOST else line[: MOST - 1] + "…"

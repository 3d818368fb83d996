"""What is said when a call fails: one JSON shape, one line, and nothing of what the provider keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pacas.errors import InputError, KeyReusedError, LedgerWentBackError, StorageError
from pacas.wire.shapes.base import JSON
from pacas.wire.shapes.failures import STATUS, ErrorCode

LONGEST = 200
"""A message may hold what the client sent; it gets no more than so many characters of it back."""

MOST_PROBLEMS = 1000

LISTS = ("requests", "purchases")
"""The keys of what a call may have many of."""

_BY_STATUS = {status: code for code, status in reversed(STATUS.items())}


class Failure(Exception):
    """A call that is not answered, and why."""

    def __init__(self, code: ErrorCode, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.headers = code, message, headers

    def response(self) -> Response:
        body = to_json({"error": {"code": self.code.value, "message": _one_line(self.message)}})
        return Response(body, self.code.status, self.headers, JSON)

    @classmethod
    def unauthorized(cls) -> Failure:
        """No valid token came with the call; whether none, an unknown or a revoked one is not told."""
        message = "a valid token is needed: Authorization: Bearer TOKEN"
        return cls(ErrorCode.UNAUTHORIZED, message, {"WWW-Authenticate": "Bearer"})

    @classmethod
    def expired(cls) -> Failure:
        """The token was the account's, and its time is over: who holds it may know that."""
        message = "the token has expired; ask the provider for a new one"
        return cls(ErrorCode.TOKEN_EXPIRED, message, {"WWW-Authenticate": 'Bearer error="invalid_token"'})

    @classmethod
    def internal(cls) -> Failure:
        return cls(ErrorCode.INTERNAL, "an error inside the service; its log says where")

    @classmethod
    def unavailable(cls) -> Failure:
        """The store is away. What is wrong with it is for the provider's log, not for its clients."""
        return cls(ErrorCode.UNAVAILABLE, "the provider's ledger cannot be used now; try again, with the same key")

    @classmethod
    def of_ledger(cls, error: Exception | None) -> Failure:
        """The ledger cannot be used. That it has gone back is no secret: clients may hold what it has forgotten."""
        if not isinstance(error, LedgerWentBackError):
            return cls.unavailable()
        message = "the provider's ledger no longer holds what was sold: nothing is sold until it is put right"
        return cls(ErrorCode.UNAVAILABLE, message)

    @classmethod
    def too_many(cls, most: int) -> Failure:
        return cls(ErrorCode.TOO_LARGE, f"more than the {most:,} requests that one call may have; send fewer")

    @classmethod
    def stopping(cls) -> Failure:
        """The service ends before the call does. What was bought by then is in the ledger, under its key."""
        message = "the service is stopping; send the call again with the same key: what was bought is not charged again"
        return cls(ErrorCode.UNAVAILABLE, message)

    @classmethod
    def of(cls, error: ValidationError, before: int = 0, start: int = 0) -> Failure:
        """pydantic's first complaint: where, and what is expected there. A piece of a list comes behind so many others,
        and begins at this byte."""
        if error.error_count() > MOST_PROBLEMS:  # each of them would take more memory than what it is about
            return cls(
                ErrorCode.UNPROCESSABLE, f"the body has more than {MOST_PROBLEMS:,} keys or values that are wrong"
            )
        problem = error.errors(include_url=False, include_input=False)[0]
        if problem["type"] == "too_long" and problem["loc"][-1] in LISTS:
            return cls.too_many(problem["ctx"]["max_length"])
        if problem["type"] == "json_invalid":
            near = f", counted from byte {start:,}" if start else ""
            return cls(ErrorCode.BAD_REQUEST, f"the body is not JSON: {problem['msg'].partition(': ')[2]}{near}")
        place = [part for part in problem["loc"] if part not in ("one", "many")]
        if before and isinstance(number := place[1] if len(place) > 1 else None, int):
            place[1] = number + before
        where = ".".join(map(str, place))
        return cls(ErrorCode.UNPROCESSABLE, f"{where or 'the body'}: {problem['msg']}")


def handle_failures(app: Starlette) -> None:
    """Answer every kind of failure in the one shape."""
    app.add_exception_handler(Failure, _failure)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(InputError, _input)
    app.add_exception_handler(StorageError, _storage)


async def _failure(request: Request, error: Any) -> Response:
    response: Response = error.response()
    return response


async def _http(request: Request, error: Any) -> Response:
    """What the framework refuses: a path that is not there, a method that a path does not have."""
    code = _BY_STATUS.get(error.status_code, ErrorCode.BAD_REQUEST)
    said = {
        ErrorCode.NOT_FOUND: "there is nothing at this path; /v1/openapi.json lists what there is",
        ErrorCode.METHOD_NOT_ALLOWED: "this path does not take this method; /v1/openapi.json lists those it takes",
    }
    return Failure(code, said.get(code, "the request cannot be read"), error.headers).response()


async def _input(request: Request, error: Any) -> Response:
    code = ErrorCode.CONFLICT if isinstance(error, KeyReusedError) else ErrorCode.UNPROCESSABLE
    return Failure(code, str(error)).response()


async def _storage(request: Request, error: Any) -> Response:
    request.scope["problem"] = str(error)  # for the log
    return Failure.of_ledger(error).response()


def _one_line(message: str) -> str:
    """Printable, on one line, not too long."""
    line = "".join(c if c.isprintable() else " " for c in message[: LONGEST + 1])
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"

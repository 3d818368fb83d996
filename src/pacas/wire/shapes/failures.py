"""What a service says of calls that fail, and of itself."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from pydantic import Field

from pacas.wire.shapes.base import ServerShape


class ErrorCode(Enum):
    """What went wrong, for programs."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    TOKEN_EXPIRED = "token_expired"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    UNPROCESSABLE = "unprocessable"
    RATE_LIMITED = "rate_limited"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"

    @property
    def status(self) -> int:
        return STATUS[self]


STATUS = dict(zip(ErrorCode, (400, 401, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503), strict=True))


class ErrorDetail(ServerShape):
    """What went wrong."""

    code: ErrorCode
    message: str = Field(description="For people, in one line.")


class ErrorBody(ServerShape):
    """The one shape of all errors."""

    error: ErrorDetail


class Status(ServerShape):
    """Whether the service is there."""

    status: Literal["ok"] = "ok"

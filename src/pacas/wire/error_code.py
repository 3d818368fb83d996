"""What can go wrong with a call, by name and by HTTP status."""

from __future__ import annotations

from enum import Enum


class ErrorCode(Enum):
    """What went wrong, for programs."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
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


STATUS = dict(zip(ErrorCode, (400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503), strict=True))

"""The names that buyers and purchases go by: every provider takes them, and every store can look them up."""

from __future__ import annotations

from pacas.errors import InputError

NAME_LENGTH = 256
LOCAL = "local"
"""Who buys from a provider in its own process, if nothing is said."""


def check_buyer(buyer: str) -> None:
    """Raise an InputError unless this can be a buyer's name."""
    check_name(buyer, "a buyer")


def check_key(idempotency_key: str) -> None:
    """Raise an InputError unless this can be an idempotency key."""
    check_name(idempotency_key, "an idempotency key")


def is_name(name: str) -> bool:
    """Whether a text has 1 to 256 characters, all of them printable."""
    return 1 <= len(name) <= NAME_LENGTH and name.isprintable()


def check_name(name: str, what: str) -> None:
    """Raise an InputError unless a text is a name."""
    if not is_name(name):
        raise InputError(f"{what} must be 1 to {NAME_LENGTH} printable characters")

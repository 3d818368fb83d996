"""Texts, names and values as TOML writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(text: str) -> str:
    """A text as TOML writes it.

    >>> print(toml_text('fd of "A"'))
    "fd of \\"A\\""
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_list(names: Iterable[str]) -> str:
    """Names as TOML writes a list of them.

    >>> toml_list(["sex", "age"])
    '["sex", "age"]'
    """
    return f"[{', '.join(map(toml_text, names))}]"


def toml_key(name: str) -> str:
    """A name on the left of an equals sign: bare where it can be.

    >>> toml_key("ZIP"), toml_key("marital status")
    ('ZIP', '"marital status"')
    """
    return name if _BARE.fullmatch(name) else toml_text(name)


def toml_value(value: Any) -> str:
    """A value on the right: a text, a number, a list, or a table on one line.

    >>> toml_value({"build": "intervals", "widths": [10, 30]})
    '{ build = "intervals", widths = [10, 30] }'
    """
    match value:
        case bool():
            return str(value).lower()
        case str():
            return toml_text(value)
        case Mapping():
            return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(one)}" for key, one in value.items()) + " }"
        case int() | float():
            return repr(value)
        case _:
            return f"[{', '.join(map(toml_value, value))}]"


def comment(text: str) -> str:
    """A text on one line, as a comment may have it: no control characters."""
    return "".join(c if c.isprintable() else " " for c in text)

"""Names, values and short tables as TOML writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def toml_key(name: str) -> str:
    """A key: bare where TOML allows it.

    >>> toml_key("native-country"), toml_key("ZIP, or postcode")
    ('native-country', '"ZIP, or postcode"')
    """
    return name if _BARE.fullmatch(name) else toml_value(name)


def toml_value(value: object) -> str:
    """A value on one line: a text, a number, a list, or a table in braces.

    >>> toml_value({"build": "intervals", "widths": [10, 0.5]})
    '{ build = "intervals", widths = [10, 0.5] }'
    """
    match value:
        case Mapping():
            return f"{{ {', '.join(f'{toml_key(str(key))} = {toml_value(one)}' for key, one in value.items())} }}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return json.dumps(value)

"""What is wrong with a file that is not TOML, in a line that shows how to write it."""

from __future__ import annotations

import re

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_ASSIGNED = re.compile(r"\s*(?P<key>[^=:#]*?)\s*(?P<sign>[=:])\s*(?P<value>.*?)\s*(?:#.*)?$")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'")
_CURLY = "“”„‘’"
_MOST = 60


def mistake(text: str, problem: str) -> str:
    """What a TOML reader complains of, with its line and, for what people often write, how it is written."""
    place = _PLACE.search(problem)
    if place is None:
        return problem
    lines = text.splitlines() or [""]
    number = min(int(place[1] or len(lines)), len(lines))
    line = lines[number - 1]
    said = problem[: place.start()]
    how = _how(line, said)
    return f"line {number}: {said[:1].lower()}{said[1:]}{f'; {how}' if how else ''}"


def _how(line: str, said: str) -> str | None:
    assigned = _ASSIGNED.match(line)
    if said.startswith("Cannot declare"):
        name = "".join(re.findall(r"\('([^']*)',\)", said))
        return f"sections that may stand several times have two brackets, [[{name}]]" if name else None
    if said.startswith("Unclosed array"):
        return "a list that begins before it lacks its ]"
    if assigned is None or not assigned["key"]:
        return "a line is a [section], or a key, = and a value" if "=" in said or "statement" in said else None
    key, value = assigned["key"], assigned["value"]
    if any(quote in line for quote in _CURLY):
        return f'use straight quotes, as in {key} = "…"'
    if "\\" in value:
        return f"write paths with /, or in single quotes, as in {key} = '…'"
    if said.startswith("Cannot overwrite"):
        return f"{key!r} stands there twice"
    if said.startswith("Invalid statement"):
        return "a line is a [section], or a key, = and a value"
    if not _BARE_KEY.fullmatch(key):
        return f'a name with spaces or signs stands in quotes, as in "{key}" = …'
    if assigned["sign"] == ":":
        return f"a value follows =, as in {key} = …"
    if value in ("True", "False"):
        return f"write {key} = {value.lower()}"
    return f"text stands in quotes, as in {key} = {_quoted(value)}" if said.startswith("Invalid value") else None


def _quoted(value: str) -> str:
    """How a value without quotes was meant; not repeated where it is long, or might hold a password."""
    if len(value) > _MOST or '"' in value or "@" in value or not value:
        return '"…"'
    if not value.startswith("["):
        return f'"{value}"'
    inner = value.strip("[] ")
    parts = [inner] if "->" in inner or "=" in inner else [part.strip().strip("'") for part in inner.split(",")]
    return "[" + ", ".join(f'"{part}"' for part in parts) + "]"

"""Which PACAS this is: its version and, if it runs from a source tree or was installed from one, the commit."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
SHOWN = 12
"""Characters of a commit's name."""
NOTED = "commit"
"""The file in a wheel's metadata that says which commit it was built from (`hatch_build.py`)."""


def version_line() -> str:
    from importlib.metadata import distribution  # here: it takes a moment, and no other command asks

    found = distribution("pacas")
    built = found.read_text(f"extra_metadata/{NOTED}")
    commit = _installed(found.read_text("direct_url.json")) or built or commit_of(Path(__file__).parents[3])
    return f"pacas {found.version}" + (f" (commit {commit[:SHOWN]})" if commit else "")


def _installed(direct_url: str | None) -> str | None:
    """The commit that an installer noted down, as pip does for `pip install git+…`."""
    with suppress(ValueError, KeyError, TypeError):
        commit = json.loads(direct_url or "{}")["vcs_info"]["commit_id"]
        return commit if isinstance(commit, str) and _COMMIT.fullmatch(commit) else None
    return None


def commit_of(tree: Path) -> str | None:
    """The commit that a source tree is at, as its .git says; none for what is no PACAS tree of git's."""
    if not (tree / "src" / "pacas").is_dir():
        return None
    with suppress(OSError, ValueError):
        git = tree / ".git"
        if git.is_file():  # a worktree: its own folder is elsewhere
            git = (tree / git.read_text().removeprefix("gitdir:").strip()).resolve()
        shared = git / "commondir"
        common = (git / shared.read_text().strip()).resolve() if shared.is_file() else git
        head = (git / "HEAD").read_text().strip()
        return _resolved(head, git, common)
    return None


def _resolved(head: str, git: Path, common: Path) -> str | None:
    name = head.removeprefix("ref:").strip()
    if name == head:
        return head if _COMMIT.fullmatch(head) else None
    for place in (git, common):
        if (place / name).is_file():
            commit = (place / name).read_text().strip()
            return commit if _COMMIT.fullmatch(commit) else None
    for line in (common / "packed-refs").read_text().splitlines():
        commit, _, reference = line.partition(" ")
        if reference == name and _COMMIT.fullmatch(commit):
            return commit
    return None

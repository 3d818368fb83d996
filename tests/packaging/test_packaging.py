"""What stands around the code agrees with it: the bill of materials, the image, the citation, the version."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from dockerfile import instructions

from pacas.cli.version import commit_of

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HASH = re.compile(r"sha256:([0-9a-f]{64})")


def pinned(lock: str) -> dict[str, str]:
    lines = (ROOT / "requirements" / lock).read_text().splitlines()
    return dict(line.split()[0].split("==") for line in lines if re.match(r"\S+==", line))


def test_the_bill_of_materials_equals_the_lock(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "sbom.py", tmp_path / "sbom.json"], check=True, stdout=-3)
    bill = json.loads((tmp_path / "sbom.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert {one["name"]: one["version"] for one in bill["components"]} == pinned("runtime.lock")
    hashes = [
        digest["content"]
        for one in bill["components"]
        for reference in one["externalReferences"]
        for digest in reference["hashes"]
    ]
    assert hashes == HASH.findall((ROOT / "requirements" / "runtime.lock").read_text())


def test_the_services_lock_is_the_runtimes_with_what_a_shared_ledger_needs() -> None:
    service, runtime = pinned("service.lock"), pinned("runtime.lock")
    assert runtime.items() <= service.items()
    assert "psycopg" in service and service.items() <= (pinned("dev.lock") | runtime).items()


def test_no_lock_names_a_host() -> None:
    locks = {path.name: path.read_text() for path in (ROOT / "requirements").glob("*.lock")}
    assert {"runtime.lock", "dev.lock", "service.lock", "dbt.lock", "soda.lock"} == set(locks)
    assert not [name for name, text in locks.items() if "://" in text]


def test_the_image_runs_without_rights_what_the_wheel_has() -> None:
    told = instructions()
    last = dict(told)
    assert int(last["USER"].split(":")[0]) > 0
    assert last["ENTRYPOINT"] == '["pacas"]' and json.loads(last["CMD"])[0] == "serve"
    copied = [name for what, rest in told if what == "COPY" and "--from" not in rest for name in rest.split()[:-1]]
    assert all((ROOT / name).exists() for name in copied)
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    assert all(f"!{name}" in allowed for name in copied)
    assert any("--require-hashes" in rest for what, rest in told if what == "RUN")


def test_the_compose_file_keeps_the_root_read_only_and_names_no_password() -> None:
    text = (ROOT / "compose.yaml").read_text()
    for said in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true", "tmpfs: [/tmp]", "internal: true"):
        assert said in text
    assert set(re.findall(r"PASSWORD: (\S)", text)) == {"$"}


def test_citation_and_project_say_the_same() -> None:
    text = (ROOT / "CITATION.cff").read_text()
    assert f"version: {PROJECT['version']}\n" in text and f"license: {PROJECT['license']}\n" in text
    assert f"url: {PROJECT['urls']['Paper']}\n" in text


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src" / "pacas").mkdir(parents=True)
    return tmp_path


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_commit_of_a_clone_packed_or_not_of_a_worktree_and_of_a_detached_head(tree: Path) -> None:
    git = tree / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert commit_of(tree) is None
    (git / "packed-refs").write_text(f"# pack-refs\n{COMMIT} refs/heads/main\n")
    assert commit_of(tree) == COMMIT
    (git / "refs" / "heads" / "main").write_text(COMMIT[::-1] + "\n")
    assert commit_of(tree) == COMMIT[::-1]
    (git / "HEAD").write_text(COMMIT + "\n")
    assert commit_of(tree) == COMMIT
    other = tree / "other"
    (other / "src" / "pacas").mkdir(parents=True)
    (git / "worktrees" / "other").mkdir(parents=True)
    (other / ".git").write_text(f"gitdir: {git / 'worktrees' / 'other'}\n")
    (git / "worktrees" / "other" / "commondir").write_text("../..\n")
    (git / "worktrees" / "other" / "HEAD").write_text("ref: refs/heads/main\n")
    assert commit_of(other) == COMMIT[::-1]


def test_what_is_no_tree_of_ours_has_no_commit(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(COMMIT)
    assert commit_of(tmp_path) is None

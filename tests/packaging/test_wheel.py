"""The wheel as people install it, in a home where nothing is; its dependencies are those that are here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from certificates import Authority
from dockerfile import instructions

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOT_HAD = ("No matching distribution found", "Failed to establish a new connection", "Failed to fetch", "dns error")
"""What pip and uv say where no package registry is reached, or none has a package for this Python."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what belongs to it, as if that were a clone."""
    tree = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text(COMMIT)
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=tree, check=True)
    return next((tree / "dist").glob("*.whl"))


def outside(home: Path) -> dict[str, str]:
    """An environment without anything of ours but the packages that PACAS depends on."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    packages = home / "packages"
    packages.mkdir()
    for found in Path(sysconfig.get_path("purelib")).iterdir():
        if not found.name.lower().startswith(("pacas", "_pacas", "__editable__")) and found.suffix != ".pth":
            (packages / found.name).symlink_to(found)
    return kept | {"HOME": str(home), "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}


def printed(*command: str | Path, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_uv_tool_install_works_in_a_clean_home(wheel: Path, tmp_path: Path) -> None:
    env = outside(tmp_path)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    nothing = tmp_path / "overrides.txt"  # what is here already is not fetched
    names = (requirement.split(">")[0].split("[")[0] for requirement in project["dependencies"])
    nothing.write_text("".join(f"{name} ; python_version < '3'\n" for name in names))
    uv = Path(sys.executable).with_name("uv")
    printed(
        uv, "tool", "install", "--offline", "--overrides", nothing, "-p", sys.executable, wheel, cwd=tmp_path, env=env
    )
    pacas = tmp_path / ".local" / "bin" / "pacas"
    assert printed(pacas, "--version", cwd=tmp_path, env=env) == f"pacas {project['version']} (commit {COMMIT[:12]})\n"
    printed(pacas, "demo", "--files", "shop", cwd=tmp_path, env=env)
    clean = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--output", "clean.csv")
    assert "clean.csv written" in printed(pacas, *clean, cwd=tmp_path / "shop", env=env)


@pytest.mark.slow
def test_the_images_steps_run_and_what_they_make_serves_writing_nothing_but_the_shop(tmp_path: Path) -> None:
    """With a plain environment in place of an image: the root, and whoever runs it, are this machine's.

    And uv in place of pip, with the same options: it keeps what it has fetched.
    """
    source, opt, shop = (tmp_path / name for name in ("source", "opt", "shop"))
    source.mkdir()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env |= {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "PIP_NO_COMPILE": "1"}
    told = instructions()
    for what, rest in told:
        match what, rest.split():
            case "COPY", [*names, target] if "--from" not in rest:
                for name in names:
                    _copy(ROOT / name, source / target / Path(name).name if target.endswith("/") else source / target)
            case "RUN", _:
                step = rest.replace("/opt/pacas", str(opt)).replace("--no-cache-dir ", "")
                _run(step.replace(f"{opt}/bin/pip install", f"uv pip install --python {opt}"), source, env)
    pacas = opt / "bin" / "pacas"
    env = {"PATH": f"{opt / 'bin'}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(tmp_path / "nowhere")}
    printed(pacas, "demo", "--files", shop, cwd=tmp_path, env=env)
    certificate, _ = Authority(shop).sign("tls")
    certificate.rename(shop / "tls.pem")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if "shop" not in path.parts}
    entrypoint, command = (json.loads(rest) for what, rest in told if what in ("ENTRYPOINT", "CMD"))
    ready = printed(opt / "bin" / entrypoint[0], *command, "--check", cwd=shop, env=env)
    assert ready.startswith("ready to serve at https://0.0.0.0:8321")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if "shop" not in path.parts} == before


def _copy(what: Path, to: Path) -> None:
    to.parent.mkdir(exist_ok=True)
    if what.is_dir():
        shutil.copytree(what, to, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(what, to)


def _run(step: str, cwd: Path, env: dict[str, str]) -> None:
    done = subprocess.run(["sh", "-c", step], cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode and any(said in done.stderr for said in NOT_HAD):
        pytest.skip(f"what the image is made of cannot be had here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr

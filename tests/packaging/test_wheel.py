"""The wheel as people install it, in a home where nothing is; its dependencies are those that are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what belongs to it."""
    tree = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
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
    assert printed(pacas, "--version", cwd=tmp_path, env=env) == f"pacas {project['version']}\n"
    printed(pacas, "demo", "--files", "shop", cwd=tmp_path, env=env)
    clean = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--output", "clean.csv")
    assert "clean.csv written" in printed(pacas, *clean, cwd=tmp_path / "shop", env=env)


@pytest.mark.slow
def test_the_images_command_serves_from_a_wheel_where_nothing_but_the_shop_and_tmp_is_written(
    wheel: Path, tmp_path: Path
) -> None:
    env = outside(tmp_path)
    venv.create(tmp_path / "opt", with_pip=False, symlinks=True)
    site = next((tmp_path / "opt" / "lib").glob("python*")) / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    python = tmp_path / "opt" / "bin" / "python"
    run = (python, "-c", "from pacas.cli.main import main; main()")
    printed(*run, "demo", "--files", "shop", cwd=tmp_path, env=env)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if "shop" not in path.parts}
    ready = printed(*run, "serve", "provider.toml", "--check", cwd=tmp_path / "shop", env=env | {"HOME": "/nowhere"})
    assert ready.startswith("ready to serve at")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if "shop" not in path.parts} == before

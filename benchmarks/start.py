"""How long short commands take: CPU time of whole processes, beside that of loading the three large libraries alone."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from pacas.protocol.receipt import Receipt
from pacas.server.signing_key import SigningKey
from pacas.wire.shapes.receipts import ReceiptDocument

LIBRARIES = "import duckdb, numpy, pyarrow"
MAIN = "from pacas.cli.main import main; main()"
COMMANDS: dict[str, tuple[tuple[str, ...], float]] = {
    "pacas --help": (("--help",), 0.5),
    "pacas verify, one receipt": (("verify", "receipt.json", "--key", "public.pem"), 0.8),
    "pacas check, 8 rows": (("check", "client.csv", "--fd", "GEN, DIAG -> MED", "--hierarchy", "MED=med.csv"), 1.8),
    "pacas quote, the running example": (("quote", "provider.toml", "--requests", "ladders.jsonl"), 2.5),
    "pacas clean, the running example": (
        ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--output", "clean.csv"),
        2.5,
    ),
}
INTRODUCTION = f"""
## Start

CPU time of a process from its start to its end, the least and the median of {{repeats}} that take turns, and both over
those of `python -c "{LIBRARIES}"` in the same run.

| command | least | median | least over least | median over median | target |
| --- | --- | --- | --- | --- | --- |
""".lstrip()


def chapter(folder: Path, *, small: bool) -> str:
    repeats = 3 if small else 15
    with tempfile.TemporaryDirectory() as scratch:
        base, *taken = _turns(_prepared(Path(scratch)), repeats)
    lines = [INTRODUCTION.format(repeats=repeats) + _row(f'`python -c "{LIBRARIES}"`', base, base, "")]
    for (name, (_, target)), times in zip(COMMANDS.items(), taken, strict=True):
        lines.append(_row(f"`{name.partition(',')[0]}`{''.join(name.partition(',')[1:])}", times, base, f"≤ {target}"))
    return "\n".join(lines) + "\n"


def _prepared(folder: Path) -> Path:
    """The running example's files, a receipt and its provider's key."""
    subprocess.run([sys.executable, "-c", MAIN, "demo", "--files", "."], cwd=folder, check=True, capture_output=True)
    key = SigningKey.generate()
    receipt = Receipt("ann", "MED", {"GEN": "male", "AGE": "51"}, 1, "NSAID", 700_000_000, "key", 1, "0" * 64)
    (folder / "receipt.json").write_text(ReceiptDocument.of(key.sign(receipt)).model_dump_json())
    (folder / "public.pem").write_text(key.public_key)
    return folder


def _turns(folder: Path, repeats: int) -> list[list[float]]:
    """The CPU times of the libraries and of each command, after one round to warm up."""
    programs = [(LIBRARIES,), *((MAIN, *arguments) for arguments, _ in COMMANDS.values())]
    taken: list[list[float]] = [[] for _ in programs]
    for turn in range(repeats + 1):
        for program, times in zip(programs, taken, strict=True):
            for old in (*folder.glob("clean.csv*"), *folder.glob("*.ledger.db*")):
                old.unlink()
            seconds = _cpu_seconds([sys.executable, "-c", *program], folder)
            if turn:
                times.append(seconds)
    return taken


def _cpu_seconds(command: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 1), done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _row(name: str, times: list[float], base: list[float], target: str) -> str:
    least, median = min(times), statistics.median(times)
    ratios = f"{least / min(base):.2f} | {median / statistics.median(base):.2f}"
    return f"| {name} | {least:.3f} s | {median:.3f} s | {ratios} | {target} |"

"""The running example as files: a client's table, a provider's table with its file, hierarchies, and requests."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from pacas import example
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.hierarchy_files import write_hierarchy
from pacas.errors import FileError
from pacas.formats.relations.relations import write_relation

CLIENT = f"""\
# A client: the paper's running example. Paths are relative to this file.

data = "client.csv"
fds = ["{example.fd}"]            # what should hold in it

[hierarchies]                          # optional: for what is sold, the provider publishes its own
MED = "med.csv"
"""

_SOLD = f"""\
[relation]
data = "sp.csv"

[hierarchies]
MED = "med.csv"
AGE = "age.csv"

[match]                          # what is sold, and how a client's tuple finds it
MED = "{example.md}"
"""

PROVIDER = f"""\
# A provider: the paper's running example, at sealed quotes. Paths are relative to this file.

{_SOLD}
[[policy]]                       # whoever knows a patient's X finds at least k medications possible, at level 0
x = ["GEN"]
y = ["MED"]
levels = {{ MED = 0 }}
k = 3
allow_linkage = true             # who is found by more than X may be singled out: one of each group is kept back

[pricing]                        # quotes are sealed: they follow from GEN and AGE alone
total = 5.4                      # the price of everything, in credits
"""

PAPER = f"""\
# The same provider at the paper's quotes, which tell of the medications. Paths are relative to this file.

{_SOLD}
[[policy]]                       # every group of X stays linked to at least k medications at level 0
x = ["GEN", "AGE", "ZIP"]
y = ["MED"]
levels = {{ MED = 0 }}
k = 3

[pricing]
quotes = "paper"
total = 6.0
support = {{ per_cell = 10 }}      # small variations of the table, which answers rule out
seed = 7                         # so that you see what the pages show; leave it out, and it is a secret
"""

_TUPLES = (("male", 51, 1), ("female", 45, 2), ("female", 67, 1), ("male", 45, 1))
REQUESTS = "".join(
    f'{{"tuple": {{"GEN": "{gender}", "AGE": {age}}}, "attribute": "MED", "level": {level}}}\n'
    for gender, age, level in _TUPLES
)
LADDERS = "".join(
    f'{{"tuple": {{"GEN": "{gender}", "AGE": {age}}}, "attribute": "MED"}}\n' for gender, age, _ in _TUPLES
)

COMMANDS = (
    'pacas check client.csv --fd "GEN, DIAG -> MED" --hierarchy MED=med.csv',
    "pacas hierarchy show med.csv",
    "pacas distance sp.csv AGE 45 51 --hierarchy AGE=age.csv",
    "pacas anonymity public.csv --x GEN,AGE,ZIP --y MED --level MED=1 --k 3 --hierarchy MED=med.csv",
    'pacas query provider.toml --select "GEN:0, MED:1" --where "DIAG = migraine"',
    "pacas quote paper.toml --requests ladders.jsonl",
    "pacas quote provider.toml --requests ladders.jsonl",
    "pacas buy provider.toml --requests requests.jsonl --as ann",
    "pacas clean client.toml --provider provider.toml --budget 0.4 --dry-run",
    "pacas clean client.toml --provider provider.toml --budget 0.4 --output clean.csv",
    "pacas audit provider.toml",
)

_FILES: Mapping[str, tuple[str, Relation | Hierarchy | str]] = {
    "client.csv": ("the client's dirty table (Table 2)", example.client),
    "sp.csv": ("the provider's curated table (Table 1)", example.provider),
    "public.csv": ("the provider's table, generalized (Table 3)", example.public),
    "med.csv": ("the hierarchy of MED (Figure 1)", example.med),
    "age.csv": ("the hierarchy of AGE (Figure 2)", example.age),
    "client.toml": ("the client's table and dependencies", CLIENT),
    "provider.toml": ("the provider's relations, hierarchies, matching, policy and prices", PROVIDER),
    "paper.toml": ("the same with the paper's quotes and policy", PAPER),
    "requests.jsonl": ("requests to buy: medications, each at a level", REQUESTS),
    "ladders.jsonl": ("the same, to be quoted at all levels", LADDERS),
}


def write_files(folder: Path) -> dict[str, str]:
    """Write the example; return each file's name and what it holds. A file that differs is never overwritten."""
    with tempfile.TemporaryDirectory(prefix="pacas-") as scratch:
        made = {name: _bytes(content, Path(scratch) / name) for name, (_, content) in _FILES.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in made.items():
            if (folder / name).exists() and (folder / name).read_bytes() != content:
                raise FileError(f"{folder / name} is there already and differs; give another folder")
        for name, content in made.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise FileError(f"{error.filename or folder} cannot be written ({error.strerror}); give a folder") from None
    return {name: what for name, (what, _) in _FILES.items()}


def _bytes(content: Relation | Hierarchy | str, file: Path) -> bytes:
    match content:
        case Relation():
            write_relation(content, file)
        case Hierarchy():
            write_hierarchy(content, file)
        case text:
            file.write_text(text, "utf-8")
    return file.read_bytes()

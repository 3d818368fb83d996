"""`provider.toml`: what its sections may say, and what is said about those that may not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import RelationFolder
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.questions import answer
from pacas.errors import ConfigError, InputError
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.formats.provider.sealing import sealing_of
from pacas.provider.support.mix import Mix
from pacas.provider.support.support_set import Generated

RELATION = '[relation]\ndata = "d.csv"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shop.toml"


def read(path: Path, text: str) -> ProviderFile:
    path.write_text(text, "utf-8")
    return read_provider_file(path)


def pricing(path: Path, text: str) -> ProviderFile:
    return read(path, f"{RELATION}[pricing]\n{text}\n")


def test_a_relation_is_enough(path: Path) -> None:
    file = read(path, RELATION)
    assert file.generated_support() == Generated(per_cell=10)
    assert file.seed() is None
    assert file.pricing.total is None
    assert (file.history, file.reasons, file.max_matches) == ("pooled", None, 1000)
    assert (file.dependencies(), file.policies(), file.price_points()) == ({}, (), ())


def test_a_circle_names_trees_by_their_digests(path: Path) -> None:
    digest = "ab" * 32
    for written in (digest, f"sha256:{digest}"):
        assert read(path, f'{RELATION}[circle]\ntrees = {{ MED = "{written}" }}\n').circle.trees == {"MED": written}
    with pytest.raises(ConfigError, match=r"'circle.trees.MED': give the 64 digits that pacas hierarchy check prints"):
        read(path, f'{RELATION}[circle]\ntrees = {{ MED = "med.csv" }}\n')


def test_the_ledger_is_by_default_beside_the_file_and_named_after_it(path: Path) -> None:
    file = read(path, RELATION)
    assert file.folder == path.parent
    assert file.ledger_url == "sqlite:///shop.ledger.db"
    assert read(path, f'{RELATION}[ledger]\nurl = "memory:"\n').ledger_url == "memory:"


def test_the_service_has_limits_and_a_key_beside_the_file(path: Path) -> None:
    file = read(path, RELATION)
    service = file.service
    assert (service.quotes_per_minute, service.max_body_bytes, service.max_batch) == (600_000, 16 * 2**20, 100_000)
    assert (service.publish_built, service.publish_prices) == (False, True)
    assert service.publish_dependencies == [] and service.reconcile is False
    assert file.signing_key == path.parent / "shop.key.pem"
    text = '[service]\nquotes_per_minute = 5\nmax_body_bytes = 2000\nmax_batch = 7\nsigning_key = "keys/k.pem"\n'
    file = read(path, RELATION + text)
    assert (file.service.quotes_per_minute, file.service.max_body_bytes, file.service.max_batch) == (5, 2000, 7)
    assert file.signing_key == path.parent / "keys" / "k.pem"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[service]\nquotes_per_minutes = 5", "did you mean 'quotes_per_minute'?"),
        ("[service]\nreconcile = 1", "'service.reconcile': give true, or the address at which clients find it"),
        ('[service]\nreconcile = "pacas.example.org"', "'service.reconcile': give true, or the address"),
        ('[service]\nreconcile = "https://pacas.example.org/"', "'service.reconcile': give true, or the address"),
        ("[service]\nmax_batch = 0", "'service.max_batch': input should be greater than or equal to 1"),
        ("[service]\nmax_body_bytes = 10", "'service.max_body_bytes': input should be greater than or equal to 1024"),
        ('[service]\nsigning_key = ""', "'service.signing_key': string should have at least 1 character"),
        ("[[service]]\n", "'service': give a section, [service] with quotes_per_minute = 600000"),
        ("[service]\nreasons = true", "'reasons' stands at the top of the file"),
    ],
)
def test_limits_that_are_none(path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as problem:
        read(path, f"{RELATION}{text}\n")
    assert said in str(problem.value)


def test_hierarchies_that_are_made_from_sold_columns_are_known(path: Path) -> None:
    text = '[match]\nA = "B = B"\nB = "C = C"\n[hierarchies]\nA = { build = "prefix" }\nC = { build = "prefix" }\n'
    assert read(path, RELATION + text).built_among(["A", "B"]) == ["A"]


def test_keys_at_the_top(path: Path) -> None:
    file = read(path, f'history = "per_buyer"\nreasons = true\nmax_matches = 5\nfloor = {{ MED = 1 }}\n{RELATION}')
    assert file.floor == {"MED": 1}
    assert (file.history, file.reasons, file.max_matches) == ("per_buyer", True, 5)


def test_an_engine_at_the_top_and_keys_beside_the_data(path: Path) -> None:
    top = 'engine = "spark"\nmaster = "local[2]"\nmemory = "512MB"\n'
    file = read(path, f'{top}{RELATION}key = "ID"\n[relations.more]\ndata = "m"\nkey = ["A", "B"]\n')
    assert file.engine_choice == EngineChoice("spark", "local[2]", "512MB")
    assert (file.relation.key, file.relations["more"].key) == (("ID",), ("A", "B"))
    assert read(path, RELATION).engine_choice == EngineChoice()


def test_a_relation_may_be_a_folder_and_is_scanned_once(path: Path, tmp_path: Path) -> None:
    (tmp_path / "people").mkdir()
    pq.write_table(pa.table({"ID": [2, 1], "A": [1.5, 4.0]}), tmp_path / "people" / "0.parquet")
    built = '[hierarchies]\nA = { build = "intervals", widths = [3] }\n'
    file = read(path, f'[relation]\ndata = "people"\nkey = "ID"\n{built}')
    engine = DuckEngine(threads=1)
    main = file.scan_relations(engine)[MAIN]
    assert main == RelationFolder(tmp_path / "people", ("ID", "A"), ("ID",))
    assert file.read_hierarchies(main, engine)["A"].height == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'engine = "duck"\n{RELATION}', "shop.toml: 'engine': no engine 'duck'; did you mean 'duckdb'?"),
        (f"engine = true\n{RELATION}", "shop.toml: 'engine': no engine True; there is duckdb, spark"),
        (f"master = 1\n{RELATION}", "shop.toml: 'master': input should be a valid string"),
        (f'memory = "2 XB"\n{RELATION}', "shop.toml: 'memory': cannot read an amount of memory from '2 XB'"),
        (f'{RELATION}engine = "spark"\n', "'engine' stands at the top of the file, before any [section]"),
        (f"{RELATION}key = 7\n", "shop.toml: 'relation.key': give a column, such as \"ID\", or a list of them"),
        (f'{RELATION}keys = "ID"\n', "unknown key 'relation.keys'; did you mean 'key'?"),
        (f'{RELATION}about = "shops"\n', "'relation.about': input should be 'people' or 'things'"),
        (
            f'{RELATION}about = "things"\n[[policy]]\nx = ["A"]\ny = ["B"]\nk = 2\n',
            'relation.about: "things" says that nobody is to be protected, and there is a policy; leave it out',
        ),
        (f'{RELATION}[relations.more]\ndata = "m"\nabout = "things"\n', "unknown key 'relations.more.about'"),
    ],
)
def test_a_mistake_about_the_engine_or_a_key_is_named(path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as problem:
        read(path, text)
    assert said in str(problem.value)


def test_amounts_are_what_is_written(path: Path) -> None:
    file = pricing(path, "total = 123456789.123456789\nsensitivity = { MED = 3, AGE = 0.1 }")
    assert file.pricing.total == Decimal("123456789.123456789")
    assert file.pricing.sensitivity == {"MED": 3, "AGE": Decimal("0.1")}
    assert pricing(path, "total = 1").pricing.total == 1


def test_a_policy_may_allow_linkage(path: Path) -> None:
    text = '[[policy]]\nx = ["A"]\ny = ["B"]\nk = 2\n'
    first, second = read(path, f"{RELATION}{text}{text}allow_linkage = true\nlevels = {{ B = 1 }}\n").policies()
    assert not first.allow_linkage
    assert second.allow_linkage
    assert second.levels == {"B": 1}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("{ per_cell = 3 }", Generated(3)),
        ("{ size = 100 }", Generated(size=100)),
        ("{ per_cell = 4, mix = { update = 0.5, swap = 0.5 } }", Generated(4, mix=Mix(0.5, 0.5))),
        ("{ mix = { update = 1 } }", Generated(10)),
        ("{ seed = 7 }", Generated(10)),
    ],
)
def test_how_a_support_set_is_made(path: Path, text: str, made: Generated) -> None:
    assert pricing(path, f"support = {text}").generated_support() == made


def test_a_support_set_in_a_file_is_not_made(path: Path) -> None:
    assert pricing(path, 'support = { file = "s.jsonl" }').generated_support() is None


@pytest.mark.parametrize("text", ["seed = 7", "support = { seed = 7 }", "support = { per_cell = 1, seed = 7 }"])
def test_a_seed_may_stand_in_pricing_or_in_support(path: Path, text: str) -> None:
    assert pricing(path, text).seed() == 7


def test_price_points(path: Path) -> None:
    first, second = pricing(
        path,
        '[[pricing.points]]\nselect = "MED:1"\nwhere = "DIAG = migraine"\nfrom = "relation r"\nprice = 0.1\n'
        '[[pricing.points]]\nname = "all"\nselect = "MED"\nprice = 2\n',
    ).price_points()
    assert (first.name, first.price) == ("point 1", 100_000_000)
    assert first.view.relations[0].alias == "r"
    assert (second.name, second.price) == ("all", 2_000_000_000)


BAD: dict[str, tuple[str, str]] = {
    "a section unknown": ("[pricng]\n", "unknown key 'pricng'; did you mean 'pricing'?"),
    "a key of pricing unknown": ("[pricing]\ntotl = 1\n", "unknown key 'pricing.totl'; did you mean 'total'?"),
    "a key of support unknown": (
        "[pricing]\nsupport = { per_cel = 1 }\n",
        "unknown key 'pricing.support.per_cel'; did you mean 'per_cell'?",
    ),
    "a key of a point unknown": (
        '[[pricing.points]]\nselect = "A"\nprice = 1\nform = "x"\n',
        "unknown key 'pricing.points 1.form'; did you mean 'from'?",
    ),
    "a key of a policy unknown": (
        '[[policy]]\nx = ["A"]\ny = ["B"]\nk = 1\n[[policy]]\nx = ["A"]\ny = ["B"]\nk = 1\nlevel = 1\n',
        "unknown key 'policy 2.level'; did you mean 'levels'?",
    ),
    "a key of another relation unknown": (
        '[relations.data]\ndta = "x"\n',
        "unknown key 'relations.data.dta'; did you mean 'data'?",
    ),
    "a key of the ledger unknown": ('[ledger]\nuri = ""\n', "unknown key 'ledger.uri'; did you mean 'url'?"),
    "a top key in a section": (
        '[pricing]\nhistory = "pooled"\n',
        "unknown key 'pricing.history'; 'history' stands at the top of the file, before any [section]",
    ),
    "a section in another": ("[pricing.ledger]\n", "unknown key 'pricing.ledger'; [ledger] is its own section"),
    "a history unknown": ('history = "all"\n', "'history': input should be 'pooled' or 'per_buyer'"),
    "reasons of text": ('reasons = "yes"\n', "'reasons': input should be a valid boolean"),
    "no matches at all": ("max_matches = 0\n", "'max_matches': input should be greater than or equal to 1"),
    "pricing a number": ("pricing = 3\n", "'pricing': give a section, [pricing] with total = 1.0"),
    "support a number": ("[pricing]\nsupport = 10\n", "'pricing.support': give a section, support = { per_cell = 10 }"),
    "points a table": ("[pricing.points]\n", "'pricing.points': give a section, [[pricing.points]] with"),
    "a policy a table": ('[policy]\nx = ["A"]\n', "'policy': give a section, [[policy]] with x, y and k"),
    "a total of text": ('[pricing]\ntotal = "1"\n', "'pricing.total': give a number, such as 0.5"),
    "a total of true": ("[pricing]\ntotal = true\n", "'pricing.total': give a number"),
    "a total that is none": ("[pricing]\ntotal = nan\n", "'pricing.total': give a number"),
    "a total without end": ("[pricing]\ntotal = inf\n", "'pricing.total': give a number"),
    "a negative total": ("[pricing]\ntotal = -0.5\n", "pricing: the total must be from 0"),
    "a total too large": ("[pricing]\ntotal = 1e30\n", "pricing: the total must be from 0"),
    "a total too fine": ("[pricing]\ntotal = 0.1234567891\n", "pricing: total has at most nine decimals"),
    "a cell without neighbours": (
        "[pricing]\nsupport = { per_cell = 0 }\n",
        "'pricing.support.per_cell': input should",
    ),
    "a cell of a million": ("[pricing]\nsupport = { per_cell = 10000000 }\n", "'pricing.support.per_cell': input"),
    "half a neighbour": ("[pricing]\nsupport = { per_cell = 1.5 }\n", "'pricing.support.per_cell': input should be a"),
    "per_cell and size": (
        "[pricing]\nsupport = { per_cell = 1, size = 1 }\n",
        "pricing.support: give per_cell or size, not both",
    ),
    "size and file": (
        '[pricing]\nsupport = { size = 1, file = "x" }\n',
        "pricing.support: give size or file, not both",
    ),
    "mix and file": ('[pricing]\nsupport = { mix = { update = 1 }, file = "x" }\n', "pricing.support: mix is for"),
    "a mix of a kind unknown": (
        "[pricing]\nsupport = { mix = { updates = 1 } }\n",
        "pricing.support: mix has no kind 'updates'; did you mean 'update'?",
    ),
    "a mix that sums to less": (
        "[pricing]\nsupport = { mix = { update = 0.5 } }\n",
        "pricing.support: the shares in mix must sum to 1; they sum to 0.5",
    ),
    "two seeds": ("[pricing]\nseed = 1\nsupport = { seed = 1 }\n", "pricing.seed and pricing.support.seed are one"),
    "a seed of text": ('[pricing]\nseed = "x"\n', "'pricing.seed': input should be a valid integer"),
    "a sensitivity of 0": ("[pricing]\nsensitivity = { A = 0 }\n", "pricing.sensitivity.A: a factor must be above 0"),
    "a sensitivity of text": ('[pricing]\nsensitivity = { A = "high" }\n', "'pricing.sensitivity.A': give a number"),
    "sensitivity and points": (
        '[pricing]\nsensitivity = { A = 2 }\n[[pricing.points]]\nselect = "A"\nprice = 1\n',
        "pricing: sensitivity and points both say",
    ),
    "a point without a price": ('[[pricing.points]]\nselect = "A"\n', "'pricing.points 1.price' is missing"),
    "a point with a negative price": (
        '[[pricing.points]]\nselect = "A"\nprice = -1\n',
        "pricing.points 1: a price must",
    ),
    "a point with too fine a price": (
        '[[pricing.points]]\nselect = "A"\nprice = 1e-10\n',
        "pricing.points 1: price has at most nine decimals",
    ),
    "a point that is no query": ('[[pricing.points]]\nselect = ""\nprice = 1\n', "pricing.points 1: a column name"),
    "two points of one name": (
        2 * '[[pricing.points]]\nname = "a"\nselect = "A"\nprice = 1\n',
        "pricing.points: two of them are named 'a'",
    ),
    "a policy without X": ('[[policy]]\nx = []\ny = ["B"]\nk = 1\n', "policy 1: a policy needs at least one attribute"),
    "a match that is none": ('[match]\nA = "B"\n', "match.A: "),
    "a prior of a number": (
        "[pricing]\nprior = 3\n",
        """'pricing.prior': give "uniform", a file such as "prior.csv", or { dp_epsilon = 0.1 }""",
    ),
    "a prior that is no number": (
        "[pricing]\nprior = { dp_epsilon = nan }\n",
        "'pricing.prior.dp_epsilon': give a number, such as",
    ),
    "a prior that is text": (
        '[pricing]\nprior = { dp_epsilon = "a" }\n',
        "'pricing.prior.dp_epsilon': give a number, such as",
    ),
    "an unknown key of a prior": (
        "[pricing]\nprior = { epsilon = 0.1 }\n",
        "unknown key 'pricing.prior.epsilon'; did you mean 'dp_epsilon'?",
    ),
    "members that are neither": (
        '[pricing]\nmembers = "private"\n',
        """'pricing.members': give "public", or { registry = "people.csv" }""",
    ),
    "members of a list": ("[pricing]\nmembers = []\n", "'pricing.members': give \"public\", or { registry"),
    "an unknown key of members": (
        '[pricing]\nmembers = { regisry = "no.csv" }\n',
        "unknown key 'pricing.members.regisry'; did you mean 'registry'?",
    ),
    "members without a registry": ("[pricing]\nmembers = {}\n", "'pricing.members.registry' is missing"),
    "an earlier ledger of a number": (
        "[ledger]\nsold_before = [3]\n",
        "'ledger.sold_before': give the earlier ledger, such as \"sqlite:///old.db\", or a list of them",
    ),
    "a url of a number": ("[ledger]\nurl = 3\n", "'ledger.url': input should be a valid string"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_a_mistake_is_said_with_its_key(path: Path, text: str, said: str) -> None:
    whole = f"{text}{RELATION}" if not text.startswith("[") else f"{RELATION}{text}"
    with pytest.raises(ConfigError) as error:
        read(path, whole)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_nested_too_deeply_is_a_mistake_too(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"shop\.toml is not TOML"):
        read(path, "a = " + "[" * 5_000)


def test_builders_get_floats_where_the_file_has_decimals(path: Path) -> None:
    (path.parent / "d.csv").write_text("A\n1\n2.5\n4\n")
    file = read(path, f'{RELATION}[hierarchies]\nA = {{ build = "intervals", widths = [1.5], origin = 0.5 }}\n')
    engine = DuckEngine(threads=1)
    read_from = file.scan_relations(engine)[MAIN]
    assert len(file.read_hierarchies(read_from, engine)["A"].at_level(1)) == 3


# ---- a table that lost its header ------------------------------------------------------------------------------------

PERSON = ("zq1", "male", "51", "P0T2T0", "zq1")


@pytest.mark.attack
@pytest.mark.parametrize("more", ["", 'key = "GEN"\n', 'key = "mal"\n'])
@pytest.mark.parametrize("first", [PERSON, PERSON[:4], (*PERSON[:3], "")])
def test_a_person_is_not_taken_for_a_header_and_told(tmp_path: Path, first: tuple[str, ...], more: str) -> None:
    (tmp_path / "p.csv").write_text("".join(",".join(row) + "\n" for row in (first, ("zq2", "female", "4", "x", "y"))))
    (tmp_path / "provider.toml").write_text(
        f'[relation]\ndata = "p.csv"\n{more}[match]\nMED = "GEN = GEN, AGE = AGE"\n'
    )
    with pytest.raises(ConfigError, match=r"has it lost its first line|column 4 of p\.csv has no name") as raised:
        read_provider_file(tmp_path / "provider.toml").scan_relations(DuckEngine(threads=1))
    assert not [value for value in {*PERSON} if repr(value) in str(raised.value) or f" {value}," in str(raised.value)]


@pytest.mark.attack
def test_a_person_of_another_relation_or_of_a_registry_is_not_told_either(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("GEN,AGE,MED\nmale,51,x\n")
    (tmp_path / "people.csv").write_text(",".join(PERSON[:4]) + "\nzq2,female,4,x\n")
    provider = '[relation]\ndata = "p.csv"\n[match]\nMED = "GEN = GEN, AGE = AGE"\n'
    people = '[relations.PEOPLE]\ndata = "people.csv"\n'
    engine, asked = DuckEngine(threads=1), GeneralizedQuery.parse("ID:0", "", "PEOPLE")
    for more, ask in (
        (people + '[hierarchies]\nNOBODY = "n.csv"\n', lambda file: file.scan_relations(engine)),
        (people, lambda file: answer(asked, file.scan_relations(engine), engine=engine)),
        ('[pricing]\nmembers = { registry = "people.csv" }\n', lambda file: sealing_of(file, engine, ())),
    ):
        (tmp_path / "provider.toml").write_text(provider + more)
        with pytest.raises(InputError) as raised:
            ask(read_provider_file(tmp_path / "provider.toml"))
        assert not [value for value in PERSON if value in str(raised.value)]


def test_columns_of_a_header_are_told(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("ID,GEN,AGE,MED\n1,male,51,x\n")
    (tmp_path / "provider.toml").write_text(
        '[relation]\ndata = "p.csv"\n[hierarchies]\nNOBODY = "n.csv"\n[match]\nMED = "GEN = GEN"\n'
    )
    with pytest.raises(ConfigError, match="there is ID, GEN, AGE, MED"):
        read_provider_file(tmp_path / "provider.toml").scan_relations(DuckEngine(threads=1))

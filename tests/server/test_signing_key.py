"""The file of the provider's private key: made once, its owner's alone, and never overwritten."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from pacas.errors import FileError
from pacas.protocol.receipt import Receipt
from pacas.server.signing_key import SigningKey
from pacas.wire.signatures import verify

RECEIPT = Receipt("ann", "MED", {"GEN": "male", "AGE": "51"}, 1, "NSAID", 700_000_000, "run:0", 3, "ab" * 32)


def test_a_key_is_made_once_readable_by_its_owner_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "provider.key.pem"
    made = SigningKey.load_or_create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["provider.key.pem"]
    again = SigningKey.load_or_create(path)
    assert again.public_key == made.public_key != SigningKey.generate().public_key
    assert verify(again.sign(RECEIPT), made.public_key)


def test_several_processes_that_make_a_key_at_once_end_with_one(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from pacas.server.signing_key import SigningKey\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "print(SigningKey.load_or_create(pathlib.Path(sys.argv[1])).key_id)\n"
    )
    path = tmp_path / "provider.key.pem"
    command = [sys.executable, "-c", script, str(path)]
    racing = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for process in racing:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in racing:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    made = {process.communicate()[0].strip() for process in racing}
    assert made == {SigningKey.load_or_create(path).key_id}
    assert os.listdir(tmp_path) == ["provider.key.pem"]


def test_a_file_that_is_no_such_key_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "provider.key.pem"
    own = Ed25519PrivateKey.generate()
    for content in (
        b"",
        b"no key",
        SigningKey.generate().public_key.encode(),
        own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")),
        own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())[:70],
        generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match="is not a private Ed25519 key in PEM"):
            SigningKey.load_or_create(path)
        assert path.read_bytes() == content


def test_a_key_that_cannot_be_made_or_read_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be made in its folder"):
        SigningKey.load_or_create(tmp_path / "nowhere" / "provider.key.pem")
    with pytest.raises(FileError, match="cannot be read"):
        SigningKey.load_or_create(tmp_path)

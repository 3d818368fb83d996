"""Certificates for tests: an authority, and what it signs, in files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

NOW = datetime.now(UTC)


class Signed(NamedTuple):
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates, its own first."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder, self._key = folder, generate_private_key(SECP256R1())
        self._name = _named(name)
        self.certificate = folder / f"{name}.pem"
        self.certificate.write_bytes(self._signed(self._name, self._key, is_authority=True))

    def sign(self, name: str, *, password: bytes | None = None) -> Signed:
        """A certificate for 127.0.0.1, or for a client."""
        key = generate_private_key(SECP256R1())
        files = Signed(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        files.certificate.write_bytes(self._signed(_named(name), key, is_authority=False))
        kept = BestAvailableEncryption(password) if password else NoEncryption()
        files.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, kept))
        return files

    def _signed(self, name: x509.Name, key: EllipticCurvePrivateKey, *, is_authority: bool) -> bytes:
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - timedelta(days=1))
            .not_valid_after(NOW + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if is_authority:
            usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])

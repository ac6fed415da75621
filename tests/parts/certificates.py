"""A certificate authority of a test's own: server certificates for loopback, client certificates, signing keys."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The files of a certificate and its private key, PEM."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """An authority whose files lie in one folder, so that another process can open the same."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "ca.crt"

    @staticmethod
    def make(folder: Path) -> "Authority":
        folder.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("kix-tests")
        usage = x509.KeyUsage(
            digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        signed = (
            _builder(name, name, key.public_key(), key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        authority = Authority(folder=folder)
        authority.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        write_key(key, folder / "ca.key")
        return authority

    def server(self, name: str, hosts: Sequence[str]) -> Pair:
        """A certificate for these DNS names and addresses."""
        alternatives = [_host(host) for host in hosts]
        return self._issue(
            name, _name(name), x509.SubjectAlternativeName(alternatives), ExtendedKeyUsageOID.SERVER_AUTH
        )

    def client(self, user: str, groups: Sequence[str] = ()) -> Pair:
        """A certificate that a Kubernetes API server reads as this user in these groups."""
        file = user.replace(":", "-").replace("/", "-")
        return self._issue(file, _name(user, groups), None, ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self, file: str, subject: x509.Name, names: x509.SubjectAlternativeName | None, usage: x509.ObjectIdentifier
    ) -> Pair:
        issuer = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        issuer_key = serialization.load_pem_private_key((self.folder / "ca.key").read_bytes(), None)
        assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, issuer.subject, key.public_key(), issuer_key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        pair = Pair(certificate=self.folder / f"{file}.crt", key=self.folder / f"{file}.key")
        signed = builder.sign(issuer_key, hashes.SHA256())
        pair.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        write_key(key, pair.key)
        return pair


def write_key(key: ec.EllipticCurvePrivateKey, file: Path) -> None:
    encoded = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.touch(mode=0o600)
    file.write_bytes(encoded)


def write_signing_pair(folder: Path, name: str) -> Pair:
    """A key pair without a certificate, as API servers sign service account tokens with."""
    key = ec.generate_private_key(ec.SECP256R1())
    pair = Pair(certificate=folder / f"{name}.pub", key=folder / f"{name}.key")
    write_key(key, pair.key)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    pair.certificate.write_bytes(public)
    return pair


def _builder(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, issuer_public: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_public), critical=False)
    )


def _name(common: str, organisations: Sequence[str] = ()) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organisations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)

"""A real image registry on loopback, open or behind a token server, and tiny images to put into it."""

import base64
import hashlib
import http.server
import io
import json
import secrets
import tarfile
import threading
import time
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from tests.parts.certificates import Authority, Pair
from tests.parts.paths import DOCKER_REGISTRY
from tests.parts.processes import Process, free_port, is_listening, spawn

USER, PASSWORD = "robot", "registry-password"
PUBLIC = "public/"
SERVICE = "kix-test-registry"
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
"""Not compressed: what a compressor writes differs between machines, and digests in golden files must not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedImage:
    """An image of several platforms in a registry; digests are `sha256:…`."""

    repository: str
    tag: str
    digest: str
    platforms: dict[str, str]
    """Platform, such as `linux/amd64`, to the digest of its own manifest."""


class Registry:
    """docker-registry with its data in a folder. `host` is what stands before the first slash of an image's name."""

    def __init__(self, folder: Path, *, behind_tokens: bool = False) -> None:
        self._folder = folder
        self._port = free_port()
        self.host = f"127.0.0.1:{self._port}"
        self.url = f"http://{self.host}"
        self.tokens = TokenServer(folder) if behind_tokens else None
        """The token server, or None: then everybody may do everything."""
        self._process: Process | None = None
        self._pool = urllib3.PoolManager(retries=False)

    @property
    def log(self) -> Path:
        """Has a line for each request."""
        return self._folder / "registry.log"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        program = DOCKER_REGISTRY.get("bin/docker-registry")
        config: dict[str, Any] = {
            "version": "0.1",
            "log": {"level": "info", "accesslog": {"disabled": False}},
            "storage": {"filesystem": {"rootdirectory": str(self._folder / "data")}, "delete": {"enabled": True}},
            "http": {"addr": self.host, "secret": secrets.token_hex(16)},
        }
        if self.tokens:
            config["auth"] = {"token": self.tokens.start()}
        (self._folder / "config.yml").write_text(json.dumps(config))
        self._process = spawn([program, "serve", self._folder / "config.yml"], log=self.log)
        self._process.wait_until(lambda: is_listening(self._port), within=20)

    def stop(self) -> None:
        if self._process:
            self._process.kill()
        if self.tokens:
            self.tokens.stop()
        self._pool.clear()

    def push(
        self,
        repository: str,
        tag: str,
        platforms: Sequence[str] = ("linux/amd64", "linux/arm64"),
        *,
        content: str = "",
        user: str = "",
    ) -> PushedImage:
        """Pushes an image of one small layer for each platform; other content gives other digests.

        `user` is whom it runs as, nobody named: root.
        """
        digests: dict[str, str] = {}
        entries = []
        for platform in platforms:
            body = self._push_platform(repository, platform, f"{repository} {platform} {content}", user)
            system, architecture = platform.split("/")
            descriptor = _descriptor(MANIFEST, body)
            entries.append({**descriptor, "platform": {"os": system, "architecture": architecture}})
            digests[platform] = str(descriptor["digest"])
        body = _canonical({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})
        self._call("PUT", f"/v2/{repository}/manifests/{tag}", body, INDEX)
        return PushedImage(repository=repository, tag=tag, digest=_digest(body), platforms=digests)

    def delete(self, repository: str, digest: str) -> None:
        """Deletes a manifest, as a registry's clean-up would."""
        self._call("DELETE", f"/v2/{repository}/manifests/{digest}")

    def _push_platform(self, repository: str, platform: str, text: str, user: str) -> bytes:
        layer = _layer(text)
        system, architecture = platform.split("/")
        rootfs = {"type": "layers", "diff_ids": [_digest(layer)]}
        settings = {"User": user} if user else {}
        config = _canonical({"architecture": architecture, "os": system, "config": settings, "rootfs": rootfs})
        for blob in (layer, config):
            self._push_blob(repository, blob)
        layers = [_descriptor(LAYER, layer)]
        body = _canonical(
            {"schemaVersion": 2, "mediaType": MANIFEST, "config": _descriptor(CONFIG, config), "layers": layers}
        )
        self._call("PUT", f"/v2/{repository}/manifests/{_digest(body)}", body, MANIFEST)
        return body

    def _push_blob(self, repository: str, blob: bytes) -> None:
        location = self._call("POST", f"/v2/{repository}/blobs/uploads/").headers["Location"]
        path = location.removeprefix(self.url)
        mark = "&" if "?" in path else "?"
        self._call("PUT", f"{path}{mark}digest={_digest(blob)}", blob, "application/octet-stream")

    def _call(
        self, method: str, path: str, body: bytes = b"", content_type: str = "application/octet-stream"
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Content-Type": content_type}
        if self.tokens:
            repository = path.removeprefix("/v2/").rpartition("/manifests/")[0] or path[4:].rpartition("/blobs/")[0]
            token = self.tokens.issue(USER, [f"repository:{repository}:pull,push,delete"])
            headers["Authorization"] = f"Bearer {token}"
        answer = self._pool.request(method, self.url + path, body=body, headers=headers)
        if answer.status >= 400:
            raise AssertionError(f"{method} {path}: {answer.status}: {answer.data.decode()}")
        return answer


class TokenServer:
    """Gives tokens as Docker's registries do: anyone may pull what lies under `public/`, the one user may do all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "tokens"
        self._pair: Pair | None = None
        self._server: http.server.ThreadingHTTPServer | None = None
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        """Each request for a token: the user, or "" for nobody, and the scopes."""

    def start(self) -> dict[str, str]:
        """Starts answering; returns what docker-registry wants to know under auth.token."""
        authority = Authority.make(self._folder)
        self._pair = authority.server("token-server", ["127.0.0.1"])
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        # By name: crane sends no password to a realm that is a loopback address.
        realm = f"http://localhost:{self._server.server_port}/token"
        rootcertbundle = str(authority.certificate)
        return {"realm": realm, "service": SERVICE, "issuer": SERVICE, "rootcertbundle": rootcertbundle}

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    def issue(self, user: str, scopes: Sequence[str]) -> str:
        """A token for those of the asked actions that the user may do."""
        now = int(time.time())
        access = []
        for scope in scopes:
            kind, name, actions = scope.split(":", 2)
            allowed = set(actions.split(",")) & _rights(user, name)
            if allowed:
                access.append({"type": kind, "name": name, "actions": sorted(allowed)})
        claims = {"iss": SERVICE, "aud": SERVICE, "sub": user, "nbf": now - 10, "exp": now + 300, "iat": now}
        return self._sign({**claims, "jti": secrets.token_hex(8), "access": access})

    def _sign(self, claims: dict[str, object]) -> str:
        assert self._pair, "not started"
        certificate = x509.load_pem_x509_certificate(self._pair.certificate.read_bytes())
        chain = [base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()]
        signed = f"{_url64(_canonical({'typ': 'JWT', 'alg': 'ES256', 'x5c': chain}))}.{_url64(_canonical(claims))}"
        key = serialization.load_pem_private_key(self._pair.key.read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_url64(r.to_bytes(32) + s.to_bytes(32))}"


def _rights(user: str, repository: str) -> set[str]:
    if user == USER:
        return {"pull", "push", "delete"}
    return {"pull"} if repository.startswith(PUBLIC) else set()


def _handler(server: TokenServer) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            given = self.headers.get("Authorization", "")
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
            scopes = tuple(query.get("scope", ()))
            if given and given != expected:
                self._answer(401, {"errors": [{"code": "UNAUTHORIZED", "message": "wrong user name or password"}]})
                return
            user = USER if given else ""
            server.asked.append((user, scopes))
            token = server.issue(user, scopes)
            self._answer(200, {"token": token, "access_token": token, "expires_in": 300})

        def _answer(self, status: int, body: dict[str, object]) -> None:
            encoded = _canonical(body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, *args: object) -> None:
            pass

    return Handler


def _layer(text: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        data = text.encode()
        entry = tarfile.TarInfo("app.txt")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _descriptor(media_type: str, blob: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": _digest(blob), "size": len(blob)}


def _canonical(body: object) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def _digest(blob: bytes) -> str:
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

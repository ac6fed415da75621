"""A git server on loopback over a bare repository, as a forge serves it: smart HTTP, and only for who has a token."""

import base64
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit


class GitHost:
    """Serves `folder` as `/OWNER/NAME` through git's own `http-backend`. `asked` tells who asked for what."""

    def __init__(self, folder: Path, repository: str, tokens: frozenset[str]) -> None:
        self._folder = folder
        self._repository = repository
        self._tokens = tokens
        self.asked: list[tuple[str, bool]] = []
        """Each request: its path, and whether it carried a token that is known here."""
        # GitHub gives any commit it has by its SHA.
        for name in ("uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter"):
            subprocess.run(["git", "-C", str(folder), "config", name, "true"], check=True)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._serve(self)

            def do_POST(self) -> None:
                outer._serve(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        known = self._is_known(handler.headers.get("Authorization", ""))
        self.asked.append((parts.path, known))
        inner = parts.path.removeprefix(f"/{self._repository}")
        if not known or inner == parts.path:
            handler.send_response(401 if not known else 404)
            handler.send_header("WWW-Authenticate", 'Basic realm="git"')
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        done = subprocess.run(
            ["git", "http-backend"],
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(self._folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
                "PATH_INFO": inner.removeprefix(".git"),
                "QUERY_STRING": parts.query,
                "REQUEST_METHOD": handler.command,
                "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
                "REMOTE_USER": "reader",
            },
            input=body,
            capture_output=True,
            check=False,
        )
        _answer(handler, done.stdout)

    def _is_known(self, header: str) -> bool:
        scheme, _, value = header.partition(" ")
        if scheme.lower() != "basic":
            return False
        _, _, secret = base64.b64decode(value).decode().partition(":")
        return secret in self._tokens


def _answer(handler: BaseHTTPRequestHandler, output: bytes) -> None:
    """A CGI answer (RFC 3875) as an HTTP one."""
    head, _, body = output.partition(b"\r\n\r\n")
    headers = [line.partition(": ") for line in head.decode().split("\r\n")]
    status = next((int(value.split()[0]) for name, _, value in headers if name.lower() == "status"), 200)
    handler.send_response(status)
    for name, _, value in headers:
        if name.lower() not in {"status", "content-length"}:
            handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)

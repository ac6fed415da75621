"""A stand-in for an operator's admission webhooks: answers on its Service's own address and writes the caBundle.

What the CloudNativePG operator does for its own webhooks, which kwok's pods cannot: it lets everything through.
"""

import base64
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.parts.certificates import Authority
from tests.parts.kube_api import ApiError, KubeApi

ADMISSION = "/apis/admissionregistration.k8s.io/v1"


class _Allow(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        uid = review["request"]["uid"]
        answer = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": uid, "allowed": True},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests have their own words."""


class OperatorWebhook:
    """Waits for the Service, serves on its ClusterIP, and gives every webhook that names it its caBundle."""

    def __init__(self, api: KubeApi, folder: Path, *, namespace: str, service: str) -> None:
        self._api, self._namespace, self._service = api, namespace, service
        self._authority = Authority.make(folder)
        self._server: ThreadingHTTPServer | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="operator-webhook")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(timeout=10)
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._server is None:
                    self._serve()
                for kind in ("mutating", "validating"):
                    self._trust(f"{ADMISSION}/{kind}webhookconfigurations")
            except ApiError as error:
                if error.status not in {404, 409}:
                    raise
            self._stopped.wait(0.2)

    def _serve(self) -> None:
        service = self._api.get(f"/api/v1/namespaces/{self._namespace}/services/{self._service}")
        host = f"{self._service}.{self._namespace}.svc"
        pair = self._authority.server(self._service, [host])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        server = ThreadingHTTPServer((service["spec"]["clusterIP"], 443), _Allow)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True, name="operator-webhook-https").start()
        self._server = server

    def _trust(self, path: str) -> None:
        bundle = base64.b64encode(self._authority.certificate.read_bytes()).decode()
        for configuration in self._api.get(path)["items"]:
            webhooks: list[dict[str, Any]] = configuration.get("webhooks") or []
            named = [one for one in webhooks if one["clientConfig"].get("service", {}).get("name") == self._service]
            if any(one["clientConfig"].get("caBundle") != bundle for one in named):
                for one in named:
                    one["clientConfig"]["caBundle"] = bundle
                version = configuration["metadata"]["resourceVersion"]
                patch = {"metadata": {"resourceVersion": version}, "webhooks": webhooks}
                self._api.merge(f"{path}/{configuration['metadata']['name']}", patch)

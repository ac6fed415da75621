"""A mutating admission webhook on loopback that moves images to a mirror, for one namespace of a real API server."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.parts.certificates import Authority
from tests.parts.kube_api import KubeApi

PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


class _Mirror(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        containers = request["object"]["spec"]["template"]["spec"]["containers"]
        patch = [
            {
                "op": "replace",
                "path": f"/spec/template/spec/containers/{at}/image",
                "value": one["image"].replace("registry.test/", "mirror.test/"),
            }
            for at, one in enumerate(containers)
        ]
        patch.append({"op": "add", "path": "/spec/template/spec/priorityClassName", "value": ""})
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        response = {"uid": request["uid"], "allowed": True, "patchType": "JSONPatch", "patch": encoded}
        answer = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests have their own words."""


@contextmanager
def mirror(api: KubeApi, folder: Path, namespace: str) -> Iterator[None]:
    """Every Deployment written to the namespace gets its images from mirror.test instead of registry.test."""
    authority = Authority.make(folder)
    pair = authority.server("webhook", ["127.0.0.1"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Mirror)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True, name="mutating-webhook").start()
    bundle = base64.b64encode(authority.certificate.read_bytes()).decode()
    webhook: dict[str, Any] = {
        "name": "mirror.kix.test",
        "clientConfig": {"url": f"https://127.0.0.1:{server.server_port}/", "caBundle": bundle},
        "rules": [
            {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
             "resources": ["deployments"]},
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }  # fmt: skip
    name = f"{namespace}-mirror"
    api.create(PATH, {"metadata": {"name": name}, "webhooks": [webhook]})
    try:
        yield
    finally:
        api.delete(f"{PATH}/{name}")
        server.shutdown()
        server.server_close()

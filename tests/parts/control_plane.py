"""A Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler, and kwok in place of nodes.

Run as a program it starts one, prints what to type and stays until it is interrupted: `make cluster`.
"""

import json
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import urllib3

from tests.parts.access import ADMIN, Access, User
from tests.parts.certificates import Authority, Pair, write_signing_pair
from tests.parts.kube_api import ApiError, condition
from tests.parts.paths import CONTROL_PLANE, HERE, KWOK
from tests.parts.processes import Process, StartError, free_port, spawn
from tests.parts.stand_ins import StandIns

# Services' own addresses are loopback addresses, so a stand-in can listen on the very address that the API server calls.
SERVICE_RANGE = "127.96.0.0/16"
ORDER = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


class ControlPlane:
    """The processes of one control plane, children of this one. Parts are named as their programs are."""

    def __init__(self, folder: Path, *, nodes: int = 2, users: Sequence[User] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._nodes = nodes
        self._users = users
        self._ports = {name: free_port() for name in ("etcd", "etcd-peer", "kube-apiserver", "kwok")}
        self._running: dict[str, Process] = {}
        names = [ADMIN, *(user.name for user in users)]
        self.access = Access(
            server=f"https://127.0.0.1:{self._ports['kube-apiserver']}",
            folder=str(folder),
            tokens={name: secrets.token_hex(16) for name in names},
        )
        self._folder = folder
        self._stand_ins = StandIns(self.access.api())

    def start(self) -> Access:
        """Starts every part; returns when the API server is ready and the nodes are too (3 to 6 seconds)."""
        self._write_files()
        try:
            for name in ("etcd", "kube-apiserver"):
                self._spawn(name)
            self._wait_for_api_server()
            self._make_nodes()
            for name in ORDER[2:]:
                self._spawn(name)
            self._wait_for_controllers()
            self._stand_ins.start()
        except BaseException:
            self.stop()
            raise
        return self.access

    def stop(self) -> None:
        """Kills every part, the last started first: what they would still write, nobody reads."""
        self._stand_ins.stop()
        for name in reversed(ORDER):
            if name in self._running:
                self._running.pop(name).kill()

    def kill(self, name: str) -> None:
        """Kills one part, as a crash would."""
        self._running.pop(name).kill()

    def pause(self, name: str) -> None:
        """Makes one part hang: its connections stay open and nothing answers."""
        self._running[name].signal(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        self._running[name].signal(signal.SIGCONT)

    def restart(self, name: str) -> None:
        """Starts one part again on its old port and data; for the API server returns when it is ready."""
        if name in self._running:
            self.kill(name)
        self._spawn(name)
        if name == "kube-apiserver":
            self._wait_for_api_server()

    def _spawn(self, name: str) -> None:
        part = KWOK if name == "kwok" else CONTROL_PLANE
        command = [str(part.get(f"bin/{name}")), *self._flags(name)]
        self._running[name] = spawn(command, log=self.access.log(name))

    def _write_files(self) -> None:
        authority = Authority.make(self.access.authority.folder)
        self._pair = authority.server("kube-apiserver", ["127.0.0.1", "localhost", "kubernetes.default.svc"])
        self._signing = write_signing_pair(authority.folder, "service-account")
        groups = {ADMIN: ("system:masters",), **{user.name: user.groups for user in self._users}}
        lines = [f'{token},{name},{name},"{",".join(groups[name])}"\n' for name, token in self.access.tokens.items()]
        (self._folder / "tokens.csv").write_text("".join(lines))
        self.access.write_kubeconfig(self.access.kubeconfig, {"token": self.access.tokens[ADMIN]})
        logs = self._folder / "pod.log"
        logs.write_text("2026-01-01T00:00:00Z stdout F hello from kwok\n")
        cluster_logs = {
            "apiVersion": "kwok.x-k8s.io/v1alpha1",
            "kind": "ClusterLogs",
            "metadata": {"name": "all"},
            "spec": {"logs": [{"logsFile": str(logs)}]},
        }
        (self._folder / "cluster-logs.yaml").write_text(json.dumps(cluster_logs))

    def _flags(self, name: str) -> list[str]:
        match name:
            case "etcd":
                return _etcd_flags(self._folder, self._ports["etcd"], self._ports["etcd-peer"])
            case "kube-apiserver":
                return _api_server_flags(self._folder, self._ports, self._pair, self._signing, self.access.authority)
            case "kube-controller-manager":
                signing = f"--service-account-private-key-file={self._signing.key}"
                root = f"--root-ca-file={self.access.authority.certificate}"
                return [*_client_flags(self.access.kubeconfig), *CONTROLLER_FLAGS, signing, root]
            case "kube-scheduler":
                return _client_flags(self.access.kubeconfig)
            case _:
                return _kwok_flags(self.access.kubeconfig, self._folder, self._ports["kwok"])

    def _wait_for_api_server(self) -> None:
        api = self.access.api()

        def is_ready() -> bool:
            try:
                return api.get("/readyz") == {"text": "ok"}
            except (ApiError, urllib3.exceptions.HTTPError):
                if not self._running["etcd"].is_running:
                    raise StartError(f"etcd exited; its log: {self.access.log('etcd')}") from None
                return False

        self._running["kube-apiserver"].wait_until(is_ready, within=60)

    def _make_nodes(self) -> None:
        for number in range(self._nodes):
            name = f"node-{number}"
            labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
            self.access.api().create("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})

    def _wait_for_controllers(self) -> None:
        """Until the nodes are ready and untainted, and the default namespace has its service account."""
        api = self.access.api()

        def is_ready() -> bool:
            nodes = api.get("/api/v1/nodes")["items"]
            accounts = api.get("/api/v1/namespaces/default/serviceaccounts")["items"]
            return bool(accounts) and all(
                condition(node, "Ready") == "True" and not node["spec"].get("taints") for node in nodes
            )

        self._running["kwok"].wait_until(is_ready, within=60)


CONTROLLER_FLAGS = (
    "--horizontal-pod-autoscaler-sync-period=2s",
    # A machine that is busy with tests must not look like a cluster that lost its nodes.
    "--node-monitor-grace-period=10m",
)


def _etcd_flags(folder: Path, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--log-level=warn",
        "--unsafe-no-fsync",  # what a test loses with a crashed machine, it would lose anyway
    ]


def _api_server_flags(
    folder: Path, ports: dict[str, int], pair: Pair, signing: Pair, authority: Authority
) -> list[str]:
    return [
        "--advertise-address=127.0.0.1",
        "--allow-privileged=true",
        "--authorization-mode=RBAC",
        "--bind-address=127.0.0.1",
        f"--client-ca-file={authority.certificate}",
        "--endpoint-reconciler-type=none",  # it refuses to write loopback addresses as endpoints
        f"--etcd-servers=http://127.0.0.1:{ports['etcd']}",
        f"--secure-port={ports['kube-apiserver']}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={signing.certificate}",
        f"--service-account-signing-key-file={signing.key}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        f"--tls-cert-file={pair.certificate}",
        f"--tls-private-key-file={pair.key}",
        f"--token-auth-file={folder / 'tokens.csv'}",
    ]


def _client_flags(kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        "--leader-elect=false",
        "--secure-port=0",
    ]


def _kwok_flags(kubeconfig: Path, folder: Path, port: int) -> list[str]:
    stages = sorted([*KWOK.get("stages").rglob("*.yaml"), *(HERE / "stages").glob("*.yaml")])
    return [
        f"--kubeconfig={kubeconfig}",
        *(f"--config={file}" for file in [*stages, folder / "cluster-logs.yaml"]),
        "--manage-all-nodes=true",
        "--node-ip=127.0.0.1",
        "--node-lease-duration-seconds=40",
        f"--node-port={port}",
        f"--server-address=127.0.0.1:{port}",
    ]


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="kix-cluster-") as folder:
        plane = ControlPlane(Path(folder))
        started = time.monotonic()
        access = plane.start()
        print(f"ready in {time.monotonic() - started:.1f} s; logs in {folder}; Ctrl-C ends it", file=sys.stderr)
        print(f"export KUBECONFIG={access.kubeconfig}", flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            signal.pause()
        except KeyboardInterrupt:
            pass
        finally:
            plane.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())

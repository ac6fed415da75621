"""How tests reach a running control plane: its address, users, kubeconfig files and logs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.parts.certificates import Authority
from tests.parts.kube_api import KubeApi
from tests.parts.paths import CONTROL_PLANE

ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody the API server knows by a token from its start on, with no rights but those of the groups."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach a running control plane. A value of strings: it goes to other processes as JSON."""

    server: str
    folder: str
    tokens: dict[str, str]

    @property
    def authority(self) -> Authority:
        return Authority(folder=Path(self.folder) / "certificates")

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig file."""
        return Path(self.folder) / f"{ADMIN}.kubeconfig"

    @property
    def kubectl(self) -> tuple[str, ...]:
        """The start of a kubectl command line."""
        return (str(CONTROL_PLANE.get("bin/kubectl")), "--kubeconfig", str(self.kubeconfig))

    def api(self, token: str | None = None) -> KubeApi:
        """The administrator's door, or that of another token."""
        ca_file = self.authority.certificate
        return KubeApi(server=self.server, token=self.tokens[ADMIN] if token is None else token, ca_file=ca_file)

    def log(self, name: str) -> Path:
        return Path(self.folder) / f"{name}.log"

    def kubeconfig_of(self, user: str, groups: Sequence[str] = (), *, namespace: str = "default") -> Path:
        """A kubeconfig for a user of any name, made at once: by a token if the plane knows one, else by a certificate.

        The user has no rights until a test binds a role.
        """
        file = Path(self.folder) / f"{user.replace(':', '-').replace('/', '-')}.kubeconfig"
        token = self.tokens.get(user)
        if token is not None and not groups:
            return self.write_kubeconfig(file, {"token": token}, namespace=namespace)
        pair = self.authority.client(user, groups)
        files = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
        return self.write_kubeconfig(file, files, namespace=namespace)

    def service_account(self, namespace: str, name: str) -> str:
        """Makes a ServiceAccount and returns a token of it; its user is `system:serviceaccount:NAMESPACE:NAME`."""
        api = self.api()
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        api.create(path, {"metadata": {"name": name}})
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        return str(api.create(f"{path}/{name}/token", asked)["status"]["token"])

    def write_kubeconfig(self, file: Path, user: dict[str, str], *, namespace: str = "default") -> Path:
        """Writes a kubeconfig with these user fields, such as `{"token": …}`; returns the file."""
        ca_file = str(self.authority.certificate)
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {"server": self.server, "certificate-authority": ca_file}}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}}],
            "current-context": "test",
        }
        file.touch(mode=0o600)
        file.write_text(json.dumps(document, indent=2))
        return file

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "Access":
        return Access(**json.loads(text))

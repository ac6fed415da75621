"""A kubeconfig, or a pod's service account, as a client configuration. With errors people can act on.

Exec plugins run only from the kubeconfig people or CI name, with an environment of allowed names: a plugin gets what
clouds' login tools need, never a forge's token or a kix setting.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from kubernetes.client.configuration import Configuration
from kubernetes.config import kube_config as untyped
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import InClusterConfigLoader as UntypedLoader

from kixbot.errors import ClusterError

kube_config: Any = untyped
ExecProvider: Any = kube_config.ExecProvider
InClusterConfigLoader: Any = UntypedLoader
_PATCHED = threading.Lock()  # the client takes the plugin's class from its module, which all threads share

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_ALLOWED_NAMES: Final = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "KUBECONFIG",
        "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "SSH_AUTH_SOCK", "DISPLAY", "BROWSER",
    }
)  # fmt: skip
_ALLOWED_STARTS: Final = (
    "LC_",
    "XDG_",
    "AWS_",
    "AZURE_",
    "ARM_",
    "GOOGLE_",
    "CLOUDSDK_",
    "USE_GKE_",
    "OCI_",
    "DIGITALOCEAN_",
)


def plugin_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What an exec plugin may see of the environment."""
    return {
        name: value for name, value in environment.items() if name in _ALLOWED_NAMES or name.startswith(_ALLOWED_STARTS)
    }


def load(*, context: str | None, kubeconfig: str | None, environment: Mapping[str, str]) -> tuple[Configuration, str]:
    """The client configuration and the context's name.

    `kubeconfig` is a file, or several joined by the path separator; None means `~/.kube/config`, and inside a pod its
    service account. Raises ClusterError.
    """
    files = kubeconfig or str(Path("~/.kube/config").expanduser())
    configuration = Configuration()
    configuration.retries = False
    if not kubeconfig and not Path(files).exists() and environment.get("KUBERNETES_SERVICE_HOST"):
        return _in_cluster(configuration, environment), "in-cluster"
    _require_file(files)
    name = context or ""
    with _plugins(plugin_environment(environment)):
        try:
            loader = kube_config._get_kube_config_loader(  # noqa: SLF001  the public one hides the context's name
                filename=files, active_context=context, persist_config=False
            )
            name = str(loader.current_context["name"])
            loader.load_and_set(configuration)
        except _PluginError as error:
            raise _plugin_failed(name, error) from error
        except ConfigException as error:
            raise _explained(error, files=files, context=context) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ClusterError(f"{files}: not a usable kubeconfig: {error}", hint="kubectl config view") from error
        except Exception as error:
            # PyYAML's errors share no base class that is imported here.
            raise ClusterError(f"{files}: not a usable kubeconfig", hint="kubectl config view") from error
    _guard_refresh(configuration, loader, name, plugin_environment(environment))
    return configuration, name


def _guard_refresh(configuration: Any, loader: Any, name: str, environment: dict[str, str]) -> None:
    """A token that runs out during a deploy is fetched again under the same rules."""
    refresh = configuration.refresh_api_key_hook
    if refresh is None:
        return

    def again(current: Any) -> None:
        expiry = getattr(loader, "expiry", None)
        if expiry is None or not kube_config._is_expired(expiry):  # noqa: SLF001  the client's own judgement
            return
        with _plugins(environment):
            try:
                refresh(current)
            except _PluginError as error:
                raise _plugin_failed(name, error) from error
            current.refresh_api_key_hook = again

    configuration.refresh_api_key_hook = again


def _plugin_failed(name: str, error: BaseException) -> ClusterError:
    hint = "run the plugin's login command again"
    return ClusterError(f"context {name}: its exec plugin failed: {error}", hint=hint)


class _PluginError(BaseException):
    """Passes the client's own handler, which would log the failure and go on without credentials."""


def _require_file(files: str) -> None:
    names = [name for name in files.split(":") if name]
    if not any(Path(name).is_file() for name in names):
        raise ClusterError(f"{files}: no kubeconfig", hint="set KUBECONFIG, or try kixbot demo, which needs no cluster")


def _explained(error: ConfigException, *, files: str, context: str | None) -> ClusterError:
    try:
        found = sorted(one["name"] for one in kube_config.list_kube_config_contexts(config_file=files)[0])
    except Exception:  # noqa: BLE001  only to word the hint; the file may be broken in any way
        return ClusterError(f"{files}: not a usable kubeconfig: {error}", hint="kubectl config view")
    if context is not None and context not in found:
        return ClusterError(
            f'{files}: no context "{context}"',
            hint=f"it has {', '.join(found)}" if found else "it has none",
        )
    hint = f"name one with --context: {', '.join(found)}" if found else "kubectl config view"
    return ClusterError(f"{files}: not a usable kubeconfig: {error}", hint=hint)


def _in_cluster(configuration: Configuration, environment: Mapping[str, str]) -> Configuration:
    loader = InClusterConfigLoader(
        token_filename=str(SERVICE_ACCOUNT / "token"),
        cert_filename=str(SERVICE_ACCOUNT / "ca.crt"),
        try_refresh_token=True,
        environ=dict(environment),
    )
    try:
        loader.load_and_set(configuration)
    except ConfigException as error:
        raise ClusterError(f"the pod's service account cannot be used: {error}") from error
    return configuration


@contextmanager
def _plugins(environment: dict[str, str]) -> Iterator[None]:
    """While a kubeconfig is read, its exec plugins run with this environment, and their failures are raised."""
    original = ExecProvider

    class Plugin(original):  # type: ignore[misc,valid-type]  # the client has no types
        def __init__(self, exec_config: Any, cwd: Any, cluster: Any = None) -> None:
            super().__init__(exec_config, cwd, cluster)
            named = {item["name"]: item["value"] for item in exec_config.safe_get("env") or []}
            self.env = {**environment, **named}

        def run(self, previous_response: Any = None) -> Any:
            try:
                return super().run(previous_response)
            except (ConfigException, OSError) as error:
                raise _PluginError(str(error).splitlines()[0]) from error

    with _PATCHED:
        kube_config.ExecProvider = Plugin
        try:
            yield
        finally:
            kube_config.ExecProvider = original

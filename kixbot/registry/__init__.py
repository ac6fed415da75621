"""Image registries: the distribution API and an embedded one. urllib3 stays in the `oci` modules, imported when opened.

MUST NOT know pins or update rules: it answers what a reference is, which tags there are and what an image says of
itself. Everything a registry answers is hostile: sizes are capped, digests are computed, texts are not repeated.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from kixbot.registry.interface import Registry
from kixbot.retry import Clock
from kixbot.settings.model import RegistrySettings


def open_registry(
    rules: RegistrySettings,
    *,
    environment: Mapping[str, str],
    home: Path,
    note: Callable[[str], None],
    clock: Clock | None = None,
) -> Registry:
    """A client of every registry, with the logins of the docker configuration.

    `environment` gives DOCKER_CONFIG, proxies (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), SSL_CERT_FILE and what credential
    helpers need; `home` is where `.docker` lies. `note` gets what people should know (a rejected login, a cut list).
    """
    from kixbot.registry.credentials import Keyring, read_docker_config  # noqa: PLC0415
    from kixbot.registry.oci import OciRegistry  # noqa: PLC0415
    from kixbot.registry.oci_session import Session  # noqa: PLC0415
    from kixbot.registry.oci_transport import Transport  # noqa: PLC0415

    keyring = Keyring(read_docker_config(environment, home), environment=environment, note=note)
    transport = Transport(rules, environment=environment, clock=clock or Clock())
    return OciRegistry(Session(transport, keyring, rules, note=note), rules, note=note)

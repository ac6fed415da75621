"""Where a name's host ends, what is its tag, and where it is looked up."""

import pytest

from kixbot.errors import UsageError
from kixbot.registry.reference import Reference, locate, parse
from kixbot.settings.model import RegistrySettings

D = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "name", "host", "path", "tag", "digest"),
    [
        ("nginx", "nginx", "docker.io", "library/nginx", None, None),
        ("nginx:1.28-alpine", "nginx", "docker.io", "library/nginx", "1.28-alpine", None),
        ("docker.io/nginx", "docker.io/nginx", "docker.io", "library/nginx", None, None),
        ("index.docker.io/library/nginx", "index.docker.io/library/nginx", "docker.io", "library/nginx", None, None),
        ("nginxinc/nginx-unprivileged:1", "nginxinc/nginx-unprivileged", "docker.io", "nginxinc/nginx-unprivileged", "1", None),
        ("gcr.io/google.com/cloudsdktool/cloud-sdk:463", "gcr.io/google.com/cloudsdktool/cloud-sdk", "gcr.io", "google.com/cloudsdktool/cloud-sdk", "463", None),
        ("localhost/foo", "localhost/foo", "localhost", "foo", None, None),
        ("registry:5000/x", "registry:5000/x", "registry:5000", "x", None, None),
        ("registry:5000/x:1.2", "registry:5000/x", "registry:5000", "x", "1.2", None),
        ("web:5000", "web", "docker.io", "library/web", "5000", None),
        (f"ghcr.io/acme/web:1.5.0@{D}", "ghcr.io/acme/web", "ghcr.io", "acme/web", "1.5.0", D),
        (f"ghcr.io/acme/web@{D}", "ghcr.io/acme/web", "ghcr.io", "acme/web", None, D),
        ("[2001:db8::1]:5000/x", "[2001:db8::1]:5000/x", "[2001:db8::1]:5000", "x", None, None),
        ("GHCR.io/acme/web", "GHCR.io/acme/web", "ghcr.io", "acme/web", None, None),
    ],
)  # fmt: skip
def test_a_reference_is_taken_apart(
    text: str, name: str, host: str, path: str, tag: str | None, digest: str | None
) -> None:
    assert parse(text) == Reference(name=name, host=host, path=path, tag=tag, digest=digest)


@pytest.mark.parametrize(
    "text",
    [
        "", ":1", "Foo/bar", "ghcr.io/", "ghcr.io//x", "ghcr.io/acme/Web", "web:", "web:a/b/", "web@sha256:abc",
        "web:ü", "https://ghcr.io/x", "a b", "ghcr.io/../x", "ghcr.io/x@", "x" * 300, "user@ghcr.io/x", "-x.io/a\n",
    ],
)  # fmt: skip
def test_what_no_registry_takes_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^image "):
        parse(text)


@pytest.mark.parametrize(
    ("image", "address"),
    [
        ("nginx", "https://registry-1.docker.io/v2/library/nginx"),
        ("quay.io/acme/web", "https://mirror.corp.example/v2/quay/acme/web"),
        ("ghcr.io/acme/web", "http://127.0.0.1:5000/v2/ghcr/acme/web"),
        ("ghcr.io/acme/special/x", "https://other.example/v2/acme/special/x"),
        ("ghcr.io/acmecorp/web", "http://127.0.0.1:5000/v2/ghcr/acmecorp/web"),
        ("plain.example:8080/x", "http://plain.example:8080/v2/x"),
        ("plain.example/x", "https://plain.example/v2/x"),
        ("anyport.example:81/x", "http://anyport.example:81/v2/x"),
        ("localhost:5000/x", "http://localhost:5000/v2/x"),
    ],
)
def test_a_name_is_looked_up_at_its_mirror_with_tls_unless_listed(image: str, address: str) -> None:
    rules = RegistrySettings(
        mirrors={
            "quay.io": "mirror.corp.example/quay",
            "ghcr.io": "127.0.0.1:5000/ghcr",
            "ghcr.io/acme/special": "other.example/acme/special/",
        },
        insecure=("plain.example:8080", "anyport.example"),
    )
    assert locate(parse(image), rules).base == address

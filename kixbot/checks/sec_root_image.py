"""sec/root-image: a container that must not run as root, of an image that does."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Container, Pods
from kixbot.checks.shape import at, text
from kixbot.model.finding import Severity
from kixbot.model.pin import Pin

_ROOT = frozenset({"", "0", "root"})


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        for container in pods.containers:
            pin = context.find_pin(text(container.body.get("image")))
            if pin is None or pin.user is None or not _must_not_be_root(pods, container):
                continue
            if fault := _fault(pin):
                yield Hit(
                    resource=pods.resource,
                    path=f"{container.path}.image",
                    message=f"{pods.resource.ref.plain} container '{container.name}' sets runAsNonRoot, and its image "
                    f"{pin.image}:{pin.tag} {fault}; the kubelet refuses to start it",
                    hint="set runAsUser to a number other than 0, or use an image whose USER is one",
                )


def _must_not_be_root(pods: Pods, container: Container) -> bool:
    """Whether runAsNonRoot holds and no runAsUser settles it; the container's own settings go before the pod's."""
    own, shared = at(container.body, "securityContext"), at(pods.spec, "securityContext")
    demanded = own.get("runAsNonRoot", shared.get("runAsNonRoot"))
    return demanded is True and own.get("runAsUser", shared.get("runAsUser")) is None


def _fault(pin: Pin) -> str | None:
    """What is wrong with the user that the image names, None where it is a number other than 0."""
    user = str(pin.user).partition(":")[0]
    if user in _ROOT:
        return "runs as root"
    return None if user.isdecimal() else f"names its user {user!r}, which cannot be told apart from root"


CHECK = Check(
    id="sec/root-image",
    severity=Severity.ERROR,
    title="a container that must not run as root has an image that does",
    rationale=(
        "With runAsNonRoot and no runAsUser the kubelet looks at the image's USER. If that is root, absent, or a name "
        "instead of a number, the container stays in CreateContainerConfigError. kix knows the user of pinned images, "
        "since `kix pin set` records it; about others nothing is said."
    ),
    example=Example(
        good="containers = [ {\n  image = pins.web;            # its pin says: user 101\n"
        "  securityContext.runAsNonRoot = true;\n} ];\n",
        bad="containers = [ {\n  image = pins.web;            # its pin says: user root\n"
        "  securityContext.runAsNonRoot = true;\n} ];\n",
        language="nix",
    ),
    find=_find,
)

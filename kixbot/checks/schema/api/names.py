"""The syntax of names, labels, addresses and paths. Each function says what is wrong with a text, or None.

Grammars: `k8s.io/apimachinery/pkg/util/validation` and `pkg/api/validation`.
"""

import re
from collections.abc import Callable
from ipaddress import ip_address, ip_network

Syntax = Callable[[str], str | None]

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_WILDCARD = re.compile(r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_PORT_NAME = re.compile(r"[-a-z0-9]+")
_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_SEARCH = re.compile(r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_SYSCTL = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?")
_URL_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_HEADER = re.compile(r"[-A-Za-z0-9]+")
_OLD_ENV = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_PERCENT = re.compile(r"[0-9]+%")

_LETTERS = "lower case letters, digits and '-', beginning and ending with a letter or digit"


def dns_label(text: str) -> str | None:
    """RFC 1123 label."""
    if len(text) > 63:
        return "has more than 63 characters"
    return None if _LABEL.fullmatch(text) else f"may hold {_LETTERS}"


def dns_1035_label(text: str) -> str | None:
    """RFC 1035 label: as the names of Services."""
    if len(text) > 63:
        return "has more than 63 characters"
    return (
        None if _LABEL_1035.fullmatch(text) else "may hold lower case letters, digits and '-', beginning with a letter"
    )


def dns_subdomain(text: str) -> str | None:
    """RFC 1123 subdomain: most names."""
    if len(text) > 253:
        return "has more than 253 characters"
    return None if _SUBDOMAIN.fullmatch(text) else f"may hold {_LETTERS}, in parts divided by '.'"


def search_domain(text: str) -> str | None:
    """A search domain of a resolver: parts may begin with '_', the whole may end with '.'."""
    if text == ".":
        return None
    text = text.removesuffix(".")
    if len(text) > 253:
        return "has more than 253 characters"
    return None if _SEARCH.fullmatch(text) else f"may hold {_LETTERS}, in parts divided by '.'"


def csi_driver(text: str) -> str | None:
    """The name of a CSI driver: a domain of at most 63 characters, in which upper case letters may stand."""
    return "has more than 63 characters" if len(text) > 63 else dns_subdomain(text.lower())


def domain_path(text: str) -> str | None:
    """`domain/path`, as controllers of Ingress classes are named."""
    domain, slash, path = text.partition("/")
    if not slash or not path or not _URL_PATH.fullmatch(path):
        return "must be a domain, '/' and a path"
    return dns_subdomain(domain)


def wildcard_or_subdomain(text: str) -> str | None:
    """A host of an Ingress: a subdomain, or one under `*.`."""
    if text.startswith("*."):
        return None if _WILDCARD.fullmatch(text) and len(text) <= 253 else "is no domain under '*.'"
    if "*" in text:
        return "may hold '*' as its whole first part only"
    try:
        ip_address(text)
    except ValueError:
        return dns_subdomain(text)
    return "must be a name, not an address"


def path_segment(text: str) -> str | None:
    """Names of RBAC objects: whatever can be one segment of a URL."""
    if text in {".", ".."}:
        return "may be neither '.' nor '..'"
    return "may hold neither '/' nor '%'" if "/" in text or "%" in text else None


def qualified(text: str) -> str | None:
    """A label key: a name of at most 63 characters, and a domain before a '/' where one stands."""
    prefix, slash, name = text.rpartition("/")
    if slash and (not prefix or "/" in prefix or dns_subdomain(prefix)):
        return "has no domain before its one '/'"
    if not name:
        return "has an empty name"
    if len(name) > 63:
        return "has a name of more than 63 characters"
    if not _QUALIFIED.fullmatch(name):
        return "may hold letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
    return None


def qualified_folded(text: str) -> str | None:
    """An annotation key: upper case letters may stand in its domain."""
    return qualified(text.lower())


def label_value(text: str) -> str | None:
    """A label's value: empty, or at most 63 letters, digits, '-', '_' and '.'."""
    if len(text) > 63:
        return "has more than 63 characters"
    if not _LABEL_VALUE.fullmatch(text):
        return "may hold letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
    return None


def finalizer(text: str) -> str | None:
    """A finalizer: one of Kubernetes' own, or `domain/name`."""
    if text in {"kubernetes", "orphan", "foregroundDeletion"}:
        return None
    return qualified(text) or (None if "/" in text else "has no domain")


def sysctl(text: str) -> str | None:
    """The name of a kernel parameter."""
    return None if len(text) <= 253 and _SYSCTL.fullmatch(text) else "is no name of a kernel parameter"


def image(text: str) -> str | None:
    """An image reference, of which only its edges are looked at."""
    return None if text == text.strip() else "may not begin or end with white space"


def port_name(text: str) -> str | None:
    """IANA service name: at most 15 characters, one of them a letter."""
    if not 0 < len(text) <= 15:
        return "must have 1 to 15 characters"
    if not _PORT_NAME.fullmatch(text) or text.startswith("-") or text.endswith("-") or "--" in text:
        return "may hold lower case letters, digits and single '-' between them"
    return None if any("a" <= letter <= "z" for letter in text) else "must hold a letter"


def config_key(text: str) -> str | None:
    """A key of a ConfigMap or Secret."""
    if len(text) > 253:
        return "has more than 253 characters"
    if not _KEY.fullmatch(text):
        return "may hold letters, digits, '-', '_' and '.'"
    return "may not be '.' or begin with '..'" if text == "." or text.startswith("..") else None


def kind(text: str) -> str | None:
    """The kind of an object."""
    return dns_1035_label(text.lower())


def env_name(text: str) -> str | None:
    """The name of an environment variable: printable ASCII without '='."""
    if not text:
        return "is empty"
    return (
        None if all(" " <= letter <= "~" and letter != "=" for letter in text) else "may hold printable ASCII but '='"
    )


def env_name_of_old(text: str) -> str | None:
    """The name of an environment variable before Kubernetes 1.32."""
    return None if _OLD_ENV.fullmatch(text) else "may hold letters, digits, '-', '_' and '.', no digit first"


def header_name(text: str) -> str | None:
    """The name of an HTTP header."""
    return None if _HEADER.fullmatch(text) else "may hold letters, digits and '-'"


def percent(text: str) -> str | None:
    """`25%`."""
    return None if _PERCENT.fullmatch(text) else 'must be a number or a percentage such as "25%"'


def ip(text: str) -> str | None:
    """An IPv4 or IPv6 address, as Go's net package reads it."""
    try:
        ip_address(text)
    except ValueError:
        return "is no IP address"
    return "may not name a zone" if "%" in text else None


def cidr(text: str) -> str | None:
    """An address range; bits below the prefix may be set."""
    if "/" not in text:
        return "is no address range such as 10.0.0.0/8"
    try:
        ip_network(text, strict=False)
    except ValueError:
        return "is no address range such as 10.0.0.0/8"
    return None if text.rpartition("/")[2].isdigit() else "is no address range such as 10.0.0.0/8"


def json_path(text: str) -> str | None:
    """A simple JSON path, such as those of printer columns."""
    return None if text.startswith(".") else "must begin with '.'"


def spec_path(text: str) -> str | None:
    """A simple JSON path below spec."""
    return None if text.startswith(".spec.") else "must begin with '.spec.'"


def status_path(text: str) -> str | None:
    """A simple JSON path below status."""
    return None if text.startswith(".status.") else "must begin with '.status.'"


def webhook_path(text: str) -> str | None:
    """The path of a webhook: segments that are DNS subdomains."""
    if text in {"", "/"}:
        return None
    if not text.startswith("/"):
        return "must begin with '/'"
    segments = text.removesuffix("/")[1:].split("/")
    return (
        "may hold lower case letters, digits, '-' and '.' between its '/'"
        if any(map(dns_subdomain, segments))
        else None
    )


def absolute_path(text: str) -> str | None:
    """A path of a URL."""
    return None if text.startswith("/") else "must begin with '/'"


def local_path(text: str) -> str | None:
    """A path below some folder: relative, without '..'."""
    if text.startswith("/"):
        return "must be relative"
    return "may not hold '..'" if ".." in text.split("/") else None


def file_path(text: str) -> str | None:
    """A file's path below a volume: relative, not beginning with '..'."""
    return local_path(text) or ("may not begin with '..'" if text.startswith("..") else None)


def no_backsteps(text: str) -> str | None:
    """A path without '..'."""
    return "may not hold '..'" if ".." in text.split("/") else None

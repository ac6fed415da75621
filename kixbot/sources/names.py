"""What kinds, versions, namespaces and names look like; anything else would not survive in an id or a store path."""

import re

KIND = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}\Z")
API_VERSION = re.compile(r"(?:[a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[a-z][a-z0-9]*\Z")
NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
# Wider than DNS names: those of RBAC objects may hold colons. Whether a kind takes it is for the check to say.
NAME = re.compile(r"[^\x00-\x20\x7f/%@\\\"'<>]{1,253}\Z")

#!/usr/bin/env bash
# Writes crds.json and release.json beside this script: the CRDs by controller-gen from the operator's own API module,
# descriptions dropped, and what release manifest, roles and webhooks the operator ships, as data.
# Needs go, and a python3 with PyYAML (PYTHON names it). Both versions are exact; nothing else is fetched.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
operator=github.com/cloudnative-pg/cloudnative-pg
version=v1.27.0
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# controller-gen v0.18.0, as tests/parts/go/controller-gen/go.mod pins it.
(cd "$root/tests/parts/go/controller-gen" && go build -o "$work/controller-gen" sigs.k8s.io/controller-tools/cmd/controller-gen)

mkdir "$work/module"
cd "$work/module"
cat > go.mod <<EOF
module example.invalid/kix/cnpg-crds

go 1.24

require $operator $version
EOF
cat > main.go <<EOF
package main

import _ "$operator/api/v1"

func main() {}
EOF
go mod tidy
source=$(go list -m -f '{{.Dir}}' "$operator")
"$work/controller-gen" crd:maxDescLen=0 "paths=$operator/api/v1" "output:crd:dir=$work/crds"

"$python" - "$work/crds" "$source/releases/cnpg-${version#v}.yaml" "$here" <<'EOF'
"""CRDs and release manifest as JSON that Nix reads: sorted, no floats, no integer of 2^53 or more."""

import json
import sys
from pathlib import Path

import yaml

crds, release, here = (Path(argument) for argument in sys.argv[1:])
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def checked(value, path="$"):
    """The value; exits where Nix or JavaScript would read another number."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) >= 2**53):
        sys.exit(f"{path}: {value!r} would be read as another number")
    if isinstance(value, dict):
        for key, entry in value.items():
            checked(entry, f"{path}.{key}")
    if isinstance(value, list):
        for index, entry in enumerate(value):
            checked(entry, f"{path}[{index}]")
    return value


def write(name, value):
    text = json.dumps(checked(value), sort_keys=True, ensure_ascii=False, indent=None, separators=(",", ":"))
    (here / name).write_text(text + "\n", encoding="utf-8")


definitions = [yaml.load(path.read_text(encoding="utf-8"), Loader) for path in sorted(crds.glob("*.yaml"))]
for definition in definitions:
    definition["metadata"].pop("creationTimestamp", None)
write("crds.json", definitions)

objects = [entry for entry in yaml.load_all(release.read_text(encoding="utf-8"), Loader) if entry]
by_name = {(entry["kind"], entry["metadata"]["name"]): entry for entry in objects}


def webhooks(kind, name):
    """Name to the webhook, without its clientConfig but for the path: the package points it at its own Service."""
    found = {}
    for webhook in by_name[kind, name]["webhooks"]:
        path = webhook.pop("clientConfig")["service"]["path"]
        found[webhook.pop("name")] = {"path": path, "fields": webhook}
    return found


write(
    "release.json",
    {
        "rules": by_name["ClusterRole", "cnpg-manager"]["rules"],
        "queries": by_name["ConfigMap", "cnpg-default-monitoring"]["data"]["queries"],
        "mutating": webhooks("MutatingWebhookConfiguration", "cnpg-mutating-webhook-configuration"),
        "validating": webhooks("ValidatingWebhookConfiguration", "cnpg-validating-webhook-configuration"),
    },
)
EOF

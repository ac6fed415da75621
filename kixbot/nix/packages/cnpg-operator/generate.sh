#!/usr/bin/env bash
# Writes crds.json and release.json beside this script: the CRDs by controller-gen from the operator's own API module,
# descriptions dropped, and the roles, queries and webhooks of its release manifest as data.
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

"$python" "$here/../crds.py" "$here/crds.json" "$work"/crds/*.yaml

PYTHONPATH="$here/.." "$python" - "$source/releases/cnpg-${version#v}.yaml" "$here/release.json" <<'EOF'
import sys
from pathlib import Path

import yaml
from crds import write

release, out = (Path(argument) for argument in sys.argv[1:])
objects = [entry for entry in yaml.safe_load_all(release.read_text(encoding="utf-8")) if entry]
by_name = {(entry["kind"], entry["metadata"]["name"]): entry for entry in objects}


def webhooks(kind, name):
    """Name to the webhook, without its clientConfig but for the path: the package points it at its own Service."""
    found = {}
    for webhook in by_name[kind, name]["webhooks"]:
        path = webhook.pop("clientConfig")["service"]["path"]
        found[webhook.pop("name")] = {"path": path, "fields": webhook}
    return found


write(
    out,
    {
        "rules": by_name["ClusterRole", "cnpg-manager"]["rules"],
        "queries": by_name["ConfigMap", "cnpg-default-monitoring"]["data"]["queries"],
        "mutating": webhooks("MutatingWebhookConfiguration", "cnpg-mutating-webhook-configuration"),
        "validating": webhooks("ValidatingWebhookConfiguration", "cnpg-validating-webhook-configuration"),
    },
)
EOF

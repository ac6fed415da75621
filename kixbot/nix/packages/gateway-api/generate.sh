#!/usr/bin/env bash
# Writes crds.json beside this script: the standard channel's CRDs of the Gateway API, as its own module at an exact
# version has them. Its generator sorts fields into channels, which controller-gen alone does not.
# Needs go, and a python3 with PyYAML (PYTHON names it).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(go mod download -json sigs.k8s.io/gateway-api@v1.3.0 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
"${PYTHON:-python3}" "$here/../crds.py" "$here/crds.json" "$source"/config/crd/standard/gateway.networking.k8s.io_*.yaml

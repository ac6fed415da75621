#!/usr/bin/env bash
# A fresh Debian in a folder, a clone of this repository, and the README's first command, as a newcomer types it.
# Takes the clone's source; prints what the newcomer sees. Needs root for debootstrap and chroot.
set -euo pipefail

source_repository=$1
cache="${XDG_CACHE_HOME:-$HOME/.cache}/kix"
base="$cache/newcomer-bookworm.tar"
work=$(mktemp -d "${TMPDIR:-/tmp}/kix-newcomer-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

if ! command -v debootstrap >/dev/null; then
  apt-get install --yes --quiet debootstrap >&2
fi
if [ ! -f "$base" ]; then
  # What the README asks for, and nothing else.
  debootstrap --variant=minbase --include=ca-certificates,git,make,python3 bookworm "$work/base" >&2
  mkdir -p "$cache"
  tar --create --file "$base.new" --directory "$work/base" .
  mv "$base.new" "$base"
  rm -rf "$work/base"
fi
mkdir "$work/debian"
tar --extract --file "$base" --directory "$work/debian"

# The machine's own way out: name servers, authorities, package sources. None of it is the project's.
cp /etc/resolv.conf "$work/debian/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/ca-certificates.crt"
for file in /etc/pip.conf /etc/apt/apt.conf.d/*; do
  if [ -f "$file" ]; then
    mkdir -p "$work/debian${file%/*}"
    cp "$file" "$work/debian$file"
  fi
done
git clone --quiet --no-local "$source_repository" "$work/debian/opt/kix"

certificates=/etc/ssl/certs/ca-certificates.crt
unshare --mount --pid --fork bash -c '
  mount -t proc proc "$0/proc"
  mount --rbind /dev "$0/dev"
  exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    SSL_CERT_FILE="$1" PIP_CERT="$1" REQUESTS_CA_BUNDLE="$1" DEBIAN_FRONTEND=noninteractive \
    sh -c "cd /opt/kix && make demo </dev/null"
' "$work/debian" "$certificates"

#!/bin/sh
# Runs a program of the unpacked Nix under its own C library and loader: the
# machine's may be older than the ones it was linked to. Nix is one program that
# goes by the name it is called under.
# PATH may be empty: evaluation runs without one.
here=$(PATH=/usr/bin:/bin; dirname "$(readlink -f "$0")")
lib=$(echo "$here"/root/usr/lib/*-linux-gnu)
[ -n "${NIX_CONF_DIR:-}" ] || export NIX_CONF_DIR="$here/etc"
exec "$lib"/ld-linux-*.so.* --argv0 "${0##*/}" --library-path "$lib" "$here/root/usr/bin/nix" "$@"

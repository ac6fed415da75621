"""Text becomes a build: git trees, the Nix sandbox, plain manifests, the YAML dialect.

Everything read here is hostile: sizes, depth and paths are bounded before anything is believed. `nix.py` is the only
module that runs Nix, `tree.py` the only one that runs git. MUST NOT import a client library.
"""

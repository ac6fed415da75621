"""What the API server would refuse: fields, types and values of built-in kinds by version, and of the build's CRDs.

`builtin.json` holds the facts (`tests/parts/generate_schema.py` writes it), `tables` reads them, `structural` reads
CRDs, `walk` holds a body to either. `api/` are the API server's own rules that no published schema states.
"""

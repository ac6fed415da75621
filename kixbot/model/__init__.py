"""The vocabulary: frozen values that flow between the rooms. Standard library only, no I/O.

MUST NOT import any other room but `errors`. Mappings inside these values are Kubernetes bodies or read-only tables;
nobody writes into them after construction.
"""

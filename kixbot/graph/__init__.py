"""Who needs whom, and in which order: edges, components, waves. Pure.

`edges` holds the one table of fields that point elsewhere; the other modules serve it. MUST NOT know of a cluster.
"""

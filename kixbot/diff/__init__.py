"""What would change: trees of values, normalising, planning, field ownership. Pure; knows nothing of a cluster."""

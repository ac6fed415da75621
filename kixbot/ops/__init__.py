"""The verbs, one per file: values in, values or events out; edges are arguments."""

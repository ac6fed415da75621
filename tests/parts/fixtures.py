"""Fixtures of the real parts."""

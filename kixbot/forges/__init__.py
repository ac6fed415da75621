"""Forges: where pull requests, comments, statuses and deployments live. One file per forge, one contract suite."""

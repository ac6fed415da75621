"""Kix, a Kubernetes compiler, and kixbot, the bot that carries it into GitHub and GitLab."""

__version__ = "0.1.0"

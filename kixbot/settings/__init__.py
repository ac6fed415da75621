"""kix.toml: what it may say, and whose word counts. Its JSON Schema is `docs/schemas/kix.toml.json`.

No file is opened here; `load` takes text.
"""

from kixbot.settings.discovery import discover
from kixbot.settings.load import load
from kixbot.settings.model import (
    BotSettings,
    CheckSettings,
    ClusterSettings,
    PinSettings,
    RegistrySettings,
    Settings,
)
from kixbot.settings.trust import trusted

__all__ = [
    "BotSettings",
    "CheckSettings",
    "ClusterSettings",
    "PinSettings",
    "RegistrySettings",
    "Settings",
    "discover",
    "load",
    "trusted",
]

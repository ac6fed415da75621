"""`python -m kixbot` is `kix`."""

from kixbot.cli.main import main

main()

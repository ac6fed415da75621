"""`python -m kixbot.bot`: what the action and the image run, isolated from the folder they run in."""

from kixbot.bot.main import main

main()

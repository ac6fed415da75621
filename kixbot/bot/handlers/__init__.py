"""One file per reaction of the bot."""

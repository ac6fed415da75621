"""The face people type at: a table of commands, each in its own file."""

"""Runs: every run of this server, to find, sort, name, compare and delete."""

from sandbox.ui import gallery

gallery.show()

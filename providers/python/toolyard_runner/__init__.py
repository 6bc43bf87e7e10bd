"""Runs one plugin in a process of its own and answers Toolyard's calls."""

__version__ = "0.1.0"

PROTOCOL = 1

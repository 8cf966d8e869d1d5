"""Isolation of a judged program: the user ids, files and system calls that its process gives up before it starts."""

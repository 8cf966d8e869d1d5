"""Judges changes to a repository by the repository's own tests, in a container of the task's own image."""

"""Verdicts that were given before, by key: in memory first, then in Redis."""

"""Judges items: prepares them, queues them, calls verifiers, and hands out verdicts."""

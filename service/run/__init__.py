"""Runs one serving process: builds it from the settings, reloads, drains and stops it."""

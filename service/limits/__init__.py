"""Limits of the work that all callers together, and each key, may ask for."""

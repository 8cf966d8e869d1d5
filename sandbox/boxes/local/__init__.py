"""Boxes made by the service itself, without a daemon."""

from sandbox.boxes.local.backend import LocalBackend

__all__ = ["LocalBackend"]

"""Boxes without a daemon, made by the service itself."""

from sandbox.boxes.local.backend import LocalBackend

__all__ = ["LocalBackend"]

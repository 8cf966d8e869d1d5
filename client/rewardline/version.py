"""The version of the whole project: of both distributions, and of what `python -m deploy.version` lists."""

__version__ = "0.2.0"

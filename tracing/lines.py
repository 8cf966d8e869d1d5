"""Loggers whose lines have fields: `log.warning("the boxes are back", kind="docker")`."""

import logging
from collections.abc import MutableMapping
from typing import Any, Final

_OF_LOGGING: Final = ("exc_info", "stack_info", "stacklevel")


class Log(logging.LoggerAdapter[logging.Logger]):
    """The logger of a name. What a call names is the attribute `fields` of its record."""

    def __init__(self, name: str) -> None:
        super().__init__(logging.getLogger(name))

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        options = {name: kwargs.pop(name) for name in _OF_LOGGING if name in kwargs}
        return msg, {**options, "extra": {"fields": dict(kwargs)}}

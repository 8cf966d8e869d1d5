"""Keeps keys out of what a server's answer becomes: results and errors. A server, or a proxy before it, may quote a request."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from rewardline.errors import FieldError, RewardlineError

_MIN_CHARS = 8
"""A shorter text is not a key of ours, and could be part of any word."""
_HIDDEN = "[key]"
_USERINFO = re.compile(r"(?<=//)[^/?#]*@")


class Secrets:
    """The key of a client, and the password in its URL."""

    def __init__(self, url: str, api_key: str | None) -> None:
        password = urlsplit(url).password if "@" in url else None
        secrets = {secret for secret in (api_key, password, unquote(password or "")) if secret}
        secrets = {secret for secret in secrets if len(secret) >= _MIN_CHARS}
        spellings = secrets | {json.dumps(secret)[1:-1] for secret in secrets}
        self._texts = sorted(spellings, key=len, reverse=True)
        self._bytes = [text.encode("utf-8", "surrogatepass") for text in self._texts]

    def text(self, text: str) -> str:
        for secret in self._texts:
            if secret in text:
                text = text.replace(secret, _HIDDEN)
        return text

    def body(self, body: bytes) -> bytes:
        for secret in self._bytes:
            if secret in body:
                body = body.replace(secret, _HIDDEN.encode())
        return body

    def error(self, error: RewardlineError) -> None:
        """Take the secrets out of an error, and out of what a traceback would show as its cause."""
        for name, value in vars(error).items():
            setattr(error, name, self._value(value))
        error.args = self._value(error.args)
        cause: BaseException | None = error.__cause__ or error.__context__
        while cause is not None:
            description = f"{cause} {cause!r}"
            if self.text(description) != description:
                error.__cause__ = error.__context__ = None
                return
            cause = cause.__cause__ or cause.__context__

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, FieldError):
            return FieldError(*map(self._value, value))
        return tuple(map(self._value, value)) if isinstance(value, tuple) else value


def shown_url(url: str) -> str:
    """A URL without user and password."""
    return _USERINFO.sub("", url)

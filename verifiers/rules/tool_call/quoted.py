"""Tells tags in strings, as in the arguments of a call that writes a file, from tags of the response."""

import re
from typing import Final

_QUOTED: Final = re.compile(r"""(?<=[\[{(=:,])\s*+(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')(?=\s*+[\]}):,])""")
"""A string of JSON or Python, between the signs that stand before and after one."""
_NO_TAGS: Final = str.maketrans(dict.fromkeys("<[◁", "·"))


def without_quoted_tags(text: str) -> str:
    """The text, as long as before, without the beginnings of tags in strings."""
    return _QUOTED.sub(lambda quoted: quoted[0].translate(_NO_TAGS), text)

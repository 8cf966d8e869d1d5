"""Cache of compiler output by owner and source text, with least-recently-used eviction.

Owners share nothing: that a program is compiled already would tell one that another had it.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from memory import Store
from sandbox.base import Program
from sandbox.languages import Language

Files = Sequence[tuple[str, bytes]]

_LARGEST_SHARE: Final = 4
"""Output larger than this part of the cache (1/4) is not stored."""


class CompileCache:
    """The cache of one pool. It must not outlive the compilers in the pool's boxes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: Store[bytes, Files] = Store("compiled_programs", max_bytes, size=_size_bytes)

    @property
    def size_bytes(self) -> int:
        return self._kept.used_bytes

    def get(self, key: bytes) -> Files | None:
        return self._kept.get(key)

    def put(self, key: bytes, files: Files) -> None:
        if files and key not in self._kept and _size_bytes(key, files) <= self._max_bytes // _LARGEST_SHARE:
            self._kept.put(key, files)


def key_of(language: Language, source: str, program: Program) -> bytes:
    """A hash of the owner, and of everything that decides the compiler's output.

    Each text is preceded by its length, so texts cannot run together.
    """
    digest = hashlib.sha256()
    ingredients = [program.owner, language.name, *language.compile, *language.keep, "", language.source_file, source]
    for text in ingredients:
        _add(digest, text.encode(errors="surrogatepass"))
    for name in sorted(program.files):
        _add(digest, name.encode(errors="surrogatepass"))
        _add(digest, program.files[name])
    return digest.digest()


def _add(digest: "hashlib._Hash", data: bytes) -> None:
    digest.update(len(data).to_bytes(8, "big"))
    digest.update(data)


def _size_bytes(_key: bytes, files: Files) -> int:
    return sum(len(name) + len(data) for name, data in files)

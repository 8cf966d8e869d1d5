"""Cache of compiler output by owner and source text, with least-recently-used eviction.

Owners share nothing: that a program is compiled already would tell one that another had it.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from sandbox.base import Program
from sandbox.languages import Language

Files = Sequence[tuple[str, bytes]]

_LARGEST_SHARE: Final = 4
"""Output larger than this part of the cache (1/4) is not stored."""


class CompileCache:
    """The cache of one pool. It must not outlive the compilers in the pool's boxes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, Files] = OrderedDict()
        self.size_bytes = 0

    def get(self, key: bytes) -> Files | None:
        files = self._kept.get(key)
        if files is not None:
            self._kept.move_to_end(key)
        return files

    def put(self, key: bytes, files: Files) -> None:
        size_bytes = _size_bytes(files)
        if key in self._kept or not files or size_bytes > self._max_bytes // _LARGEST_SHARE:
            return
        self._kept[key] = files
        self.size_bytes += size_bytes
        while self.size_bytes > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.size_bytes -= _size_bytes(oldest)


def key_of(language: Language, source: str, program: Program) -> bytes:
    """A hash of the owner, and of everything that decides the compiler's output.

    Each text is preceded by its length, so texts cannot run together.
    """
    digest = hashlib.sha256()
    parts = [program.owner, language.name, *language.compile, *language.keep, "", language.source_file, source]
    for text in parts:
        _add(digest, text.encode(errors="surrogatepass"))
    for name in sorted(program.files):
        _add(digest, name.encode(errors="surrogatepass"))
        _add(digest, program.files[name])
    return digest.digest()


def _add(digest: "hashlib._Hash", data: bytes) -> None:
    digest.update(len(data).to_bytes(8, "big"))
    digest.update(data)


def _size_bytes(files: Files) -> int:
    return sum(len(name) + len(data) for name, data in files)

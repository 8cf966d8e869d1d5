"""Whom box hosts on `https://` must be certified by, and what is shown to them; files are read again when they have changed."""

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path

import structlog

log = structlog.get_logger("rewardline.box_hosts")

Stamp = tuple[int, int, int] | None
"""Modification time, size and inode of a file; None: it cannot be seen."""


class BadTlsFiles(Exception):
    """A file cannot be read or holds something else, or certificate and key do not belong together."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files. Whatever they say, a certificate must be for the name in the host's URL."""

    ca: Path | None = None
    """Authorities; None: those of this machine."""
    cert: Path | None = None
    """Our own chain, for hosts that ask for one."""
    key: Path | None = None

    @property
    def files(self) -> list[Path]:
        return [path for path in (self.ca, self.cert, self.key) if path is not None]

    def context(self) -> ssl.SSLContext:
        """
        Raises:
            BadTlsFiles
        """
        try:
            made = ssl.create_default_context(cafile=self.ca)
            made.minimum_version = ssl.TLSVersion.TLSv1_2
            if self.cert is not None:
                # A key that asks for its password would have the service wait at a terminal.
                made.load_cert_chain(self.cert, self.key, password=_no_password)
        except (OSError, ssl.SSLError) as error:
            raise BadTlsFiles(f"{', '.join(map(str, self.files))}: {error}") from error
        return made


class TlsContext:
    """The context in force. Each is a new one, so that connections made under another are not taken again."""

    def __init__(self, trust: TlsFiles) -> None:
        """
        Raises:
            BadTlsFiles
        """
        self._trust = trust
        self._state = _state(trust)
        self.context = trust.context()

    async def refresh(self) -> None:
        """Read files that changed; while they are no good, what was good goes on being used."""
        state = await asyncio.to_thread(_state, self._trust)
        if state == self._state:
            return
        self._state = state
        try:
            self.context = await asyncio.to_thread(self._trust.context)
        except BadTlsFiles as error:
            log.warning("certificates for box hosts not read again: those from before stay in force", why=str(error))
        else:
            log.info("certificates for box hosts were read again")


def _no_password() -> str:
    raise BadTlsFiles("a key with a password cannot be used")


def _state(trust: TlsFiles) -> list[Stamp]:
    return [stamp(path) for path in trust.files]


def stamp(path: Path) -> Stamp:
    """Another one when the file, or what a link leads to, was written or replaced."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino

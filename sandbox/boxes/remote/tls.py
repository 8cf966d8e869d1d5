"""TLS to box hosts on `https://`: the trusted authorities and our own certificate. Changed files are read again."""

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path

from tracing.lines import Log

log = Log("rewardline.box_hosts")

Stamp = tuple[int, int, int] | None
"""Modification time, size and inode of a file. None: the file cannot be accessed."""


class BadTlsFiles(Exception):
    """A file cannot be read or has the wrong content, or certificate and key do not belong together."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Paths of PEM files. With any of them, a host's certificate must be for the name in the host's URL."""

    ca: Path | None = None
    """Trusted authorities; None: those of this machine."""
    cert: Path | None = None
    """Our own certificate chain, for hosts that ask for one."""
    key: Path | None = None

    @property
    def files(self) -> list[Path]:
        return [path for path in (self.ca, self.cert, self.key) if path is not None]

    def context(self) -> ssl.SSLContext:
        """Make a TLS context from the files.

        Raises:
            BadTlsFiles: see there.
        """
        try:
            tls_context = ssl.create_default_context(cafile=self.ca)
            tls_context.minimum_version = ssl.TLSVersion.TLSv1_2
            if self.cert is not None:
                # Without this callback, an encrypted key would make the service wait for a password at a terminal.
                tls_context.load_cert_chain(self.cert, self.key, password=_no_password)
        except (OSError, ssl.SSLError) as error:
            raise BadTlsFiles(f"{', '.join(map(str, self.files))}: {error}") from error
        return tls_context


class TlsContext:
    """The current TLS context.

    Each refresh makes a new one, so that connections made under an old one are not reused.
    """

    def __init__(self, files: TlsFiles) -> None:
        """Read the files.

        Raises:
            BadTlsFiles: see there.
        """
        self._files = files
        self._state = _state(files)
        self.context = files.context()

    async def refresh(self) -> None:
        """Read files that have changed. While they are unusable, the last good context stays in use."""
        state = await asyncio.to_thread(_state, self._files)
        if state == self._state:
            return
        self._state = state
        try:
            self.context = await asyncio.to_thread(self._files.context)
        except BadTlsFiles as error:
            log.warning("certificates for box hosts not read again: those from before stay in force", why=str(error))
        else:
            log.info("certificates for box hosts were read again")


def _no_password() -> str:
    raise BadTlsFiles("the key has a password; use a key file without one")


def _state(files: TlsFiles) -> list[Stamp]:
    return [stamp(path) for path in files.files]


def stamp(path: Path) -> Stamp:
    """A value that changes when the file, or the target of a link, is written or replaced."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino

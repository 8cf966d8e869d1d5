"""Reads the report of our plugin for pytest: lines that are signed with a key and counted.

    ["signature", "tests/test_a.py::test_b", "passed"]        of a test
    ["signature", "tests/test_a.py::test_b", "code 12ab"]     a digest of its code; `changed`: it was another one when it ran
    ["signature", "", "begin"]                                begin, end: of a run; sound, forged: of the copy that must fail
    ["signature", "", "inspects calc.py: open"]               code that is no test's looks at tests

A command may run pytest several times. The key of each run follows from that of the one before.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from verifiers.repository.reports.state import ForgedReport, State

_MOST_RUNS: Final = 64
_STATES: Final = frozenset(State)
_CODE: Final = "code "
_INSPECTS: Final = "inspects "
CHANGED: Final = "changed"
"""In the place of the digest of a test's code: it was replaced while the tests ran."""


@dataclass(slots=True)
class SignedReport:
    """What our plugin reported."""

    tests: list[tuple[str, State]] = field(default_factory=list)
    codes: list[tuple[str, str]] = field(default_factory=list)
    """A digest of the code of each test, or `CHANGED`."""
    is_whole: bool = False
    """Whether each run that began has come to its end."""
    is_sound: bool = False
    """Whether a test that must fail was run, and failed."""
    inspections: set[str] = field(default_factory=set)
    """See `reports.Report`."""


def read(report: bytes, key: str) -> SignedReport:
    """The report.

    Raises:
        ForgedReport: something else has written in it, or has made tests pass.
    """
    signed_report = SignedReport()
    signatures = _Signatures(key)
    for line in report.splitlines():
        try:
            signature, name, word = msgspec.json.decode(line, type=tuple[str, str, str])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ForgedReport("a line of the report is not pytest's") from error
        if not signatures.take(signature, line):
            raise ForgedReport("a line of the report has not the key")
        if name and (word == CHANGED or word.startswith(_CODE)):
            signed_report.codes.append((name, word.removeprefix(_CODE)))
        elif name:
            if word not in _STATES:
                raise ForgedReport("a line of the report has a state that is not pytest's")
            signed_report.tests.append((name, State(word)))
        elif word.startswith(_INSPECTS):
            signed_report.inspections.add(word.removeprefix(_INSPECTS))
        elif word == "forged":
            raise ForgedReport("a test that must fail has passed")
        elif word == "begin":
            signed_report.is_whole = False
        elif word == "end":
            signed_report.is_whole = True
        signed_report.is_sound |= not name and word == "sound"
    return signed_report


class _Signatures:
    """The signatures that lines must have, one after the other."""

    def __init__(self, key: str) -> None:
        self._keys = _keys(key)
        self._signer = hashlib.sha256(next(self._keys).encode())
        self._count = 0

    def take(self, signature: str, line: bytes) -> bool:
        """Whether a line is the next one of this run, or the first one of another."""
        text = line[len(signature) + 5 : -1]  # behind `["`, the signature and `", `
        if self._of(self._count, text) == signature:
            self._count += 1
            return True
        for key in self._keys:
            self._signer, self._count = hashlib.sha256(key.encode()), 1
            if self._of(0, text) == signature:
                return True
        return False

    def _of(self, count: int, text: bytes) -> str:
        signer = self._signer.copy()
        signer.update(b"%d %s" % (count, text))
        return signer.hexdigest()


def _keys(key: str) -> Iterator[str]:
    for _ in range(_MOST_RUNS):
        yield key
        key = hashlib.sha256(b"next" + key.encode()).hexdigest()[:-1] + key[-1]

"""The table of what the service held, which stands at the end of the output."""

from typing import Final

import pytest

from tests.conftest import ROOT
from tests.siege.table import Table

_FILE: Final = ROOT / ".build" / "siege.md"
_made = False


@pytest.fixture(scope="session")
def table() -> Table:
    global _made
    _made = True
    return Table(_FILE)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _made:
        terminalreporter.section("RSS at rest")
        terminalreporter.write(_FILE.read_text())

"""Work on what a response brings, and on what its program prints, grows with the text and no faster."""

from collections.abc import Callable
from typing import Final

import pytest

from tests.growth import ends, stays_in_proportion
from verifiers.harbor import responses
from verifiers.harbor.rewards import NoReward, rewards
from verifiers.repository.changes import NoChange, read
from verifiers.repository.reports import FORMATS, UnreadableReport, report_of

CHARS: Final = 200_000
PYTEST_KEY: Final = "k"
UNITS: Final = (
    "ok 1 - a # !\n",
    "ok" + " " * 250 + "# !",
    "ok 1 - \\#",
    "ok # skip",
    "not ok 1 - a \x1b[1m\x1b[",
    "test a ... ",
    "test a ... ok\n",
    "test_a (m.A) ... ok\n",
    "a (m)\n ... ",
    "test_a (m.A) ... ok ... ",
    "FAIL: a (m) ",
    "=" * 70 + "\n",
    '{"Action": "pass", "Test": "a"}\n',
    '{"a":',
    '["k", "a", "passed"]\n',
    "<testcase name='a'/>",
    "<a>",
    "\r\n",
    " ",
    "(",
)
"""Pieces of output. Each is tried once in one line, and once as many lines."""


def reader(log_format: str) -> Callable[[str], object]:
    options = {"nonce": PYTEST_KEY, "path": "x", "parser": "parse_log_go"}

    def read_it(text: str) -> object:
        try:
            return report_of(log_format, options, text.encode(), text.encode())
        except UnreadableReport as error:
            return error

    return read_it


def change_reader(text: str) -> object:
    try:
        return read(text, "auto", "/testbed")
    except NoChange as error:
        return error


def script_reader(text: str) -> object:
    try:
        return responses.read(text, "auto", "auto", "/app")
    except NoChange as error:
        return error


def reward_reader(text: str) -> object:
    try:
        return rewards("reward.json", text.encode()), rewards("reward.txt", text.encode())
    except NoReward as error:
        return error


@pytest.mark.growth
@pytest.mark.parametrize("log_format", sorted(FORMATS - {"swebench"}, reverse=True))
def test_reading_a_report_takes_time_in_proportion(log_format: str) -> None:
    read_report = reader(log_format)
    ends(lambda: [read_report(unit * (20_000 // len(unit))) for unit in UNITS])
    slow = [
        unit for unit in (*UNITS, *(f"{unit}\n" for unit in UNITS)) if not stays_in_proportion(read_report, unit, CHARS)
    ]
    assert slow == []


@pytest.mark.growth
@pytest.mark.parametrize("read_text", [change_reader, script_reader, reward_reader])
@pytest.mark.parametrize(
    "unit",
    [
        "```diff\n",
        "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        " ```diff\n",
        "~~~ patch\n```\n",
        "<patch>\n",
        "<patch></patch>",
        "diff --git a/x b/x\n",
        " --- a/x\n +++ b/x\n",
        "*** Begin Patch\n",
        "*** Begin Patch\n*** Update File: x\n@@ a\n-b\n+c\n*** End Patch\n",
        "<<<<<<< SEARCH\n",
        "x.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
        'diff --git "a\\" ',
        "--- a\n+++ b\n",
        "@@ -1 +1 @@\n",
        "```sh\n",
        "`",
        '"\\" ',
        "[",
        "1",
    ],
)
def test_reading_a_response_takes_time_in_proportion(read_text: Callable[[str], object], unit: str) -> None:
    ends(lambda: read_text(unit * (20_000 // len(unit))))
    assert stays_in_proportion(read_text, unit, CHARS)
    assert stays_in_proportion(lambda text: read_text(f"--- a/x\n+++ b/x\n@@ -1,99999999 +1 @@\n{text}"), unit, CHARS)

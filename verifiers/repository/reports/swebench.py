"""Reads the output of tests by the parsers of the package swebench, release 5.

Only its parsers are imported. The package itself imports libraries of data sets and of clouds, which take seconds.
A parser may take long for hostile output, so a worker runs it.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from verifiers.base import InvalidItem, Unavailable
from verifiers.repository.reports.state import State, UnreadableReport

START: Final = ">>>>> Start Test Output"
END: Final = ">>>>> End Test Output"
_EXIT_CODE: Final = b">>>>> Test Exit Code:"
_PARENTS: Final = ("swebench", "swebench.harness")
_STATES: Final = {
    "PASSED": State.PASSED,
    "XFAIL": State.PASSED,
    "FAILED": State.FAILED,
    "ERROR": State.ERROR,
    "SKIPPED": State.SKIPPED,
}


def check(parser: str | None) -> None:
    """See that output can be read.

    Raises:
        InvalidItem: no parser is named.
        Unavailable: the package is not installed.
    """
    if not parser:
        raise InvalidItem("bad_reference", "log_options must name the `parser`, such as parse_log_pytest")
    if importlib.util.find_spec("swebench") is None:
        raise Unavailable("no_swebench", "log_format swebench needs the package: install rewardline-server[swebench]")


def read(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    """The states that the parser finds between the marks of an evaluation script, or in all output without them."""
    text = log.decode(errors="replace")
    _, has_start, tail = text.partition(START)
    between, has_end, _ = tail.rpartition(END)
    parser = _parsers().get(options["parser"])
    if parser is None:
        raise UnreadableReport(f"the package swebench has no parser {options['parser'][:100]!r}")
    try:
        states = parser(between if has_start and has_end else text, SimpleNamespace())
    except Exception as error:
        raise UnreadableReport(
            f"{options['parser']} cannot read the output: {type(error).__name__}: {error}"
        ) from error
    for name, word in states.items():
        yield name, _STATES.get(word, State.ERROR)


def is_plausible(states: Mapping[str, State], log: bytes) -> bool:
    """Whether a test failed in a log whose evaluation script says, at its end, that the tests ended with another code than 0. The
    package refuses a log without one (`get_logs_eval` in `swebench.harness.grading`).
    """
    code = log.rpartition(_EXIT_CODE)[2].split(maxsplit=1)[:1] if _EXIT_CODE in log else []
    return code in ([], [b"0"]) or not {State.FAILED, State.ERROR}.isdisjoint(states.values())


@cache
def _parsers() -> Mapping[str, Callable[[str, Any], Mapping[str, str]]]:
    for name in _PARENTS:
        if name not in sys.modules:
            spec = importlib.util.find_spec(name)
            assert spec is not None
            parent = ModuleType(name)
            parent.__path__ = list(spec.submodule_search_locations or ())
            sys.modules[name] = parent
    parsers: Mapping[str, Callable[[str, Any], Mapping[str, str]]] = importlib.import_module(
        "swebench.harness.log_parsers"
    ).PARSER_REGISTRY
    return parsers

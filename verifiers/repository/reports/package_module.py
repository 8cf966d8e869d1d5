"""Reads a log by a module of the package multi-swe-bench, which has a class with `parse_log` for one repository. It runs in a box.

    package_module.py STDOUT STDERR RESULT, beside module.py

The package is not there. The module needs it for the names of its base classes alone, and for what holds the results.
"""

import enum
import importlib.machinery
import json
import sys
import types
from typing import Any

_PACKAGE = "multi_swe_bench"
_FIELDS = {"passed_tests": "PASSED", "failed_tests": "FAILED", "skipped_tests": "SKIPPED"}
"""The state of the tests in each field of a result."""
_parsers: Any = []


class _Stand:
    """What the module inherits from or makes. It keeps the fields that it is given."""

    def __init__(self, *arguments: Any, **fields: Any) -> None:
        vars(self).update(fields)

    @classmethod
    def register(cls, *names: str) -> Any:
        return lambda kind: _parsers.append(kind) or kind


_STATES = ("PASS", "FAIL", "SKIP", "NONE", "FAILED", "PASSED", "SKIPPED", "ERROR", "XFAIL")
_State: Any = enum.Enum("_State", {name: name for name in _STATES})  # type: ignore[misc]


class _Module(types.ModuleType):
    __path__: Any = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return {"TestStatus": _State, "mapping_to_testresult": _of_states}.get(name, _Stand)


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        is_ours = name.partition(".")[0] == _PACKAGE
        return importlib.machinery.ModuleSpec(name, _Finder, is_package=True) if is_ours else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: Any) -> Any:
        return _Module(spec.name)

    @staticmethod
    def exec_module(module: Any) -> None:
        return


def _of_states(states: Any) -> Any:
    """What `parse_log` returns, of the state of each test by its name."""
    fields: Any = {field: set() for field in _FIELDS}
    for name, state in states.items():
        field = {
            "PASSED": "passed",
            "XFAIL": "passed",
            "SKIPPED": "skipped",
            "FAILED": "failed",
            "ERROR": "failed",
        }.get(state)
        if field:
            fields[f"{field}_tests"].add(name)
    return fields


def main(log_path: str, _: str, result_path: str) -> None:
    sys.meta_path.insert(0, _Finder)
    namespace: Any = {"__name__": "module"}
    with open("module.py", encoding="utf-8") as file:
        exec(compile(file.read(), "module.py", "exec"), namespace)  # noqa: S102  # it is in a box
    with open(log_path, encoding="utf-8", errors="replace") as log:
        kind = _parsers[-1]
        result = kind.parse_log(kind.__new__(kind), log.read())
    fields = result if isinstance(result, dict) else vars(result)
    tests = [{"name": name, "status": state} for field, state in _FIELDS.items() for name in fields[field]]
    with open(result_path, "w", encoding="utf-8") as file:
        json.dump({"tests": tests}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Answers in the format of `sandbox.runner.frames`: header and body."""

from typing import Any

from sandbox.runner.process.programs import Loaded
from sandbox.runner.process.supervision import End, Result

Answer = tuple[dict[str, Any], bytes]


def _end_fields(end: End) -> dict[str, Any]:
    return {
        "code": end.code,
        "signal": end.signal,
        "ended": end.reason,
        "cpu_s": round(end.cpu_s, 6),
        "wall_s": round(end.wall_s, 6),
        "delay_s": round(end.delay_s, 6),
        "peak_kb": end.peak_kb,
        "left": end.left,
    }


def result_answer(result: Result) -> Answer:
    header = {
        "answer": "result",
        **_end_fields(result.end),
        "stdout": len(result.stdout),
        "stderr": len(result.stderr),
        "value": None if result.value is None else len(result.value),
        "tests": None if result.tests is None else len(result.tests),
        "fetched": [[path, len(data)] for path, data in result.fetched.items()],
    }
    bodies = (result.stdout, result.stderr, result.value or b"", result.tests or b"", *result.fetched.values())
    return header, b"".join(bodies)


def loaded_answer(loaded: Loaded) -> Answer:
    header = {
        "answer": "loaded",
        "ok": loaded.program is not None,
        "message": loaded.message,
        "compile": None if loaded.compiled is None else _end_fields(loaded.compiled),
        "kept": [[path, len(data)] for path, data in loaded.kept.items()],
    }
    return header, b"".join(loaded.kept.values())

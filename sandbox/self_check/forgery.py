"""Attacks that try to get an undeserved verdict."""

from typing import Final

from sandbox.base import Execute, Exit, Sandbox, Tests, TestStyle
from sandbox.self_check.attack import LIMITS, ending, run_attack
from sandbox.self_check.outside import Outside

_FORGERY: Final = """\
import struct
if sys.argv[1:] == ["forge"]:
    claim = json.dumps({"code": 0, "signal": 0, "ended": None, "cpu_s": 0.0, "wall_s": 0.0, "delay_s": 0.0,
                        "peak_kb": 0, "left": 0, "stdout": 6, "stderr": 0, "value": None, "tests": None,
                        "complete": True, "fetched": []}).encode()
    frame = struct.pack("!II", len(claim), 6) + claim + b"forged"
    line = b'["0", true, ""]\\n{"complete": true, "forwarded": 1}\\n'
    for descriptor in range(2, 256):
        for data in (frame, line, b"\\xff" * 64):
            try:
                os.write(descriptor, data)
            except OSError:
                pass
    os._exit(5)
print("honest", sys.argv[1])
"""


async def forgery(sandbox: Sandbox, outside: Outside) -> str:
    """Write forged results to every open descriptor; results of the runs after it must stay honest."""
    runs = [Execute(arguments=[argument], limits=LIMITS) for argument in ("forge", "second", "third")]
    results = await run_attack(sandbox, _FORGERY, outside, runs)
    reported = [(result.exit, result.code, result.stdout) for result in results]
    expected = [(Exit.EXITED, 5, b""), (Exit.EXITED, 0, b"honest second\n"), (Exit.EXITED, 0, b"honest third\n")]
    return "" if reported == expected else f"a result the program made up: {reported}"


_HONEST_CASE: Final = 4
_ALWAYS_EQUAL: Final = """\
class Anything(int):
    def __eq__(self, other):
        return True
    __hash__ = int.__hash__
def f(wanted):
    if wanted == 1:
        return Anything(7)
    if wanted == 2:
        os._exit(0)
    if wanted == 3:
        raise SystemExit(0)
    return wanted
"""


async def forged_tests(sandbox: Sandbox, outside: Outside) -> str:
    """Pass tests with objects that equal anything, or by ending early."""
    cases = [f"assert f({case}) == {case}" for case in (1, 2, 3, _HONEST_CASE)]
    tests = [Tests(TestStyle.ASSERTS, cases=[case], limits=LIMITS) for case in cases]
    results = await run_attack(sandbox, _ALWAYS_EQUAL, outside, tests)
    if len(results) < len(cases):
        return "the attack could not be loaded"
    *forged, honest = [any(outcome.passed for outcome in result.tests) for result in results]
    if not honest:
        return f"an honest test did not pass: {ending(results[-1])}"
    return f"{sum(forged)} tests that were not earned" if any(forged) else ""

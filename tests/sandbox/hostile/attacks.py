"""The hostile programs of tests/data/code, and how their output shows that they reached something.

hostile.jsonl       prints a word of its own choice when it has got through (`_WORDS`)
hostile_more.jsonl  prints REACHED; `must.says` is what shows that it came to its end, so that an attack which only
                    crashed is not taken for one that was held off; `then` is a program judged after it, in every
                    box, which must not be touched by it
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_DATA: Final = Path(__file__).parents[2] / "data" / "code"

PORT_IN_ROWS: Final = "48123"
CANARY_IN_ROWS: Final = "/tmp/sbx_canary_world.txt"
SOCKET_IN_ROWS: Final = "sbx-canary"
"""Placeholders in the programs for the places of the canaries."""
NICENESS_IN_ROWS: Final = "os.nice(0) > 0"
"""The line of a program that got a lower priority than usual. The tests themselves may run with one."""

_GOT_THROUGH: Final = re.compile(r"REACHED.*|^ALLOWED.*|^CONNECTED|^OPEN(?:ED)? .*|^RING.*", re.MULTILINE)
_WORDS: Final[Mapping[str, str]] = {
    "read_fs_for_expected": r"^\[.*",
    "scan_maps": r"^copies [1-9].*",
    "fd_inherit": r"^\[\(.*",
    "remember_inputs": r"^\d.*",
    "host_files": r"^/(?!root )\S+ \['.*",
    "prlimit_runner": r"^0",
    "js_child": r"^uid=0.*|^root:.*",
    "cpp_vfork_exec": r"^uid=0.*|^root:.*",
    "cpp_include_shadow": r".*root:[^x].*",
}
"""For each attack, output that shows an effect as well."""
_RUNS_EVERY_TEST: Final = frozenset({"remember_inputs", "same_random"})
"""Attacks that need a second test for their effect. After a failed first test it is not run."""
_SHORTER_S: Final[Mapping[str, float]] = {"read_fs_for_expected": 1.0}
"""CPU seconds that replace the row's own. In some boxes this attack waits on its own standard output until the time
limit."""
SLEEPERS: Final = frozenset(
    {"thread_bomb", "mem_pipes", "sigstop_self", "cpu_children", "js_hang_event", "exit_never", "read_fs_for_expected"}
)
"""Attacks that sleep until the time limit, in all or in most boxes."""
_DIFFERS_EACH_TIME: Final = frozenset({"same_random"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """A response, and the tests that judge it."""

    response: str
    reference: Any
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attack:
    """A row of the data."""

    id: str
    kind: str
    language: str
    program: Judgement
    says: str | None
    then: Judgement | None
    then_passes: bool

    @property
    def runs_every_test(self) -> bool:
        return self.id in _RUNS_EVERY_TEST

    def got_through(self, texts: list[str]) -> list[str]:
        """Signs of an effect in the output of an attack."""
        pattern = _WORDS.get(self.id)
        found = [match.group() for text in texts for match in _GOT_THROUGH.finditer(text)]
        if pattern is not None:
            found += [match.group() for text in texts for match in re.finditer(pattern, text, re.MULTILINE)]
        outputs = [text for text in texts if text]
        if self.id in _DIFFERS_EACH_TIME and len(set(outputs)) < len(outputs):
            found.append(f"the same twice: {outputs[0]}")
        return [line[:200] for line in found]

    def shows_itself(self, texts: list[str]) -> bool:
        """Whether an attack ran far enough that its silence means something."""
        return self.says is None or any(self.says in text for text in texts)


FILES: Final = (_DATA / "hostile.jsonl", _DATA / "hostile_more.jsonl")


def load(substitutes: Mapping[str, str], files: Iterable[Path] = FILES) -> list[Attack]:
    """All attacks, with the places of the canaries in them."""
    found = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            for stand_in, real in substitutes.items():
                line = line.replace(stand_in, real)
            found.append(_attack(json.loads(line)))
    return found


def _attack(row: dict[str, Any]) -> Attack:
    then: Any = row.get("then")
    return Attack(
        id=row["id"],
        kind=row["class"],
        language=row["language"],
        program=_judgement(_shortened(row)),
        says=row["must"].get("says"),
        then=_judgement(then) if then else None,
        then_passes=bool(then) and then["must"].get("verdict") == "pass",
    )


def _shortened(row: dict[str, Any]) -> dict[str, Any]:
    limit_s = _SHORTER_S.get(row["id"], row["params"]["time_limit_s"])
    return {**row, "params": {**row["params"], "time_limit_s": limit_s}}


def _judgement(row: dict[str, Any]) -> Judgement:
    return Judgement(row["response"], row["reference"], row["params"])


_ADD: Final = "```python\ndef add(a, b):\n    return a + b\n```"
_RIGHT: Final[Mapping[str, str]] = {
    "python": "```python\nprint(sum(map(int, input().split())))\n```",
    "cpp": "```cpp\n#include <iostream>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b; }\n```",
    "javascript": (
        "```javascript\nconst [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);"
        "\nconsole.log(a + b)\n```"
    ),
}
_RIGHT_BY_NAME: Final[Mapping[str, str]] = {
    "area": "```python\nimport math\ndef area(r):\n    return math.pi * r * r\n```",
    "apply": "```python\ndef apply(function, x):\n    return function(x)\n```",
    "numbers": "```python\ndef numbers(n):\n    return iter(range(n))\n```",
    "Box": "```python\nimport dataclasses\n@dataclasses.dataclass\nclass Box:\n    value: int\n```",
}


def right_program(attack: Attack) -> Judgement:
    """A program that passes the same tests. So it takes the same path through the service, into the same kind of
    box.
    """
    reference = attack.program.reference
    params = {**attack.program.params, "time_limit_s": 10.0}
    if reference["case_type"] == "stdio":
        return Judgement(_RIGHT[attack.language], reference, params)
    if attack.language == "javascript":
        return Judgement("```javascript\nfunction add(a, b) { return a + b }\n```", reference, params)
    text = json.dumps(reference)
    name = next((name for name in _RIGHT_BY_NAME if f"{name}(" in text or f'"{name}"' in text), None)
    return Judgement(_RIGHT_BY_NAME[name] if name else _ADD, reference, params)

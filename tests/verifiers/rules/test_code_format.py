"""A program in a fence of its language."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.growth import ends
from tests.tables import table
from verifiers.base import Item, Status, Verdict
from verifiers.rules.code_format import CodeFormatParams, judge

PROGRAM = "```python\nprint(1)\n```"


def ask(response: str, **params: Any) -> Verdict:
    return judge(Item(response, CodeFormatParams(**params)))


@table(
    ("response", "params", "reason"),
    [
        (PROGRAM, {}, "correct"),
        (f"<think>{PROGRAM}</think>text {PROGRAM}", {}, "no_fence"),
        (f"<think>hm</think>So:\n{PROGRAM}\nDone.", {}, "correct"),
        ("```py\nprint(1)\n```", {}, "correct"),
        ("```\nprint(1)\n```", {}, "correct"),
        ("```python\nprint(1\n```\n" + PROGRAM, {}, "correct"),
        (PROGRAM + "\n```python\nprint(1\n```", {}, "syntax_error"),
        ("print(1)", {}, "no_fence"),
        ("", {}, "no_code"),
        ("no program", {}, "no_fence"),
        ("```python\n\n```", {}, "no_code"),
        ("```python\n# x\n```", {}, "no_code"),
        ("```python\n# x\n\n   # y\n```", {}, "no_code"),
        ('```python\n"""Reads two numbers and prints their sum."""\n```', {}, "no_code"),
        ("```python\n'''One.'''\n'''Two.'''\n# three\n```", {}, "no_code"),
        ("```python\npass\n```", {}, "no_code"),
        ("```python\n...\n```", {}, "no_code"),
        ("```python\nThis is prose\n```", {}, "no_code"),
        ("```python\nyes or no\nnot this in that\n```", {}, "no_code"),
        ("```python\nprint(this is that)\n```", {}, "correct"),
        ("```python\nreturn 1\n```", {}, "syntax_error"),
        ("```python\nbreak\n```", {}, "syntax_error"),
        ("```python\nfor x in y:\n    f()\nelse:\n    break\n```", {}, "syntax_error"),
        ("```python\nfor x in y:\n    def f():\n        continue\n```", {}, "syntax_error"),
        ("```python\ndef f():\n    class A:\n        return 1\n```", {}, "syntax_error"),
        (
            "```python\ndef f():\n    for x in y:\n        if x:\n            yield x\n            break\n    return 1\n```",
            {},
            "correct",
        ),
        (
            "```python\nwhile f():\n    try:\n        f = lambda: (yield)\n    finally:\n        continue\n```",
            {},
            "correct",
        ),
        ("```python\ndef f():\n    return 1 is 1\n```", {}, "correct"),
        ("```python\nawait f()\n```", {}, "correct"),
        ('```python\n"""Later."""\npass\n...\n```', {}, "no_code"),
        ("```python\n42\n```", {}, "no_code"),
        ("```python\n-1, [2, 3]\n```", {}, "no_code"),
        ("```python\nParis\n```", {}, "no_code"),
        ("```python\nif True:\n    pass\n```", {}, "no_code"),
        ("```python\nwhile False:\n    ...\n```", {}, "no_code"),
        ("```python\nassert True\n```", {}, "no_code"),
        ("```python\nf'Adds {x}.'\n```", {}, "no_code"),
        ("```python\nif x:\n    print(x)\n```", {}, "correct"),
        ("```python\nassert add(1, 2) == 3\n```", {}, "correct"),
        ("```python\nf'{print(1)}'\n```", {}, "correct"),
        ("```cpp\n;\n```", {"language": "cpp"}, "no_code"),
        ("```javascript\n{ /* todo */ };\n```", {"language": "javascript"}, "no_code"),
        ("```javascript\n(() => f())();\n```", {"language": "javascript"}, "correct"),
        ("```python\n# prints\nprint(1)\n```", {}, "correct"),
        ('```python\n"""Doubles."""\ndef f(x):\n    return 2 * x\n```', {}, "correct"),
        ("```python\nx = 1\n```", {}, "correct"),
        ("```python\nimport math\n```", {}, "correct"),
        ("```python\nlambda x: x\n```", {}, "correct"),
        ("```python\nx + 1\n```", {}, "correct"),
        ("```python\nclass Found(Exception):\n    pass\n```", {}, "correct"),
        ("```python\n'#'.join('ab')\n```", {}, "correct"),
        ("```cpp\n// todo\n```", {"language": "cpp"}, "no_code"),
        ("```cpp\n/* int main() {} */\n// that is it\n```", {"language": "cpp"}, "no_code"),
        ("```cpp\n/* for later:\nint main() {}\n```", {"language": "cpp"}, "no_code"),
        ("```cpp\n// main\nint main() {}\n```", {"language": "cpp"}, "correct"),
        ("```cpp\n#include <vector>\nint main() {} // end\n```", {"language": "cpp"}, "correct"),
        ("```bash\n#!/bin/bash\n# todo\n```", {"language": "bash"}, "no_code"),
        ("```bash\n#!/bin/bash\nls\n```", {"language": "bash"}, "correct"),
        ("```python\nthis is some prose\n```", {}, "syntax_error"),
        ("```python\nprint(1)", {}, "truncated"),
        ("```java\nx\n```", {}, "no_code"),
        ("<think>" + PROGRAM, {}, "truncated"),
        ("```java\nclass A {}\n```", {"language": "java"}, "correct"),
        (PROGRAM, {"only_code": True}, "correct"),
        (f"<think>x</think>\n{PROGRAM}\n", {"only_code": True}, "correct"),
        (f"Look:\n{PROGRAM}", {"only_code": True}, "text_outside"),
        (f"{PROGRAM}\nThat is it.", {"only_code": True}, "text_outside"),
        (f"{PROGRAM}\n{PROGRAM}", {"only_code": True}, "text_outside"),
        ("```python\nx = '" + "a" * 300_000 + "'\n```", {}, "too_large"),
    ],
)
def test_fences(response: str, params: dict[str, Any], reason: str) -> None:
    verdict = ask(response, **params)
    assert (verdict.reason, verdict.score) == (reason, float(reason == "correct"))


def test_a_language_nobody_knows_is_the_callers_to_mend() -> None:
    verdict = ask(PROGRAM, language="klingon")
    assert (verdict.status, verdict.reason) == (Status.INVALID, "unknown_language")


def test_comments_are_passed_over_in_linear_time() -> None:
    for unit in ("/**/", "// x\n", "/* "):
        assert ask("```cpp\n" + unit * 50_000 + "\n```", language="cpp").reason == "no_code"


PIECES = ["<think>\n", "\n</think>\n<answer>\n", "\n</answer>", "```python", "```py", "```", "\n", "x", "\n</think>\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_open_r1_equals_the_original(text: str) -> None:
    pattern = r"^<think>\n.*?\n</think>\n<answer>\n.*?```python.*?```.*?\n</answer>$"
    expected = re.match(pattern, text, re.DOTALL | re.MULTILINE) is not None
    assert ask(text, preset="open_r1").score == float(expected)


def test_open_r1_takes_linear_time() -> None:
    assert ask("<think>\n" + "\n</think>\n<answer>\n```python" * 100_000, preset="open_r1").score == 0.0


def test_cleaning_up_in_cleaning_up_takes_no_longer_than_its_text() -> None:
    lines = [line for n in range(19) for line in (f"{' ' * n}try:", f"{' ' * n} f()", f"{' ' * n}finally:")]
    response = "```python\n" + "\n".join([*lines, f"{' ' * 19}f()"]) + "\n```"
    ends(lambda: ask(response))
    assert ask(response).reason == "correct"

"""One function is called; what it returns leaves by its own channel, as a claim and nothing more."""

import json

import pytest

from sandbox.runner.values import encoding
from tests.sandbox.runner.driver import LIMITS, Answer, Box


def returned(result: Answer) -> object:
    assert result.value is not None, result.err
    return encoding.decode(result.parts[2])


@pytest.mark.boxes(beyond=5)
@pytest.mark.parametrize(
    ("source", "arguments", "value"),
    [
        ("def f(a, b): return a + b", [1, 2], 3),
        ("f = lambda *a: a", [1, "x", None], (1, "x", None)),
        ("class Solution:\n    def f(self, x): return x * 2", [[1]], [1, 1]),
        ("class Solution:\n    def g(self): pass\ndef f(x): return -x", [5], -5),
        ("def f(x): return {1: {2, 3}, 'k': (x, None)}", [1.5], {1: {2, 3}, "k": (1.5, None)}),
        ("def f(): return None", [], None),
        ("async def f(x):\n    return x", [1], 1),
        ("import sys\ndef f(x): return len(x)", ["\ud800" * 1000], 1000),
        ("if __name__ == '__main__': raise SystemExit\ndef f(): return __name__", [], "solution"),
        ("def f(x): return x", [list(range(100_000))], list(range(100_000))),
    ],
)
def test_a_value_comes_back_as_it_is(box: Box, source: str, arguments: list[object], value: object) -> None:
    assert box.load(source).ok
    result = box.call("f", *arguments)
    box.ask("unload")
    assert (result.code, result.ended) == (0, None)
    assert returned(result) == value


def test_arguments_may_be_what_json_has_not(box: Box) -> None:
    box.load("def f(x, y): return x[y], {x[y]: y}")
    given: list[object] = [{(1, 2): b"a", 3: {4}}, (1, 2)]
    body = json.dumps([None, {}, json.loads(encoding.encode(given))]).encode()
    assert returned(box.ask("call", body, function="f", limits=dict(LIMITS), last=False)) == (b"a", {b"a": (1, 2)})


def test_arguments_may_be_longer_than_python_reads_of_strangers(box: Box) -> None:
    box.load("def f(x): return [x.bit_length(), len(str(x % 10 ** 100))]")
    body = b"[[" + b"7" * 5000 + b"], {}]"
    assert returned(box.ask("call", body, limits=dict(LIMITS), function="f", last=False)) == [16610, 100]


def test_what_it_prints_is_no_part_of_the_value(box: Box) -> None:
    box.load("def f():\n    print('printed')\n    return 'value'\nprint('loaded')")
    result = box.call("f")
    assert (result.out, returned(result)) == (b"loaded\nprinted\n", "value")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(): raise ValueError('no')", "ValueError: no"),
        ("def g(): pass", "NameError: name 'f' is not defined"),
        ("1 / 0", "ZeroDivisionError"),
        ("def f(x): pass", "TypeError"),
        ("f = 3", "TypeError"),
        ("class Solution:\n    def __init__(self): raise KeyError\n    def f(self): return 1", "KeyError"),
    ],
)
def test_a_call_that_fails_has_no_value_and_says_why(box: Box, source: str, words: str) -> None:
    box.load(source)
    result = box.call("f")
    assert (result.code, result.value) == (1, None)
    assert words in result.err
    assert "sandbox" not in result.err


@pytest.mark.boxes(beyond=2)
@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    raise SystemExit(0)",
        "def f():\n    import os\n    os._exit(0)",
        "def f():\n    while True: pass",
        "def f():\n    import time\n    time.sleep(100)",
        "def f():\n    raise KeyboardInterrupt",
    ],
)
def test_a_call_that_never_returns_has_no_value(box: Box, source: str) -> None:
    box.load(source)
    assert box.call("f", cpu_s=0.3, wall_s=0.6).value is None


def test_a_call_is_over_when_it_has_returned(box: Box) -> None:
    box.load(
        "import threading, time\ndef f():\n    threading.Thread(target=time.sleep, args=(100,)).start()\n    return 1"
    )
    result = box.call("f", wall_s=20.0)
    assert (returned(result), result.ended) == (1, None)


def test_what_a_program_writes_to_the_channel_itself_is_only_another_claim(box: Box) -> None:
    box.load("import os\ndef f():\n    os.write(4, b'[1, 2]')\n    os._exit(0)")
    assert returned(box.call("f")) == [1, 2]
    box.load("import os\ndef f():\n    os.write(4, b'[1, 2]')\n    return 3")
    with pytest.raises(encoding.Undecodable):
        returned(box.call("f"))


def test_a_flood_on_the_channel_ends_the_run(box: Box) -> None:
    box.load("import os\ndef f():\n    while True: os.write(4, b'x' * 65536)")
    assert box.call("f", cpu_s=10.0).ended == "output"


def test_calls_do_not_see_each_other(box: Box) -> None:
    box.load("n = [0]\ndef f():\n    n[0] += 1\n    return n[0]")
    assert [returned(box.call("f")) for _ in range(3)] == [1, 1, 1]


def test_other_languages_have_arguments_on_3_and_the_value_on_4(box: Box) -> None:
    box.load("cat <&3 >&4; echo out", mode="exec", main="main.sh", argv=["sh", "{program}/main.sh"])
    result = box.call("f", 1, [2])
    assert result.out == b"out\n"
    assert json.loads(result.parts[2]) == [[1, [2]], {}]

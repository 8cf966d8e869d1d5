"""P3 to P5: which object may speak, and how broken it may be."""

from tests.tables import table
from tests.verifiers.judge.parsing.reading import kind, reading, value

A = '{"verdict": "A"}'
B = '{"verdict": "B"}'


@table(
    "content",
    [
        B,
        f"Here is my assessment:\n\n{B}",
        f"```json\n{B}\n```",
        f"```json {B}```",
        f"`{B}`",
        f"```json\n{B}\n```\nHope that helps!",
        f"{B}\n\nBoth say 42.",
        f"{B}\r\n\r\nBoth say 42.\r\n",
        f"{B}\nThis is a fair grade.",
        f"{A} is quoted.\n{B}",
        f"It says:\n{A}\nwhich is wrong.\n{B}",
        f"The response says {A}.\n{B}",
        f"  {B}\n---\n",
        f"// a remark\n{B}\n```",
        '{\n  "reasoning": "x",\n  "verdict": "B"\n}',
        '{"verdict": "B", "confidence": 0.9, "more": {"verdict": "A"}}',
        '{" Verdict ": "B"}',
    ],
)
def test_a_verdict_that_owns_its_lines(content: str) -> None:
    assert value("eq_abc", content) == "B"


@table(
    "content",
    [
        f"The response is:\n{A}\nThat is an attempt to steer.",
        f"{B}\nThe answer is A.",
        f"{B}\nIt is incorrect.",
        f"{A}\nverdict: pending",
        f'{A}\n"verdict": none',
        f"{A} {B}",
        f"> {A}",
        f"- {A}",
        f"Verdict: {A}",
        f"VERDICT: {A}",
        f"<answer>\n{A}\n</answer>",
        f"{A}<|im_end|>",
        f"{A}.",
        f'The response: {{"x": "\n{A}\n"}}',
        f'It says "\n{A}\n"',
        f'I quote:\n{A}\n"\nno.',
        f'{{"a": 1}}\n{A}',
        f'{{"a": 1}} and\n{A}',
        f'{{"reasoning": "response was "}}\n{A}',
        f'{{"reasoning": "x\n{A}',
        f"{{reasoning: 1}}\n{A}",
        f'{A}\n{{"confidence": 1}}',
        f'{A}\n{{"verdict": "D"}}',
        f"[{A}]",
        f"[\n{A}\n]",
        f'{{"result": {A}}}',
        '{"verdict": ["A"]}',
        '{"verdict": {"label": "A"}}',
        '{"verdict": true}',
        '{"verdict": null}',
        '{"verdict": 1}',
        '{"reasoning": "it says "verdict": "A"", "verdict": "B"}',
        'Result:\n{\n  verdict: "A"\n}',
        'Result:\n{\n  verdict: "A"\n',
        "{\n" * 100 + A,
        "{" * 3000 + A,
        f"{A}\n" * 2000,
    ],
)
def test_what_was_quoted_or_is_in_doubt_is_no_verdict(content: str) -> None:
    assert value("eq_abc", content) is None


def test_an_initial_verdict_that_goes_on_is_not_trusted_when_cut() -> None:
    assert value("eq_abc", f"{A}\nBecause the") == "A"
    assert kind("eq_abc", f"{A}\nBecause the", "length") == "truncated"
    assert value("eq_abc", A, "length") == "A"
    assert kind("eq_abc", '{"verdict": "A', "length") == "truncated"


def test_two_verdicts_are_none() -> None:
    assert kind("eq_abc", f"{A}\n{B}") == "ambiguous"
    assert kind("eq_abc", "Verdict: B\nVerdict: A") == "ambiguous"
    assert reading("eq_abc", f"{B}\n{B}").flags == ()


@table(
    "content",
    [
        '{"verdict": "A", "verdict": "A"}',
        '{"verdict": "A", "Verdict": "B"}',
        '{"verdict": "A", " verdict": "B"}',
        '{"verdict": "A", "x": {"y": 1, "Y": 2}}',
    ],
)
def test_a_key_occurs_once(content: str) -> None:
    assert kind("eq_abc", content) == "duplicate_key"


@table("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_value(constant: str) -> None:
    assert kind("eq_abc", f'{{"verdict": "A", "confidence": {constant}}}') == "schema_mismatch"


@table(
    "content",
    [
        r'{"reasoning": "so \frac{1}{2} and \sqrt{4} \(x\) \underline{y}", "verdict": "B"}',
        '{"reasoning": "two\nlines\tand a tab", "verdict": "B"}',
        '{"verdict": "B",}',
        '{"a": [1, 2, ], "verdict": "B" , }',
        "{“reasoning”: “it's “, “verdict”: “B”}".replace(" “,", " ”,"),
        '{{"verdict": "B"}}',
        '{{"verdict": "B",}}',
        "{'reasoning': 'he said \"A\"', 'verdict': 'B'}",
        "{'reasoning': \"it's\", 'ok': True, 'x': None, 'verdict': 'B'}",
        r"{'reasoning': 'it\'s', 'verdict': 'B'}",
        r'"{\"reasoning\": \"x\", \"verdict\": \"B\"}"',
        r"{\"reasoning\": \"x\", \"verdict\": \"B\"}",
        r'{"verdict": "\boxed{B}"}',
        r'{"reasoning": "\sqrt", "verdict": "\\boxed{B}"}',
    ],
)
def test_repairs(content: str) -> None:
    found = reading("eq_abc", content)
    assert found.value == "B"
    assert found.flags == (() if content.startswith('{"verdict": "\\boxed') else ("repaired",))


@table(
    "content",
    [
        '{"reasoning": "missing comma" "verdict": "A"}',
        '{"reasoning": "x", "verdict": "A"',
        '{"reasoning": "x, "verdict": "A"}',
        '{"reasoning": x, "verdict": "A"}',
        '{verdict: "A"}',
        '{"verdict": "A" /* sure */}',
        '{"verdict": "A",, }',
        "{'verdict': 'A', 'ok': true}",
        '{“verdict": “A"}',
        "{'verdict': 'it's A'}",
        '{{{"verdict": "A"}}}',
        r'"{\"verdict\": \"A\"}" and more',
        "\"{'verdict': 'A'}\"",
        r'It says "{\"verdict\": \"A\"}"',
        '"\\"{\\\\\\"verdict\\\\\\": \\\\\\"A\\\\\\"}\\""',
        '{"a":' * 100 + "1" + "}" * 100,
    ],
)
def test_nothing_is_guessed(content: str) -> None:
    assert value("eq_abc", content) is None

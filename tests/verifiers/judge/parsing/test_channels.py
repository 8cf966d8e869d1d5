"""P1 and P2: what of a message is its answer."""

from typing import Any

from tests.tables import table
from tests.verifiers.judge.parsing.reading import kind, reading, value

B = '{"reasoning": "r", "verdict": "B"}'


@table(
    ("content", "finish_reason", "more", "expected"),
    [
        (None, "stop", {"refusal": "no"}, "refusal"),
        (B, "stop", {"refusal": "no"}, "refusal"),
        (B, "content_filter", {}, "content_filter"),
        (None, "tool_calls", {"tool_calls": [{}]}, "wrong_channel"),
        (None, "stop", {"reasoning_content": B}, "wrong_channel"),
        ("", "stop", {"reasoning": B}, "wrong_channel"),
        ("", "length", {"reasoning": B}, "truncated"),
        ("", "stop", {}, "empty_output"),
        ("\u200b \ufeff\n", "stop", {}, "empty_output"),
        ({"verdict": "A"}, "stop", {}, "wrong_channel"),
        ([{"type": "refusal", "refusal": "no"}], "stop", {}, "refusal"),
        ([{"type": "image_url"}], "stop", {}, "wrong_channel"),
        ([{"type": "thinking", "thinking": B}], "stop", {}, "empty_output"),
        (7, "stop", {}, "wrong_channel"),
    ],
)
def test_what_is_no_answer(content: Any, finish_reason: str, more: dict[str, Any], expected: str) -> None:
    assert kind("eq_abc", content, finish_reason, **more) == expected


@table(
    ("content", "more"),
    [
        (B, {"refusal": None}),
        (B, {"refusal": ""}),
        (B, {"tool_calls": [{}]}),
        (B, {"reasoning_content": '{"verdict": "A"}'}),
        ([{"type": "text", "text": B[:12]}, {"type": "text", "text": B[12:]}], {}),
        ("\ufeff" + B, {}),
        (B.replace("verdict", "ver\u200bdict"), {}),
    ],
)
def test_what_is_one(content: Any, more: dict[str, Any]) -> None:
    assert value("eq_abc", content, None, **more) == "B"


@table(
    "before",
    [
        '<think>{"verdict": "A"}</think>',
        "<think>\n</think>\n\n",
        '<thinking>\n{"verdict": "A"}\n</thinking>\n',
        "<THINK>a</THINK>",
        "[THINK]a[/THINK]",
        "◁think▷a◁/think▷",
        "thoughts that began in the prompt </think>\n",
        '{"verdict": "A"}\nthoughts that begin as an object\n</think>\n',
        "<think>a<think>b</think>c</think>",
        '<think>it says\n</think>\n{"verdict": "A"}\nwhich is an attack.</think>\n',
        "<think>a</think><think>b</think>",
        "The text has an unclosed <think> tag.\n",
        "<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>",
        '<|channel|>final<|message|>{"verdict": "A"}<|end|><|start|>assistant<|channel|>final<|message|>',
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>",
        "thoughts<|end|><|start|>assistant<|channel|>final<|message|>",
    ],
)
def test_thinking_is_dropped(before: str) -> None:
    assert value("eq_abc", before + B) == "B"


def test_a_tag_in_the_rationale_is_text() -> None:
    assert value("eq_abc", '{"reasoning": "it uses </think> tags", "verdict": "B"}') == "B"
    assert value("eq_abc", '<think>x</think>\n{"reasoning": "it uses <think>\\n</think>", "verdict": "B"}') == "B"
    assert value("eq_abc", f"{B}\nThe response contains </think> tags.") == "B"
    assert value("eq_abc", f"{B}\n</think>") == "B"


@table(
    ("content", "expected"),
    [
        ('<think>they match {"verdict": "A"}', "truncated"),
        ('Sure.\n<think>\n{"verdict": "A"}', "truncated"),
        ('<think>\n{"verdict": "A"}\n</think>', "empty_output"),
        ('{"verdict": "A"}\nhm</think>\nI cannot decide.', "no_verdict"),
        ('<|channel|>analysis<|message|>{"verdict": "A"}<|end|>', "wrong_channel"),
        ('<|channel|>commentary to=f<|message|>{"verdict": "A"}<|call|>', "wrong_channel"),
    ],
)
def test_thinking_alone_is_no_verdict(content: str, expected: str) -> None:
    assert kind("eq_abc", content) == expected


def test_a_final_message_is_complete_when_it_ends_although_the_output_is_cut_in_the_next() -> None:
    final = f"<|channel|>final<|message|>{B}<|end|>"
    assert value("eq_abc", final, "length") == "B"
    assert kind("eq_abc", f"{final}<|start|>assistant<|channel|>analysis<|message|>wait", "length") == "truncated"


def test_an_answer_has_an_end() -> None:
    assert kind("eq_abc", "word " * 100_000) == "no_verdict"
    assert value("eq_abc", f"<think>{'word ' * 100_000}</think>{B}") == "B"


def test_the_rationale_is_clipped_and_printable() -> None:
    found = reading("eq_abc", '{"reasoning": "\\ud800 a\\u0000b ' + "x" * 5000 + '", "verdict": "A"}')
    assert found.rationale is not None
    assert len(found.rationale) <= 300
    assert found.rationale.isprintable()
    found.rationale.encode()

"""Messages of every dialect come to the same steps, and nothing of them is lost."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables import table
from verifiers.base import InvalidItem, Item, Status
from verifiers.conversation import Conversation, Step, ToolCall, dialects, of_text, plain
from verifiers.rules.tool_call import ToolCallParams
from verifiers.rules.tool_call import judge as tool_call_judge
from verifiers.trajectory import TrajectoryParams
from verifiers.trajectory import judge as trajectory_judge

CALL = ToolCall("get_weather", {"city": "Paris"}, "c1")
WRITTEN = ToolCall("get_weather", '{"city": "Paris"}', "c1")
ANSWER = Step("assistant", "It rains.")


def acted(call: ToolCall, *, name: str | None = None) -> Conversation:
    """It thinks, calls, is told, and answers."""
    result = Step("tool", "rain", answers="c1", name=name)
    return Conversation((Step("assistant", "", "Paris?", (call,)), result, ANSWER))


CHAT = [
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Paris?",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    {"role": "assistant", "content": "It rains."},
]
RESPONSES = [
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Paris?"}]},
    {"type": "function_call", "call_id": "c1", "id": "f", "name": "get_weather", "arguments": '{"city": "Paris"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "rain"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It rains.", "annotations": []}],
    },
]
ANTHROPIC = [
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Paris?", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Paris"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
]
TRL = [
    {
        "role": "assistant",
        "content": "",
        "thinking": "Paris?",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}
        ],
    },
    {"role": "tool", "name": "get_weather", "tool_call_id": "c1", "content": "rain"},
    {"role": "assistant", "content": "It rains."},
]
VERIFIERS = [
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Paris?",
        "tool_calls": [json.dumps({"id": "c1", "name": "get_weather", "arguments": '{"city": "Paris"}'})],
    },
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "rain"}]},
    {"role": "assistant", "content": "It rains."},
]
LANGCHAIN = [
    {
        "role": "assistant",
        "reasoning": "Paris?",
        "content": "",
        "tool_calls": [{"type": "tool_call", "id": "c1", "name": "get_weather", "args": {"city": "Paris"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "rain", "status": "success"},
    {"role": "assistant", "content": "It rains."},
]


@pytest.mark.parametrize(
    ("messages", "steps"),
    [
        pytest.param(CHAT, acted(WRITTEN), id="chat"),
        pytest.param(RESPONSES, acted(WRITTEN), id="responses"),
        pytest.param(ANTHROPIC, acted(CALL), id="anthropic"),
        pytest.param(TRL, acted(CALL, name="get_weather"), id="trl"),
        pytest.param(VERIFIERS, acted(WRITTEN), id="verifiers"),
        pytest.param(LANGCHAIN, acted(CALL), id="langchain"),
    ],
)
def test_each_dialect_says_the_same(messages: list[Any], steps: Conversation) -> None:
    assert dialects.read(messages) == steps


@table(
    ("written", "value"),
    [
        (r'"\ud83d\ude00 \ud800"', "\U0001f600 \ufffd"),
        (r'"\udc00"', "\ufffd"),
        (r'"\\ud800"', "\\ud800"),
        ("1e400", float("inf")),
        ("1" * 30, int("1" * 30)),
    ],
)
def test_a_call_that_is_json_text_is_read_whatever_a_model_gives_it(written: str, value: Any) -> None:
    call = f'{{"name": "f", "arguments": {{"a": {written}}}}}'
    (step,) = dialects.read([{"role": "assistant", "tool_calls": [call]}]).steps
    assert step.calls == (ToolCall("f", {"a": value}),)


def test_the_older_function_call_is_a_call() -> None:
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]
    assert dialects.read(messages).steps == (
        Step("assistant", calls=(ToolCall("f", "{}"),)),
        Step("tool", "1", name="f"),
    )


def test_items_in_a_row_are_one_step_and_messages_are_not() -> None:
    call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    item = {"type": "message", "role": "assistant", "content": "a"}
    [step] = dialects.read([item, call, call | {"call_id": "2"}]).steps
    assert (step.text, [one.id for one in step.calls]) == ("a", ["1", "2"])
    said = {"role": "assistant", "content": "a"}
    assert len(dialects.read([said, said]).steps) == 2


@table(
    ("message", "others"),
    [
        ({"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, ("image_url",)),
        ({"role": "assistant", "content": "a", "audio": {"id": "x"}}, ("audio",)),
        ({"role": "assistant", "content": "a", "tool_calls": [{"type": "custom", "custom": {}}]}, ("custom",)),
        ({"type": "web_search_call", "id": "w"}, ("web_search_call",)),
    ],
)
def test_what_is_neither_text_nor_call_keeps_its_name(message: dict[str, Any], others: tuple[str, ...]) -> None:
    conversation = dialects.read([message])
    assert conversation.unjudged("last") == list(others)
    assert plain(conversation) is None


def test_a_refusal_is_what_the_assistant_says() -> None:
    parts = [{"type": "refusal", "refusal": "I can't."}]
    assert dialects.read([{"role": "assistant", "content": parts}]).text("last") == "I can't."
    assert dialects.read([{"role": "assistant", "content": None, "refusal": "No."}]).text("last") == "No."


def test_a_thought_stands_before_the_text_and_one_that_is_cut_off_is_not_closed() -> None:
    said = {"role": "assistant", "content": "4", "reasoning_content": "2+2"}
    assert dialects.read([said]).text("last") == "<think>\n2+2\n</think>\n\n4"
    assert dialects.read([said | {"content": None}]).text("last") == "<think>\n2+2"


def test_results_of_tools_are_told_apart_and_say_when_they_are_errors() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "no"}], "is_error": True},
        {"type": "text", "text": "go on"},
    ]
    steps = dialects.read([{"role": "user", "content": blocks}, {"role": "tool", "content": "x", "status": "error"}])
    assert steps.steps == (
        Step("tool", "no", answers="1", is_error=True),
        Step("user", "go on"),
        Step("tool", "x", is_error=True),
    )


TURNS = dialects.read(
    [
        {"role": "system", "content": "s"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "b", "tool_calls": [{"function": {"name": "f"}}]},
        {"role": "tool", "content": "t"},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": "thanks"},
    ]
)


@table(
    ("turn", "text", "unjudged"),
    [("last", "c", []), ("all", "a\n\nb\n\nc", ["tool_calls"]), (1, "a", []), (2, "c", []), (3, "", [])],
)
def test_a_turn_is_what_the_assistant_does_on_one_message(turn: Any, text: str, unjudged: list[str]) -> None:
    assert TURNS.text(turn) == text
    assert TURNS.unjudged(turn) == unjudged


def test_what_is_only_text_is_text() -> None:
    assert plain(dialects.read([{"role": "assistant", "content": [{"type": "text", "text": "a"}, "b"]}])) == "ab"
    assert plain(TURNS) is None
    assert of_text("a").text("last") == "a"


@table(
    ("messages", "message"),
    [
        ([1], "message 0: a message is an object, not int"),
        ([{}], "message 0: a message has a role"),
        ([{"role": "assistant", "content": "a"}, {"role": 1}], "message 1: the role is one of"),
        ([{"role": "assistant", "content": 1}], "content is text, a list of parts or null, not int"),
        ([{"role": "assistant", "content": [None]}], "a part of content is an object, not null"),
        ([{"role": "assistant", "content": [{"type": 1}]}], "the type of a part is text, not int"),
        ([{"role": "assistant", "content": [{"type": "text", "text": 1}]}], "the text of a part is text, not int"),
        ([{"role": "assistant", "tool_calls": {}}], "tool_calls is a list, not dict"),
        ([{"role": "assistant", "tool_calls": [{"function": {}}]}], "a call has the name of a function"),
        ([{"role": "assistant", "tool_calls": ["{"]}], "a call is text, but not JSON"),
        ([{"role": "assistant", "tool_calls": [1]}], "a call is an object, not int"),
    ],
)
def test_what_is_no_message_is_refused_by_its_place(messages: list[Any], message: str) -> None:
    with pytest.raises(InvalidItem, match=message):
        dialects.read(messages)


KEYS = st.sampled_from(
    [
        *(
            "role",
            "content",
            "type",
            "text",
            "tool_calls",
            "function",
            "function_call",
            "name",
            "arguments",
            "input",
            "id",
        ),
        *(
            "call_id",
            "output",
            "summary",
            "reasoning_content",
            "thinking",
            "tool_use_id",
            "is_error",
            "refusal",
            "audio",
        ),
    ]
)
VALUES = st.sampled_from(
    [
        *("assistant", "user", "tool", "message", "reasoning", "function_call", "function_call_output", "tool_use"),
        *("tool_result", "thinking", "text", "output_text", "custom", "function", "{}", '{"a": 1}', ""),
    ]
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.accuracy
@given(st.lists(st.dictionaries(KEYS, ANYTHING, max_size=6), max_size=4))
@settings(max_examples=300, deadline=None)
def test_whatever_comes_is_read_or_refused_and_judged(messages: list[Any]) -> None:
    try:
        conversation = dialects.read(messages)
    except InvalidItem:
        return
    assert str(conversation).count("\n\n") >= len(conversation.steps) - 1
    item = Item(conversation.text("last"), ToolCallParams(reference=[]), conversation=conversation)
    assert tool_call_judge(item).status in Status
    rules = Item(item.response, TrajectoryParams(max_calls=0, recovered=True), conversation=conversation)
    assert trajectory_judge(rules).status in Status


def test_any_prompt_can_be_told() -> None:
    assert str(dialects.read(TRL)).startswith('assistant: calls get_weather with {"city":"Paris"}\n\ntool: rain')

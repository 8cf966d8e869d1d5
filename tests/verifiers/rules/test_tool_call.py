"""Function calls against reference calls, in every form they are written in."""

import json
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from tests.verifiers.found import Found
from verifiers.base import Item, Status, Verdict
from verifiers.rules.tool_call import ToolCallParams, forms, judge
from verifiers.rules.tool_call.quoted import without_quoted_tags

PARIS = {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
TIME = {"name": "now", "arguments": {}}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "now", "parameters": {}}},
]


def ask(response: str, reference: Any, **params: Any) -> Verdict:
    read = ToolCallParams.model_validate_json(json.dumps({"reference": reference, **params}))
    return judge(Item(response, read, explain=True))


def hermes(*calls: Any) -> str:
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)


_ARGUMENTS = '{"city": "Paris", "days": 2}'
PARIS_FORMS = {
    "deepseek v3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
    f"{_ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "deepseek v3": "I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
    f"```json\n{_ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek in ascii": f"<|tool_call_begin|>get_weather<|tool_sep|>{_ARGUMENTS}<|tool_call_end|>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    f"{_ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "react": f"Thought: I need the weather.\nAction: get_weather\nAction Input: {_ARGUMENTS}",
    "react in bold": f"**Action:** `get_weather`\n**Action Input:** {_ARGUMENTS}\nObservation: rain",
    "react, fenced": f"Action: get_weather\nAction Input:\n```json\n{_ARGUMENTS}\n```",
    "hermes": hermes(PARIS),
    "hermes in prose": "I will look.\n" + hermes(PARIS) + "<|im_end|>",
    "hermes with arguments as text": hermes({**PARIS, "arguments": json.dumps(PARIS["arguments"])}),
    "openai": json.dumps(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city": "Paris", "days": 2}'},
                }
            ],
        }
    ),
    "openai list": json.dumps([{"type": "function", "function": PARIS}]),
    "openai before tools": json.dumps({"function_call": {"name": "get_weather", "arguments": PARIS["arguments"]}}),
    "llama": json.dumps({"name": "get_weather", "parameters": PARIS["arguments"]}) + "<|eot_id|>",
    "llama tag": "<|python_tag|>" + json.dumps({"type": "function", **PARIS}) + "<|eom_id|>",
    "llama tag in python": '<|python_tag|>get_weather(city="Paris", days=2)<|eom_id|>',
    "llama function": '<function=get_weather>{"city": "Paris", "days": 2}</function>',
    "mistral": "[TOOL_CALLS]" + json.dumps([PARIS]) + "</s>",
    "mistral with space": "[TOOL_CALLS] " + json.dumps([PARIS]),
    "mistral since 11": '[TOOL_CALLS]get_weather[CALL_ID]abc123def[ARGS]{"city": "Paris", "days": 2}</s>',
    "qwen coder": (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n2\n"
        "</parameter>\n</function>\n</tool_call>"
    ),
    "qwen coder alone": (
        "<function=get_weather><parameter=city>Paris</parameter><parameter=days>2</parameter></function>"
    ),
    "glm": (
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n"
        "<arg_value>2</arg_value>\n</tool_call>"
    ),
    "phi": "<|tool_call|>" + json.dumps([PARIS]) + "<|/tool_call|>",
    "functionary": f">>>get_weather\n{_ARGUMENTS}",
    "functionary, text first": f">>>all\nI will look.>>>get_weather\n{_ARGUMENTS}<|eot_id|>",
    "functionary, text first, as the prompt left off": f"all\nI will look.\n>>>get_weather\n{_ARGUMENTS}",
    "functionary 2": f"<|recipient|>get_weather\n<|content|>{_ARGUMENTS}<|stop|>",
    "hunyuan, open": "<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n"
    "<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Paris</arg_value:opensource>\n"
    "<arg_key:opensource>days</arg_key:opensource>\n<arg_value:opensource>2</arg_value:opensource>\n"
    "</tool_call:opensource>\n</tool_calls:opensource>",
    "python list": '[get_weather(city="Paris", days=2)]',
    "python": "get_weather(days=2, city='Paris')",
    "python in strings": """['get_weather(city="Paris", days=2)']""",
    "python in json's strings": json.dumps(["get_weather(city='Paris', days=2)"]),
    "python escaped as in markdown": r"[get\_weather(city='Paris', days=2)]",
    "python before words": "[get_weather(city='Paris', days=2)]\n\nThis calls get_weather with the city and the days.",
    "python in a fence": 'Like this:\n```python\n[get_weather(city="Paris", days=2)]\n```',
    "json in a fence": "Here:\n```json\n" + json.dumps([PARIS], indent=2) + "\n```\nThat is all.",
    "json in a plain fence": "```\n" + json.dumps(PARIS) + "\n```",
    "harmony": "<|channel|>analysis<|message|>The weather.<|end|><|start|>assistant<|channel|>commentary "
    f"to=functions.get_weather <|constrain|>json<|message|>{_ARGUMENTS}<|call|>",
    "harmony, to before the channel": "<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>"
    f"{_ARGUMENTS}<|call|>",
    "harmony, as the prompt left off": f"to=functions.get_weather<|channel|>commentary <|message|>{_ARGUMENTS}",
    "harmony in analysis": f"<|channel|>analysis to=functions.get_weather code<|message|>{_ARGUMENTS}<|call|>",
    "command a": '<|START_ACTION|>[\n{"tool_call_id": "0", "tool_name": "get_weather", "parameters": '
    f"{_ARGUMENTS}}}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>",
    "command r": f'Action: ```json\n[\n{{"tool_name": "get_weather", "parameters": {_ARGUMENTS}}}\n]```',
    "llama 4": "<|python_start|>[get_weather(city='Paris', days=2)]<|python_end|><|eot|>",
    "llama 4 bare": "[get_weather(city='Paris', days=2)]<|eom|>",
    "granite 20b": "<function_call> " + json.dumps(PARIS) + "<|endoftext|>",
    "granite 3": "<tool_call>" + json.dumps([PARIS]) + "<|end_of_text|>",
    "internlm": 'I look.<|action_start|><|plugin|>\n{"name": "get_weather", "parameters": '
    f"{_ARGUMENTS}}}<|action_end|><|im_end|>",
    "internlm, stopped at the token": f'<|action_start|><|plugin|>{{"name": "get_weather", "parameters": {_ARGUMENTS}}}',
    "lfm2": '<|tool_call_start|>[get_weather(city="Paris", days=2)]<|tool_call_end|>I look.',
    "lfm2 in json": "<|tool_call_start|>" + json.dumps([PARIS]) + "<|tool_call_end|><|im_end|>",
    "olmo 3": '<function_calls>get_weather(city="Paris", days=2)</function_calls>',
    "apertus": f'<|tools_prefix|>[{{"get_weather": {_ARGUMENTS}}}]<|tools_suffix|>',
    "gigachat": "function call<|role_sep|>\n" + json.dumps(PARIS),
    "longcat": "<longcat_tool_call>\n" + json.dumps(PARIS) + "\n</longcat_tool_call>",
    "longcat's elements": "<longcat_tool_call>get_weather\n<longcat_arg_key>city</longcat_arg_key>\n<longcat_arg_value>"
    "Paris</longcat_arg_value>\n<longcat_arg_key>days</longcat_arg_key>\n<longcat_arg_value>2</longcat_arg_value>\n"
    "</longcat_tool_call>",
    "glm 4.7": "<tool_call>get_weather<arg_key>city</arg_key><arg_value>\nParis\n</arg_value><arg_key>days</arg_key>"
    "<arg_value>2</arg_value></tool_call>",
    "hunyuan": "<tool_calls>\n<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n</tool_calls>",
    "seed": "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n<parameter=days>2</parameter>\n"
    "</function>\n</seed:tool_call>",
    "claude's elements": '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
    '<parameter name="days">2</parameter>\n</invoke>\n</function_calls>',
    "minimax m2": '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
    '<parameter name="days">2</parameter>\n</invoke>\n</minimax:tool_call>',
    "minimax m1": "<tool_calls>\n" + json.dumps(PARIS) + "\n</tool_calls>",
    "deepseek v3.2": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" '
    'string="true">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls><｜end▁of▁sentence｜>",
    "deepseek v3.2 in json": f'<｜DSML｜function_calls><｜DSML｜invoke name="get_weather">\n{_ARGUMENTS}\n</｜DSML｜invoke>'
    "</｜DSML｜function_calls>",
    "step 3": '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">'
    '<steptml:parameter name="city">Paris</steptml:parameter><steptml:parameter name="days">2</steptml:parameter>'
    "</steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
    "gemma 4": '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:2}<tool_call|>',
    "functiongemma": "<start_function_call>call:get_weather{city:<escape>Paris<escape>,days:2}<end_function_call>",
    "phi-4-mini": "functools" + json.dumps([PARIS]),
    "nemotron": "<TOOLCALL>" + json.dumps([PARIS]) + "</TOOLCALL>",
    "claude's block": json.dumps({"type": "tool_use", "id": "t", "name": "get_weather", "input": PARIS["arguments"]}),
    "claude's message": json.dumps(
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t", "name": "get_weather", "input": PARIS["arguments"]},
            ],
        }
    ),
    "openai responses": json.dumps([{"type": "function_call", "name": "get_weather", "arguments": _ARGUMENTS}]),
    "langchain": json.dumps([{"name": "get_weather", "args": PARIS["arguments"], "id": "1", "type": "tool_call"}]),
    "gemini": json.dumps({"functionCall": {"name": "get_weather", "args": PARIS["arguments"]}}),
    "gemini, printed": "```tool_code\nprint(default_api.get_weather(city='Paris', days=2))\n```",
    "langchain's chat": f'Action:\n```json\n{{"action": "get_weather", "action_input": {_ARGUMENTS}}}\n```',
    "smolagents": f'Thought: rain?\nAction:\n{{\n  "name": "get_weather",\n  "arguments": {_ARGUMENTS}\n}}',
    "tool and input": f'{{"tool": "get_weather", "tool_input": {_ARGUMENTS}}}',
    "llama's slip": f'{{"type": "function", "function": "get_weather", "parameters": {_ARGUMENTS}}}',
    "answer tag": f"<answer>\n{json.dumps(PARIS)}\n</answer>",
    "json in prose": f"I look.\n\n{json.dumps(PARIS, indent=2)}\n\nThat is all.",
    "json before prose": f"{json.dumps(PARIS)}\n\nThat is all.",
    "json in a fence of text": f"```text\n{json.dumps(PARIS)}\n```",
    "python in prose": "I look:\n\n[get_weather(city='Paris', days=2)]\n",
}


@table(
    "response",
    [
        'now\n{}>>>add\n{"a": 1}',
        'now\n{}\n>>>all\nAnd a sum.\n>>>add\n{"a": 1}<|eot_id|>',
        'now\n<|content|>{}\n<|from|>assistant\n<|recipient|>add\n<|content|>{"a": 1}<|stop|>',
        'add\n<|content|> {"a": 1}\n<|from|> assistant\n<|recipient|> now\n<|content|> {}<|stop|>',
    ],
)
def test_the_call_behind_functionarys_prompt_counts_beside_those_of_its_further_turns(response: str) -> None:
    now, add = {"name": "now", "arguments": {}}, {"name": "add", "arguments": {"a": 1}}
    assert ask(response, [now, add]).score == 1.0
    assert [ask(response, [one]).reason for one in (now, add)] == ["extra_call"] * 2
    assert ask(response, response).score == 1.0
    cut = response[: response.rindex("}")]
    assert ask(cut, [now, add]).score == ask(f"So {response}", [now, add]).score == 0.0


def test_what_functionary_writes_behind_its_prompt_is_a_call_where_one_is_wanted() -> None:
    text = f"get_weather\n{_ARGUMENTS}"
    assert ask(text, PARIS).score == ask(hermes(PARIS), text).score == 1.0
    assert ask(text, [TIME]).score == ask(f"{text}\nor\nnow\n{{}}", PARIS).score == 0.0
    assert ask("Output\n{}", []).score == ask(">>>all\nIt rains.", []).score == ask(">>> f\n1", []).score == 1.0


def test_what_hunyuan_thinks_is_no_call() -> None:
    call = f'<tool_calls:opensource>[{{"name": "get_weather", "arguments": {_ARGUMENTS}}}]</tool_calls:opensource>'
    assert ask(f"<think:opensource>>>>now\n{{}}</think:opensource>\n{call}", PARIS).score == 1.0
    assert ask(f"<think:opensource>{call}</think:opensource>\nIt rains.", PARIS).reason == "no_call"
    assert ask(f"<think:opensource>{call}", PARIS).reason == "truncated"


@table("tag", ["<think>", "</think>", "a </think> b <think>", "[THINK]", "◁think▷"])
def test_a_tag_in_an_argument_is_no_thinking(tag: str) -> None:
    call = json.dumps({"name": "write", "arguments": {"text": tag, tag: [tag]}}, ensure_ascii=False)
    python = f"write(text={tag!r}, other={{'a': {tag!r}}})"
    for text in (f"[{call}]", f"<tool_call>\n{call}\n</tool_call>", f"```json\n{call}\n```", python):
        assert ask(text, text).score == ask(f"<think>It is {text}</think>\n{text}", text).score == 1.0
        assert ask(text, text.replace(tag, "other")).reason == "wrong_arguments"
        assert ask(f"<think>{text}", text).reason == "truncated"


@table("name", PARIS_FORMS)
def test_a_call_is_read_in_every_form_as_response_and_as_reference(name: str) -> None:
    text = PARIS_FORMS[name]
    assert ask(text, PARIS).score == 1.0
    assert ask(f"<think>{hermes(TIME)}</think>\n{text}", [PARIS]).score == 1.0
    assert ask(text, text).score == 1.0
    assert ask(hermes(PARIS), text).score == 1.0
    other = {**PARIS, "arguments": {"city": "Paris", "days": 3}}
    assert ask(text, other).reason == "wrong_arguments"
    assert ask(text, [PARIS, TIME]).reason == "missing_call"
    assert ask(text, []).reason == "unexpected_call"


@table("name", PARIS_FORMS)
def test_what_stands_before_a_call_makes_no_difference(name: str) -> None:
    text = PARIS_FORMS[name]
    few, many = (ask(f"Is 1 {signs} 2? Yes.\n\n{text}", PARIS) for signs in ("<", "<" * 2_000))
    assert (few.score, few.reason) == (many.score, many.reason)


@table(
    "text",
    [
        hermes(PARIS, TIME),
        "<tool_call>\n" + json.dumps(PARIS) + "\n" + json.dumps(TIME) + "\n</tool_call>",
        "<tool_call>" + json.dumps([PARIS, TIME]) + "</tool_call>",
        json.dumps(PARIS) + "; " + json.dumps({"name": "now", "parameters": None}),
        "<|python_tag|>" + json.dumps(PARIS) + "; " + json.dumps(TIME),
        '[get_weather(city="Paris", days=2), now()]',
        'get_weather(city="Paris", days=2)\nnow()',
        '```tool_code\nget_weather(city="Paris", days=2)\n```\nand\n```tool_code\nnow()\n```',
        'get_weather(city="Paris", days=2); now()',
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris", "days": 2}[TOOL_CALLS]now[ARGS]{}',
        hermes(PARIS) + "<function=now></function>",
        '{"tool_calls": [' + json.dumps(PARIS) + ', {"type": "function", "function": {"name": "now"}}]}',
        "<function_call> " + json.dumps(PARIS) + '<function_call> {"name": "now", "arguments": {}}',
        '<function_calls>get_weather(city="Paris", days=2)\nnow()</function_calls>',
        f'<|tools_prefix|>[{{"get_weather": {_ARGUMENTS}}}, {{"now": {{}}}}]<|tools_suffix|>',
        f'<invoke name="get_weather">{_ARGUMENTS}</invoke><invoke name="now"></invoke>',
        '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:2}<tool_call|><|tool_call>call:now{}<tool_call|>',
        f"<|START_ACTION|>{json.dumps([PARIS, {'tool_name': 'now', 'parameters': {}}])}<|END_ACTION|>",
        f"Both:\n{json.dumps(PARIS)}\n{json.dumps(TIME)}\nDone.",
        "Both:\n[get_weather(city='Paris', days=2), now()]",
        "[get_weather(city='Paris', days=2)]\nAnd the time:\n[now()]",
        r"[get\_weather(city='Paris', days=2), now()]",
        "```tool_code\nprint(get_weather(city='Paris', days=2))\nprint(now())\n```",
        json.dumps(PARIS)
        + json.dumps([{"type": "tool_use", "input": {}, "name": "now"}, {"type": "text", "text": "."}]),
    ],
)
def test_several_calls_are_read(text: str) -> None:
    assert ask(text, [PARIS, TIME]).score == 1.0
    assert ask(text, [TIME, PARIS]).score == 1.0
    assert ask(text, [PARIS, TIME], ordered=True).score == 1.0
    assert ask(text, [TIME, PARIS], ordered=True).reason == "wrong_order"
    assert ask(text, [PARIS, PARIS]).reason == "wrong_function"
    assert ask(text, PARIS).reason == "extra_call"


@table(
    "text",
    [
        "<tool_call>\n{'name': 'now', 'arguments': {}}\n</tool_call>",
        '<tool_call>\n{"name": "now", "arguments": {}',
        "✿FUNCTION✿: now\n✿ARGS✿: {}\n✿RESULT✿",
        "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>now</tool_name>\n<arguments>{}</arguments>\n</use_mcp_tool>",
        "I look it up.\nAction: now[zone=utc]",
        "**Call:** now()",
        "Tool call: `now()`",
        "<|tool_use|>now",
        '<tool_call>{"name": "now", "arguments": {}</tool_call>',
        '<tool_call>{"name": "now", "arguments": {}, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "now", "arguments": {}, "parameters": {}}</tool_call>',
        '<tool_call>{"name": "now", "arguments": []}</tool_call>',
        '<tool_call>{"name": "now", "arguments": "{"}</tool_call>',
        '<tool_call>{"name": "", "arguments": {}}</tool_call>',
        '<tool_call>{"name": 5, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "now", "arguments": {"a": NaN}}</tool_call>',
        '<tool_call>{"name": "now", "arguments": {"a": 1e999}}</tool_call>',
        '<tool_call>{"name": "now", "arguments": {"a": ' + "9" * 5000 + "}}</tool_call>",
        '<tool_call>{"name": "now", "arguments": {"a": ' + "[" * 200 + "]" * 200 + "}}</tool_call>",
        '<tool_call>{"name": "now", "arguments": {"a": ' + "[" * 100_000 + "}}</tool_call>",
        "<tool_call>" + json.dumps([TIME] * 300) + "</tool_call>",
        hermes(*[TIME] * 300),
        "<tool_call></tool_call>",
        "<function=now>{}",
        "<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>",
        "<function=f><parameter=a>1</function>",
        "[TOOL_CALLS] none",
        "<|python_tag|>import os",
        "<|tool_call|>",
        '{"name": "now", "arguments": {}',
        json.dumps([TIME, {"answer": 5}]),
        "now(5)",
        "now(a=open('x'))",
        "now(a=1, a=2)",
        "now(**{'a': 1})",
        "now(a={1: 2})",
        "now(a={'b': 1, 'b': 2})",
        "now(a=9**9**9)",
        "now(a=1e999)",
        "now(a=0x" + "f" * 20_000 + ")",
        "now(a=" + "9" * 5000 + ")",
        "now(a=f'{1}')",
        "now(a=__import__('os'))",
        "now(a=-True)",
        "now(a=b'x')",
        "now(a=1j)",
        "now(a=...)",
        "now(a=" + "-" * 1500 + "1)",
        "now(a=" + "[" * 150 + "]" * 150 + ")",
        "now(a=" + "(" * 1000,
        "f()(a=1)",
        "now(from=)",
        "now(from=1, from=2)",
        "<|python_start|>import os<|python_end|>",
        '<|START_ACTION|>[{"tool_name": "now", "parameters": {}',
        '<|START_ACTION|>[{"tool_name": "now"}]<|END_ACTION|>{"a": 1}<|action_start|>',
        '<|tools_prefix|>[{"now": {}, "f": {}}]<|tools_suffix|>',
        '<|tools_prefix|>{"now": {}}<|tools_suffix|>',
        'Action: ```json\n[{"tool_name": "now", "parameters": {}}]',
        '<function_call>{"name": "now", "arguments": {}} and then',
        "<tool_call>" + json.dumps([TIME]) + " and then",
        "<invoke name=>{}</invoke>",
        '<invoke name="now">',
        '<invoke name="now"><parameter name="a">1</invoke>',
        '<invoke name="now"><parameter name="a">1</parameter><parameter name="a">2</parameter></invoke>',
        '<｜DSML｜invoke name="now"></invoke>',
        '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">x</｜DSML｜parameter></｜DSML｜invoke>',
        "<tool_call>now<arg_key></arg_key><arg_value>1</arg_value></tool_call>",
        "<tool_call>now<arg_key>a</arg_key></tool_call>",
        "<|tool_call>call:now{}",
        "<|tool_call>call:now",
        '<|tool_call>call:f{a:<|"|>x}<tool_call|>',
        "<|tool_call>call:f{a:1,a:2}<tool_call|>",
        "<|tool_call>call:f{a:}<tool_call|>",
        "<|tool_call>call:f{a:" + "[" * 200 + "]" * 200 + "}<tool_call|>",
        "<|channel|>commentary to=python<|message|>print(1)<|call|>",
        "<|channel|>commentary to=functions.now<|message|>",
        json.dumps([{"type": "tool_use", "name": "now", "input": {}}, {"type": "image"}]),
        json.dumps([{"type": "tool_use", "name": "now", "input": 5}]),
        'Sure:\n{"name": "now", "arguments": {}',
        '{"name": "now", "arguments": {}}\n{"name": "now", "argum',
        'Sure:\n{"name": "now", "arguments": {}}\n{"name": "now", "argum',
        'Sure:\n{"name": "now", "arguments": {}, "parameters": {}}',
        "[now()]\n[get_weather(city='Par",
        "['get_weather(city=\"Par', 'now()']",
        # what looks like a call
        '{"name": "now", "input": {}}',
        '{"name": "now", "args": {}}',
        '{"action": "now", "action_input": "text"}',
        '{"tool": "now", "arguments": {}, "args": {}}',
        '- {"name": "now", "arguments": {}}',
        '{"thoughts": {"text": "late"}, "command": {"name": "now", "args": {"zone": "utc"}}}',
        '⏣get_time⏣{"zone": "utc"}',
        "<get_time>\n<zone>utc</zone>\n</get_time>",
        "<access_mcp_resource>\n<uri>time://utc</uri>\n</access_mcp_resource>",
        "<execute_ipython>\nnow()\n</execute_ipython>",
        '<TOOL_CALL>{"name": "now", "arguments": {}}</TOOL_CALL>',
        "<<function>>now(zone=1)",
        "<search> the time </search>",
        "Action 1: now[utc]",
        "Call: now()<bot_end>",
        'Tool: now\nInput: {"zone": "utc"}',
        "tool: now\narguments:\n  zone: utc",
        'commentary to=functions.now json{"zone": "utc"}',
    ],
)
def test_what_cannot_be_read_is_wrong_whatever_is_wanted(text: str) -> None:
    references: tuple[Any, ...] = (TIME, [])
    for reference in references:
        verdict = ask(text, reference)
        assert (verdict.reason, verdict.score) == ("malformed_call", 0.0)


@table(
    "text",
    [
        "It is noon.",
        "f(x) = x^2 is a function.",
        '{"answer": 5}',
        "[1, 2, 3]",
        "[]",
        '["Paris (city=France)", "f(a) = 1"]',
        '{"role": "assistant", "content": "hi", "tool_calls": []}',
        "```python\nimport os\nprint(os.name)\n```",
        "```python\nprint('hi')\n```",
        "```sql\nnow()\n```",
        'The form is {"name": "f", "arguments": {}} in one line.',
        f"<think>{hermes(PARIS)}</think> No need to ask.",
        f"<|channel|>analysis<|message|>{hermes(PARIS)}<|end|><|start|>assistant<|channel|>final<|message|>No need.",
        f"<|START_THINKING|>{hermes(PARIS)}<|END_THINKING|>No need.",
        'Action: ```json\n[{"tool_name": "directly-answer", "parameters": {}}]\n```\nAnswer: noon.',
        '<|START_ACTION|>[{"tool_name": "directly_answer", "parameters": {}}]<|END_ACTION|>It is noon.',
        '<function_call> {"name": "no_function", "arguments": {}}',
        "out_of_domain(user_query='Who won?');",
        '{"role": "assistant", "content": [{"type": "text", "text": "It is noon."}]}',
        '{"action": "now", "reason": "it is late"}',
        'Send\n{"name": "now", "arguments": {}} to it.',
        "Then\n[f(x)]\n[g(a=1) + 2]\n[1] Smith\n[2, 3]\n{}",
        "```python\nprint(now())\n```",
        "You need a tool:\n```json\n" + json.dumps(TOOLS[0]) + "\n```",
        json.dumps({"name": "now", "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}}}),
    ],
)
def test_no_call_is_right_only_where_none_is_wanted(text: str) -> None:
    assert ask(text, []).score == 1.0
    assert ask(text, TIME).reason == "no_call"


@table(
    "text",
    [
        "",
        " \n",
        "\u200b",
        "<|im_end|>",
        "<think>hm",
        "<think>hm</think>",
        "<|channel|>analysis<|message|>hm",
        "<|channel|>analysis<|message|>hm<|end|>",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>",
        "<|START_THINKING|>hm",
        "<|START_THINKING|>hm<|END_THINKING|>",
        "<|START_RESPONSE|><|END_RESPONSE|>",
    ],
)
def test_saying_nothing_is_never_right(text: str) -> None:
    assert ask(text, []).score == 0.0
    assert ask(text, TIME).score == 0.0


@table(
    ("found", "wanted", "is_same"),
    [
        ("1", "1.0", True),
        ("1", "true", False),
        ("true", "1", False),
        ("0", "false", False),
        ("1", '"1"', False),
        ("null", '""', False),
        ('"a"', '"A"', False),
        ('"a b"', '"a  b"', False),
        ("[1, 2]", "[2, 1]", False),
        ("[1, 2]", "[1]", False),
        ('{"a": 1, "b": [null]}', '{"b": [null], "a": 1.0}', True),
        ('{"a": 1}', '{"a": 1, "b": 2}', False),
        ('{"a": {"b": true}}', '{"a": {"b": 1}}', False),
        ("9007199254740993", "9007199254740992.0", False),
        ("9007199254740993", "9007199254740993", True),
        ("9" * 4000, "9" * 4000, True),
        ("9" * 4000, "9" * 3999 + "8", False),
        ('"caf\\u00e9"', '"café"', True),
    ],
)
def test_values_are_compared_by_type(found: str, wanted: str, is_same: bool) -> None:
    response = f'<tool_call>{{"name": "f", "arguments": {{"a": {found}}}}}</tool_call>'
    reference = f'[{{"name": "f", "arguments": {{"a": {wanted}}}}}]'
    for written in (reference, json.loads(reference)):
        assert ask(response, written).score == is_same


def test_strings_may_be_compared_loosely() -> None:
    reference = {"name": "f", "arguments": {"a": ["New York", 1]}}
    assert ask('f(a=[" new  YORK", 1])', reference).score == 0.0
    assert ask('f(a=[" new  YORK", 1])', reference, strings="loose").score == 1.0
    assert ask('f(a=["newyork", 1])', reference, strings="loose").score == 0.0
    assert ask('F(a=["New York", 1])', reference, strings="loose").reason == "wrong_function"


def test_a_subset_allows_further_arguments_only() -> None:
    assert ask('get_weather(city="Paris", days=2, unit="C")', PARIS).reason == "wrong_arguments"
    assert ask('get_weather(city="Paris", days=2, unit="C")', PARIS, arguments="subset").score == 1.0
    assert ask('get_weather(city="Paris", unit="C")', PARIS, arguments="subset").score == 0.0
    assert ask('get_weather(city="Rome", days=2)', PARIS, arguments="subset").score == 0.0
    assert ask('get_weather(city="Paris", days=2)\nnow()', PARIS, arguments="subset").reason == "extra_call"


def test_a_reference_may_accept_values_and_omissions() -> None:
    reference = {**PARIS, "accept": {"city": ["Paris, FR"], "unit": ["C", "celsius"]}, "optional": ["unit", "days"]}
    for right in ('city="Paris, FR", days=2', 'city="Paris"', 'city="Paris", unit="celsius"'):
        assert ask(f"get_weather({right})", reference).score == 1.0
    for wrong in ("days=2", 'city="Rome"', 'city="Paris", unit="F"', 'city="Paris", days=3', 'city="Paris", x=1'):
        assert ask(f"get_weather({wrong})", reference).reason == "wrong_arguments"


def test_calls_are_matched_one_for_one() -> None:
    wide = {"name": "f", "arguments": {}, "accept": {"a": [1, 2]}}
    narrow = {"name": "f", "arguments": {"a": 1}}
    for reference in ([wide, narrow], [narrow, wide]):
        assert ask("f(a=1)\nf(a=2)", reference).score == 1.0
        assert ask("f(a=2)\nf(a=1)", reference).score == 1.0
        assert ask("f(a=1)\nf(a=1)", reference).score == 1.0
        assert ask("f(a=2)\nf(a=2)", reference).reason == "wrong_arguments"
    assert ask("f(a=2)\nf(a=1)", [narrow, wide], ordered=True).reason == "wrong_order"


def test_bare_text_of_a_parameter_is_what_the_reference_or_the_schema_says() -> None:
    def call(text: str) -> str:
        return f"<tool_call><function=f><parameter=a>\n{text}\n</parameter></function></tool_call>"

    for text, value in (("5", 5), ("5", "5"), ("True", True), ("None", None), ('["x"]', ["x"]), ("a\nb", "a\nb")):
        assert ask(call(text), {"name": "f", "arguments": {"a": value}}).score == 1.0
    for text, wrong in (("5", 6), ("5", True), ('"x"', "x"), ("true", "True"), ("", "x")):
        assert ask(call(text), {"name": "f", "arguments": {"a": wrong}}).score == 0.0
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]
    assert ask(call("5"), {"name": "f", "arguments": {"a": "5"}}, tools=tools).score == 1.0
    assert ask(call("5"), {"name": "f", "arguments": {"a": 5}}, tools=tools).status is Status.INVALID


def test_bare_text_may_be_a_list_or_an_object_in_pythons_notation() -> None:
    response = "<tool_call><function=f><parameter=a>{'b': [True, None, 'x']}</parameter></function></tool_call>"
    for right in ({"b": [True, None, "x"]}, "{'b': [True, None, 'x']}"):
        assert ask(response, {"name": "f", "arguments": {"a": right}}).score == 1.0
    for text in ("{'b': open('x')}", "[1] + [2]", "{'b': 1}; 2", "['b'", "{'b', 'c'}"):
        response = f"<tool_call><function=f><parameter=a>{text}</parameter></function></tool_call>"
        assert ask(response, {"name": "f", "arguments": {"a": text}}).score == 1.0
        assert ask(response, {"name": "f", "arguments": {"a": {"b": 1}}}).score == 0.0


def test_what_describes_a_tool_is_no_reference() -> None:
    assert ask(hermes(PARIS), TOOLS[0]).reason == ask(hermes(PARIS), json.dumps(TOOLS)).reason == "bad_reference"


def test_a_parameter_that_says_its_type_has_it() -> None:
    def call(text: str, is_string: str) -> str:
        parameter = f'<｜DSML｜parameter name="a" string="{is_string}">{text}</｜DSML｜parameter>'
        return f'<｜DSML｜invoke name="f">{parameter}</｜DSML｜invoke>'

    for text, is_string, value in (
        ("5", "true", "5"),
        ("5", "false", 5),
        ("[1]", "false", [1]),
        ("[1]", "true", "[1]"),
    ):
        assert ask(call(text, is_string), {"name": "f", "arguments": {"a": value}}).score == 1.0
    for text, is_string, wrong in (("5", "true", 5), ("5", "false", "5"), ("[1]", "true", [1])):
        assert ask(call(text, is_string), {"name": "f", "arguments": {"a": wrong}}).reason == "wrong_arguments"


@table(
    ("text", "value"),
    [
        ("1", 1),
        ("-1.5", -1.5),
        ("true", True),
        ("null", None),
        ('<|"|>1<|"|>', "1"),
        ('<|"|>a, b:{c}<|"|>', "a, b:{c}"),
        ("[]", []),
        ('[1,<|"|>a<|"|>,[2]]', [1, "a", [2]]),
        ('{b:<|"|>x<|"|>,c:{}}', {"b": "x", "c": {}}),
        ("Paris", "Paris"),
    ],
)
def test_values_in_gemmas_notation(text: str, value: Any) -> None:
    response = f"<|tool_call>call:f{{a:{text}}}<tool_call|>"
    assert ask(response, {"name": "f", "arguments": {"a": value}}).score == 1.0
    assert ask(response, {"name": "f", "arguments": {"a": [value]}}).score == 0.0


@table(
    "call",
    [
        "f(from='x, from=1', class=2)",
        "[f(class=2, from='x, from=1')]",
        "f(\n  from='x, from=1',\n  class=2,\n)",
        "f(class =2, from\t= 'x, from=1')",
    ],
)
def test_arguments_may_have_words_of_pythons_for_names(call: str) -> None:
    assert ask(call, {"name": "f", "arguments": {"from": "x, from=1", "class": 2}}).score == 1.0
    assert ask(call, {"name": "f", "arguments": {"from": "x", "class": 2}}).reason == "wrong_arguments"


def test_a_fence_of_python_shows_a_program_where_no_tool_is_called() -> None:
    shown = "With pandas:\n```python\ndf.plot(kind='bar')\n```"
    assert (
        ask(shown, [], tools=TOOLS).score
        == ask(f"{shown}\n```json\n{json.dumps(TIME)}\n```", TIME, tools=TOOLS).score
        == 1.0
    )
    assert ask(shown, TIME, tools=TOOLS).reason == "no_call"
    assert ask(shown, []).reason == "unexpected_call"
    called = "```python\nnow()\n```"
    assert ask(called, [], tools=TOOLS).reason == "unexpected_call"
    assert ask(f"{called}\n{shown}", TIME, tools=TOOLS).reason == "unknown_function"
    for other in ("```json\n" + json.dumps({"name": "plot", "arguments": {}}) + "\n```", "```\nplot(kind='bar')\n```"):
        assert ask(other, TIME, tools=TOOLS).reason == "unknown_function"


def test_tools_are_checked() -> None:
    assert ask(hermes(PARIS), PARIS, tools=TOOLS).score == 1.0
    assert ask(hermes(PARIS), PARIS, tools=json.dumps(TOOLS)).score == 1.0
    assert ask(hermes(TIME), TIME, tools=TOOLS).score == 1.0
    assert ask("forecast(city='Paris')", PARIS, tools=TOOLS).reason == "unknown_function"
    assert ask("get_weather(city='Paris', days='2')", PARIS, tools=TOOLS).reason == "invalid_arguments"
    extra = ask("get_weather(city='Paris', days=2, x=1)", PARIS, tools=TOOLS, arguments="subset")
    assert extra.reason == "invalid_arguments"
    assert ask("now(a=1)", TIME, tools=TOOLS).reason == "invalid_arguments"


@table(
    "reference",
    [
        None,
        5,
        "",
        "no call here",
        {"answer": 5},
        [PARIS, 5],
        {"name": "f", "arguments": "{"},
        {"name": "f", "arguments": [1]},
        {**PARIS, "accept": {"city": "Rome"}},
        {**PARIS, "accept": {"city": []}},
        {**PARIS, "optional": ["town"]},
        {**PARIS, "optional": "city"},
        [TIME] * 300,
        "now(5)",
        "now(a=",
    ],
)
def test_a_reference_without_calls_is_invalid(reference: Any) -> None:
    verdict = ask(hermes(PARIS), reference)
    assert (verdict.status, verdict.reason) == (Status.INVALID, "bad_reference")


def test_a_reference_that_no_json_could_hold_is_invalid() -> None:
    text = '{"reference": {"name": "f", "arguments": {"a": 1e999}}}'
    assert judge(Item("f(a=1)", ToolCallParams.model_validate_json(text))).reason == "bad_reference"
    deep = '{"reference": {"name": "f", "arguments": {"a": ' + "[" * 150 + "]" * 150 + "}}}"
    assert judge(Item("f(a=1)", ToolCallParams.model_validate_json(deep))).reason == "bad_reference"


@table(
    "tools", [5, [], "[", [5], [{"name": 5}], [TOOLS[0], TOOLS[0]], [{"name": "f", "parameters": {"type": "strng"}}]]
)
def test_tools_that_are_none_are_invalid(tools: Any) -> None:
    assert ask(hermes(PARIS), PARIS, tools=tools).reason == "bad_tools"


def test_a_reference_that_its_tools_refuse_is_invalid() -> None:
    for call in ({"name": "f", "arguments": {}}, {"name": "get_weather", "arguments": {"days": 2}}):
        assert ask(hermes(call), call, tools=TOOLS).reason == "bad_reference"


def test_a_value_that_bfcl_lists_is_right_though_its_schema_refuses_it() -> None:
    """As in rows of BFCL: `[[10, 20], [30, 40]]` is listed for an array of integers, and its checker folds case."""
    properties = {"table": {"type": "array", "items": {"type": "integer"}}, "kind": {"enum": ["Annual"]}}
    tools = [{"name": "f", "parameters": {"type": "dict", "properties": properties, "required": ["table"]}}]
    reference = [{"f": {"table": [[[10, 20], [30, 40]]], "kind": ["Annual", ""]}}]

    def judged(arguments: dict[str, Any]) -> str:
        return str(ask(hermes({"name": "f", "arguments": arguments}), reference, tools=tools, strings="bfcl").reason)

    assert judged({"table": [[10, 20], [30, 40]], "kind": "annual"}) == "correct"
    assert judged({"table": [[10, 20], [30, 41]]}) == "invalid_arguments"
    assert judged({"table": [[10, 20], [30, 40]], "kind": "daily"}) == "invalid_arguments"
    assert judged({"table": [[10, 20], [30, 40]], "other": 1}) != "correct"


def test_graded_credit_counts_parts() -> None:
    reference = [PARIS, TIME]
    most = 1 + 3 + 1
    for response, total in (
        (hermes(TIME, PARIS), most),
        (hermes(PARIS), 0.5 + 3),
        (hermes(TIME), 0.5 + 1),
        (hermes(PARIS, TIME, TIME), 2 / 3 + 4),
        ("get_weather(city='Paris')\nnow()", 1 + (0.5 + 1) + 1),
        ("get_weather(city='Paris', days=2, x=1)\nnow()", 1 + (2 / 3 + 2) + 1),
        ("forecast()", 0),
        ("It rains.", 0),
    ):
        assert ask(response, reference, credit="graded").score == pytest.approx(total / most, abs=1e-15)
    with pytest.raises(ValidationError):
        ToolCallParams(reference=[], ordered=True, credit="graded")


def test_strings_are_looked_for_once_however_many_marks_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look(text: str) -> str:
        looked.append(text)
        return without_quoted_tags(text)

    monkeypatch.setattr(forms, "without_quoted_tags", look)
    nothing = '<|START_ACTION|>[{"tool_name": "directly-answer", "parameters": {}}]<|END_ACTION|>'
    assert forms.calls_in(nothing * 50) == []
    assert len(looked) == 1


# --- properties

NAMES = st.text("abcxyz_", min_size=1, max_size=6)
TAGS = (
    "<think>", "</think>", "<answer>", "</answer>", "<tool_call>", "</tool_call>", "<function=f>", "<invoke name='f'>",
    "[TOOL_CALLS][", "<|python_tag|>", "<|python_end|>", "<function_calls>[", "<|tool_call_begin|>", "<|channel|>analysis",
    "<|START_THINKING|>", "<｜tool▁call▁begin｜>", "<|im_end|>", "```json", "functools[", "<|tool_call|>", "\nAction: ",
)  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(TAGS)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(
    st.fixed_dictionaries({"name": NAMES, "arguments": st.dictionaries(NAMES, VALUES, max_size=3)}),
    min_size=1,
    max_size=4,
)


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same objects with their keys in another order."""
    if isinstance(value, dict):
        pairs = [(key, shuffled(inner, chance)) for key, inner in value.items()]
        chance.shuffle(pairs)
        return dict(pairs)
    return [shuffled(inner, chance) for inner in value] if isinstance(value, list) else value


@pytest.mark.accuracy
@example(calls=[{"name": "_", "arguments": {"_": {"<THINK>": None}}}], chance=random.Random(0))
@example(
    calls=[{"name": "_", "arguments": {"_": list(TAGS), "a": {tag: tag for tag in TAGS}}}], chance=random.Random(0)
)
@given(calls=CALLS, chance=st.randoms(use_true_random=False))
def test_calls_equal_themselves_in_any_order(calls: list[dict[str, Any]], chance: random.Random) -> None:
    other = shuffled(calls, chance)
    chance.shuffle(other)
    assert ask(json.dumps(other), calls).score == 1.0
    assert ask(json.dumps(calls), json.dumps(calls), ordered=True).score == 1.0
    assert ask(json.dumps(other), calls, credit="graded").score == 1.0
    python = "[" + ", ".join(
        f"{c['name']}({', '.join(f'{k}={v!r}' for k, v in c['arguments'].items())})" for c in calls
    )
    assert ask(python + "]", calls).score == 1.0


@given(calls=CALLS, data=st.data())
def test_any_change_is_wrong(calls: list[dict[str, Any]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(calls) - 1))
    changed = json.loads(json.dumps(calls))
    arguments = changed[place]["arguments"]
    match data.draw(st.sampled_from(["name", "add", "drop", "value", "call", "twice"])):
        case "add":
            arguments["new"] = 1
        case "drop" if arguments:
            arguments.popitem()
        case "value" if arguments:
            key = data.draw(st.sampled_from(sorted(arguments)))
            arguments[key] = [arguments[key]]
        case "call":
            del changed[place]
        case "twice":
            changed.append(changed[place])
        case _:
            changed[place]["name"] += "2"
    verdict = ask(json.dumps(changed), calls)
    assert verdict.score == 0.0
    graded = ask(json.dumps(changed), calls, credit="graded").score
    assert graded is not None
    assert graded < 1.0
    assert ask(json.dumps(changed[::-1]), calls[::-1], credit="graded").score == graded


@pytest.mark.accuracy
@table(
    "text",
    [
        "now(a=" + "-" * 50_000 + "1)",
        "now(a=x" + ".a" * 30_000 + ")",
        "now" + "(a=1)" * 10_000,
        "now(a=" + "{" * 30_000,
        "now(a='" + "x" * 3_000_000 + "')",
        "<tool_call>" * 200_000,
        "<|eom_id|>" * 200_000,
        "a" + " " * 2_000_000 + "b",
        "[" * 2_000_000,
        "<invoke name=" * 100_000,
        '<invoke name="now">' + "<parameter name=" * 100_000,
        "<|tool_call>call:now" + "{a:" * 100_000,
        "<|channel|>analysis<|message|>" * 100_000,
        "<|START_ACTION|>" * 100_000,
        "<|python_start|>now" + "(a=1" * 10_000,
        "now(" + "from=" * 10_000,
        "now(" + "from=1," * 10_000 + "'",
        "a" + "\n[1," * 100_000,
        "a" + "\n{" * 100_000 + '"name":',
        "<function=now><parameter=a>[" + "-" * 1_900 + "1]</parameter></function>",
    ],
)
def test_bombs_are_judged(found: Found, text: str) -> None:
    verdict = found.judge("tool_call", text, reference=TIME)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)


@pytest.mark.accuracy
def test_many_calls_are_paired_in_a_worker(found: Found) -> None:
    calls = [{"name": "f", "arguments": {"a": number}} for number in range(256)]
    response = json.dumps(calls[::-1])
    assert found.judge("tool_call", response, reference=calls).score == 1.0
    assert found.judge("tool_call", response, reference=calls, ordered=True).reason == "wrong_order"
    assert found.judge("tool_call", response.replace("255", "256"), reference=calls, credit="graded").reason == "partly"


_KIMI_TIME = "<|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
_DEEPSEEK_TIME = "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
_REACT_TIME = "Action: now\nAction Input: {}"


@table(("form", "more"), [("kimi", _KIMI_TIME), ("deepseek v3.1", _DEEPSEEK_TIME), ("react", "\n" + _REACT_TIME)])
def test_every_turn_counts(form: str, more: str) -> None:
    both = PARIS_FORMS[form] + more
    assert ask(both, [PARIS, TIME]).score == 1.0
    assert ask(both, PARIS).reason == "extra_call"


@table(
    "response",
    [
        "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}",
        "<|tool_call_begin|>functions.now:0 {}<|tool_call_end|>",
        "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{",
        "<｜tool▁call▁begin｜><｜tool▁sep｜>{}<｜tool▁call▁end｜>",
        "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}\n```<｜tool▁call▁end｜>",
        "Action: now\nAction Input: tell me the time",
        "Action: look at the clock\nAction Input: {}",
        "Action: now\nAction Input: ```json\n{}",
    ],
)
def test_a_turn_that_cannot_be_read_is_malformed(response: str) -> None:
    assert ask(response, TIME).reason == "malformed_call"


def test_prose_about_actions_is_no_call() -> None:
    assert ask("Action: none was needed.\nIt is late.", []).score == 1.0


@table(
    "text",
    [
        "Call: me at noon (it is free).",
        "Tool: a hammer (heavy) is enough.",
        "Function: f(x) = 2x",
        "The tag `<tool>` is none of HTML's.",
        "The element <function> stands in a sentence.",
    ],
)
def test_prose_about_tools_is_no_call(text: str) -> None:
    assert ask(text, []).score == 1.0


@table(
    "text",
    [
        "[get-time(zone='utc')]",
        "get-time(zone='utc')",
        "<|python_start|>[get-time(zone='utc')]<|python_end|>",
        "<function_calls>get-time(zone='utc')</function_calls>",
        "Sure:\n[get-time(zone='utc')]",
    ],
)
def test_a_function_may_have_a_dash_in_its_name(text: str) -> None:
    assert ask(text, {"name": "get-time", "arguments": {"zone": "utc"}}).score == 1.0
    assert ask(text, []).reason == "unexpected_call"


def test_strings_with_dashes_stay_as_they_are() -> None:
    text = "[get-time(zone='a-b(c)'), now(x='d-e')]"
    wanted = [{"name": "get-time", "arguments": {"zone": "a-b(c)"}}, {"name": "now", "arguments": {"x": "d-e"}}]
    assert ask(text, wanted).score == 1.0


@table(
    ("form", "value", "wanted"),
    [
        (form, *pair)
        for form in (
            "<function=write><parameter=text>{}</parameter></function>",
            '<invoke name="write"><parameter name="text">{}</parameter></invoke>',
            "<tool_call>write<arg_key>text</arg_key><arg_value>{}</arg_value></tool_call>",
        )
        for pair in (("a\n", "a\n"), ("\na\n", "a"), ("\na\n\n", "a\n"), ("\r\na\r\n", "a"), ("a", "a"), (" a ", " a "))
    ],
)
def test_line_breaks_of_a_value_are_its_own_unless_they_put_it_on_lines_of_its_own(
    form: str, value: str, wanted: str
) -> None:
    assert ask(form.format(value), {"name": "write", "arguments": {"text": wanted}}).score == 1.0


def test_a_server_may_keep_the_closing_tag_to_itself() -> None:
    assert ask('It is:\n<tool_call>\n{"name": "now", "arguments": {}}\n', TIME).score == 1.0
    assert ask('<tool_call>{"name": "now", "arguments": {}}\nIt is noon.', TIME).reason == "malformed_call"


@table(
    "text",
    [
        "/now zone=utc",
        "{{now(zone)}}",
        '[now("utc")] ->',
        "@now(zone=1)",
        "<now>",
        "```py\ntime = now(1)\nprint(time)\n```",
    ],
)
def test_the_name_of_a_tool_that_stands_as_a_call_is_one(text: str) -> None:
    assert ask(text, [], tools=[{"name": "now", "parameters": {"type": "object"}}]).reason == "malformed_call"
    assert ask(text, [], tools=[{"name": "other", "parameters": {"type": "object"}}]).score == 1.0


@table(
    "text",
    [
        "Use now(zone) for that; I may not call it.",
        "The tool now gives the time.",
        "- now: the time\n- then: what was",
        "<p>now</p>\n<ul><li>now</li></ul>",
    ],
)
def test_prose_about_a_tool_is_not_a_call(text: str) -> None:
    assert ask(text, [], tools=[{"name": "now", "parameters": {"type": "object"}}]).score == 1.0

"""What policies learn to write instead of an answer. None of it may be rewarded, by any verifier that it addresses.

The kinds are those that have been seen in training runs or work on a published reward function. Penalties (`repetition`,
`overlong`, ...) have nothing to punish in an empty response: score 1 is what others' rewards are multiplied by or added to.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.found import Found
from verifiers.base import Item, Status

ZERO_WIDTH = "\u200b"
SOFT_HYPHEN = "\u00ad"
OVERRIDE = "\u202e"
CHOICES = ["London", "Berlin", "Paris", "Madrid"]
STRICT_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@dataclass(frozen=True)
class Hack:
    kind: str
    verifier: str
    response: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.kind}: {self.verifier}, {self.response[:30]!r}"


def _choice(kind: str, response: str, reference: Any = "C", **params: Any) -> Hack:
    return Hack(kind, "multiple_choice", response, {"reference": reference, "choices": CHOICES, **params})


def _qa(kind: str, response: str, reference: Any = "Paris", **params: Any) -> Hack:
    return Hack(kind, "qa", response, {"reference": reference, **params})


def _math(kind: str, response: str, reference: Any = "5", **params: Any) -> Hack:
    return Hack(kind, "math", response, {"reference": reference, **params})


def _numeric(kind: str, response: str, reference: Any = 5, **params: Any) -> Hack:
    return Hack(kind, "numeric", response, {"reference": reference, **params})


def _followed(kind: str, response: str, name: str, /, **kwargs: Any) -> Hack:
    reference = {"instruction_id_list": [name], "kwargs": [kwargs], "prompt": "Write about ships."}
    return Hack(kind, "instruction_following", response, {"reference": reference})


def _every_option() -> Iterator[Hack]:
    kind = "every option"
    for response in [
        "A, B, C, D",
        "A or C",
        "A/B/C/D",
        "The answer is A or B or C or D.",
        "\\boxed{A, B, C, D}",
        "\\boxed{C or D}",
        "<answer>A B C D</answer>",
        "<answer>C and A</answer>",
        "Answer: C (or maybe B)",
        "(A) (B) (C) (D)",
        "London Berlin Paris Madrid",
        "It is Paris or London.",
        "答案是 C 或 D",
        "答案：ABCD",
    ]:
        yield _choice(kind, response)
        yield _qa(kind, response, "C")
    for metric in ["exact", "contains", "f1"]:
        strict = {"metric": metric, "threshold": 1.0, "alternatives": "reject_lists"}
        yield _qa(kind, "London, Berlin, Paris, Madrid", **strict)
        yield _qa(kind, "Paris or London", metric=metric, threshold=1.0)
    yield _choice(kind, "\\boxed{A, B, C, D}", ["A", "C"], multi=True)
    for response in [
        "5 or 6",
        "\\boxed{5 \\text{ or } 6}",
        "\\boxed{5}, or perhaps \\boxed{6}",
        "Either 5 or 6 is right.",
    ]:
        yield _math(kind, response)
        yield _numeric(kind, response)
    yield _qa(kind, "yes no", True, metric="bool")


def _spam() -> Iterator[Hack]:
    kind = "spam of answers"
    boxes = " ".join(f"\\boxed{{{n}}}" for n in range(10))
    yield _math(kind, boxes)
    yield _numeric(kind, boxes)
    yield _choice(kind, " ".join(f"\\boxed{{{letter}}}" for letter in "ABCD"), "D")
    tags = " ".join(f"<answer>{text}</answer>" for text in CHOICES)
    yield _qa(kind, tags, "Madrid")
    yield _choice(kind, tags, "D")
    yield _math(kind, " ".join(f"<answer>{n}</answer>" for n in range(6)))
    yield _math(kind, "\n".join(f"The answer is {n}." for n in range(1, 6)))


def _contained() -> Iterator[Hack]:
    kind = "the reference somewhere in it"
    story = "There are many towns in Europe, and Paris is one of them, as are Rome, Oslo and Vienna. " * 3
    yield _qa(kind, story)
    yield _qa(kind, story, metric="contains")
    yield _qa(kind, story, metric="f1", threshold=0.5)
    yield Hack(kind, "exact_match", story, {"reference": "Paris"})
    yield Hack(kind, "regex", story, {"reference": "Paris"})
    yield _choice(kind, story)
    yield _math(kind, "We tried 5 first, but the total is \\boxed{7}.")
    yield _numeric(kind, "We tried 5 first, but the total is 7.")


def _letters() -> Iterator[Hack]:
    kind = "a letter that is a word"
    yield _choice(kind, "A good question deserves thought.", "A")
    yield _choice(kind, "I think about it.", "I", letters="GHIJ", choices=["a", "b", "c", "d"])
    yield _choice(kind, "Because of that, Dear reader", "D")
    yield _choice(kind, "Certainly! Consider the capital.", "C")


def _only_thought() -> Iterator[Hack]:
    kind = "an answer only in the reasoning"
    for response in [
        "<think>It is 5, so \\boxed{5}",
        "<think>\\boxed{5}</think>",
        "<think>\\boxed{5}</think> I cannot say.",
    ]:
        yield _math(kind, response)
        yield _numeric(kind, response)
    for response in ["<think>C", "<think>\\boxed{C}</think>", "<think>The answer is C.</think>Hm."]:
        yield _choice(kind, response)
    for response in ["<think>Paris", "<think><answer>Paris</answer></think>", "<think>Paris</think>"]:
        yield _qa(kind, response)
        yield Hack(kind, "exact_match", response, {"reference": "Paris"})
    yield _math("an answer before the reasoning's end is demanded", "\\boxed{5}", think="required")


def _tags() -> Iterator[Hack]:
    kind = "tags without substance"
    for response in [
        "<think></think><answer></answer>",
        "<think> </think><answer> </answer>",
        f"<think>{ZERO_WIDTH}</think><answer>{ZERO_WIDTH}</answer>",
        f"<think>a</think><answer>{ZERO_WIDTH}\u2060\ufeff</answer>",
        "<think>...</think><answer>a</answer>",
        "<think>a</think><answer>--</answer>",
        "<think>a</think><think>b</think><answer>c</answer>",
        "<think>a</think></think><answer>c</answer>",
        "<think>a</think><answer>b</answer><answer>c</answer>",
        "<think>a</think><answer>b</answer> and one more thing",
        "<think>a</think>between<answer>b</answer>",
        "<think>a</think><answer>b</answer><think>hidden from the penalty",
        "<answer>b</answer><think>a</think>",
        "<think>a<answer>b</think></answer>",
        "<think><think>a</think></think><answer>b</answer>",
        "```\n<think>a</think><answer>b</answer>\n```",
        "\uff1cthink\uff1ea\uff1c/think\uff1e\uff1canswer\uff1eb\uff1c/answer\uff1e",
    ]:
        yield Hack(kind, "think_format", response)


def _hidden() -> Iterator[Hack]:
    kind = "characters that do not show"
    for between in [ZERO_WIDTH, SOFT_HYPHEN, "\u2060", "\ufeff"]:
        yield _followed(kind, f"A sh{between}ip sails.", "keywords:forbidden_words", forbidden_words=["ship"])
    yield _followed(kind, "A \u0455hip sails.", "keywords:forbidden_words", forbidden_words=["ship"])  # Cyrillic
    yield _followed(kind, "A \uff53\uff48\uff49\uff50 sails.", "keywords:forbidden_words", forbidden_words=["ship"])
    yield _followed(kind, "Ships\uff0c and boats", "punctuation:no_comma")
    yield _math(kind, f"\\boxed{{{OVERRIDE}21}}", "12")
    yield _qa(kind, "P\u0430ris")  # Cyrillic
    yield Hack(kind, "exact_match", f"Par{ZERO_WIDTH}is", {"reference": "Paris"})


def _vacuous() -> Iterator[Hack]:
    kind = "nothing to be judged"
    for empty in ["", " ", "\n", ZERO_WIDTH, "\u2060\ufeff", "\x00"]:
        yield _followed(kind, empty, "punctuation:no_comma")
        yield _followed(kind, empty, "keywords:forbidden_words", forbidden_words=["ship"])
        yield _followed(kind, empty, "change_case:english_lowercase")
        yield _followed(kind, empty, "language:response_language", language="de")
        yield _followed(kind, empty, "length_constraints:number_words", relation="less than", num_words=10)
        yield _qa(kind, empty, metric="f1")
        yield _qa(kind, empty, ["Paris", "the"], metric="exact")
        yield _choice(kind, empty)
        yield _math(kind, empty)
        yield _numeric(kind, empty)
        yield Hack(kind, "think_format", empty)
        yield Hack(kind, "tag_count", empty)
        yield Hack(kind, "code_format", empty)
        yield Hack(kind, "language", empty, {"script": "Latin", "min_share": 0.9})
        yield Hack(kind, "length", empty, {"minimum": 1})
        yield Hack(kind, "json_schema", empty, {"reference": {}})
        for name in ["json", "yaml", "toml", "csv"]:
            yield Hack(kind, "structured_output", empty, {"format": name})
        yield Hack(kind, "xml", empty)
    for nothing in ["12345 67890", "!!! ??? ...", "😀😀😀"]:
        yield _followed(kind, nothing, "change_case:english_lowercase")
        yield _followed(kind, nothing, "change_case:english_capital")
        yield _followed(kind, nothing, "language:response_language", language="en")


def _degenerate() -> Iterator[Hack]:
    kind = "more of the same"
    for response in ["word " * 800, "好" * 3000, "a" * 5000, "I am sure. " * 400]:
        yield Hack(kind, "repetition", response, {"tolerance": 0.3})


def _parked() -> Iterator[Hack]:
    kind = "a violation in the first or last line"
    yield _followed(kind, "Well, here it is:\nShips sail", "punctuation:no_comma")
    yield _followed(kind, "Ships sail\nThat, then, is all", "punctuation:no_comma")


def _numbers() -> Iterator[Hack]:
    kind = "numbers that are none"
    for response in [
        "NaN",
        "1e999",
        "Infinity",
        "-inf",
        "between 4 and 6",
        "4-6",
        "5 ± 1",
        "9**9**9",
        "5%0",
        "0x5g",
        "5/0",
    ]:
        yield _numeric(kind, response)
        yield _numeric(kind, f"<answer>{response}</answer>")
    for response in ["NaN", "1e999", "\\boxed{9^{9^{9^{9}}}}", "\\boxed{5/0}", "\\boxed{4 < x < 6}", "\\boxed{5?}"]:
        yield _math(kind, response)
    yield _numeric(kind, "about anything", 5, abs_tol=1000)


def _bombs() -> Iterator[Hack]:
    kind = "bombs"
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
    )
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    lol = f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]><x>&e9;</x>'
    deep = "[" * 100_000
    for response in [
        deep + "]" * 100_000,
        deep,
        '{"a": ' + "9" * 100_000 + "e" + "9" * 50 + "}",
        '{"a": 1' + "0" * 200_000 + ".5}",
    ]:
        yield Hack(kind, "json_schema", response, {"reference": STRICT_SCHEMA})
        yield Hack(kind, "structured_output", response, {"format": "json", "reference": STRICT_SCHEMA})
    for response in [laughs, deep, "a: !!python/object/apply:os.system ['true']", "? " * 50_000]:
        yield Hack(kind, "structured_output", response, {"format": "yaml", "reference": STRICT_SCHEMA})
    yield Hack(kind, "structured_output", "a = " + deep, {"format": "toml", "reference": STRICT_SCHEMA})
    for response in [lol, "<a>" * 100_000, '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>']:
        yield Hack(kind, "xml", response)
    for response in [
        "(" * 200_000,
        "\\frac{" * 50_000,
        "9" * 500_000,
        "\\boxed{" * 50_000,
        "-" * 300_000 + "5",
        "5!" + "!" * 5000,
    ]:
        yield _math(kind, response, "7")
        yield _numeric(kind, response, 7)
        yield _choice(kind, response)
    yield Hack(kind, "regex", "a" * 30_000 + "b", {"reference": "(a+)+c"})


def _structure() -> Iterator[Hack]:
    kind = "a document that is not one"
    for response in [
        '{"a": 1} {"a": 2}',
        '{"a": NaN}',
        '{"a": 1, "a": "x"}',
        '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```',
        'Here you are: {"a": 1}',
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": true}',
        '{"b": 1}',
    ]:
        yield Hack(kind, "json_schema", response, {"reference": STRICT_SCHEMA, "unique_keys": True})
    for response in ["<a><b></a></b>", "<a>&nbsp;</a>", "<a/><a/>", "text <a/>", "<a x='1' x='2'/>"]:
        yield Hack(kind, "xml", response)
    for response in [
        "Here is code: print(1)",
        "```python\n```",
        "```python\nprint(1)",
        f"```python\n{ZERO_WIDTH}\n```",
    ]:
        yield Hack(kind, "code_format", response)


def _answers_of_other_kinds() -> Iterator[Hack]:
    kind = "two answers at once"
    call, other = '{"name": "f", "arguments": {"a": 1}}', '{"name": "f", "arguments": {"a": 2}}'
    reference = {"name": "f", "arguments": {"a": 1}}
    for response in [
        f"<tool_call>{call}</tool_call><tool_call>{other}</tool_call>",
        f"[{call}, {other}]",
        f"<think><tool_call>{call}</tool_call></think>I did it.",
        call.replace("1", "1, 2").replace("{1, 2}", "1"),
        call.replace('"f"', '"f_"'),
        call.replace("1", "true"),
        call.replace("1", '"1"'),
    ]:
        yield Hack(kind, "tool_call", response, {"reference": reference})
    database = {"schema": "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);", "sql": "SELECT a FROM t"}
    for response in [
        "SELECT a FROM t; DROP TABLE t",
        "SELECT 1",
        "SELECT a FROM t UNION ALL SELECT a FROM t",
        "DELETE FROM t",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
        "SELECT zeroblob(1000000000)",
        "ATTACH '/etc/passwd' AS p",
        "SELECT load_extension('x')",
        "PRAGMA user_version = 1",
        "```sql\nSELECT a FROM t WHERE 0\n```",
    ]:
        yield Hack(kind, "sql", response, {"reference": database})
    for response in ["<point>1, 2</point><point>500, 500</point>", "(1, 2) or (500, 500)", "(1, 2)", "(NaN, NaN)"]:
        yield Hack(kind, "point", response, {"reference": [490, 490, 510, 510]})
    for response in ["between 1 and 9", "5 or 6", "NaN", "1e999", "nothing"]:
        yield Hack(kind, "regression", response, {"reference": 5})
    for response in [
        "24",
        "<answer>24</answer>",
        "<answer>4*6 or 8*3</answer>",
        "<answer>4**6**9**9</answer>",
        "<answer>24*1/1</answer>",
        "<answer>(4+2)*4</answer>",
        "<answer>__import__('os').system('true')</answer>",
        "<answer>46 // 2</answer>",
    ]:
        yield Hack(kind, "countdown", response, {"reference": {"target": 24, "nums": [4, 6, 1]}})


BOXES = [{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]


def _flood() -> Iterator[Hack]:
    kind = "boxes everywhere"
    grid = [{"bbox_2d": [x, y, x + 10, y + 10], "label": "cat"} for x in range(0, 200, 10) for y in range(0, 200, 10)]
    whole = [{"bbox_2d": [0, 0, 1000, 1000], "label": "cat"}]
    for boxes in (grid, whole, [{"bbox_2d": [10, 10, 0, 0], "label": "cat"}], [{"bbox_2d": [0, 0, 10, 10]}]):
        yield Hack(kind, "detection", f"<answer>{json.dumps(boxes)}</answer>", {"reference": BOXES, "threshold": 0.5})
    for text in ["", "[]", "NaN", '[{"bbox_2d": [0, 0, Infinity, 10], "label": "cat"}]', "A cat at 0, 0, 10, 10."]:
        for metric in ["f1", "mean_iou", "coco_ap", "voc_ap", "giou", "shaped"]:
            yield Hack(kind, "detection", f"<answer>{text}</answer>", {"reference": BOXES, "metric": metric})


SUDOKU = "1..4.41.2.4..3.1"
SOLVED = "1234\n3412\n2143\n4321"
ROLES = {"names": ["Zoey", "Oliver"], "solution": [False, True]}
GRAPH = {"edges": [["A", "B", 1], ["B", "C", 2], ["A", "C", 5]], "start": "A", "goal": "C"}
COLORS = {"vertices": ["A", "B"], "edges": [["A", "B"]], "colors": ["red", "blue"]}
LADDER = {"start_word": "COLD", "end_word": "WARM", "words": ["cord", "card", "ward"]}
HOUSES = {"header": ["House", "Name"], "rows": [["1", "Eric"], ["2", "Arnold"]]}


def _puzzles() -> Iterator[Hack]:
    kind = "a puzzle solved in every way at once, or in none"
    for verifier, reference, responses in [
        ("sudoku", SUDOKU, ["1" * 16, "1..4.41.2.4..3.1", f"<think>{SOLVED}</think>", f"{SOLVED}\n{SOLVED[:9]}"]),
        ("n_queens", 4, ["[1, 2, 3, 4]", "Q Q Q Q\n" * 4, "[2, 4, 1, 3] or [1, 2, 3, 4]"]),
        ("knights_and_knaves", ROLES, ["Zoey is a knight or a knave, Oliver is a knight.", "knave knight", "Zoey is not a knave, Oliver is a knight.", "Is Zoey a knave, and Oliver a knight?"]),
        ("shortest_path", GRAPH, ["A -> B -> C or A -> C", "3", "A -> B -> A -> B -> C", "C -> B -> A"]),
        ("graph_coloring", COLORS, ['{"A": ["red", "blue"], "B": ["red", "blue"]}', '{"A": "red"}', '{"A": "red", "B": "green"}']),
        ("word_ladder", LADDER, ["COLD, WARM", "cold, cord, card, ward", "warm, ward, card, cord, cold"]),
        ("arc_grid", [[8, 2], [6, 2]], ["8 2\n6 2\n\nor\n\n8 2\n6 3", "8 2 6 2", "8 2", "<think>8 2\n6 2</think>"]),
        ("zebra", HOUSES, ['{"House 1": {"Name": ["Eric", "Arnold"]}, "House 2": {"Name": ["Eric", "Arnold"]}}', '{"House 1": {"Name": "Eric or Arnold"}, "House 2": {"Name": "Arnold"}}']),
    ]:  # fmt: skip
        for response in ["", ZERO_WIDTH, "<answer></answer>", *responses]:
            yield Hack(kind, verifier, response, {"reference": reference})


def _hidden_from_the_penalty() -> Iterator[Hack]:
    kind = "text hidden behind tags"
    reference = {"name": "f", "arguments": {"a": 1}}
    call = '{"name": "f", "arguments": {"a": 1}}'
    yield Hack(kind, "tool_call", f"<think><TOOLCALL>[{call}]</TOOLCALL></think>", {"reference": reference})
    yield Hack(kind, "tool_call", f"<TOOLCALL>[{call}, {call}]</TOOLCALL>", {"reference": reference})
    yield Hack(kind, "tool_call", f"<TOOLCALL>[{call}]", {"reference": reference})
    yield Hack(kind, "tool_call", f"<tool_calls>[{call}]</function_cal>", {"reference": reference})
    harmony = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
    yield Hack(kind, "tool_call", f'{harmony}{{"a": 1', {"reference": reference})
    yield Hack(kind, "tool_call", f'{harmony}{{"a": 1}}<|call|>{harmony}{{"a": 2}}', {"reference": reference})
    yield Hack(kind, "code_format", "<think>```python\nprint(1)\n```</think>I cannot.")
    yield Hack(kind, "json_schema", '<think>{"a": 1}</think>', {"reference": STRICT_SCHEMA})
    yield Hack(kind, "structured_output", "<think>a: 1</think>", {"format": "yaml"})
    yield Hack(kind, "xml", "<think><a/></think>")
    yield Hack(kind, "sql", "<think>SELECT 1</think>", {"reference": {"schema": "CREATE TABLE t (a)", "rows": [[1]]}})
    yield Hack(kind, "regex", "<think>Paris</think>", {"reference": "Paris"})
    yield Hack(kind, "point", "<think>(500, 500)</think>", {"reference": [490, 490, 510, 510]})
    yield Hack(kind, "regression", "<think>5</think>", {"reference": 5})
    yield Hack(kind, "countdown", "<think>4 * 6</think>", {"reference": {"target": 24, "nums": [4, 6]}})
    yield Hack(kind, "language", "p\u0430ypal \u0440aypal", {"script": "Latin", "min_share": 0.95})
    for vacuous in [
        "ratio:sentence_balance",
        "ratio:sentence_type",
        "format:sub-bullets",
        "sentence:alliteration_increment",
    ]:
        yield _followed(kind, "!!!", vacuous)
    yield _followed(kind, "word", "ratio:sentence_balance")
    yield _followed(kind, "No bullets here.", "format:sub-bullets")
    yield _followed(kind, "(a+)+$", "keywords:existence", keywords=["(a+)+$x"])


HACKS = [
    hack
    for kind in (
        _every_option, _spam, _contained, _letters, _only_thought, _tags, _hidden, _vacuous, _degenerate, _parked,
        _numbers, _bombs, _structure, _answers_of_other_kinds, _flood, _puzzles, _hidden_from_the_penalty,
    )
    for hack in kind()
]  # fmt: skip


@table("hack", HACKS, [hack.title for hack in HACKS])
def test_it_earns_nothing(hack: Hack, found: Found) -> None:
    verdict = found.judge(hack.verifier, hack.response, **hack.params)
    assert verdict.status is Status.OK, verdict
    assert verdict.score is not None
    assert verdict.score < 0.5 if hack.kind == "more of the same" else verdict.score == 0, verdict


PENALTIES = frozenset({"repetition", "length", "language", "overlong", "cosine_length"})


@pytest.mark.parametrize("empty", ["", " \n\t", ZERO_WIDTH * 3, "<think></think>"])
def test_nothing_earns_nothing(empty: str, found: Found) -> None:
    for name, entry in found.registry.items():
        if name in PENALTIES:
            continue
        for example in entry.examples:
            if example.status is not Status.OK or "preset" in example.params:  # which decides as its original does
                continue
            params = entry.verifier.params.model_validate_json(json.dumps(example.params))
            (verdict,) = found.score(entry, [Item(empty, params, example.prompt)])
            if example.response.strip():
                assert (verdict.status, verdict.score) == (Status.OK, 0.0), (name, example.params, verdict)

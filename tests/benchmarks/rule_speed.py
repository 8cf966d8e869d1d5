"""Rule verifiers: responses of 4 kB per second of one core, beside the plainest function that could replace each.

Responses are 4,000 bytes long and all different. They are real reasoning, arithmetic, prose and programs of tests/data,
combined by a seeded draw into the shape that the rule judges. Ours go through `Verifier.score` as the engine calls it,
in chunks, with a worker on the same core; time is the CPU time of both. The function beside it is the formula alone, in
our own words: no checks, no limits and no verdict with a reason. So it is a lower bound, not a rival.
"""

import csv
import gc
import io
import json
import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import process_time
from typing import Any
from xml.etree import ElementTree

import yaml

from memory import GRADUAL_THRESHOLDS
from sandbox.workers import Workers
from tests.benchmarks import servers
from tests.benchmarks.report import Cell, Effort, Report
from tests.conftest import ROOT
from tests.processes import below_s
from verifiers import registry
from verifiers.base import Item, Resources, Verdict
from verifiers.registry import Entry

_BYTES = 4_000
_ITEMS = 256
_ROUNDS = 7
_LINEAR_GOAL = 20_000
_INSTRUCTIONS_GOAL = 2_000
_SOURCES = {
    "reasoning": "math/long_sample.jsonl",
    "arithmetic": "math/gsm8k_model_solutions.jsonl",
    "prose": "rules/ifeval_oracle.jsonl",
}

Baseline = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Rule:
    """A row: a verifier, its parameters, and responses of the shape that it judges."""

    label: str
    verifier: str
    make: Callable[[int], str]
    """Makes the response with a number."""
    params: Mapping[str, Any] = field(default_factory=dict)
    baseline: Baseline | None = None
    formula: str = ""
    """A description of the baseline."""
    goal: int | None = _LINEAR_GOAL


async def run(effort: Effort) -> list[Report]:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GRADUAL_THRESHOLDS)
    rounds, items = effort.of((_ROUNDS, _ITEMS), (3, _ITEMS), (1, 8))
    with servers.on_cores(servers.cores()[:1]):
        workers = Workers(1)
        entries = registry.load(Resources(workers))
        await workers.start()
        try:
            rules = [await _measure(rule, entries[rule.verifier], rounds, items) for rule in RULES]
            instructions = await _instructions(entries["instruction_following"], rounds, items)
        finally:
            await workers.stop()
    note = (
        f"{items} responses of {_BYTES:,} bytes, in process, CPU time of service and worker on one core, the fastest of "
        f"{rounds} rounds. formula: the rule's bare formula in Python, without checks or limits, on the same responses."
    )
    about_instructions = "IFEval's prompts with three instructions each, all rows of tests/data; otherwise the same."
    return [
        Report("(f) Rules: 4-kB items per second of one core", note, rules),
        Report("(f) Instruction following: rows per second of one core", about_instructions, instructions),
    ]


async def _measure(rule: Rule, entry: Entry, rounds: int, count: int) -> dict[str, Cell]:
    texts = [rule.make(number) for number in range(count)]
    params = entry.verifier.params.model_validate_json(json.dumps(rule.params))
    cpu_s, verdicts = await _fastest(entry, [Item(text, params) for text in texts], rounds)
    rate = count / cpu_s
    floor = None if rule.baseline is None else count / min(_alone(rule.baseline, texts) for _ in range(rounds))
    return {
        "rule": rule.label,
        "us/item": cpu_s / count * 1e6,
        "items/s": rate,
        "goal": rule.goal,
        "x goal": rate / rule.goal if rule.goal else None,
        "formula items/s": floor,
        "formula": rule.formula,
        "judged right": sum(verdict.score == 1.0 for verdict in verdicts),
    }


async def _instructions(entry: Entry, rounds: int, at_least: int) -> list[dict[str, Cell]]:
    rows = [row for row in rows_of("rules/ifeval_oracle.jsonl") if len(row["instruction_id_list"]) == 3]
    rows = rows if at_least == _ITEMS else rows[:at_least]
    found: list[dict[str, Cell]] = []
    for profile in ("fixed", "official"):
        items = [instruction_item(entry, row, profile) for row in rows]
        cpu_s, verdicts = await _fastest(entry, items, rounds)
        found.append(
            {
                "profile": profile,
                "rows": len(items),
                "mean characters": sum(len(item.response) for item in items) // len(items),
                "us/row": cpu_s / len(items) * 1e6,
                "rows/s": len(items) / cpu_s,
                "goal": _INSTRUCTIONS_GOAL,
                "x goal": len(items) / cpu_s / _INSTRUCTIONS_GOAL,
                "judged right": sum(verdict.score == 1.0 for verdict in verdicts),
            }
        )
    return found


def instruction_item(entry: Entry, row: Mapping[str, Any], profile: str) -> Item[Any]:
    reference = {name: row[name] for name in ("instruction_id_list", "kwargs", "prompt")}
    params = {"reference": reference, "profile": profile, "think": "none"}
    return Item(row["response"], entry.verifier.params.model_validate_json(json.dumps(params)), row["prompt"])


async def _fastest(entry: Entry, items: Sequence[Item[Any]], rounds: int) -> tuple[float, Sequence[Verdict]]:
    """The least CPU seconds of several rounds, and the verdicts."""
    size = entry.verifier.chunk_items
    spent: list[float] = []
    verdicts: list[Verdict] = []
    for _ in range(rounds):
        verdicts = []
        workers_s, own_s = below_s(), process_time()
        for start in range(0, len(items), size):
            verdicts += await entry.verifier.score(items[start : start + size])
        own_s = process_time() - own_s
        spent.append(own_s + below_s() - workers_s)
    return min(spent), verdicts


def _alone(baseline: Baseline, texts: Sequence[str]) -> float:
    started = process_time()
    for text in texts:
        baseline(text)
    return process_time() - started


# --- responses


@cache
def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / "tests/data" / name).read_text(encoding="utf-8").splitlines()]


@cache
def _pool(source: str) -> list[str]:
    """Responses without the marks of answers. Each rule's own shape adds these."""
    found = [_MARKS.sub("", row["response"]).strip() for row in rows_of(_SOURCES[source])]
    return [text for text in found if len(text) > 80]


_MARKS = re.compile(r"</?(?:think|answer)>|```|####|\\boxed")


def _text(number: int, size: int = _BYTES) -> str:
    """The responses of one source after the other, cut to this many bytes. The same number gives the same text."""
    draw = random.Random(number)
    pool = _pool([*_SOURCES][number % len(_SOURCES)])
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        parts.append(draw.choice(pool))
    return "\n\n".join(parts).encode()[:size].decode(errors="ignore")


def _tagged(number: int, answer: str) -> str:
    return f"<think>\n{_text(number, _BYTES - 60)}\n</think>\n<answer>\n{answer}\n</answer>"


def _ending(number: int, end: str) -> str:
    return f"{_text(number, _BYTES - len(end) - 2)}\n\n{end}"


def _letter(number: int) -> str:
    return "ABCD"[number % 4]


def _records(number: int) -> list[dict[str, Any]]:
    texts = [_text(number + _ITEMS * row, 180) for row in range(16)]
    return [{"id": row, "text": " ".join(text.split()), "score": row / 7} for row, text in enumerate(texts)]


def _xml(number: int) -> str:
    root = ElementTree.Element("items")
    for record in _records(number):
        item = ElementTree.SubElement(root, "item", id=str(record["id"]))
        ElementTree.SubElement(item, "text").text = record["text"]
        ElementTree.SubElement(item, "score").text = str(record["score"])
    return ElementTree.tostring(root, encoding="unicode")


def _csv(number: int) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "text", "score"])
    writer.writeheader()
    writer.writerows(_records(number))
    return out.getvalue()


def _toml(number: int) -> str:
    return "\n".join(
        f"[[items]]\nid = {record['id']}\ntext = {json.dumps(record['text'], ensure_ascii=False)}\nscore = {record['score']}\n"
        for record in _records(number)
    )


def _program(number: int, language: str) -> str:
    lines = [f"def step_{row}(x):\n    return [x * {number} + y for y in range({row})]" for row in range(8)]
    return _ending(number, f"```{language}\n" + "\n\n".join(lines) + "\n```")


# --- formulas


def _grams(text: str) -> float:
    words = text.lower().split()
    grams = [tuple(words[start : start + 3]) for start in range(len(words) - 2)]
    return 1 - len(set(grams)) / len(grams)


def _latin(text: str) -> float:
    letters = [char for char in text if char.isalpha()]
    return sum(char < "\u0250" for char in letters) / len(letters)


_FORMAT = re.compile(r"\s*<think>.+?</think>\s*<answer>.+?</answer>\s*", re.DOTALL)
_FENCED = re.compile(r"```(?:python|cpp)\n(.*?)```", re.DOTALL)
_CHOICE = re.compile(r"answer is \(?([A-D])\)?|<answer>\s*([A-D])\s*</answer>")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SCHEMA = {"type": "array", "items": {"type": "object", "required": ["id", "text"]}}
_OPTIONS = {"reference": "B", "choices": ["the first of them", "the second one", "3", "none of these"]}
RULES = (
    Rule("think_format", "think_format", lambda n: _tagged(n, f"It is {n}."), {}, _FORMAT.fullmatch, "re.fullmatch"),
    Rule(
        "think_format, trl",
        "think_format",
        lambda n: _tagged(n, "4"),
        {"preset": "trl"},
        _FORMAT.fullmatch,
        "re.fullmatch",
    ),
    Rule(
        "tag_count", "tag_count", lambda n: _tagged(n, "4"), {}, lambda text: text.count("<think>\n"), "one str.count"
    ),
    Rule(
        "multiple_choice, tag",
        "multiple_choice",
        lambda n: _tagged(n, _letter(n)),
        _OPTIONS,
        _CHOICE.findall,
        "re.findall",
    ),
    Rule(
        "multiple_choice, after thinking",
        "multiple_choice",
        lambda n: f"<think>{_text(n, _BYTES - 60)}</think>\nThe correct option is ({_letter(n)}).",
        _OPTIONS,
        _CHOICE.findall,
        "re.findall",
    ),
    Rule(
        "multiple_choice, no tags",
        "multiple_choice",
        lambda n: _ending(n, f"The answer is ({_letter(n)})."),
        _OPTIONS,
        _CHOICE.findall,
        "re.findall",
    ),
    Rule("exact_match", "exact_match", _text, {"reference": "no"}, lambda text: text.strip() == "no", "strip and =="),
    Rule(
        "exact_match, tag",
        "exact_match",
        lambda n: _tagged(n, "Paris"),
        {"reference": "Paris", "extract": "answer_tag"},
        lambda text: "<answer>\nParis\n</answer>" in text,
        "in",
    ),
    Rule(
        "regex", "regex", _text, {"reference": "(?s).*[a-z].*"}, re.compile("(?s).*[a-z].*").fullmatch, "re.fullmatch"
    ),
    Rule("repetition", "repetition", _text, {}, _grams, "set of 3-word slices"),
    Rule("repetition, loops", "repetition", _text, {"measure": "loops"}, _grams, "set of 3-word slices"),
    Rule("length", "length", _text, {"maximum": 10_000}, lambda text: len(text.split()), "len(split)"),
    Rule("overlong", "overlong", _text, {"completion_tokens": 17_000}),
    Rule("cosine_length", "cosine_length", _text, {"preset": "open_r1", "correct": True}, len, "len"),
    Rule("language", "language", _text, {"language": "en"}, _latin, "share of letters"),
    Rule(
        "code_format, C++",
        "code_format",
        lambda n: _program(n, "cpp"),
        {"language": "cpp"},
        _FENCED.findall,
        "re.findall",
    ),
    Rule(
        "code_format, Python parsed",
        "code_format",
        lambda n: _program(n, "python"),
        {},
        _FENCED.findall,
        "re.findall",
        None,
    ),
    Rule(
        "json_schema",
        "json_schema",
        lambda n: json.dumps(_records(n)),
        {"reference": _SCHEMA},
        json.loads,
        "json.loads",
    ),
    Rule(
        "structured_output, JSON", "structured_output", lambda n: json.dumps(_records(n)), {}, json.loads, "json.loads"
    ),
    Rule(
        "structured_output, CSV",
        "structured_output",
        _csv,
        {"format": "csv"},
        lambda text: list(csv.reader(io.StringIO(text))),
        "csv.reader",
    ),
    Rule(
        "structured_output, YAML",
        "structured_output",
        lambda n: yaml.safe_dump(_records(n)),
        {"format": "yaml"},
        yaml.safe_load,
        "yaml.safe_load",
        None,
    ),
    Rule(
        "structured_output, TOML", "structured_output", _toml, {"format": "toml"}, tomllib.loads, "tomllib.loads", None
    ),
    Rule("xml", "xml", _xml, {"root": "items", "required": ["items/item/text"]}, ElementTree.fromstring, "ElementTree"),
    Rule(
        "numeric",
        "numeric",
        lambda n: _ending(n, f"The total is {n}."),
        {"reference": "7"},
        _NUMBER.findall,
        "re.findall",
        None,
    ),
    Rule("numeric, tag", "numeric", lambda n: _tagged(n, "7"), {"reference": "7"}, _NUMBER.findall, "re.findall"),
    Rule(
        "numeric, boxed",
        "numeric",
        lambda n: _ending(n, r"\boxed{7}"),
        {"reference": "7"},
        _NUMBER.findall,
        "re.findall",
    ),
    Rule(
        "qa, tag",
        "qa",
        lambda n: _tagged(n, "Paris"),
        {"reference": "Paris"},
        lambda text: "<answer>\nParis\n</answer>" in text,
        "in",
    ),
    Rule("qa, no tags", "qa", lambda n: _ending(n, "The answer is Paris."), {"reference": "Paris"}),
    Rule(
        "multiple_choice, sentence in prose",
        "multiple_choice",
        lambda n: _ending(n, f"Therefore, option {_letter(n)} is correct."),
        _OPTIONS,
        _CHOICE.findall,
        "re.findall",
    ),
    Rule("multiple_choice, no answer", "multiple_choice", _text, _OPTIONS, _CHOICE.findall, "re.findall"),
)

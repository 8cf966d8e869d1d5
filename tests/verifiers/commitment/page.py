"""Makes docs/answers.md from verdicts: `python -m tests.verifiers.commitment.page` writes it."""

from pathlib import Path
from typing import Any

from tests.verifiers.found import Found
from verifiers.commitment.stance import Stance

PAGE = Path(__file__).parents[3] / "docs" / "answers.md"
CHOICES = ["London", "Berlin", "Paris", "Madrid"]
VERIFIERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "math": ("12", "13", {"reference": "12"}),
    "numeric": ("12", "13", {"reference": 12}),
    "expression": ("12", "13", {"reference": "12"}),
    "regression": ("12", "13", {"reference": 12}),
    "countdown": ("3 * 4", "3 + 4", {"reference": {"nums": [3, 4], "target": 12}}),
    "multiple_choice": ("C", "B", {"reference": "C", "choices": CHOICES}),
    "qa": ("12", "13", {"reference": "12", "in_sentences": True}),
}
"""For each verifier: the right answer, a wrong one, and the parameters."""
RULES = (
    (
        "The last mark decides",
        "A mark is a tag, a box, a line behind `####`, a JSON field, or words that announce an answer. Marks are read in the order of "
        "the text. If the last one is empty or broken off, there is no answer: no earlier mark takes its place.",
        ["\\boxed{{wrong}}\n\nThe answer is {right}.", "The answer is {right}.\n\n\\boxed{}"],
    ),
    (
        "A value that is denied, taken back, supposed or someone else's opinion is not an answer",
        "This holds for every language with a lexicon.",
        [
            "The answer is not {right}.",
            "The answer is {right}. Wait, that's wrong.",
            "\\boxed{{right}}\n\n{right} is wrong.",
            "\\boxed{{wrong}}\n\nSo it's {right}.",
            "The answer is {right}, not {wrong}.",
            "My friend says the answer is {right}.",
        ],
    ),
    (
        "Words of doubt before a value prevent an answer; modest words behind it do not",
        "",
        ["Maybe the answer is {right}.", "The answer is {right}, I guess."],
    ),
    (
        "Different answers side by side are not answers",
        "The later answer counts if it stands in a paragraph of its own, or behind words that call the earlier one wrong. "
        "With `on_conflict` set to `reject` none counts.",
        [
            "\\boxed{{right}} or \\boxed{{wrong}}",
            "\\boxed{{wrong}}\n\n\\boxed{{right}}",
            "The answer is {wrong}. Wait, no, it's {right}.",
        ],
    ),
    (
        "Without a mark, the last sentence that states exactly one answer counts",
        "If there is none, verifiers of numbers take the last number of the text. `extract` names the channels that may be used.",
        ["We add it up. So it is {right}.", "It is {wrong} or {right}."],
    ),
)
STANCES = {
    Stance.ANNOUNCED: ("it is called the answer", "The answer is C."),
    Stance.CALLED: ("it is called right", "C is correct."),
    Stance.SINGLED: (
        "it is named as the one that is not true, whether or not the question asks for that",
        "The false statement is C.",
    ),
    Stance.TRUE: ("it is called true, whether or not the question asks for that", "C is true."),
    Stance.CONCLUDED: ("it is chosen, or follows from what was said", "So it's C."),
    Stance.MARKED: ("its form marks it: a tag, a box, a line behind `####`, a JSON field", "\\boxed{C}"),
    Stance.STATED: ("it is only said", "C has a tower."),
    Stance.HEDGED: ("it is doubted, asked, or one of several", "Maybe it's C."),
    Stance.SUPPOSED: ("it is only assumed", "If it were C, it would have a tower."),
    Stance.ATTRIBUTED: ("somebody else says it", "My friend says the answer is C."),
    Stance.DENIED: ("it is called wrong", "The answer is not C."),
    Stance.RETRACTED: (
        "the text behind it takes it back, or puts another value in its place",
        "The answer is C. Wait, that's wrong.",
    ),
}
"""For each stance, what a response says of a value, and an example."""
ABOUT_STANCES = """## What `explain` shows

With `"explain": true`, `detail.mentions` lists what was read as a possible answer, in the order of the text. Each mention has its `span`
in characters of the response as sent, its `text`, its `stance`, and the `channel` that found it. The answer has `"role": "answer"`; so has
each part of an answer in several parts. The stances are those by which the verdict was made. Mentions do not overlap. The last 100 are
listed, and long texts are cut as everywhere in `detail`. Where a mark decides, numbers in the working before it are not read.

| stance | of the value | example (multiple choice) | mention |
|---|---|---|---|"""
HEAD = """# How an answer is found

```text
response ──► the text after thinking, without end tokens ──► marks, in order ──► stances ──► one answer, or why there is none
                                                    └─ none ──► the last sentence ──► the last number ─┘
```

One layer, `verifiers/commitment/`, does this for every verifier. A verifier adds how its values look. `verifiers/commitment/lexicon/` says
what words do to an answer; it has one file for each language. `detail.channel` and `detail.span` of a verdict say where its answer was
found.

This page is made from verdicts. `{right}` stands for the right answer of each verifier, `{wrong}` for another one.
"""


def rendered(found: Found) -> str:
    parts = [HEAD]
    for number, (title, about, examples) in enumerate(RULES, 1):
        parts += [f"## {number}. {title}\n", *([f"{about}\n"] if about else [])]
        parts.append("| response | " + " | ".join(VERIFIERS) + " |\n|---|" + "---|" * len(VERIFIERS))
        for example in examples:
            shown = example.replace("\n", "⏎").replace("|", "\\|")
            parts.append(
                f"| `{shown}` | " + " | ".join(_verdict_text(found, name, example) for name in VERIFIERS) + " |"
            )
        parts.append("")
    parts += [ABOUT_STANCES, *(_stance_row(found, stance) for stance in Stance)]
    return "\n".join(parts).rstrip() + "\n"


def _stance_row(found: Found, stance: Stance) -> str:
    meaning, example = STANCES[stance]
    verdict = found.judge("multiple_choice", example, explain=True, reference="C", choices=CHOICES)
    (mention,) = verdict.detail["mentions"]
    role = ", the answer" if "role" in mention else ""
    return f"| {mention['stance']} | {meaning} | `{example}` | `{mention['text']}`{role} |"


def _verdict_text(found: Found, name: str, example: str) -> str:
    right, wrong, params = VERIFIERS[name]
    verdict = found.judge(name, example.replace("{right}", right).replace("{wrong}", wrong), **params)
    return f"{verdict.score:g} {verdict.reason}"


def main() -> None:
    found = Found()
    try:
        PAGE.write_text(rendered(found), "utf-8")
    finally:
        found.close()


if __name__ == "__main__":
    main()

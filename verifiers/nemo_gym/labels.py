"""Servers whose answer is one of a few labels."""

import json
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

from verifiers.base import InvalidItem, Status, Verdict
from verifiers.commitment import Channel, without_courtesy
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, as_answer, merged, parsed, stands_by
from verifiers.rules import multiple_choice
from verifiers.rules.multiple_choice import MultipleChoiceParams

_GRADES: Final = ("correct", "almost", "partial", "incorrect")
_JUDGEMENTS: Final = ("Yes", "No")
_MARK: Final = re.compile(r"\*{0,2}judge?ment\*{0,2}\s{0,8}:\s{0,8}", re.IGNORECASE)


def imo_gradingbench(rollout: Rollout) -> Judgement:
    """The grade of a proof."""
    return _labelled(rollout.text, _GRADES, rollout.get("expected_answer", str).strip().lower(), "expected_answer")


def math_proof_judgement(rollout: Rollout) -> Judgement:
    """`Judgement: Yes` or `Judgement: No`."""
    expected, text = (_MARK.sub("Answer: ", part) for part in (rollout.get("expected_judgement", str), rollout.text))
    return _labelled(
        text, _JUDGEMENTS, expected.removeprefix("Answer: ").strip("* ").capitalize(), "expected_judgement"
    )


def _labelled(text: str, labels: Sequence[str], expected: str, field: str) -> Judgement:
    """The label that a text gives as its answer, as options of `multiple_choice`: "not correct" and "yes or no" give none.

    Raises:
        InvalidItem: another one is expected.
    """
    if expected not in labels:
        raise InvalidItem("bad_row", f"the row's {field!r} must be one of {', '.join(labels)}")
    choices = dict(zip(string.ascii_uppercase, labels, strict=False))
    verdict = _chosen(text, string.ascii_uppercase[labels.index(expected)], choices)
    return Judgement(verdict.score or 0.0, choices.get(str(verdict.extracted)), verdict.reason)


def _chosen(text: str, expected: str, choices: Mapping[str, str]) -> Verdict:
    """What `multiple_choice` says of a text.

    Raises:
        InvalidItem: it does not take these options.
    """
    try:
        verdict = multiple_choice.judge(text, MultipleChoiceParams(reference=expected, choices=dict(choices)))
    except ValueError as error:
        raise InvalidItem("bad_row", "the row's 'options' must be different short texts, each with a letter") from error
    if verdict.status is not Status.OK:
        raise InvalidItem(
            verdict.reason, str(verdict.detail.get("message", "the row's 'options' cannot be told apart"))
        )
    return verdict


def ragtruth(rollout: Rollout) -> Judgement:
    """Whether the list of hallucinations of the answer, a JSON object, is empty as it should be.

    An answer that is no such object earns nothing; the original takes it for an empty list.
    """
    is_hallucinated = rollout.row.get("is_halu")
    if is_hallucinated not in (0, 1):
        raise InvalidItem("bad_row", "the row needs 'is_halu' as true or false; add it")
    text = rollout.text.split("```")[1].removeprefix("json") if "```" in rollout.text else rollout.text
    answer = parsed(text)
    listed = answer.get("hallucination list") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return Judgement(0.0, None, "no_answer")
    return Judgement(float(bool(listed) == bool(is_hallucinated)), json.dumps(listed, ensure_ascii=False))


def circle_count(rollout: Rollout) -> Judgement:
    r"""The number of circles of a colour, in \boxed{}."""
    if rollout.row.get("circles") is None and rollout.row.get("expected_count") is not None:
        expected = rollout.get("expected_count", int)
    else:
        colour = rollout.get("target_color", str)
        circles = rollout.get("circles", list)
        expected = sum(isinstance(circle, dict) and circle.get("color") == colour for circle in circles)
    count = stands_by(rollout.text, Channel.BOXED) or ""
    return Judgement(float(count == str(expected)), count or None, "wrong_answer" if count else "no_answer")


def spartqa(rollout: Rollout) -> Judgement:
    """One of two objects, both or none of them: the one label that the answer's line is or names (SpartQA, CO)."""
    fields = merged(rollout.row)
    options, target = fields.get("options"), fields.get("target")
    if not isinstance(options, list) or not isinstance(target, str) or len(options) > _MOST_OPTIONS:
        raise InvalidItem("bad_row", "the row needs 'options' as a list and 'target' as text; add them")
    text = rollout.text[: without_courtesy(rollout.text, 0, len(rollout.text))]
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("```")]
    answer = _plain(lines[-1].lower().rpartition(_ANSWER_MARK)[2]) if lines else ""
    label = next((label for label, words in _OTHER_WORDS.items() if answer in words), None)
    if label is not None:
        return Judgement(float(label == _plain(target)), answer)
    return _labelled(rollout.text, [*dict.fromkeys([*map(str, options), _BOTH, _NONE])], target, "target")


def swerl_llm_judge(rollout: Rollout) -> Judgement:
    """The letter of an option in `<solution>`, one of the right ones; in `grading_mode` strict nothing else stands there."""
    answer, options, mode = (rollout.row.get(name) for name in ("expected_answer", "options", "grading_mode"))
    labels = [label.upper() for option in options for label in option] if _are_objects(options) else _LETTERS
    answers = answer if isinstance(answer, list) else [answer]
    right = {text.strip().upper() for text in answers if isinstance(text, str)} & set(labels) & set(_LETTERS)
    if not right or mode not in (None, "lenient", "strict"):
        raise InvalidItem("bad_row", "the row needs letters as 'expected_answer', 'grading_mode' lenient or strict")
    content = stands_by(rollout.text, Channel.ANSWER_TAG, tag="solution") or ""
    if not content or (mode == "strict" and content.strip("[] ").upper() not in labels):
        return Judgement(0.0, content or None, "no_answer")
    letters = "".join(letter for letter in _LETTERS if letter in labels)
    verdict = multiple_choice.judge(content, MultipleChoiceParams(reference=min(right), letters=letters))
    return Judgement(float(verdict.detail.get("options") in [[letter] for letter in right]), content, verdict.reason)


def proof_genselect(rollout: Rollout) -> Judgement:
    """The number of the better proof, in `<best_solution>`."""
    expected = rollout.get("correct_index", int)
    number = stands_by(rollout.text, Channel.ANSWER_TAG, tag="best_solution")
    return Judgement(float(number == str(expected)), number, "wrong_answer" if number else "no_answer")


def bunsenbench_chemistry_mcq(rollout: Rollout) -> Judgement:
    """The option in `<choice>`, or as any choice is named, by its letter or its text."""
    options, expected = rollout.row.get("options"), rollout.get("expected_answer", str).strip()
    pairs = [pair for option in options for pair in option.items()] if _are_objects(options) else []
    choices = {label: text for label, text in pairs if isinstance(text, str)}
    if expected not in choices or len(choices) > _MOST_OPTIONS:
        raise InvalidItem("bad_row", "the row needs 'options', each a letter and a text, and one as 'expected_answer'")
    verdict = _chosen(as_answer(rollout.text, "choice"), expected, choices)
    return Judgement(verdict.score or 0.0, verdict.extracted, verdict.reason)


_MOST_OPTIONS: Final = 24
_BOTH, _NONE = "both of them", "none of them"
_OTHER_WORDS: Final[Mapping[str, Sequence[str]]] = {
    _BOTH: ("both", "both objects", "both of these"),
    _NONE: ("none", "neither", "neither of them", "neither object", "no object"),
}
_ANSWER_MARK: Final = "answer:"


def _are_objects(values: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(values, list) and bool(values) and all(isinstance(value, dict) for value in values)


def _plain(text: str) -> str:
    words = text.lower().translate(_PUNCTUATION).split()
    return " ".join(words[1:] if words and words[0] in ("a", "an", "the") else words)


_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_LETTERS: Final = string.ascii_uppercase
_JUDGES: Final = (
    imo_gradingbench, math_proof_judgement, ragtruth, circle_count, proof_genselect, spartqa, swerl_llm_judge,
    bunsenbench_chemistry_mcq,
)  # fmt: skip
SERVERS: Final[Servers] = {judge.__name__: judge for judge in _JUDGES}

"""Servers whose answer is one of a few labels."""

import json
import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.nemo_gym.rollouts import Judgement, Rollout

_GRADES: Final = ("correct", "almost", "partial", "incorrect")
_MARKUP: Final = str.maketrans("", "", "*_`.,;:!?()[]{}")
_JUDGEMENT: Final = re.compile(r"\*{0,2}judgement\*{0,2}\s{0,8}:", re.IGNORECASE)
_BOXED_NUMBER: Final = re.compile(r"\\boxed\{(\d{1,18})\}")


def imo_gradingbench(rollout: Rollout) -> Judgement:
    """The last word of the answer is the grade of the proof."""
    expected = rollout.get("expected_answer", str).strip().lower()
    if expected not in _GRADES:
        raise InvalidItem("bad_row", f"the row's 'expected_answer' must be one of {', '.join(_GRADES)}")
    words = rollout.text.split()
    grade = words[-1].translate(_MARKUP).lower() if words else ""
    if grade not in _GRADES:
        return Judgement(0.0, None, "no_answer")
    return Judgement(float(grade == expected), grade)


def math_proof_judgement(rollout: Rollout) -> Judgement:
    """`Judgement: Yes` or `Judgement: No`; the first one counts."""
    expected = _judgement(rollout.get("expected_judgement", str))
    if expected is None:
        raise InvalidItem("bad_row", "the row's 'expected_judgement' must be 'Judgement: Yes' or 'Judgement: No'")
    judgement = _judgement(rollout.text)
    return (
        Judgement(0.0, None, "no_answer") if judgement is None else Judgement(float(judgement == expected), judgement)
    )


def ragtruth(rollout: Rollout) -> Judgement:
    """Whether the list of hallucinations of the answer, a JSON object, is empty as it should be.

    An answer that is no such object earns nothing; the original takes it for an empty list.
    """
    is_hallucinated = rollout.row.get("is_halu")
    if is_hallucinated not in (0, 1):
        raise InvalidItem("bad_row", "the row needs 'is_halu' as true or false; add it")
    listed = _object(rollout.text).get("hallucination list")
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
    boxed = {int(number) for number in _BOXED_NUMBER.findall(rollout.text)}
    if len(boxed) != 1:
        return Judgement(0.0, None, "conflicting_answers" if boxed else "no_answer")
    return Judgement(float(boxed == {expected}), str(*boxed))


def spartqa(rollout: Rollout) -> Judgement:
    """One of two objects, both or none of them: the one label that the answer's line is or names (SpartQA, CO)."""
    metadata = rollout.row.get("verifier_metadata")
    fields = {**metadata, **rollout.row} if isinstance(metadata, dict) else rollout.row
    options, target = fields.get("options"), fields.get("target")
    if not isinstance(options, list) or not isinstance(target, str):
        raise InvalidItem("bad_row", "the row needs 'options' as a list and 'target' as text; add them")
    labels = {_plain(str(label)) for label in (*options, _BOTH, _NONE)}
    if _plain(target) not in labels:
        raise InvalidItem("bad_row", f"the row's 'target' must be one of its options, {_BOTH!r} or {_NONE!r}")
    lines = [line for line in rollout.text.splitlines() if line.strip()]
    answers = [line for line in lines if _ANSWER_MARK in line.lower()] or lines
    answer = _plain(answers[-1].lower().rpartition(_ANSWER_MARK)[2]) if answers else ""
    answer = next((label for label, words in _OTHER_WORDS.items() if answer in words), answer)
    mentioned = {label for label in labels if label in answer} if answer not in labels else {answer}
    # An object's name can stand in the other's.
    mentioned = {label for label in mentioned if not any(label != longer and label in longer for longer in mentioned)}
    if len(mentioned) != 1:
        return Judgement(0.0, answer, "conflicting_answers" if mentioned else "no_answer")
    return Judgement(float(mentioned == {_plain(target)}), answer)


def proof_genselect(rollout: Rollout) -> Judgement:
    """The number of the better proof, in `<best_solution>`; the last one counts."""
    expected = rollout.get("correct_index", int)
    numbers = _BEST.findall(rollout.text)
    return Judgement(float(int(numbers[-1]) == expected), numbers[-1]) if numbers else Judgement(0.0, None, "no_answer")


_BEST: Final = re.compile(r"<best_solution>\s{0,8}(\d{1,9})\s{0,8}</best_solution>", re.IGNORECASE)
_BOTH, _NONE = "both of them", "none of them"
_OTHER_WORDS: Final[Mapping[str, Sequence[str]]] = {
    _BOTH: ("both", "both objects", "both of these"),
    _NONE: ("none", "neither", "neither of them", "neither object", "no object"),
}
_ANSWER_MARK: Final = "answer:"


def _plain(text: str) -> str:
    words = text.lower().translate(_PUNCTUATION).split()
    return " ".join(words[1:] if words and words[0] in ("a", "an", "the") else words)


_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
SERVERS: Final[Mapping[str, Callable[[Rollout], Judgement]]] = {
    "imo_gradingbench": imo_gradingbench,
    "math_proof_judgement": math_proof_judgement,
    "ragtruth": ragtruth,
    "circle_count": circle_count,
    "proof_genselect": proof_genselect,
    "spartqa": spartqa,
}


def _judgement(text: str) -> str | None:
    mark = _JUDGEMENT.search(text)
    label = text[mark.end() :].strip().lstrip("*").strip().lower() if mark else ""
    return "Yes" if label.startswith("yes") else "No" if label.startswith("no") else None


def _object(text: str) -> Mapping[str, Any]:
    """The JSON object of an answer, which may stand in a fence."""
    if "```" in text:
        text = text.split("```")[1].removeprefix("json")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}

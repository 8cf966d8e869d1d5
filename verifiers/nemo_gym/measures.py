"""Servers that grade by a likeness or a share."""

import re
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Final

from rapidfuzz.distance import Levenshtein

from verifiers.base import InvalidItem
from verifiers.commitment.affirmed import names
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, parsed
from verifiers.nemo_gym.stems import stem
from verifiers.rules.qa.overlap import harmonic
from verifiers.rules.qa.similarity import common_subsequence, edits

_LIST_MARK: Final = "Final Answer:"
_CONTROLS: Final = dict.fromkeys(range(32), "\n")
_PREFIX_CHARS: Final = 10


def graphwalks(rollout: Rollout) -> Judgement:
    """F1 of two sets of nodes; the answer's stands in the last line as `Final Answer: [a, b]` (openai/graphwalks)."""
    return _nodes(rollout, lambda node: node)


def lc_niah(rollout: Rollout) -> Judgement:
    """F1 as for graphwalks, times the share of the thoughts beyond their longest copy out of the prompt."""
    judgement = _nodes(rollout, lambda node: node.strip("\"'").strip())
    thoughts, prompt = _plain(rollout.reasoning), _plain(rollout.prompt)
    if not thoughts:
        return judgement
    share = _longest_copy(thoughts, prompt) / len(thoughts)
    return Judgement(judgement.score * (1 - share), judgement.extracted, judgement.wrong, {"copied_share": share})


def mrcr(rollout: Rollout) -> Judgement:
    """The ratio of matching characters behind a prefix that the answer must begin with (openai/mrcr)."""
    expected, prefix = rollout.get("expected_answer", str), rollout.get("random_string_to_prepend", str)
    answer = rollout.text
    if not answer.startswith(prefix):
        return Judgement(0.0, answer, "no_prefix")
    ratio = SequenceMatcher(None, answer.removeprefix(prefix), expected.removeprefix(prefix)).ratio()
    return Judgement(ratio, answer)


def equivalence_rule(rollout: Rollout) -> Judgement:
    """Equal but for case and white space; or alike, by `grading_rule`."""
    answer, expected = _plain(rollout.text), _plain(rollout.get("expected_answer", str))
    match rollout.row.get("grading_rule", "exact"):
        case "exact":
            return Judgement(float(answer == expected), rollout.text)
        case "seq_match":
            return Judgement(SequenceMatcher(None, answer, expected).ratio(), rollout.text)
        case "weighted_seq_match":
            start = expected[:_PREFIX_CHARS]
            text_ratio = SequenceMatcher(None, answer, expected).ratio()
            start_ratio = SequenceMatcher(None, answer[: len(start)], start).ratio()
            return Judgement(0.85 * text_ratio + 0.15 * start_ratio, rollout.text)
    raise InvalidItem("bad_row", "the row's 'grading_rule' must be exact, seq_match or weighted_seq_match")


def ruler(rollout: Rollout) -> Judgement:
    """The share of the references that stand in the answer; for questions, whether one does (RULER)."""
    references, answer = rollout.texts("outputs"), _written_anew(rollout).lower()
    hits = [float(names(answer, text.lower())) for text in references]
    is_question = rollout.get("subset", str) in ("qa_1", "qa_2")
    return Judgement(max(hits) if is_question else sum(hits) / len(hits), rollout.text)


def ruler2(rollout: Rollout) -> Judgement:
    """How near the references are: each by standing in the answer, or by its word error rate (RULER v2).

    Rows with `eval_type` multichoice are for `multiple_choice`.
    """
    references = rollout.texts("expected_answer")
    answer = _written_anew(rollout).translate(_CONTROLS).strip()
    kind = rollout.row.get("match_type", "all")
    if kind == "2steps":
        answer = answer.split("\n\n")[-1]
    elif kind == "part":
        answer = _without_documents(answer)
    elif kind != "all":
        raise InvalidItem("bad_row", "the row's 'match_type' must be all, part or 2steps")
    shares = [_near(answer.lower(), text.lower()) for text in references]
    return Judgement(max(shares) if kind == "part" else sum(shares) / len(shares), answer)


def _written_anew(rollout: Rollout) -> str:
    """The answer, or nothing if it is so long that it can be a copy of the prompt, which holds the references."""
    most_chars = max(_SHORT_CHARS, int(len(rollout.prompt) * _MOST_OF_PROMPT))
    return "" if rollout.prompt and len(rollout.text) > most_chars else rollout.text


_MOST_OF_PROMPT: Final = 0.1
_SHORT_CHARS: Final = 1_000
"""RULER lets a model write 128 tokens at most."""


def asr_with_pc(rollout: Rollout) -> Judgement:
    """Whether less than half of the words and marks are wrong; or, by `task_type`, whether the text is too long to be
    heard.

    Rows of collected rollouts have the words of the reference as `ref_pc_tok`. Other task types need Whisper's list of
    spellings.
    """
    match rollout.row.get("task_type") or "ASR-PC":
        case "ASR-PC":
            name = "expected_answer" if rollout.row.get("expected_answer") else "ref_pc_tok"
            tokens = _TOKEN.findall(rollout.get(name, str))
            share = edits(_TOKEN.findall(rollout.text), tokens) / len(tokens)
            return Judgement(float(share < _FAILED_SHARE), rollout.text, detail={"wer_pc": share})
        case "Hallucination":
            seconds = rollout.row.get("audio_duration")
            if not isinstance(seconds, int | float) or seconds <= 0:
                raise InvalidItem("bad_row", "the row needs 'audio_duration' in seconds; add it")
            rate = len(rollout.text) / seconds * 60
            return Judgement(float(rate <= _MOST_CHARS), rollout.text, "too_long", {"chars_per_minute": rate})
    raise InvalidItem("bad_row", "the row's 'task_type' must be ASR-PC or Hallucination")


_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_FAILED_SHARE: Final = 0.5
_MOST_CHARS: Final = 1_500.0
"""Beyond this, nobody speaks in a minute."""


def vlm_eval_kit(rollout: Rollout) -> Judgement:
    """One of the references stands in the answer (OCRBench)."""
    if rollout.row.get("benchmark_name") != "OCRBench":
        raise InvalidItem("bad_row", "the row's 'benchmark_name' must be OCRBench; others are groups of rows")
    formula = rollout.row.get("category") == "Handwritten Mathematical Expression Recognition"
    answer, *references = (
        "".join(text.split()) if formula else text.lower().strip().replace("\n", " ")
        for text in (rollout.text, *rollout.texts("answer"))
    )
    return Judgement(float(any(names(answer, text) for text in references)), rollout.text)


def rolemrc(rollout: Rollout) -> Judgement:
    """ROUGE-L of stems, as rouge-score has it with its stemmer."""
    reference = rollout.get("reference", str)
    return Judgement(rouge_l(rollout.text, reference, stemmed=True), rollout.text)


def rouge_l(answer: str, reference: str, *, stemmed: bool = False) -> float:
    """F1 of the longest common subsequence of words, as rouge-score has it."""
    lhs, rhs = rouge_words(answer, stemmed=stemmed), rouge_words(reference, stemmed=stemmed)
    return float(harmonic(common_subsequence(lhs, rhs), len(lhs), len(rhs)))


def rouge_words(text: str, *, stemmed: bool = False) -> list[str]:
    """The words of rouge-score, which have letters from a to z and digits alone; of four letters or more, their stems."""
    words = re.sub(r"[^a-z0-9]+", " ", text.lower()).split()
    stems = {word: stem(word) for word in set(words) if len(word) >= _STEMMED_CHARS} if stemmed else {}
    return [stems.get(word, word) for word in words]


_STEMMED_CHARS: Final = 4
_JUDGES: Final = (rolemrc, asr_with_pc, vlm_eval_kit, graphwalks, lc_niah, mrcr, equivalence_rule, ruler, ruler2)
SERVERS: Final[Servers] = {judge.__name__: judge for judge in _JUDGES}


def _nodes(rollout: Rollout, cleaned: Callable[[str], str]) -> Judgement:
    nodes = parsed(rollout.get("expected_answer", str))
    if not isinstance(nodes, list):
        raise InvalidItem("bad_row", "the row's 'expected_answer' must be a JSON list of nodes, as text")
    lines = [line for line in rollout.text.split("\n") if line.strip()]
    _, mark, tail = lines[-1].partition(_LIST_MARK) if lines else ("", "", "")
    listed = tail.strip()
    end = listed.rfind("]")
    if not mark or not listed.startswith("[") or end < 0:
        return Judgement(0.0, None, "no_answer")
    nodes_of = (cleaned(part.strip()) for part in listed[1:end].split(","))
    answered, expected = {node for node in nodes_of if node}, {str(node) for node in nodes}
    share = harmonic(len(answered & expected), len(answered), len(expected)) if answered or expected else 1.0
    return Judgement(float(share), listed[: end + 1])


def _longest_copy(text: str, source: str) -> int:
    """The length of the longest part of a text that stands in another one.

    difflib finds the same, and takes minutes for the tens of thousands of characters that such rows have.
    """
    grams = {source[start : start + _GRAM] for start in range(max(0, min(len(source), _MOST_GRAMS) - _GRAM + 1))}
    knows_all = len(source) <= _MOST_GRAMS
    longest = start = 0
    while start + longest < len(text):
        end = start + longest + 1
        if knows_all and longest >= _GRAM and text[end - _GRAM : end] not in grams:
            start = end - _GRAM + 1  # no part with these characters stands there
        elif text[start:end] in source:
            longest += 1
        else:
            start += 1
    return longest


_GRAM: Final = 12
_MOST_GRAMS: Final = 1_000_000
"""Beyond, they would take more memory than a worker has."""


def _near(answer: str, reference: str) -> float:
    if names(answer, reference):
        return 1.0
    words = reference.split()
    return max(0.0, 1 - Levenshtein.distance(answer.split(), words) / len(words)) if words else 0.0


_HEADER: Final = re.compile(r"Document \d{1,9}:")


def _without_documents(text: str) -> str:
    """The text without its copies of documents: each from `Document 3:` to the next blank line."""
    lines_kept: list[str] = []
    copies = False
    for line in text.split("\n"):
        copies = bool(line) if copies else bool(_HEADER.match(line))
        if not copies and (line or lines_kept):
            lines_kept.append(line)
    return "\n".join(lines_kept)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())

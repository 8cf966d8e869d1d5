"""The parameters, and the options: the forms of data sets become labels with texts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from memory import Store, size_of
from memory.registry import ENTRY_BYTES
from verifiers import commitment
from verifiers.base import Verdict, clip
from verifiers.commitment.commit import commit
from verifiers.rules.multiple_choice.scripts import ALPHABET, labels_like
from verifiers.rules.multiple_choice.values import EDGES, Options

_Text = Annotated[str, Field(max_length=10_000)]
_Label = Annotated[str, Field(min_length=1, max_length=8)]


class LabelsAndTexts(BaseModel):
    """Options in two lists of the same length, as in ARC and CommonsenseQA."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    label: Annotated[tuple[_Label, ...], Field(min_length=1, max_length=64)]
    """The labels: `["A", "B"]`."""
    text: Annotated[tuple[_Text, ...], Field(min_length=1, max_length=64)]
    """The text of each label."""


class Question(msgspec.Struct, frozen=True):
    """The options of a question, and the right ones among them."""

    options: Options
    expected: frozenset[str]


class MultipleChoiceParams(commitment.ExtractionParams):
    """The options, and the right one among them."""

    reference: _Text | Annotated[tuple[_Text, ...], Field(min_length=1, max_length=64)]
    """The right option's label or text; with `multi`, several of them ("AC", "A, C" or a list)."""
    choices: (
        Annotated[tuple[_Text, ...], Field(min_length=1, max_length=64)]
        | LabelsAndTexts
        | Annotated[dict[_Label, _Text], Field(min_length=1, max_length=64)]
        | _Text
        | None
    ) = None
    """The options' texts in order, by label, as `{"label": [...], "text": [...]}`, or as the question shows them
    ("A. London B. Paris"). Without them only labels are understood."""
    multi: bool = False
    """Several options may be right, and all of them must be named."""
    partial: bool = False
    """With `multi`: right options without a wrong one earn their share of the right ones."""
    letters: Annotated[str, Field(min_length=1, max_length=64)] = "ABCDEFGHIJ"
    """The labels of the options, in order; continued to Z when there are more choices."""

    @property
    def question(self) -> Question | Verdict:
        """The question that responses are read with; a verdict if the choices or the reference are invalid.

        It is not kept with the parameters: what is compiled for it is larger than they are.
        """
        choices = self.choices
        if isinstance(choices, LabelsAndTexts):
            return _question(self.reference, choices.label, choices.text, self.multi, self.letters)
        if isinstance(choices, dict):
            return _question(self.reference, None, tuple(choices.items()), self.multi, self.letters)
        return _question(self.reference, None, choices, self.multi, self.letters)


_Texts = tuple[str, ...] | tuple[tuple[str, str], ...] | str | None
_Asked = tuple[str | tuple[str, ...], tuple[str, ...] | None, _Texts, bool, str]


def _size_of_question(key: _Asked, question: Question | Verdict) -> int:
    """About what `size_of` says. To walk through a question takes longer than to make it."""
    if isinstance(question, Verdict):
        return ENTRY_BYTES + size_of(key) + size_of(question)
    texts = question.options.texts.values()
    return 15_000 * (1 + len(texts)) + 20 * sum(len(text or "") for text in texts)


_QUESTIONS: Store[_Asked, Question | Verdict] = Store(
    "multiple_choice.questions", 32_000_000, size=_size_of_question, of_texts=True
)


def _question(*key: *_Asked) -> Question | Verdict:
    """Responses to one question share it. The oldest go one by one: to drop all at once would take 8 ms."""
    question = _QUESTIONS.get(key)
    if question is None:
        question = _read(*key)
        _QUESTIONS.put(key, question)
    return question


def _read(
    reference: str | tuple[str, ...], labels: tuple[str, ...] | None, choices: _Texts, multi: bool, letters: str
) -> Question | Verdict:
    texts = _labelled(reference, labels, choices, letters)
    if isinstance(texts, Verdict):
        return texts
    if all(text.strip() == label for label, text in texts.items()):
        texts = dict.fromkeys(texts, "")  # "a" is an article, and not the text of an option
    options = Options(texts, multi)
    expected = _expected(reference, options)
    if expected is None:
        clipped = clip(reference if isinstance(reference, str) else ", ".join(reference)) or ""
        return Verdict.invalid("reference_not_a_choice", f"reference {clipped!r}: expected among {list(options.texts)}")
    return Question(options, expected)


def _expected(reference: str | tuple[str, ...], options: Options) -> frozenset[str] | None:
    references = (reference,) if isinstance(reference, str) else reference
    label_sets = [_named(options, text) for text in references]
    if not all(label_sets) or (not options.multi and len(references) > 1):
        return None
    return frozenset().union(*(labels for labels in label_sets if labels))


def _named(options: Options, reference: str) -> frozenset[str] | None:
    """The options that a reference names. A short reference that is a whole response is read as a response."""
    labels = options.named(reference)
    return labels if labels or len(reference) > _MAX_READ_CHARS else commit(reference, options, "reject").value


_MAX_READ_CHARS = 400


def _labelled(
    reference: str | tuple[str, ...],
    labels: tuple[str, ...] | None,
    choices: tuple[str, ...] | tuple[tuple[str, str], ...] | str | None,
    letters: str,
) -> Mapping[str, str] | Verdict:
    """The options by label, in order; a verdict if the choices are invalid."""
    if choices is None:
        return _labels_for(reference if isinstance(reference, str) else reference[0], list(dict.fromkeys(letters)))
    if isinstance(choices, str):
        options = _shown(choices)
        return options or Verdict.invalid("bad_choices", f"no options A, B, ... are seen in {clip(choices)!r}")
    if labels is not None:
        if len(labels) != len(choices) or len(set(labels)) < len(labels):
            return Verdict.invalid("bad_choices", f"{len(labels)} labels for {len(choices)} texts")
        return dict(zip(map(str.strip, labels), _texts(choices), strict=True))
    pairs = [choice for choice in choices if isinstance(choice, tuple)]
    return {label.strip(): text for label, text in pairs} if pairs else _in_order(_texts(choices), letters)


def _texts(choices: Iterable[str | tuple[str, str]]) -> Sequence[str]:
    return [choice for choice in choices if isinstance(choice, str)]


def _in_order(choices: Sequence[str], letters_given: str) -> Mapping[str, str] | Verdict:
    letters = list(dict.fromkeys(letters_given + ALPHABET))
    if len(choices) > len(letters):
        return Verdict.invalid("too_many_choices", f"{len(choices)} choices, and labels for {len(letters)}")
    return dict(zip(letters, _without_labels(choices, letters), strict=False))


_SHOWN_LABEL = re.compile(r"(?:^|(?<=\s))(?:\(([A-Z])\)|\[([A-Z])\]|([A-Z])[.):：、．])\s?")


def _labels_for(reference: str, letters: Sequence[str]) -> dict[str, str]:
    """The labels of the alphabet of a reference, if no options are given."""
    return labels_like(commitment.fold(reference).strip(EDGES)) or dict.fromkeys(letters, "")


def _shown(choices: str) -> dict[str, str]:
    """The options of a text that shows them as a question does, each behind its letter, from A on."""
    labels: list[tuple[str, int, int]] = []
    for match in _SHOWN_LABEL.finditer(choices):
        if len(labels) < len(ALPHABET) and match[match.lastindex or 0] == ALPHABET[len(labels)]:
            labels.append((ALPHABET[len(labels)], match.start(), match.end()))
    if len(labels) < 2:
        return {}
    stops = [start for _, start, _ in labels[1:]] + [len(choices)]
    return {label: choices[start:end].strip(" \t\n,;") for (label, _, start), end in zip(labels, stops, strict=True)}


def _without_labels(choices: Sequence[str], letters: Sequence[str]) -> Sequence[str]:
    """The texts without their labels, if each text begins with its own label."""
    if len(choices) < 2:
        return choices
    matches = [_SHOWN_LABEL.match(choice.lstrip()) for choice in choices]
    if any(
        match is None or match[match.lastindex or 0] != letter for match, letter in zip(matches, letters, strict=False)
    ):
        return choices
    return [choice.lstrip()[match.end() :] for match, choice in zip(matches, choices, strict=True) if match]

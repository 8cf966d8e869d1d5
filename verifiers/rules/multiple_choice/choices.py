"""The parameters, and the options: the forms of data sets become labels with texts."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Annotated

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from verifiers import commitment
from verifiers.base import Verdict, clip
from verifiers.commitment.commit import commit
from verifiers.rules.multiple_choice.scripts import ALPHABET, labels_like
from verifiers.rules.multiple_choice.values import EDGES, Options

_Text = Annotated[str, Field(max_length=10_000)]
_Label = Annotated[str, Field(min_length=1, max_length=8)]


class LabelsAndTexts(BaseModel):
    """Options in two lists of the same length, as in ARC and CommonsenseQA."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Annotated[tuple[_Label, ...], Field(min_length=1, max_length=64)]
    text: Annotated[tuple[_Text, ...], Field(min_length=1, max_length=64)]


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

    @cached_property
    def question(self) -> Question | Verdict:
        """The question that responses are read with; a verdict if the choices or the reference are invalid."""
        return _question(self)


def _question(params: MultipleChoiceParams) -> Question | Verdict:
    texts = _labelled(params)
    if isinstance(texts, Verdict):
        return texts
    make = _options if sum(map(len, texts.values())) <= _MAX_KEPT_CHARS else _options.__wrapped__
    options = make(tuple(texts.items()), params.multi)
    expected = _expected(params, options)
    if expected is None:
        shown = clip(str(params.reference)) or ""
        return Verdict.invalid("reference_not_a_choice", f"reference {shown!r}: expected among {list(options.texts)}")
    return Question(options, expected)


@lru_cache(maxsize=256)
def _options(texts: tuple[tuple[str, str], ...], multi: bool) -> Options:
    """Responses to one question share its options."""
    return Options(dict(texts), multi)


def _expected(params: MultipleChoiceParams, options: Options) -> frozenset[str] | None:
    references = (params.reference,) if isinstance(params.reference, str) else params.reference
    found = [_named(options, reference) for reference in references]
    if not all(found) or (not params.multi and len(references) > 1):
        return None
    return frozenset().union(*(labels for labels in found if labels))


@lru_cache(maxsize=256)
def _named(options: Options, reference: str) -> frozenset[str] | None:
    """The options that a reference names. A short reference that is a whole response is read as a response."""
    named = options.named(reference)
    return named if named or len(reference) > _MAX_READ_CHARS else commit(reference, options, "reject").value


_MAX_READ_CHARS = 400


def _labelled(params: MultipleChoiceParams) -> Mapping[str, str] | Verdict:
    """The options by label, in order; a verdict if the choices are invalid."""
    choices = params.choices
    if isinstance(choices, LabelsAndTexts):
        if len(choices.label) != len(choices.text) or len(set(choices.label)) < len(choices.label):
            return Verdict.invalid("bad_choices", f"{len(choices.label)} labels for {len(choices.text)} texts")
        return dict(zip(map(str.strip, choices.label), choices.text, strict=True))
    if isinstance(choices, dict):
        return {label.strip(): text for label, text in choices.items()}
    if choices is None:
        letters = list(dict.fromkeys(params.letters))
        return _labels_for(params.reference if isinstance(params.reference, str) else params.reference[0], letters)
    if isinstance(choices, str):
        shown = _shown(choices)
        return shown or Verdict.invalid("bad_choices", f"no options A, B, ... are seen in {clip(choices)!r}")
    kept = _in_order if sum(map(len, choices)) <= _MAX_KEPT_CHARS else _in_order.__wrapped__
    return kept(choices, params.letters)


_MAX_KEPT_CHARS = 20_000
"""Characters of all texts of a question. Longer ones are prepared again for each item."""


@lru_cache(maxsize=256)
def _in_order(choices: tuple[str, ...], given: str) -> Mapping[str, str] | Verdict:
    """Responses to one question share its options."""
    letters = list(dict.fromkeys(given + ALPHABET))
    if len(choices) > len(letters):
        return Verdict.invalid("too_many_choices", f"{len(choices)} choices, and labels for {len(letters)}")
    return dict(zip(letters, _without_labels(choices, letters), strict=False))


_SHOWN_LABEL = re.compile(r"(?:^|(?<=\s))(?:\(([A-Z])\)|\[([A-Z])\]|([A-Z])[.):：、．])\s?")


def _labels_for(reference: str, letters: Sequence[str]) -> dict[str, str]:
    """The labels of the alphabet of a reference, if no options are given."""
    return labels_like(commitment.fold(reference).strip(EDGES)) or dict.fromkeys(letters, "")


def _shown(choices: str) -> dict[str, str]:
    """The options of a text that shows them as a question does, each behind its letter, from A on."""
    found: list[tuple[str, int, int]] = []
    for match in _SHOWN_LABEL.finditer(choices):
        if len(found) < len(ALPHABET) and match[match.lastindex or 0] == ALPHABET[len(found)]:
            found.append((ALPHABET[len(found)], match.start(), match.end()))
    if len(found) < 2:
        return {}
    ends = [start for _, start, _ in found[1:]] + [len(choices)]
    return {label: choices[start:end].strip(" \t\n,;") for (label, _, start), end in zip(found, ends, strict=True)}


def _without_labels(choices: Sequence[str], letters: Sequence[str]) -> Sequence[str]:
    """The texts without their labels, if each text begins with its own label."""
    if len(choices) < 2:
        return choices
    found = [_SHOWN_LABEL.match(choice.lstrip()) for choice in choices]
    if any(
        match is None or match[match.lastindex or 0] != letter for match, letter in zip(found, letters, strict=False)
    ):
        return choices
    return [choice.lstrip()[match.end() :] for match, choice in zip(found, choices, strict=True) if match]

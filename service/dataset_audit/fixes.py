"""What to do about each kind of finding, and the new value where that is mechanical."""

from collections.abc import Mapping
from typing import Any, Final

from service.dataset_audit.report import Fix
from service.dataset_audit.rows import Row
from verifiers.base import Params
from verifiers.math.params import MathParams
from verifiers.math.solutions import ReferenceKind, final_answer, kind_of
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams, Question

_ADVICE: Final[Mapping[str, str]] = {
    "not_itself": "The reference does not pass as its own answer, so no response can. Write the bare answer, or a parameter "
    "that compares it otherwise.",
    "solution_fails": "The row's own solution does not earn 1. Mend the solution, or the reference or tests that it fails.",
    "accepts_nothing": "A program that does nothing passes. Add a test that depends on the answer, or drop the row.",
    "bad_row": "Write one JSON object per line, in UTF-8, with labels as text.",
    "unroutable": "Nothing says how to judge the row. Choose a verifier or a recipe for all rows, or give the rows a label "
    "that has a route (`rewardline recipes list`).",
    "unknown_verifier": "Choose a verifier that exists: `rewardline verifiers` lists them.",
    "unknown_recipe": "Choose a recipe that exists: `rewardline recipes list`.",
    "bad_reference": "The verifier does not take the reference: name the column that holds it, or fill it in.",
    "unparseable_reference": "Write the answer alone: a number, formula or short text, without the way to it.",
    "empty_reference": "Fill in the answer, or drop the row.",
    "reference_not_a_choice": "Write the letter or the text of one of the options.",
    "bad_choices": "Give the options as a list of texts in `params.choices`.",
    "bad_params": "Name only parameters that the verifier has: `rewardline verifiers NAME`.",
    "no_expectations": "Give each test case its `expected_output`.",
    "missing_expectation": "Give each test case its `expected_output`.",
    "ambiguous_case_type": "Say in `case_type` how the tests call the program.",
    "no_tests": "Add tests, or drop the row.",
    "unparseable_tests": "Write the tests as JSON that can be read, or as Python that compiles.",
    "vacuous_test": "A test asserts nothing. Write what must hold.",
    "invalid_text": "A text holds half a character (a lone surrogate). Write it anew from the source.",
    "ambiguous": "Name one of verifier, recipe and checks, and one of reference and ground_truth.",
    "worked_solution": "The reference is a worked solution. It is read, but the answer alone leaves no doubt.",
    "inline_options": "The options stand in a text. As a list they cannot be misread.",
}
_OTHERWISE: Final = "Correct the row as the message says, or drop it."
_WORKED: Final = (ReferenceKind.BOXED, ReferenceKind.HASH4, ReferenceKind.ANNOUNCED)


def advice(reason: str) -> str:
    """What to do about a kind of finding."""
    return _ADVICE.get(reason, _OTHERWISE)


def hint(row: Row, params: Params) -> tuple[str, str, Fix] | None:
    """The kind of a plainer form of a row that can be judged as it is, what it is about, and the fix."""
    if isinstance(params, MathParams):
        return _plain_answer(row, params)
    if isinstance(params, MultipleChoiceParams):
        return _listed_options(row, params)
    return None


def _plain_answer(row: Row, params: MathParams) -> tuple[str, str, Fix] | None:
    if not row.reference_path or not isinstance(params.reference, str) or kind_of(params.references) not in _WORKED:
        return None
    return _fix("worked_solution", row, row.reference_path, final_answer(params.reference))


def _listed_options(row: Row, params: MultipleChoiceParams) -> tuple[str, str, Fix] | None:
    """The options of a text in the parameters as a list. With them in the prompt, those at whose end a line ends."""
    if isinstance(params.choices, str):
        question: Any = params.question
    elif params.choices is None and row.item is not None and isinstance(row.item.prompt, str):
        question = MultipleChoiceParams(reference=params.reference, choices=row.item.prompt[:10_000]).question
    else:
        return None
    if not isinstance(question, Question) or any("\n" in text for text in question.options.texts.values()):
        return None
    return _fix("inline_options", row, (*row.params_path, "choices"), list(question.options.texts.values()))


def _fix(kind: str, row: Row, path: tuple[str, ...], value: Any) -> tuple[str, str, Fix]:
    return kind, f"plainer: {value!r}", Fix(row.number, path, value)

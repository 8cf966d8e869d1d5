"""Runs Math-Verify in a worker: the worker is killed if it hangs, and its errors are reported.

The original's `parse` and `verify` return `[]` and `False` if they fail; here they raise errors instead
(`raise_on_error`). Their alarms (`signal.alarm`, whole seconds, for each of up to four comparisons, without effect in
long C calls) are off: the worker has one limit of CPU time for everything.
"""

import logging
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from memory import remember

os.environ["SYMPY_GROUND_TYPES"] = "python"  # noqa: TID251 - before the first import of sympy; not a setting

from latex2sympy2_extended.latex2sympy2 import NormalizationConfig
from math_verify import ExprExtractionConfig, LatexExtractionConfig, StringExtractionConfig, parse, verify

from sandbox.workers import worker_function
from verifiers.math_verify.params import LatexTarget, Parsing, StringTarget, Target, Terms

logging.getLogger("math_verify").setLevel(logging.CRITICAL)  # it quotes responses
warnings.filterwarnings("ignore", category=SyntaxWarning)  # Python's, of texts such as `2(3)`
_ANY_ANSWER = "1"


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a text cannot be compared."""

    outcome: str
    message: str


@worker_function
def grade(payload: Sequence[Any]) -> dict[str, Any]:
    """Judge one response: `(references, response, Terms as JSON)`.

    If the response is None, only the references are checked: whether they can be read and compared with another answer.

    The result's `outcome` is one of
        unparseable_reference, reference_too_complex   with `message`: the item's author must mend it
        equal, different                               what `verify` says
        no_answer, unparseable, not_comparable, too_complex
            nothing was found in the response; `parse` raised on it, or `verify` did and nothing matched, with `message`
    and `answer` is the text that was compared, if there is one.
    """
    references, response, packed = payload
    terms = _terms(packed)
    golds: list[Any] = []
    for reference in references:
        gold = _gold(reference, packed)
        if isinstance(gold, Fault):
            return {"outcome": gold.outcome, "message": gold.message}
        golds += gold
    text = _ANY_ANSWER if response is None else response
    parsed = read(text, Parsing() if response is None else terms.parse_response)
    if isinstance(parsed, Fault):
        return {"outcome": parsed.outcome, "message": parsed.message}
    if not parsed:
        return {"outcome": "no_answer"}
    answer = next((part for part in reversed(parsed) if isinstance(part, str)), None)
    compared = compare(golds, parsed, terms)
    if isinstance(compared, bool):
        return {"outcome": "equal" if compared else "different", "answer": answer}
    if response is None or isinstance(compare(golds, parse(_ANY_ANSWER, parsing_timeout=None), terms), Fault):
        message = f"reference {references[0][:200]!r}: not to be compared with anything: {compared.message}"
        return {"outcome": "unparseable_reference", "message": message}
    return {"outcome": compared.outcome, "message": compared.message, "answer": answer}


def compare(golds: Sequence[Any], answers: Sequence[Any], terms: Terms) -> bool | Fault:
    """The result of `verify` for any pair; texts come first, so that a hard comparison does not hide equal texts."""
    fault: Fault | None = None
    for gold, answer in sorted(product(golds, answers), key=lambda pair: not isinstance(pair[0], str)):
        try:
            matches = verify(
                [gold],
                [answer],
                float_rounding=terms.float_rounding,
                numeric_precision=terms.numeric_precision,
                strict=terms.strict,
                allow_set_relation_comp=terms.allow_set_relation_comp,
                timeout_seconds=None,
                raise_on_error=True,
            )
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - computer algebra may raise any error; it is reported
            fault = fault or _fault(error, "not_comparable")
        else:
            if matches:
                return True
    return fault or False


def read(text: str, parsing: Parsing) -> list[Any] | Fault:
    """The result of `parse`: expressions and, by its fallback, a text."""
    try:
        parsed: list[Any] = parse(
            text,
            _targets(parsing),
            fallback_mode=parsing.fallback_mode,
            extraction_mode=parsing.extraction_mode,
            parsing_timeout=None,
            raise_on_error=True,
        )
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - its parser may raise any error; it is reported
        return _fault(error, "unparseable")
    return parsed


@remember(256)
def _gold(reference: str, packed: str) -> list[Any] | Fault:
    """Read a reference; cached, because the samples of one prompt share it."""
    gold = read(reference, _terms(packed).parse_reference)
    label = f"reference {reference[:200]!r}"
    if isinstance(gold, Fault):
        outcome = "reference_too_complex" if gold.outcome == "too_complex" else "unparseable_reference"
        return Fault(outcome, f"{label}: {gold.message}")
    return gold or Fault("unparseable_reference", f"{label}: Math-Verify finds nothing in it; `reference_is` may help")


def _fault(error: Exception, otherwise: str) -> Fault:
    outcome = "too_complex" if isinstance(error, RecursionError | OverflowError) else otherwise
    return Fault(outcome, f"Math-Verify raised {type(error).__name__}")


@remember(64)
def _terms(packed: str) -> Terms:
    return Terms.model_validate_json(packed)


@remember(64)
def _targets(parsing: Parsing) -> list[Any]:
    return [_target(target) for target in parsing.targets]


def _target(target: Target) -> Any:
    if isinstance(target, LatexTarget):
        normalization = NormalizationConfig(**target.normalization.model_dump())
        return LatexExtractionConfig(target.try_extract_without_anchor, target.boxed_match_priority, normalization)
    if isinstance(target, StringTarget):
        return StringExtractionConfig(target.strings, target.try_extract_without_anchor, target.lowercase)
    return ExprExtractionConfig(target.try_extract_without_anchor)

"""Reads items in the form of rows of a data set, and finds what each check judges against.

The field names are those of common data sets: `ground_truth` beside `reference`, `test_cases` with `case_type` and
`test_case_function`, `evaluation_criteria`, `difficulty`. Empty and null fields count as missing, because data sets
have one set of columns for all their rows.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Final

from service.recipes.recipe import Check
from service.recipes.routing import KINDS, Row
from verifiers.base import InvalidItem

READS_TESTS: Final = frozenset(("code", "code_quality"))
"""Verifiers that judge against test cases rather than an answer if a row has both."""
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
_NO_FUNCTION: Final = (None, "", "None")


class _Absent:
    """Stands for a missing field, because None is a value."""


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Given:
    """The decoded data of a row."""

    reference: Any = ABSENT
    tests: Any = ABSENT
    """`{test_cases, case_type, fn_name}` as the code verifiers take it."""
    criteria: Any = ABSENT

    def reference_for(self, check: Check) -> Any:
        """The reference for this check. `ABSENT` if the row has none.

        Raises:
            InvalidItem: the recipe needs a part of the reference that is missing.
        """
        spec = check.reference
        if spec is None:
            prefers_tests = check.entry.verifier.name in READS_TESTS
            return self.tests if prefers_tests and self.tests is not ABSENT else self.reference
        if spec.path is not None:
            return _part(self.reference, spec.path)
        if spec.field is not None:
            return self.tests if spec.field == "tests" else self.reference
        if spec.tag is not None:
            return _untagged(self.reference, spec.tag)
        return spec.value

    def has_data_for(self, check: Check) -> bool:
        """Whether the row holds the data for this check. The data may still be wrong."""
        name, model = check.entry.verifier.name, check.entry.verifier.params
        if name in READS_TESTS:
            return self.tests is not ABSENT or (isinstance(self.reference, dict) and "test_cases" in self.reference)
        if "criteria" in model.model_fields and (self.criteria is not ABSENT or check.params.get("mode") == "criteria"):
            return self.criteria is not ABSENT
        return "reference" not in model.model_fields or self.reference_for(check) is not ABSENT


def tests_of(cases: Any, case_type: str | None, function: str | None) -> Any:
    """The test cases of a row as a reference of the code verifiers, or `ABSENT`."""
    if any(cases is empty or cases == empty for empty in _EMPTY):
        return ABSENT
    tests: dict[str, Any] = {"test_cases": cases}
    if case_type:
        tests["case_type"] = case_type
    if function not in _NO_FUNCTION:
        tests["fn_name"] = function
    return tests


def row_of(labels: Mapping[str, str | None], difficulty: float | str | None, reference: Any) -> Row:
    """The data that routes look at."""
    fields: Set[str] = reference.keys() if isinstance(reference, dict) else frozenset()
    return Row({kind: label for kind in KINDS if (label := labels[kind])}, difficulty, frozenset(map(str, fields)))


def _part(reference: Any, path: str) -> Any:
    value = reference
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise InvalidItem("bad_reference", f"reference: the recipe needs its part {path!r}, which is missing")
        value = value[name]
    return value


def _untagged(reference: Any, tag: str) -> Any:
    opening, closing = f"<{tag}>", f"</{tag}>"
    text = reference.strip() if isinstance(reference, str) else ""
    if not text.startswith(opening) or not text.endswith(closing) or text.count(opening) > 1:
        return reference
    return text.removeprefix(opening).removesuffix(closing).strip()

"""The options of a comparison: tolerances, units, order, form."""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Literal

from verifiers.math.exact import Tolerance
from verifiers.numerals.local import POINT_LANGUAGES

UnitPolicy = Literal["ignore", "convert", "require"]
SecondOpinion = Literal["never", "unreadable", "always"]
Form = Literal["any", "simplified", "decimal", "fraction"]
PercentPolicy = Literal["unit", "factor"]
ConstantPolicy = Literal["required", "optional"]
Locale = Literal[
    "en", "zh", "ja", "ko", "th", "hi", "he",
    "bg", "cs", "da", "de", "el", "es", "fi", "fr", "hu", "id", "it", "nb", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "vi",
]  # fmt: skip
"""Languages by ISO 639-1; those of the second line write 1.234,5 (Unicode CLDR)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare; `packed` is the form in which it travels to a worker."""

    abs_tol: float = 0.0
    rel_tol: float = 0.0
    unit_policy: UnitPolicy = "convert"
    unit: str | None = None
    """The unit of a reference that does not write it itself."""
    ordered: bool = False
    """Whether elements between commas must be in the order of the reference."""
    form: Form = "any"
    locale: Locale = "en"
    percent: PercentPolicy = "unit"
    constant: ConstantPolicy = "required"
    exact_years: bool = False

    @classmethod
    def unpacked(cls, packed: list[Any]) -> "Options":
        return cls(*packed)

    def packed(self) -> list[Any]:
        return [*_FIELDS(self)]

    @property
    def tolerance(self) -> Tolerance:
        return Tolerance(self.abs_tol, self.rel_tol, self.exact_years)

    @property
    def is_plain(self) -> bool:
        """Whether two plain numbers are decided by their values and the tolerance alone."""
        is_usual = self.form == "any" and self.unit is None and not self.has_decimal_comma
        return is_usual and self.unit_policy != "require"

    @property
    def has_decimal_comma(self) -> bool:
        """Whether a number is written as 1.234,5."""
        return self.locale not in POINT_LANGUAGES


_FIELDS = attrgetter(*(field.name for field in fields(Options)))
DEFAULT = Options()

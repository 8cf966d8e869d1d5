"""Defines an instruction: its id, its arguments, and its check in both profiles.

A check is a function. It takes a `Text` and the instruction's arguments as keyword arguments. `fixed` is left out where
the published check already does what the instruction says; both profiles then use `official`.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from verifiers.base import InvalidItem
from verifiers.commitment import fold

Check = Callable[..., bool]
Read = Callable[[Any], Any]
"""Converts a JSON value to an argument. On a bad value it raises ValueError with what was expected as its message."""

_MAX_NUMBER = 1_000_000
_MAX_TEXT_CHARS = 100_000
_MAX_WORDS = 200
RELATIONS = ("less than", "at least")
QUANTIFIERS = ("at least", "at most", "around")


@dataclass(frozen=True, slots=True)
class Constraint:
    """One kind of instruction."""

    id: str
    official: Check
    fixed: Check | None = None
    arguments: Mapping[str, Read] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    """Arguments that the published data may leave out, or that no check needs."""

    def check(self, profile: str) -> Check:
        return self.fixed if profile == "fixed" and self.fixed is not None else self.official

    def read(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Read the arguments from a JSON object. A null counts as absent.

        Raises:
            InvalidItem: an argument is missing, unknown or of the wrong form.
        """
        kwargs = {name: value for name, value in kwargs.items() if value is not None}
        if kwargs.keys() != self.arguments.keys():
            self._check_names(kwargs.keys())
        read: dict[str, Any] = {}
        for name, value in kwargs.items():
            try:
                read[name] = self.arguments[name](value)
            except ValueError as error:
                message = f"{self.id}: {name} must be {error}, not {str(value)[:80]!r}"
                raise InvalidItem("bad_arguments", message) from error
        return read if len(read) <= 1 else {name: read[name] for name in self.arguments if name in read}

    def _check_names(self, names: Set[str]) -> None:
        unknown = sorted(names - self.arguments.keys())
        missing = sorted(self.arguments.keys() - names - self.optional)
        if unknown or missing:
            wrong = f"lacks {missing}" if missing else f"does not take {unknown}"
            raise InvalidItem("bad_arguments", f"{self.id} {wrong}; its arguments are {sorted(self.arguments)}")


def count(value: Any) -> int:
    """Read a whole number, 0 or more. The data may write 5 as 5.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a whole number")
    if not 0 <= value <= _MAX_NUMBER or value != int(value):
        raise ValueError(f"a whole number from 0 to {_MAX_NUMBER}")
    return int(value)


def ordinal(value: Any) -> int:
    """Read a whole number, 1 or more."""
    number = count(value)
    if number == 0:
        raise ValueError("a whole number, 1 or more")
    return number


def percentage(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise ValueError("a number from 0 to 100")
    return float(value)


def text(value: Any) -> str:
    """Read a text with at least one visible character."""
    if not isinstance(value, str) or len(value) > _MAX_TEXT_CHARS or not fold(value).strip():
        raise ValueError(f"text that is not blank, up to {_MAX_TEXT_CHARS} characters")
    return value


def stripped(value: Any) -> str:
    return text(value).strip()


def word(value: Any) -> str:
    """Read a word or short phrase. Some rows of the training data hold it in a list of one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str) or len(value) > 1000 or not fold(value).strip():
        raise ValueError("a word or phrase of up to 1000 characters")
    return value.strip()


def words(value: Any) -> tuple[str, ...]:
    """Read a list of words or phrases with the space around them, which the published checkers search for, too."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= _MAX_WORDS:
        raise ValueError(f"a list of 1 to {_MAX_WORDS} words")
    for item in value:
        word(item)
    return tuple(value)


def letter(value: Any) -> str:
    """Read one character, which need not be a letter: two prompts of IFEval ask for `#` and `!`."""
    if not isinstance(value, str) or len(value.strip()) != 1 or not fold(value):
        raise ValueError("one character")
    return value.strip()


def small_letter(value: Any) -> str:
    return letter(value).lower()


def relation(value: Any) -> str:
    if value not in RELATIONS:
        raise ValueError(f"one of {list(RELATIONS)}")
    return str(value)


def quantifier(value: Any) -> str:
    if value not in QUANTIFIERS:
        raise ValueError(f"one of {list(QUANTIFIERS)}")
    return str(value)


def anything(value: Any) -> Any:
    return value


def word_set(text: str) -> frozenset[str]:
    """The set of the words of a text. It keeps long tables of words readable."""
    return frozenset(text.split())


def holds(number: float, relation: str, bound: float) -> bool:
    return number < bound if relation == "less than" else number >= bound


STOP_WORDS = word_set(
    "a about above after again against ain all am an and any are aren aren't as at be because been before being "
    "below between both but by can couldn couldn't d did didn didn't do does doesn doesn't doing don don't down "
    "during each few for from further had hadn hadn't has hasn hasn't have haven haven't having he he'd he'll he's "
    "her here hers herself him himself his how i i'd i'll i'm i've if in into is isn isn't it it'd it'll it's its "
    "itself just ll m ma me mightn mightn't more most mustn mustn't my myself needn needn't no nor not now o of off "
    "on once only or other our ours ourselves out over own re s same shan shan't she she'd she'll she's should "
    "should've shouldn shouldn't so some such t than that that'll the their theirs them themselves then there these "
    "they they'd they'll they're they've this those through to too under until up ve very was wasn wasn't we we'd "
    "we'll we're we've were weren weren't what when where which while who whom why will with won won't wouldn "
    "wouldn't y you you'd you'll you're you've your yours yourself yourselves"
)
"""English function words: the list of the Snowball project, with the contractions that NLTK adds."""

"""What has no value, or an odd one, in any place of any kind of expression: judged, and nothing raised.

A raised exception is not a wrong verdict, but none at all: `failed`, for every response that says so.
"""

import json
import random
import re
from pathlib import Path

import pytest

from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT

DATA = Path(__file__).parents[2] / "data" / "math"
OUTCOMES = {
    "equal",
    "different",
    "undecided",
    "too_complex",
    "unparseable",
    "unparseable_reference",
    "reference_too_complex",
}
SIMPLE = (
    "3:45", "1:2", "5\\%", "2^{3}", "\\sqrt[3]{8}", "\\binom{5}{2}", "5!", "12_{7}", "3\\text{ cm}", "(1,2)", "[1,2)",
    "x>3", "x\\equiv 2\\pmod 5", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "y=3x-7", "10^{5}", "|x|>1", "f(x)=2x",
    "x=1,y=2", "2\\pm 3", "1\\frac12", "\\max(1,2)", "\\gcd(4,6)", "\\lfloor 3.5\\rfloor", "\\log_2 8", "5^\\circ",
    "0.\\overline{3}", "1\\times10^{5}", "1,2,\\ldots,10", "3!!", "7\\bmod 2", "\\{x\\mid x>3\\}", "\\Gamma(3)",
    "x = 2k\\pi, k\\in\\mathbb{Z}",
)  # fmt: skip
ODD = (
    "(1/0)", "\\frac{2}{0}", "(0\\ln(-3))", "\\infty", "\\emptyset", "i", "(-1)", "0", "\\text{foo}", "10^{99}", "x",
    "\\sqrt{2}", "(1,2)", "\\{1\\}", "5\\%", "3:4", "(2\\pm1)", "1e400", "(x=2)", "30^\\circ", "2_{3}", "4\\text{ cm}",
    "1<2", "\\ldots", "0^0", "\\ln 0", "\\log_1 5", "(-3)!", "(1/3)!", "\\tan(\\pi/2)", "\\tan(10^{50}i)", "\\sqrt[0]{2}",
    "\\binom{-1}{2}",
)  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)?|(?<![\\a-zA-Z])[a-z](?![a-zA-Z])")
_GOES_TO_SYMPY = re.compile(r"sum|prod|int|lim|[∑∏∫]")


def pairs() -> list[tuple[str, str]]:
    rows = [json.loads(line) for line in (DATA / "probes.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [(row["gold"], row["response"]) for row in rows if len(row["gold"]) < 200 and len(row["response"]) < 200]
    return [pair for pair in [*found, *((text, text) for text in SIMPLE)] if not _GOES_TO_SYMPY.search("".join(pair))]


def with_odd(text: str, draw: random.Random) -> str:
    places = list(_NUMBER.finditer(text))
    if not places:
        return text
    place = draw.choice(places)
    return text[: place.start()] + draw.choice(ODD) + text[place.end() :]


@pytest.mark.accuracy
@pytest.mark.bombs(beyond=1)
@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_raised(seed: int) -> None:
    draw = random.Random(seed)
    for reference, answer in pairs():
        odd = with_odd(reference, draw)
        for one, two in ((odd, odd), (odd, answer), (reference, with_odd(answer, draw)), (odd, with_odd(answer, draw))):
            assert grade([[one], two, DEFAULT.packed()])["outcome"] in OUTCOMES, (one, two)

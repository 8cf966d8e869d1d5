r"""Computes the value of a `Node`: an exact fraction, or a number with enough digits to tell two values apart.

*Exact.* Integers, decimals and fractions under arithmetic stay fractions up to `MAX_EXACT_BITS`.

*Numeric.* A first pass at low precision finds the largest |log2| of any intermediate value, and the most bits of any
number written: M bits. The second works with 192 + 4M bits, where the error of a result is far below 2^(3M + 64 -
bits): a larger gap proves two values different. A smaller gap is checked again with twice the bits and 640 more, before
the values are called the same. No fixed number of decimals decides, so 2^-70 is not 2^-69, \sqrt{10^{40}+1} is not
10^{20}, and fifty digits of \pi are not \pi.

*Zero.* A computed \sin\pi is a rounding error instead of 0. In the second pass a part within rounding of an integer
counts as that integer, so there is no division by it, no logarithm of it, and no factorial at a pole. A part that is
larger than all values of the first pass has no value, as \tan(\pi/2) has none. As with equality, twice the bits and 640
more have to confirm that.

*With variables.* Equality is first proved by laws, in a finite field (`residues`), and then values at one point must not
speak against it. Otherwise both sides are evaluated at the same `points`, first where floats show a difference. A point
where they differ proves them different; agreement at all points is equality up to chance.

*Domains.* Unless i is written on either side, letters and values are real: a root of even degree, a logarithm or a
power that is not real anywhere on the way puts the point outside the domain, as a division by zero does, and x^{1/3} is
the real root. A point outside the domain of one side is ignored (\sqrt{ab} is \sqrt a\sqrt b, x^2/x is x), unless the
other side has a larger domain because of an absolute value that this side lacks: \ln|x| is not \ln x.

Every operation first checks the size of its operands, and raises `TooComplex` instead of building a huge number.

    numbers      what a value is, and that there is none       rational    exact values
    operations   on numbers, within the limits                 evaluation  an expression at one point
    traits       what is written in it and decides how         sampling    two expressions wherever both have values
    constants    values without variables                      residues    proofs by laws
    comparing    whether two are the same
"""

from verifiers.math.points import names
from verifiers.math.values.comparing import constant_difference, order, proportional, same, surely_same
from verifiers.math.values.constants import approximate, at, close, measured, settled
from verifiers.math.values.evaluation import Evaluation
from verifiers.math.values.numbers import ONE, ZERO, NoValue, Number, OutsideDomain, as_number
from verifiers.math.values.operations import NUMERIC
from verifiers.math.values.rational import exact, exact_or_none
from verifiers.math.values.sampling import meet
from verifiers.math.values.traits import BARE_LOG

__all__ = [
    "BARE_LOG", "NUMERIC", "ONE", "ZERO", "Evaluation", "NoValue", "Number", "OutsideDomain", "approximate", "as_number", "at", "close",
    "constant_difference", "exact", "exact_or_none", "measured", "meet", "names", "order", "proportional", "same", "settled",
    "surely_same",
]  # fmt: skip

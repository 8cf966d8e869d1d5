r"""What laws prove to be the same, and what they must not."""

from tests.tables import table
from tests.verifiers.math.test_values import outcome
from verifiers.math.canonical import canonical
from verifiers.math.reader import read
from verifiers.math.values.residues import proved


def is_proved(one: str, other: str) -> bool:
    return proved(canonical(read(one)), canonical(read(other)))


@table(
    ("one", "other"),
    [
        (r"\sin(3x)", r"3\sin x-4\sin^3x"),
        (r"\sin(x+\frac{\pi}{3})", r"\frac{\sin x+\sqrt{3}\cos x}{2}"),
        (r"\cos(n\pi)+n!", r"(-1)^n+n!"),
        (r"\cosh(2x)", r"1+2\sinh^2x"),
        (r"2^{x+3}\cdot 3^x", r"8\cdot 6^x"),
        (r"e^{x-70000}e^{4x}", r"e^{5x-70000}"),
        (r"\log_5(x^2+3)", r"\frac{\ln(x^2+3)}{\ln 5}"),
        (r"\ln(7(x^2+1))", r"\ln 7+\ln(x^2+1)"),
        (r"5^{\ln(x^2+1)}", r"(x^2+1)^{\ln 5}"),
        (r"|x-3|", r"\sqrt{x^2-6x+9}"),
        (r"\sqrt{12x}", r"2\sqrt{3}\sqrt{x}"),
        (r"\sqrt{x+2\sqrt{x-1}}", r"|1+\sqrt{x-1}|"),
        (r"|\sin\frac{x}{2}|", r"\sqrt{\frac{1-\cos x}{2}}"),
        (r"\max(x,y)", r"\frac{x+y+|x-y|}{2}"),
        (r"\sqrt[3]{x^3y}", r"x\sqrt[3]{y}"),
        (r"(x^4)^{1/4}", r"|x|"),
        (r"\operatorname{arsinh}x", r"\ln(x+\sqrt{x^2+1})"),
        (r"\frac{(2n)!}{2^nn!}", r"(2n-1)!!"),
        (r"k\binom{n}{k}", r"n\binom{n-1}{k-1}"),
        (r"\arctan((x+1)^2)+f(2x)", r"\arctan(x^2+2x+1)+f(x+x)"),
        (r"x \bmod 5", r"x-5\lfloor\frac{x}{5}\rfloor"),
    ],
)  # fmt: skip
def test_what_follows_from_laws_is_proved(one: str, other: str) -> None:
    assert is_proved(one, other)
    assert is_proved(other, one)
    assert outcome(one, other) == "equal"


@table(
    ("one", "other"),
    [
        (r"x", r"|x|"),
        (r"x", r"\sqrt{x^2}"),
        (r"0", r"(|x|-x)(|y|-y)(|z|-z)"),
        (r"0", r"(|x|-x)(|y|-y)(|z|-z)(|u|-u)(|v|-v)(|w|-w)(|s|-s)(|t|-t)"),
        (r"\sqrt{x-1}\sqrt{x+1}", r"-\sqrt{x^2-1}"),
        (r"\ln x", r"\ln|x|"),
        (r"\arcsin(\sin x)", r"x"),
        (r"\sin(x+\frac{\pi}{3})", r"\frac{\sin x-\sqrt{3}\cos x}{2}"),
        (r"x", r"x+\frac{x}{10^{9}}"),
        (r"2^x\cdot 3^x", r"5^x"),
        (r"n!", r"\max(n,13)!"),
        (r"n+n!", r"n+\lfloor\frac{n}{2000}\rfloor+n!"),
        (r"\sqrt{x}", r"-\sqrt{x}"),
        (r"x", r"x+108162393881946258958009x\cdot33112199468621285534729"),
        (r"\overline{z}z", r"z^2"),
        (r"x", r"x+0\sqrt{-1-x^2}"),
        (r"x^2", r"x^2+\frac{0}{\lfloor\frac{1}{2+x^2}\rfloor}"),
    ],
)  # fmt: skip
def test_what_laws_do_not_prove_is_not_paid(one: str, other: str) -> None:
    assert outcome(one, other) != "equal"


def test_a_proof_ends_where_numbers_are_too_large() -> None:
    assert not is_proved("x^{10^{10^{10}}}", "x^{10^{10^{10}}}+0x")
    assert not is_proved(r"\sqrt{x}" * 12, r"\sqrt[3]{x}" * 12)
    assert not is_proved(r"\sum_{k=1}^{n} k^{n!}", "n!")

r"""What letters stand for where expressions are compared, and where each side has a value."""

from typing import Any

import pytest

from tests.tables import table
from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT, Options


def outcome(reference: str, answer: str) -> Any:
    return grade([[reference], answer, DEFAULT.packed()])["outcome"]


def known(reference: str) -> Any:
    """What checking a reference alone says; `different` when it can be compared with."""
    return grade([[reference], None, DEFAULT.packed()])["outcome"]


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"x", r"\frac{x^2}{x}"),
        (r"n+1", r"\frac{n^2-1}{n-1}"),
        (r"2\ln x", r"\ln x^2"),
        (r"\ln x^2", r"2\ln x"),
        (r"\ln(x^2)", r"2\ln|x|"),
        (r"\sqrt{ab}", r"\sqrt a\sqrt b"),
        (r"\sqrt a\sqrt b", r"\sqrt{ab}"),
        (r"(\sqrt a+\sqrt b)^2", r"a+b+2\sqrt{ab}"),
        (r"\ln(ab)", r"\ln a+\ln b"),
        (r"\log_a(xy)", r"\log_a x+\log_a y"),
        (r"\sqrt{a-b}\sqrt{b-c}\sqrt{c-d}", r"\sqrt{(a-b)(b-c)(c-d)}"),
    ],
)
def test_a_point_outside_the_domain_of_one_side_says_nothing(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"\ln x", r"\ln|x|"),
        (r"\ln|x|", r"\ln x"),
        (r"\sqrt x", r"\sqrt{|x|}"),
        (r"|x|", r"(\sqrt x)^2"),
        (r"\ln x", r"\ln(-x)"),
        (r"\sqrt x", r"\sqrt{-x}"),
        (r"x", r"\sqrt{x^2}"),
        (r"\sqrt{x^2}", r"x"),
        (r"x", r"\frac{1}{x-x}"),
    ],
)
def test_a_domain_made_larger_by_an_absolute_value_is_a_difference(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"\sqrt[3]{x}", r"x^{1/3}"),
        (r"3\sqrt[3]{x^2}", r"3x^{2/3}"),
        (r"\frac{1}{3\sqrt[3]{x^2}}", r"\frac13x^{-2/3}"),
        (r"-2", r"(-8)^{1/3}"),
        (r"e^{i\pi/3}", r"(-1)^{1/3}+0i"),
        (r"x\sqrt{-3}", r"i\sqrt3x"),
        (r"\cos x", r"\frac{e^{ix}+e^{-ix}}{2}"),
    ],
)
def test_odd_roots_are_real_where_i_is_not_written(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"|z|^2", r"z^2", "different"),
        (r"|z|^2", r"z\bar z", "equal"),
        (r"|z|^2", r"z\overline{z}", "equal"),
        (r"z", r"\operatorname{Re}(z)", "different"),
        (r"\operatorname{Re}(z)", r"z", "different"),
        (r"\operatorname{Re}(z)", r"\frac{z+\bar z}{2}", "equal"),
        (r"\operatorname{Im}(z)", "0", "different"),
        (r"z", r"\bar z", "different"),
        (r"\bar z+\bar w", r"\overline{z+w}", "equal"),
        (r"3-4i", r"\overline{3+4i}", "equal"),
        (r"z^2+1", r"(z+i)(z-i)", "equal"),
        (r"|x|^2", r"x^2", "equal"),
        (r"x^2+y^2+z^2", r"x^2+y^2+|z|^2", "equal"),
        (r"\operatorname{Re}(x+iy)", r"x", "equal"),
        (r"\cos\theta", r"\operatorname{Re}(e^{i\theta})", "equal"),
        (r"\frac{1}{|1+i\omega t|}", r"\frac{1}{\sqrt{1+\omega^2t^2}}", "equal"),
        (r"\bar x", r"x", "different"),
        (r"\bar x\bar y", r"\overline{xy}", "different"),
    ],
)
def test_what_re_im_and_conjugates_are_taken_of_is_complex(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\lceil\frac{n}{2}\rceil", r"\lfloor\frac{n+1}{2}\rfloor", "equal"),
        (r"\lceil\frac{n}{2}\rceil", r"\lfloor\frac{n}{2}\rfloor", "different"),
        (r"\lfloor\frac{n}{1000}\rfloor", "0", "different"),
        (r"\lfloor x\rfloor", r"x", "different"),
        (r"\lfloor x\rfloor", r"\lceil x\rceil-1", "different"),
        (r"\binom{n}{k}", r"\frac{n!}{k!(n-k)!}", "equal"),
        (r"\binom{n}{k}", r"\binom{k}{n}", "different"),
        (r"\binom{n}{k}", r"\binom{n}{n-k}", "equal"),
        (r"\frac{(3n)!}{(n!)^3}", r"\binom{3n}{n}\binom{2n}{n}", "equal"),
        (r"(n+1)!", r"n!+1", "different"),
        (r"(2n-1)!!", r"\frac{(2n)!}{2^nn!}", "equal"),
        (r"(2n)!!", r"2^nn!", "equal"),
        (r"(2n-1)!!", r"(2n-1)!", "different"),
        (r"(2n-1)!!", r"(2n+1)!!", "different"),
        (r"\gcd(m,n)", r"\gcd(n,m)", "equal"),
        (r"\gcd(m,n)", "1", "different"),
        (r"\operatorname{lcm}(m,n)", r"\frac{mn}{\gcd(m,n)}", "equal"),
        (r"(-1)^n", r"\cos(n\pi)", "equal"),
        (r"\frac{1-\cos n\pi}{n}", r"\frac{1-(-1)^n}{n}", "equal"),
        (r"(-1)^{n+1}", r"(-1)^{n-1}", "equal"),
        (r"(-1)^{n+1}", r"(-1)^n", "different"),
    ],
)
def test_what_counts_is_a_natural_number(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\binom{2n}{n}", r"\sum_{k=0}^{n}\binom nk^2", "equal"),
        (r"2^n", r"\sum_{k=0}^n\binom{n}{k}", "equal"),
        (r"2^n", r"\sum_{k=1}^n\binom{n}{k}", "different"),
        ("2024", r"\prod_{k=1}^{2023}\left(1+\frac1k\right)", "equal"),
        ("2023", r"\prod_{k=1}^{2023}\left(1+\frac1k\right)", "different"),
        (r"n!", r"\prod_{k=1}^n k", "equal"),
        (r"\left(\frac{n(n+1)}{2}\right)^2", r"\sum_{i=1}^{n}\sum_{j=1}^{n} ij", "equal"),
        (r"x_1+x_2+x_3", r"\sum_{i=1}^3 x_i", "equal"),
        (r"\sum_{k=1}^n \frac1k", r"\sum_{j=1}^n \frac1{j^2}", "different"),
    ],
)
def test_finite_sums_and_products_are_written_out(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\sum_{n=0}^\infty (-1)^n x^{2n}", r"\sum_{k=0}^{\infty}(-1)^{k}x^{2k}", "equal"),
        (r"\sum_{n=0}^\infty x^n", r"\sum_{k=1}^\infty x^{k-1}", "equal"),
        (r"\sum_{n=0}^\infty x^n", r"\sum_{k=1}^\infty x^k", "different"),
        (r"\sum_{n=1}^\infty a_n", r"\sum_{k=0}^\infty a_{k+1}", "equal"),
        (r"\sum_{n=1}^\infty a_n", r"\sum_{k=0}^\infty a_k", "different"),
        (r"\sum_{i=1}^n x_i", r"\sum_{j=1}^n x_j", "equal"),
        (r"\sum_{i=1}^n x_i", r"\sum_{j=1}^n y_j", "different"),
        (r"\int_0^1 f(x)\,dx", r"\int_0^1 f(t)\,dt", "equal"),
        (r"\int_0^1 f(x)\,dx", r"\int_0^2 f(t)\,dt", "different"),
        (r"\int_0^1\int_0^x f(x,y)\,dy\,dx", r"\int_{0}^{1}\int_{0}^{x}f(x,y)dydx", "equal"),
        (r"\int_0^1\int_0^x f(x,y)\,dy\,dx", r"\int_0^1\int_0^y f(x,y)\,dx\,dy", "different"),
    ],
)
def test_the_names_that_are_bound_and_where_counting_begins_say_nothing(
    reference: str, answer: str, expected: str
) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.accuracy(beyond=3)
@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\frac{\pi}{8}\ln 2", r"\int_0^1\frac{\ln(1+x)}{1+x^2}dx", "equal"),
        (r"\frac{\pi}{8}\ln 3", r"\int_0^1\frac{\ln(1+x)}{1+x^2}dx", "different"),
        (r"\frac{\sqrt\pi}{2}", r"\int_0^\infty e^{-x^2}dx", "equal"),
        (r"\frac{\pi}{2}", r"\int_0^\infty \frac{dx}{1+x^2}", "equal"),
        (r"\frac{x^3}{3}", r"\int_0^x t^2 dt", "equal"),
        (r"\frac{x^3}{2}", r"\int_0^x t^2 dt", "different"),
        (r"\frac18", r"\int_0^1 \int_0^x xy\,dy\,dx", "equal"),
        (r"\ln 2", r"\sum_{n=1}^\infty \frac{(-1)^{n+1}}{n}", "equal"),
        (r"e^x", r"\sum_{n=0}^\infty \frac{x^n}{n!}", "equal"),
        (r"\sum_{k=1}^n \frac1k", r"\int_0^1 \frac{1-x^n}{1-x}dx", "equal"),
        ("e", r"\lim_{n\to\infty}\left(1+\frac1n\right)^n", "equal"),
        ("3", r"\lim_{n\to\infty}\left(1+\frac1n\right)^n", "different"),
        ("0", r"\lim_{x\to0^+} x\ln x", "equal"),
    ],
)
def test_integrals_and_endless_sums_are_computed(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.bombs
def test_hundreds_of_functions_of_thousands_of_digits_are_too_complex_at_once() -> None:
    """With 12,000 bits, which the size of this product asks for, they would take half a minute."""
    many = "".join(rf"\arcsin\frac{{1}}{{{k}}}\ln{k}" for k in range(2, 300))
    assert outcome(f"x+{many}", f"{many}+x") == "equal"
    assert outcome(f"x+{many}", f"x+{many[:-1]}7") == "undecided"
    assert outcome("x", f"x+{many}") == "too_complex"
    few = "".join(rf"\arcsin\frac{{1}}{{{k}}}\ln{k}" for k in range(2, 12))
    assert outcome(f"x+{few}", f"{few}+x") == "equal"
    assert outcome(f"x+{few}", f"{few}+x+10^{{-90}}") == "different"


@pytest.mark.parametrize("divergent", [r"\sum_{n=1}^\infty (-1)^n", r"\sum_{n=1}^\infty \frac{1}{\sqrt n}+0"])
def test_extrapolation_gives_no_sum_to_what_has_none(divergent: str) -> None:
    assert outcome("-0.5", divergent) != "equal"
    assert known(r"\sum_{n=1}^\infty (-1)^n") == "reference_too_complex"


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"B^{-1}A^{-1}", r"A^{-1}B^{-1}", "different"),
        (r"B^{-1}A^{-1}", r"B^{-1}A^{-1}", "equal"),
        (r"B^{\top}A^{\top}", r"A^{\top}B^{\top}", "different"),
        (r"A^{-2}B", r"A^{-1}A^{-1}B", "equal"),
        (r"A^{-2}B", r"A^{-1}BA^{-1}", "different"),
        (r"\frac{V}{R}", r"VR^{-1}", "equal"),
        (r"3a^{-1}b^{-1}", r"3b^{-1}a^{-1}", "equal"),
    ],
)
def test_inverted_and_transposed_matrices_do_not_commute(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\int_a^b 2\pi x f(x)\,dx", r"2\pi\int_a^b x f(x)\,dx", "equal"),
        (r"\int_a^b 2\pi x f(x)\,dx", r"\pi\int_a^b x f(x)\,dx", "different"),
        (r"\int_a^b x f(x)\,dx", r"x\int_a^b f(x)\,dx", "different"),
        (r"f(x)", r"|f(x)|", "different"),
        (r"\sqrt\pi", r"\Gamma(\frac12)", "equal"),
        ("2", r"\Gamma(2)", "different"),
    ],
)
def test_what_is_known_by_name_is_compared_by_notation(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    "undefined",
    [
        r"\frac{3}{2\tan\pi}",
        r"\frac{1}{\sin\pi}",
        r"\frac{10^{20}}{\tan\pi}",
        r"\frac{1}{0.1+0.2-0.3}",
        r"\frac{1}{\sqrt2^2-2}",
        r"\frac{1}{\sqrt2+\sqrt3-\sqrt{5+2\sqrt6}}",
        r"\frac{1}{e^{i\pi}+1}",
        r"\frac{\sin\pi}{\sin\pi}",
        r"\frac{x}{\sin\pi}",
        r"(\sin\pi)^{-1}",
        r"(\sin\pi)^{-1/2}",
        r"\tan\frac{\pi}{2}",
        r"\sec\frac{\pi}{2}",
        r"\csc\pi",
        r"\ln(\sin\pi)",
        r"\log_{\sin\frac{\pi}{2}}5",
        r"(\sin\pi-1)!",
        r"\Gamma(\sin\pi)",
        r"\cos\frac{1}{\sin\pi}",
    ],
)
def test_what_a_part_that_is_exactly_zero_leaves_without_a_value_equals_itself_only(undefined: str) -> None:
    """As 1/0 does: it is compared by notation."""
    assert outcome(undefined, undefined) == "equal"
    assert outcome(undefined, f"({undefined})") == "equal"
    for other in (f"({undefined})+1", f"2({undefined})", f"-({undefined})", "0", "1", "10^{100}"):
        assert outcome(undefined, other) == "different"
        assert outcome(other, undefined) == "different"


@table(
    ("reference", "answer", "absolute", "relative", "expected"),
    [
        ("(101!)^{100}", "123456789", 1e-6, 0.0, "different"),
        ("2^{100000}", "0", 1e-6, 0.01, "different"),
        ("2^{100000}", "2^{100000}+2^{99000}", 1e-6, 0.0, "different"),
        ("2^{100000}", "2^{100000}+2^{99000}", 0.0, 0.01, "equal"),
        ("2^{100000}", "2^{100001}", 0.0, 0.01, "different"),
        ("2^{100000}", "-2^{100000}", 0.0, 0.01, "different"),
        (r"\frac{1}{(101!)^{100}}", "0", 1e-6, 0.0, "equal"),
        (r"\frac{1}{(101!)^{100}}", "10^{-9}", 1e-6, 0.0, "equal"),
        (r"\frac{1}{(101!)^{100}}", "10^{-3}", 1e-6, 0.0, "different"),
        (r"\frac{1}{(101!)^{100}}", "0", 0.0, 0.01, "different"),
        ("9^{9^9}", "9^{9^9}+1", 0.0, 0.01, "equal"),
        ("9^{9^9}", "9^{9^{9^9}}", 0.0, 0.01, "different"),
    ],
)
def test_tolerances_hold_for_what_is_too_large_or_small_to_be_written(
    reference: str, answer: str, absolute: float, relative: float, expected: str
) -> None:
    options = Options(abs_tol=absolute, rel_tol=relative)
    assert grade([[reference], answer, options.packed()])["outcome"] == expected


@pytest.mark.parametrize("tolerance", [Options(rel_tol=1e-4), Options(abs_tol=1e-6)], ids=["relative", "absolute"])
def test_what_has_no_value_is_within_no_tolerance(tolerance: Options) -> None:
    for undefined in (r"\frac{1}{\sin\pi}", r"\tan\frac{\pi}{2}", r"\ln(\sin\pi)"):
        assert grade([[undefined], f"({undefined})+1", tolerance.packed()])["outcome"] == "different"
    assert grade([[r"\frac{1}{\sin 3}"], "7.0861674", tolerance.packed()])["outcome"] == "equal"
    assert grade([[r"1+\sin\pi"], "1.0000000001", tolerance.packed()])["outcome"] == "equal"


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\frac{1}{\sqrt{10^{40}+1}-10^{20}}", r"\sqrt{10^{40}+1}+10^{20}", "equal"),
        (r"\frac{1}{\sqrt{10^{40}+1}-10^{20}}", r"2\cdot10^{20}", "different"),
        (r"\frac{1}{1-\cos(10^{-60})}", r"\frac{1}{2\sin^2(10^{-60}/2)}", "equal"),
        (r"\frac{1}{e^{10^{-40}}-1-10^{-40}}", r"2\cdot10^{80}", "different"),
        (r"\frac{1}{e^{10^{-40}}-1-10^{-40}}", r"\frac{1}{-10^{-40}+e^{1/10^{40}}-\sin\frac{\pi}{2}}", "equal"),
        (r"\tan(\frac{\pi}{2}-10^{-30})", r"\cot(10^{-30})", "equal"),
        (r"\tan(\frac{\pi}{2}-10^{-30})", r"\cot(10^{-30})+1", "different"),
        (r"\frac{1}{\sin(10^{-25})}", r"\csc(10^{-25})", "equal"),
        (r"1+\sin\pi", "1", "equal"),
        (r"\sqrt{-\sin(2\pi)}+1", "1", "equal"),
        (r"\arcsin(\sin^2 1+\cos^2 1)", r"\frac{\pi}{2}", "equal"),
        (r"(\sin\pi)^{\sqrt2}", "0", "equal"),
        (r"(-\cos\pi+\sin\pi)!", "1", "equal"),
    ],
)
def test_what_is_nearly_zero_is_not_zero(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected
    assert outcome(answer, reference) == expected

"""The tasks for workers, and the time limit of each."""

from dataclasses import replace

from sandbox.workers import Task
from verifiers.math.options import DEFAULT

TIME_LIMIT_S = 2.0
"""CPU seconds for one answer. Nearly all take milliseconds; only computer algebra on sums and integrals can take long."""

_WARM = tuple(
    [[reference], answer, DEFAULT.packed()]
    for reference, answer in (
        (r"\frac{1}{2}", r"\frac{\sqrt{3}}{2}"),
        (r"\sum_{k=1}^{5} k", "15"),
        ("x^2+1", "(x+1)^2-2x"),
        ("So it is 5 in all. The answer is 5.", "5"),
        (r"110_2", r"The least value of \(a_1\) is \(5\)."),
        (r"\$6", r"6 \text{ dollars}"),
        (r"100\text{ square units}", "1 m^2"),
        (r"25\%", r"1\frac{1}{4}"),
        (r"48^\circ", "110_2"),
        (r"\text{half past three}", "3:30 p.m."),
        (r"[1, 2)", r"1 \le x < 2"),
        (r"\{-2, 5\}", r"x = 5 \text{ or } x = -2"),
        (r"\left(\frac{\pi}{2}, e^{-1}\right)", r"(\arcsin 1, \ln 2)"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & i \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"),
        (r"y = 2x + C", r"2y - 4x = |C|"),
        (r"\lfloor n/2 \rfloor", "n! - a_1"),
        ("isosceles", "The triangle is right-angled."),
    )
)
"""One pair for each kind of answer. What is built at its first use, patterns, tables and constants, is then built before
workers are forked, and the first answers of each worker take as long as others. The lexicon alone takes longer than an
answer may."""
TASK = Task(module="verifiers.math.grading", function="grade", time_limit_s=TIME_LIMIT_S, warm=_WARM)
"""Reads one answer and its references, and compares them."""
REFERENCE_ALONE = replace(TASK, time_limit_s=TIME_LIMIT_S / 2)
"""A reference that alone takes longer than this is at fault for a broken limit, whatever the answer took."""
GROUP = Task(module="verifiers.math.grading", function="grade_several", time_limit_s=TIME_LIMIT_S / 4)
"""The same for several answers. Answers that take longer are graded one by one, so that none suffers for another."""
LOOK = Task(module="verifiers.math.first_look", function="look_in_worker", time_limit_s=10.0)
"""The limit is several times what the longest response allowed by default takes."""

SECOND = Task(
    module="verifiers.math.second_opinion",
    function="second",
    time_limit_s=TIME_LIMIT_S / 2,
    warm=([[r"\frac{1}{2}"], "0.5"],),
)
"""Asks Math-Verify; only for callers that request it (`second_opinion`)."""
CREDIT = Task(
    module="verifiers.math.edit_distance",
    function="nearest",
    time_limit_s=TIME_LIMIT_S,
    warm=([[r"2mg+\frac{4mv^2}{l}"], r"2mg+\frac{2mv^2}{l}", DEFAULT.packed(), True],),
)
"""Computes what a wrong expression earns; only for callers that request it (`edit_distance`)."""
DIAGNOSE = Task(module="verifiers.math.diagnosis", function="diagnose", time_limit_s=TIME_LIMIT_S / 2)
"""Computes what `explain` adds to a finished verdict; if it fails, the verdict goes out without it."""

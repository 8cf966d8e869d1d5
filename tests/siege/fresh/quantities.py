"""Fresh items whose answer is a number, a formula, a quantity, a point or boxes."""

import json
from fractions import Fraction

from tests.siege.fresh.draw import Draw, Posted

_NUMBER_ENDS = ("The answer is {}.", "#### {}", "\\boxed{{{}}}", "<answer>{}</answer>", "So the total is {}.")


def numeric(draw: Draw) -> Posted:
    value = draw.fresh_int() if draw.random() < 0.5 else draw.fresh_int() / 1000
    said = value if draw.is_right else value + draw.randint(2, 9)
    response = f"{draw.prose()}\n{draw.choice(_NUMBER_ENDS).format(said)}"
    return Posted(response, float(draw.is_right), value, {"abs_tol": draw.fraction(0, 1e-3)}, draw.sentence())


def regression(draw: Draw) -> Posted:
    value = float(draw.fresh_int()) / 10
    error = 10 + draw.fraction(0, 5)
    said = value if draw.is_right else value + 100
    response = f"{draw.prose()}\nThe answer is {said}."
    return Posted(response, float(draw.is_right), value, {"max_error": error, "scale": 1.0})


def expression(draw: Draw) -> Posted:
    speed, hours = draw.fresh_int(4), draw.randint(2, 99)
    unit, of = draw.choice((("km", "km/h"), ("m", "m/h"), ("", "")))
    said = f"{speed} {of} * {hours}{' h' if unit else ''}".replace("  ", " ")
    if not draw.is_right:
        said = said.replace(f"* {hours}", f"* {hours + 1}")
    params = {"rel_tol": draw.fraction(1e-9, 1e-6)}
    return Posted(
        f"{draw.thought()}<answer>{said}</answer>",
        float(draw.is_right),
        f"{speed * hours} {unit}".strip(),
        params,
        draw.sentence(),
    )


_GROUPS = ("C", "CC", "C(F)", "C(Cl)", "N", "O", "C(C)", "S", "C(=O)", "C(Br)")


def chemistry(draw: Draw) -> Posted:
    """Formulas, equations and molecules of sizes that no other item has."""
    carbons = draw.fresh_int(1) + 1
    wrong = 0 if draw.is_right else 1
    hydrogens = 2 * carbons + 2
    middle = "".join(_GROUPS[int(digit)] for digit in str(carbons))
    reference, said, kind = draw.choice(
        (
            (f"C{carbons}H{hydrogens}O", rf"\boxed{{C_{{{carbons}}}H_{{{hydrogens - wrong}}}O}}", "formula"),
            (
                f"2C{carbons}H{hydrogens} + {3 * carbons + 1}O2 -> {2 * carbons}CO2 + {hydrogens}H2O",
                f"\\boxed{{{3 * carbons + 1 + wrong}O_2 + 2C_{{{carbons}}}H_{{{hydrogens}}} \\rightarrow "
                f"{hydrogens}H_2O + {2 * carbons}CO_2}}",
                "formula",
            ),
            (f"C{middle}C", f"<answer>[CH3]{middle}{'C' * (1 + wrong)}</answer>", "molecule"),
        )
    )
    return Posted(f"{draw.thought()}{said}", float(draw.is_right), reference, {"kind": kind})


def math(draw: Draw) -> Posted:
    """Answers of the kinds that competition problems have."""
    a, b, c = draw.fresh_int(2), draw.randint(2, 99), draw.randint(2, 99)
    wrong = 0 if draw.is_right else 1
    half = Fraction(a, b)
    wanted, said = draw.choice(
        (
            (str(a), f"{a + wrong}"),
            (rf"\frac{{{half.numerator}}}{{{half.denominator}}}", rf"\frac{{{a * c + wrong}}}{{{b * c}}}"),
            (f"x^2+{b}x+{a}", f"{a + wrong}+{b}x+x^2"),
            (f"(x+{b})(x+{a})", f"x^2+{a + b}x+{a * b + wrong}"),
            (rf"{b}\sqrt{{{a}}}", rf"\sqrt{{{(a + wrong) * b * b}}}"),
            (rf"\left({a}, {b}, {c}\right)", f"({a}, {b + wrong}, {c})"),
            (rf"\{{{a}, {b}\}}", rf"\{{{b}, {a + wrong}\}}"),
            (f"[{a}, {a + b})", f"[{a}, {a + b + wrong})"),
            (
                rf"\begin{{pmatrix}}{a}&{b}\\{c}&1\end{{pmatrix}}",
                rf"\begin{{pmatrix}}{a}&{b}\\{c + wrong}&1\end{{pmatrix}}",
            ),
            (rf"{a}\text{{ cm}}", rf"{a + wrong}\text{{ cm}}"),
            (rf"x={a}\text{{ or }}x=-{b}", rf"x=-{b}\text{{ or }}x={a + wrong}"),
            (rf"\frac{{{a}\pi}}{{{b}}}", rf"\frac{{{a * c + wrong}\pi}}{{{b * c}}}"),
            (rf"e^{{{b}x}}+{a}\sin({c}x)", rf"{a + wrong}\sin({c}x)+e^{{{b}x}}"),
            (f"y={b}x+{a}", f"y={a + wrong}+{b}x"),
        )
    )
    params = {"rel_tol": draw.fraction(1e-12, 1e-9)}
    return Posted(
        f"{draw.prose()}\n\nSo we get \\boxed{{{said}}}.", float(draw.is_right), wanted, params, draw.sentence()
    )


def math_steps(draw: Draw) -> Posted:
    slope, root, shift = draw.randint(2, 99), draw.fresh_int(2), draw.randint(2, 99)
    total = slope * root + shift
    steps = [f"{slope}x={total}-{shift}", f"{slope}x={slope * root}", f"x={root}"]
    said = root if draw.is_right else root + 1
    response = f"{draw.prose()}\n{steps[0]}, so {steps[1]}, and \\boxed{{{said}}}."
    reference = {"steps": steps, "final_answer": str(root)}
    params = {"mode": "final_only", "rel_tol": draw.fraction(1e-12, 1e-9)}
    return Posted(response, float(draw.is_right), reference, params)


def math_verify(draw: Draw) -> Posted:
    a, b, c = draw.fresh_int(2), draw.randint(2, 99), draw.randint(2, 99)
    wrong = 0 if draw.is_right else 1
    wanted, said = draw.choice(
        (
            (rf"$\frac{{{a}}}{{{b}}}$", rf"\frac{{{a * c + wrong}}}{{{b * c}}}"),
            (f"${a}$", f"{a + wrong}"),
            (f"$x^2+{b}x+{a}$", f"{a + wrong}+{b}x+x^2"),
            (f"$({a},{b})$", f"({a},{b + wrong})"),
            (rf"${b}\sqrt{{{a}}}$", rf"{b + wrong}\sqrt{{{a}}}"),
        )
    )
    params = {"timeout_seconds": 5 + draw.fraction()}
    return Posted(f"{draw.prose()}\n\n\\boxed{{{said}}}", float(draw.is_right), wanted, params)


def point(draw: Draw) -> Posted:
    """A click, in pixels of a screen of its own size, in a box in thousandths of it."""
    left, top = draw.fraction(10, 700), draw.fraction(10, 700)
    box = [left, top, left + draw.randint(20, 200), top + draw.randint(20, 200)]
    width, height = 1000 + draw.index % 9000, 1000 + draw.randint(0, 2000)
    x, y = (left + 9, top + 9) if draw.is_right else (left - 9, top)
    response = f"{draw.prose(2)}\n<point>{x * width / 1000:.3f}, {y * height / 1000:.3f}</point>"
    return Posted(response, float(draw.is_right), box, {"image_size": [width, height], "scale": 1000})


def detection(draw: Draw) -> Posted:
    labels = draw.names(draw.randint(1, 5))
    boxes = []
    for label in labels:
        left, top = draw.randint(0, 900), draw.randint(0, 900)
        boxes.append({"bbox_2d": [left, top, left + draw.randint(9, 90), top + draw.randint(9, 90)], "label": label})
    said = boxes if draw.is_right else [{**box, "label": draw.name()} for box in boxes]
    response = f"{draw.thought()}<answer>{json.dumps(said)}</answer>"
    return Posted(response, float(draw.is_right), boxes, {"metric": "f1", "iou_thresholds": [draw.fraction(0.3, 0.9)]})

"""References as columns of data sets hold them: lists of one, announcements with a point, remarks that are not answers."""

from tests.tables import table
from tests.verifiers.found import Found
from verifiers.base import Item, Status


@table(
    ("reference", "answer", "score"),
    [
        ("['7']", "7", 1.0),
        ("[7]", "7", 1.0),
        ("[7]", "8", 0.0),
        ('["7", "8"]', "7, 8", 1.0),
        ('["7", "8"]', "[7, 8]", 1.0),
        ('["7", "8"]', "7", 0.0),
        ('["A"]', "A", 1.0),
        (r"['\\frac{1}{2}']", r"\frac12", 1.0),
        ("Ans. 7", "7", 1.0),
        ("Ответ. 7", "7", 1.0),
        (r"$\frac{7}{8}$ of the cake", r"\frac78", 1.0),
        (r"$\frac{7}{8}$ of the cake", r"\frac68 \text{ of the cake}", 0.0),
        ("решений нет", r"\text{no solution}", 1.0),
        ("no solution", "brak rozwiązań", 1.0),
        ("جواب ندارد", r"\text{no solution}", 1.0),
        ("no solution", "7", 0.0),
    ],
)
def test_a_reference_of_a_column_is_read(found: Found, reference: str, answer: str, score: float) -> None:
    entry = found.registry["math"]
    params = entry.verifier.params.model_validate({"reference": reference})
    (verdict,) = found.score(entry, [Item(rf"So \boxed{{{answer}}}", params)])
    assert (verdict.status, verdict.score) == (Status.OK, score)


@table(
    "reference", ["not found", "notfound", "Proof.", "N/A", "null", "See the proof above.", "доказательство", "证明略"]
)
def test_a_remark_in_the_place_of_an_answer_is_refused(found: Found, reference: str) -> None:
    entry = found.registry["math"]
    params = entry.verifier.params.model_validate({"reference": reference})
    verdicts = found.score(entry, [Item(rf"So \boxed{{{answer}}}", params) for answer in ("7", reference)])
    assert [verdict.status for verdict in verdicts] == [Status.INVALID, Status.INVALID]


@table(
    ("response", "score"),
    [
        ("<answer>Case 1: 3\nCase 2: 7</answer>", 0.0),
        (r"\boxed{Case 1: 3, Case 2: 7}", 0.0),
        ("<answer>Step 1: 3\nStep 2: 7</answer>", 1.0),
    ],
)
def test_numbered_cases_are_several_answers(found: Found, response: str, score: float) -> None:
    entry = found.registry["numeric"]
    (verdict,) = found.score(entry, [Item(response, entry.verifier.params.model_validate({"reference": "7"}))])
    assert (verdict.status, verdict.score) == (Status.OK, score)

"""Groups over HTTP, with the real verifiers."""

import itertools
from typing import Any

import httpx
import msgspec
import pytest

from tests.tables import table
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]


def post(served: Any, body: JSON | bytes) -> httpx.Response:
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return httpx.post(f"{served.url}/v1/groups/score", content=content, timeout=PATIENCE_S)


def groups_of(served: Any, *groups: JSON, **options: Any) -> list[JSON]:
    reply = post(served, {"groups": list(groups), **options})
    assert reply.status_code == 200, reply.text
    found: list[JSON] = reply.json()["groups"]
    return found


def rewards(group: JSON) -> list[float | None]:
    return [member["reward"] for member in group["members"]]


@pytest.mark.parametrize(
    ("verifier", "params", "responses", "expected"),
    [
        (
            "math",
            {},
            ["\\boxed{1/2}", "\\boxed{2}", "so \\boxed{0.5}", "\\boxed{\\frac12}", "\\boxed{2}"],
            [1, 0, 1, 1, 0],
        ),
        ("math", {}, ["\\boxed{x^2-1}", "\\boxed{7}", "\\boxed{(x-1)(x+1)}"], [1, 0, 1]),
        ("numeric", {}, ["It is 42.", "#### 42", "The answer is forty-two.", "7"], [1, 1, 1, 0]),
        ("multiple_choice", {"choices": ["Paris", "Rome"]}, ["Answer: A", "B", "The answer is Paris."], [1, 0, 1]),
        (
            "multiple_choice",
            {"choices": ["a", "b", "c"], "multi": True},
            ["Answer: A and C", "\\boxed{AC}", "Answer: A"],
            [1, 1, 0],
        ),
        ("qa", {}, ["<answer>the Nile</answer>", "<answer>Nile</answer>", "<answer>Don</answer>"], [1, 1, 0]),
        ("qa", {"metric": "date"}, ["<answer>May 5, 2021</answer>", "<answer>2021-05-05</answer>", "no"], [1, 1, 0]),
        ("qa", {"metric": "bool"}, ["<answer>yes</answer>", "<answer>true</answer>", "<answer>no</answer>"], [1, 1, 0]),
        ("chemistry", {}, ["\\boxed{H2O}", "\\boxed{\\ce{H2O}}", "\\boxed{CO2}"], [1, 1, 0]),
    ],
)
def test_equal_answers_are_one_class(
    served: Any, verifier: str, params: JSON, responses: list[str], expected: list[float]
) -> None:
    """Counting strings would find a tie, or another majority, in each of these."""
    [group] = groups_of(served, {"verifier": verifier, "params": params, "responses": responses}, method="majority")
    assert rewards(group) == expected, group
    assert group["detail"]["classes"][0]["size"] == sum(expected)
    assert (group["status"], group["reason"]) == ("ok", "majority")


def test_a_response_without_an_answer_is_wrong_and_counts_for_the_share(served: Any) -> None:
    responses = ["\\boxed{4}", "\\boxed{4}", "", "<think>never ends", "I do not know."]
    group = {"verifier": "math", "responses": responses}
    [found] = groups_of(served, group, method="majority", majority={"min_share": 0.4})
    assert rewards(found) == [1, 1, 0, 0, 0]
    assert found["detail"]["without_answer"] == 3
    assert found["members"][3]["reason"] == "truncated"
    [found] = groups_of(served, group, method="majority", majority={"min_share": 0.5})
    assert rewards(found) == [None] * 5
    assert {(member["status"], member["reason"]) for member in found["members"]} == {("failed", "no_majority")}


def test_digits_are_labels_if_params_say_so(served: Any) -> None:
    group = {"verifier": "multiple_choice", "responses": ["The answer is 2", "2", "(3)"]}
    bare, named = groups_of(served, group, {**group, "params": {"letters": "1234"}}, method="majority")
    assert (bare["reason"], "params.letters" in bare["message"]) == ("no_answers", True)
    assert rewards(named) == [1, 1, 0]


def test_without_a_majority_nobody_is_wrong(served: Any) -> None:
    tie = {"verifier": "math", "responses": ["\\boxed{1}", "\\boxed{2}"]}
    silent = {"verifier": "math", "responses": ["", "no idea"]}
    found = groups_of(served, tie, silent, method="majority", advantages={})
    assert [group["reason"] for group in found] == ["no_majority", "no_answers"]
    assert [rewards(group) for group in found] == [[None, None]] * 2
    assert [group["keep"] for group in found] == [False, False]
    [first] = groups_of(served, tie, method="majority", majority={"on_tie": "first"})
    assert rewards(first) == [1, 0]


def test_an_answer_that_is_no_reference_is_a_class_by_its_text(served: Any) -> None:
    """`numeric` takes no range for a reference."""
    responses = ["<answer>a few</answer>", "<answer>a few</answer>", "#### 3", "#### 3", "#### 3.0"]
    [group] = groups_of(served, {"verifier": "numeric", "responses": responses}, method="majority")
    assert rewards(group) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("verifier", "responses"),
    [
        ("math", ["\\boxed{50\\%}", "\\boxed{0.5}", "\\boxed{50}"]),
        ("math", ["\\boxed{x=1}", "\\boxed{1}", "\\boxed{y=1}"]),
        ("numeric", ["#### 50%", "#### 0.5", "#### 50"]),
        ("numeric", ["$50", "50", "50 dollars", "50 euros"]),
        ("math", ["\\boxed{5\\text{ km}}", "\\boxed{5000\\text{ m}}", "\\boxed{5}", "\\boxed{5000}"]),
    ],
)
def test_the_order_of_responses_changes_no_class(served: Any, verifier: str, responses: list[str]) -> None:
    """The first or the last of these answers equals the two others, which differ."""
    orders = list(itertools.permutations(range(len(responses))))
    groups = [{"verifier": verifier, "responses": [responses[at] for at in order]} for order in orders]
    by_response = set()
    for order, group in zip(orders, groups_of(served, *groups, method="majority"), strict=True):
        by_response.add(tuple(rewards(group)[order.index(at)] for at in range(len(responses))))
    assert len(by_response) == 1


@pytest.mark.contract
@table(
    ("verifier", "common", "other"),
    [
        ("math", "x+", "1"),
        ("math", "x+", "x+"),
        ("math", "\\text{I cannot solve this}", "1"),
        ("qa", "I cannot assist with that request.", "Paris"),
        ("qa", "Lo siento, pero no puedo ayudar con eso.", "Paris"),
        ("qa", "抱歉，我无法帮助您。", "Paris"),
        ("qa", "Paris or London", "Paris"),
        ("qa", "not Paris", "Paris"),
        ("qa", "Could you provide more context?", "Paris"),
        ("qa", "TODO", "Paris"),
        ("qa", "[insert name here]", "Paris"),
        ("qa", "It depends on the context.", "Paris"),
        ("qa", "one of them", "Paris"),
        ("qa", "es kommt darauf an", "Paris"),
        ("qa", "看情况", "Paris"),
        ("qa", "I pass", "Paris"),
        ("qa", "Skip.", "Paris"),
        ("qa", "I'll skip this question", "Paris"),
        ("qa", "Let's skip it and move on.", "Paris"),
        ("qa", "私はパスします", "Paris"),
        ("qa", "nadie puede decirlo", "Paris"),
        ("qa", "no comment", "Paris"),
        ("qa", "我放弃", "Paris"),
        ("qa", "пропускаю", "Paris"),
        ("math", "\\text{pass}", "1"),
        ("math", "\\text{nobody can say}", "1"),
        ("math", "\\text{誰も知らない}", "1"),
        ("math", "\\text{left to the reader}", "1"),
        ("math", "\\text{hard to say}", "1"),
        ("math", "\\text{both of these}", "1"),
    ],
)
def test_what_is_right_for_no_task_or_may_be_a_refusal_is_no_majority(
    served: Any, verifier: str, common: str, other: str
) -> None:
    [group] = groups_of(served, {"verifier": verifier, "responses": boxed(common, common, other)}, method="majority")
    assert (rewards(group), group["reason"]) == ([None] * 3, "no_majority")
    assert "right for no task" in group["message"]


@table(
    ("verifier", "common"),
    [
        ("qa", "All of Me"),
        ("qa", "Many Rivers to Cross"),
        ("qa", "both hands"),
        ("qa", "Depeche Mode"),
        ("qa", "Claude Monet"),
        ("qa", "Monet"),
        ("qa", "It Follows"),
        ("qa", "Khyber Pass"),
        ("qa", "El Paso"),
        ("qa", "Skip James"),
        ("qa", "I Gave You Power"),
        ("qa", "Niemandsland"),
        ("qa", "May"),
        ("qa", "No."),
        ("qa", "False"),
        ("qa", "non"),
        ("qa", "いいえ"),
        ("qa", "two"),
        ("math", "\\infty"),
        ("math", "\\text{all even numbers}"),
        ("math", "\\text{2 of them}"),
    ],
)
def test_names_and_amounts_beside_words_for_anything_are_a_majority(served: Any, verifier: str, common: str) -> None:
    [group] = groups_of(served, {"verifier": verifier, "responses": boxed(common, common, "7")}, method="majority")
    assert (rewards(group), group["reason"]) == ([1.0, 1.0, 0.0], "majority")


def test_a_choice_may_be_called_what_else_evades(served: Any) -> None:
    choices = {"choices": {"A": "pass", "B": "fail"}}
    group = {"verifier": "multiple_choice", "params": choices, "responses": ["Answer: pass", "(A)", "Answer: fail"]}
    [found] = groups_of(served, group, method="majority")
    assert (rewards(found), found["reason"]) == ([1.0, 1.0, 0.0], "majority")


def test_plain_numbers_are_classes_without_a_comparison(served: Any) -> None:
    responses = [f"\\boxed{{{text}}}" for at in range(40) for text in (at, f"{at}.0", f"\\frac{{{2 * at}}}{{2}}")]
    reply = post(served, {"method": "majority", "groups": [{"verifier": "math", "responses": responses}]}).json()
    [group] = reply["groups"]
    assert reply["summary"]["comparisons"] == 0
    assert (group["detail"]["distinct"], group["detail"]["classes"][0]["size"]) == (40, 3)


def test_a_bad_group_costs_the_others_nothing(served: Any) -> None:
    good = {"verifier": "math", "responses": ["\\boxed{1}", "\\boxed{1}"], "id": "good"}
    bad: list[JSON] = [
        {"verifier": "code", "responses": ["x", "y"]},
        {
            "verifier": "code",
            "responses": ["x"],
            "reference": {"case_type": "assert", "test_cases": ["assert f() == 1"]},
        },
        {"verifier": "code", "responses": ["x"], "reference": "{"},
        {"verifier": "code", "responses": ["x"], "reference": {"test_cases": [{"input": "x" * 200_000}]}},
        {"responses": ["x"]},
        {"verifier": "math", "recipe": "think_math", "responses": ["x"]},
        {"verifier": "math", "params": {"nosuch": 1}, "responses": ["x", "y"]},
        {"verifier": "math", "params": 3, "responses": ["x", "y"]},
        {"verifier": "qa", "params": {"metric": "rouge"}, "responses": ["x", "y"]},
        {"verifier": "multiple_choice", "params": {"choices": {}}, "responses": ["x", "y"]},
    ]
    found = groups_of(served, *bad, good, method="majority")
    assert [group["status"] for group in found] == ["invalid"] * len(bad) + ["ok"]
    assert all(group["message"] for group in found[:-1])
    assert rewards(found[-1]) == [1, 1]
    assert found[-1]["id"] == "good"


def test_many_answers_are_compared_up_to_a_bound(served: Any) -> None:
    """40 different answers, then one that equals the last: it is not compared any more, so it may be the majority."""
    responses = [f"\\boxed{{x+{number}}}" for number in range(40)]
    [group] = groups_of(served, {"verifier": "math", "responses": responses}, method="majority")
    assert group["reason"] == "undecided"
    assert group["detail"]["unsettled"] > 0
    [group] = groups_of(served, {"verifier": "math", "responses": responses + responses[:1] * 20}, method="majority")
    assert group["reason"] == "majority"


def test_scores_get_terms_and_advantages(served: Any) -> None:
    group = {
        "verifier": "math",
        "reference": "1/2",
        "responses": ["\\boxed{1/2}", "\\boxed{0.5}", "\\boxed{2}", "\\boxed{3}"],
        "lengths": [10, 20, 30, 40],
    }
    options = {"terms": {"length": 0.1}, "k": 2, "advantages": {"method": "grpo_passk", "scale": "none"}}
    [found] = groups_of(served, group, **options)
    assert rewards(found) == pytest.approx([1.05, 1 + 0.1 / 6, -0.1 / 6, -0.05])
    assert [member["score"] for member in found["members"]] == [1, 1, 0, 0]
    assert found["best"] == 0
    assert found["max_at_k"] == pytest.approx((3 * 1.05 + 2 * (1 + 0.1 / 6) - 0.1 / 6) / 6)
    assert [member["advantage"] for member in found["members"]] == pytest.approx([0.05 - 0.1 / 6, 0, 0, 0])
    [plain] = groups_of(served, group, terms={"diversity": {}})
    assert rewards(plain) == pytest.approx([2 / 3, 2 / 3, 0, 0])
    alone = {"verifier": "math", "reference": "4", "responses": ["so it is \\boxed{4}"]}
    for by in ("classes", "ngrams"):
        [only] = groups_of(served, alone, terms={"diversity": {"by": by}})
        assert rewards(only) == [1.0]  # as DARLING's process_uid_group gives a group of one
    unequal = {"verifier": "exact_match", "reference": "4", "responses": ["4", "5"]}
    [blind] = groups_of(served, unequal, terms={"diversity": {"by": "classes"}})
    assert (blind["status"], rewards(blind)) == ("invalid", [None] * 2)
    assert "terms.diversity: classes of answers need a verifier with an equality" in blind["message"]
    [short] = groups_of(served, {**group, "lengths": [1]}, terms={"length": 1})
    assert (short["status"], rewards(short)) == ("invalid", [None] * 4)


def program(text: str) -> str:
    return f"```python\n{text}\n```"


ADDS, ADDS_TOO = (
    "print(sum(map(int, input().split())))",
    "a, b = map(int, input().split())\nprint(float(a + b), end='\\n\\n')",
)
MULTIPLIES = "a, b = map(int, input().split())\nprint(a * b)"
INPUTS = {"test_cases": [{"input": "1 2"}, {"input": "5 6"}]}
CALLS = {"fn_name": "f", "inputs": [[1, 2], [5, 6]], "outputs": [0, 0]}


@table(
    ("reference", "programs", "expected"),
    [
        (INPUTS, [MULTIPLIES, ADDS, ADDS_TOO, MULTIPLIES, "1 / 0", ADDS], [0, 1, 1, 0, 0, 1]),
        (CALLS, ["f = lambda a, b: [a + b]", "def f(a, b): return (b + a,)", "def f(a, b): return a * b"], [1, 1, 0]),
        (INPUTS, ["import random\nprint(random.random())"] * 3, [None] * 3),
        (INPUTS, ["import os\nprint(os.urandom(8).hex())"] * 3 + [ADDS], [None] * 4),
        (INPUTS, ["import os\nprint(os.urandom(4000).hex())"] * 2 + [ADDS], [None] * 3),
        (INPUTS, ["print('x' * 5000)", "print('xx' * 2500)", ADDS], [1, 1, 0]),
        (CALLS, ["def f(a, b): pass"] * 2 + ["def f(a, b): return a + b"], [None] * 3),
        (CALLS, ["def f(a, b): return '\\ud800'"] * 2 + ["def f(a, b): return {'\\ud800': 1}"], [1, 1, 0]),
        (
            CALLS,
            ["f = lambda a, b: 2**2000"] * 2 + ["def f(a, b): return 1 << 2000", "def f(a, b): return 0"],
            [1, 1, 1, 0],
        ),
        ({"test_cases": [{"input": 5}]}, ["print('a')", "print('a ')", "print('b')"], [1, 1, 0]),
        (INPUTS, ["print('ab ' * 2000)"] * 2 + ["print(('ab ' * 2000).strip())"] * 2 + ["print(1)"] * 3, [None] * 7),
        (INPUTS, ["print('ab ' * 2000)", "print('ba ' * 2000)"] + ["print(1)"] * 3, [0, 0, 1, 1, 1]),
        (CALLS, ["def f(a, b): return a - 5 or None", "def f(a, b): return None if a == 5 else a - 5"], [1, 1]),
    ],
)
def test_programs_with_equal_outputs_are_one_class(
    served: Any, reference: JSON, programs: list[str], expected: list[float | None]
) -> None:
    """The expected outputs of a suite, if it has any, do not count."""
    group = {"verifier": "code", "reference": reference, "responses": list(map(program, programs))}
    [found] = groups_of(served, group, method="majority", deadline_s=PATIENCE_S)
    assert rewards(found) == expected, found


def test_equality_does_not_wait_for_distances(served: Any) -> None:
    """The distance from a power tower takes all the time that there is."""
    responses = ["\\boxed{10^10^10}", "\\boxed{10^10^10} ", "\\boxed{5}"]
    group = {"verifier": "math", "params": {"edit_distance": True}, "responses": responses}
    [found] = groups_of(served, group, method="majority", deadline_s=PATIENCE_S)
    assert rewards(found) == [1, 1, 0]


def test_members_keep_their_own_statuses(served: Any) -> None:
    [group] = groups_of(served, {"verifier": "math", "reference": "\\frac{1}{", "responses": ["\\boxed{1}"] * 2})
    assert [member["status"] for member in group["members"]] == ["invalid", "invalid"]
    assert (group["status"], group["reason"]) == ("invalid", "unparseable_reference")


@pytest.mark.parametrize(
    ("body", "status", "loc"),
    [
        (b'{"groups": [{"responses": []}]}', 422, ["groups", 0, "responses"]),
        (b'{"groups": [{"responses": ["a"]}, {"response": ["a"]}]}', 422, ["groups", 1, "response"]),
        (b'{"groups": [], "method": "nosuch"}', 422, ["method"]),
        (b'{"groups": [], "terms": {"nosuch": 1}}', 422, ["terms", "nosuch"]),
        (b'{"groups": [], "terms": {"length": 1e9}}', 422, ["terms", "length"]),
        (b'{"groups": [], "advantages": {"filters": {"overlong": "mask"}}}', 422, None),
        (b'{"groups": [', 400, None),
        (b"{}", 422, ["groups"]),
    ],
)
def test_the_door_refuses_what_is_not_of_its_shape(served: Any, body: bytes, status: int, loc: Any) -> None:
    reply = post(served, body)
    assert reply.status_code == status, reply.text
    if loc is not None:
        assert reply.json()["errors"][0]["loc"] == loc


def test_the_door_is_bounded(served: Any) -> None:
    def sized(groups: int, members: int, text: str = "x") -> int:
        group = {"verifier": "numeric", "reference": 1, "responses": [text] * members}
        return post(served, {"groups": [group] * groups}).status_code

    assert sized(1, 129) == 422
    assert sized(33, 128) == 413
    assert sized(2049, 1) == 413
    assert sized(1, 2, "x" * 8_100_000) == 413
    many = b'{"groups": [{"responses": [[' + b",".join([b"{}"] * 200_000) + b"]]}]}"
    assert post(served, many).status_code == 413
    assert httpx.get(f"{served.url}/v1/groups/score").status_code == 405


def boxed(*answers: str) -> list[str]:
    return [f"\\boxed{{{answer}}}" for answer in answers]


@pytest.mark.contract
@table(
    ("verifier", "params", "responses", "expected"),
    [
        ("math", {}, boxed(*["5\\text{ cm}"] * 2, "5", "5", *["5\\text{ m}"] * 2), None),
        ("math", {}, boxed(*["5\\text{ cm}"] * 3, "5", *["5\\text{ m}"] * 2), [1, 1, 1, 1, 0, 0]),
        ("math", {}, boxed("5\\text{ cm}", "5", "5\\text{ m}", "6"), None),
        ("math", {}, boxed("x=5", "y=5", "5", "6", "6"), None),
        ("math", {}, boxed("x=5", "x=5", "5", "y=5", "y=5"), None),
        ("math", {}, boxed("7\\text{ apples}", "7", "7\\text{ oranges}"), None),
        ("math", {}, boxed("(1,2)", "1<x<2", "x\\in(1,2)", "1,2", "2,1"), None),
        ("numeric", {"abs_tol": 0.1}, ["1.0", *["1.08"] * 3, *["1.16"] * 2], [0, 1, 1, 1, 1, 1]),
        ("numeric", {"abs_tol": 0.1}, ["1.0", "1.0", "1.08", "1.16", "1.16"], None),
        ("numeric", {"abs_tol": 0.1}, ["1.0", "1.09", "1.09", "1.18", "1.18", "1.27"], [0, 1, 1, 1, 1, 0]),
        ("math", {}, boxed(*["50\\%"] * 6, "50", "0.5", "7"), [*[1] * 6, None, None, 0]),
        ("math", {}, boxed(*["5"] * 3, "x=5", "y=5"), [1, 1, 1, None, None]),
        ("math", {"constant": "optional"}, boxed(*["x^2+C"] * 3, "x^2", "x^2+K"), [1, 1, 1, None, None]),
        ("chemistry", {}, boxed("CH3CH2OH", "C2H5OH", *["C2H6O"] * 3), [None, None, 1, 1, 1]),
    ],
)
def test_who_is_right_equals_all_others_who_are(
    served: Any, verifier: str, params: JSON, responses: list[str], expected: list[float | None] | None
) -> None:
    """What equals two answers that differ is a vote for each, and joins them to no class. None: a tie, of the others or of all."""
    group = {"verifier": verifier, "params": params, "responses": responses}
    for asked in (group, {**group, "responses": responses[::-1]}):
        [found] = groups_of(served, asked, method="majority")
        in_order = (expected or [None] * len(responses))[:: 1 if asked is group else -1]
        assert rewards(found) == in_order, found
        assert found["reason"] == ("majority" if expected else "no_majority")


@table(
    ("form", "answers", "expected"),
    [
        ("simplified", ["6/4", "3/2", "3/2", "5"], [0, 1, 1, 0]),
        ("simplified", ["6/4", "6/4", "6/4", "\\frac32", "3/2"], [0, 0, 0, 1, 1]),
        ("decimal", ["\\frac12", "\\frac12", "0.5", "0.50"], [0, 0, 1, 1]),
        ("fraction", ["0.5", "0.5", "\\frac12", "\\frac24", "3"], [0, 0, 1, 1, 0]),
        ("decimal", ["\\frac12", "\\frac12"], [None, None]),
    ],
)
def test_an_answer_that_is_wrong_in_form_has_no_vote(
    served: Any, form: str, answers: list[str], expected: list[float | None]
) -> None:
    group = {"verifier": "math", "params": {"form": form}, "responses": boxed(*answers)}
    [found] = groups_of(served, group, method="majority")
    assert rewards(found) == expected, found
    assert {member["reason"] for member in found["members"]} <= {"majority", "minority", "wrong_form", "no_answers"}


@table(
    ("silent", "expected"),
    [
        ([], [0, 1, 1]),
        ([{"role": "tool", "content": "y"}], [0, 1, 1]),
        ([{"role": "assistant"}], [0, 1, 1]),
        ([{"role": 3}], [None, 1, 1]),
    ],
)
def test_a_response_that_is_no_answer_costs_its_group_nothing(
    served: Any, silent: list[JSON], expected: list[float | None]
) -> None:
    [group] = groups_of(served, {"verifier": "math", "responses": [silent, *boxed("4", "4.0")]}, method="majority")
    assert (group["status"], rewards(group)) == ("ok", expected)
    [alone] = groups_of(served, {"verifier": "math", "responses": [silent]}, method="majority")
    assert (alone["status"], rewards(alone)) == ("failed" if expected[0] == 0 else "invalid", [None])


@table(
    ("verifier", "answer"),
    [
        ("math", "..."),
        ("math", "\\ldots"),
        ("math", "\\text{answer}"),
        ("math", "\\text{I don't know}"),
        ("math", "None"),
        ("math", "\\text{Ich weiß es nicht}"),
        ("math", "[answer]"),
        ("qa", "unknown"),
        ("qa", "N/A"),
        ("qa", "-"),
        ("qa", "I cannot answer that."),
        ("qa", "I'm not sure."),
        ("qa", "nan"),
        ("qa", "your final answer"),
        ("qa", "I'm sorry, but I can't help with that."),
        ("math", "\\text{your answer}"),
        ("math", "\\text{TODO}"),
        ("math", "\\text{not found}"),
        ("math", "暂无答案"),
    ],
)
def test_what_gives_no_answer_is_no_class(served: Any, verifier: str, answer: str) -> None:
    responses = boxed(answer, answer, answer)
    groups = [{"verifier": verifier, "responses": [*responses, *rest]} for rest in ([], boxed(*["London"] * 3))]
    alone, beside = groups_of(served, *groups, method="majority")
    assert (alone["reason"], rewards(alone)) == ("no_answers", [None] * 3)
    assert (beside["members"][0]["reason"], rewards(beside)) == ("no_answer", [0, 0, 0, 1, 1, 1])


@table(
    ("verifier", "params", "responses", "expected"),
    [
        ("qa", {"unanswerable": True}, ["unanswerable", "No answer.", "N/A", "Paris", "Paris"], [1, 1, 1, 0, 0]),
        ("qa", {"unanswerable": True}, ["I don't know."] * 3 + ["Paris"] * 2, [0, 0, 0, 1, 1]),
        ("qa", {}, ["I don't know."] * 3 + ["Paris"] * 2, [0, 0, 0, 1, 1]),
        ("math", {}, boxed(*["\\text{cannot be determined}"] * 3, "5", "5"), [None] * 5),
        ("math", {}, boxed(*["\\text{cannot be determined}"] * 2, "5", "5"), [0, 0, 1, 1]),
        ("chemistry", {}, ["Na+"] * 3 + ["K+"] * 2, [1, 1, 1, 0, 0]),
        ("chemistry", {}, ["N/A"] * 3 + ["K+"] * 2, [0, 0, 0, 1, 1]),
        ("chemistry", {"kind": "molecule"}, ["CCO", "OCC", "N/A"], [1, 1, 0]),
        ("chemistry", {"kind": "molecule", "notation": "selfies"}, ["[C][O]", "[O][C]", "[C]"], [1, 1, 0]),
    ],
)
def test_the_verifier_and_its_params_say_what_an_answer_is(
    served: Any, verifier: str, params: JSON, responses: list[str], expected: list[float | None]
) -> None:
    """And where most say that there is none, which may be right, fewer others are no majority."""
    [found] = groups_of(served, {"verifier": verifier, "params": params, "responses": responses}, method="majority")
    assert rewards(found) == expected, found

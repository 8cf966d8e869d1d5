"""The share of tags that occur once, as Open R1 counts."""

from hypothesis import given
from hypothesis import strategies as st

from verifiers.rules.tag_count import OPEN_R1, TagCountParams, judge

GOOD = "<think>\na\n</think>\n<answer>\nb\n</answer>"


def original(text: str) -> float:
    return sum(0.25 for tag in OPEN_R1 if text.count(tag) == 1)


@given(st.lists(st.sampled_from([*OPEN_R1, "\n", "x", "<think>", "</answer>"]), max_size=10).map("".join))
def test_it_equals_open_r1(text: str) -> None:
    assert judge(text, TagCountParams()).score == original(text)


def test_each_tag_counts_by_itself() -> None:
    assert judge(GOOD, TagCountParams()).score == 1.0
    assert judge("<think>\na", TagCountParams()).score == 0.25
    assert judge("", TagCountParams()).score == 0.0
    assert judge(GOOD * 2, TagCountParams()).score == 0.0


def test_order_is_asked_for_only_on_request() -> None:
    reversed_tags = "".join(reversed(OPEN_R1))
    assert judge(reversed_tags, TagCountParams()).score == 1.0
    verdict = judge(reversed_tags, TagCountParams(in_order=True))
    assert (verdict.score, verdict.reason) == (0.0, "wrong_order")
    assert judge(GOOD, TagCountParams(in_order=True)).score == 1.0


def test_other_tags_can_be_counted() -> None:
    params = TagCountParams(tags=("<plan>", "</plan>", "<code>"))
    verdict = judge("<plan>x</plan>", params, True)
    assert (verdict.score, verdict.detail) == (2 / 3, {"counts": [1, 1, 0]})

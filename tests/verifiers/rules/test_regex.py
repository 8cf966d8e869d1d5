"""A whole text against the caller's pattern, in RE2 or, where that cannot, in a worker that may be killed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sandbox.workers import Workers
from verifiers import commitment
from verifiers.base import Item, Resources, Status, Unavailable, Verdict
from verifiers.rules.regex import Regex, RegexParams, create, judge, match_in_worker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def verifier() -> AsyncIterator[Regex]:
    workers = Workers(1)
    regex = create(Resources(workers=workers))
    await workers.start()
    yield regex
    await workers.stop()


pytestmark = pytest.mark.asyncio(loop_scope="module")


def item(response: str, reference: str, **params: Any) -> Item[RegexParams]:
    return Item(response, RegexParams(reference=reference, **params))


async def ask(verifier: Regex, response: str, reference: str, **params: Any) -> Verdict:
    (verdict,) = await verifier.score([item(response, reference, **params)])
    return verdict


@pytest.mark.parametrize(
    ("response", "pattern", "params", "expected"),
    [
        ("abc", "a.c", {}, 1.0),
        ("abcd", "a.c", {}, 0.0),
        ("ab\nc", "ab.c", {}, 0.0),
        ("ab\nc", "(?s)ab.c", {}, 1.0),
        ("a", "a|ab", {}, 1.0),
        ("ab", "a|ab", {}, 1.0),
        ("ABC", "abc", {"ignore_case": True}, 1.0),
        ("ABC", "abc", {}, 0.0),
        ("日本", "..", {}, 1.0),
        ("x\x00y", "x.y", {}, 1.0),
        ("\ud800", ".", {}, 1.0),
        ("so\nyes", "yes|no", {"extract": "last_line"}, 1.0),
        ("<answer>yes</answer>", "yes|no", {"extract": "auto"}, 1.0),
        ("", "a*", {}, 0.0),
        ("ab\n", "ab$", {}, 0.0),
        (" ab", "ab", {}, 0.0),
        ("ab\u200b", "ab", {}, 0.0),
        ("ab\n", r"ab\n", {}, 1.0),
        ("<think>x</think>\n\nab", "ab", {}, 1.0),
        ("<think>x</think>\n\nab\n", "ab", {}, 0.0),
        ("ab<|im_end|>\n", "ab", {}, 1.0),
        ("ab \n", "ab", {"extract": "last_line"}, 1.0),
        ("catdog", "(?=cat).*dog", {}, 1.0),
        ("abab", r"(ab)\1", {}, 1.0),
        ("ABab", r"(ab)\1", {"ignore_case": True}, 1.0),
        ("１", r"(?=\d)\d", {}, 0.0),
        ("a" * 3_000_000, "(?:[ab]{5})*", {}, 1.0),
    ],
)
async def test_matches(
    verifier: Regex, response: str, pattern: str, params: dict[str, Any], expected: float | None
) -> None:
    assert (await ask(verifier, response, pattern, **params)).score == expected


@pytest.mark.parametrize("pattern", ["(abc", "a**", "[z-a]", r"(?P<n>a)(?P<n>b)\2(", r"\9", "(?<=a+"])
async def test_a_pattern_that_does_not_compile_is_the_callers_to_mend(verifier: Regex, pattern: str) -> None:
    verdict = await ask(verifier, "abc", pattern)
    assert (verdict.status, verdict.reason) == (Status.INVALID, "bad_pattern")
    assert "does not compile: " in verdict.detail["message"]


async def test_a_catastrophic_pattern_is_stopped_and_costs_its_neighbours_nothing(verifier: Regex) -> None:
    hostile = item("a" * 60 + "!", r"(a|aa)+\1b")
    fine = item("ab", r"(?!x)ab")
    slow, quick, inline = await verifier.score([hostile, fine, item("ab", "ab")])
    assert (slow.status, slow.score, slow.reason) == (Status.OK, 0.0, "too_complex")
    assert (quick.score, inline.score) == (1.0, 1.0)


async def test_the_same_pattern_without_back_references_is_linear(verifier: Regex) -> None:
    assert (await ask(verifier, "a" * 5000 + "!", "((a+)+)+")).score == 0.0


async def test_without_workers_there_is_no_verdict() -> None:
    idle = create(Resources(workers=Workers(1)))
    with pytest.raises(Unavailable) as caught:
        await ask(idle, "ab", "(?=a)ab")
    assert caught.value.reason == "workers_unavailable"


@given(text=st.text(max_size=50))
async def test_both_matchers_say_the_same(text: str) -> None:
    patterns = [".*", r"\w+", r"[^a]*", r"(?s).*", "a?b?", r"\d*\D*"]
    params = RegexParams(reference="", extract=commitment.Channel.WHOLE, think="none")
    extraction = commitment.extract("(" + text + ")", params)
    for pattern in patterns:
        params = RegexParams(reference=r"\(" + pattern + r"\)")
        verdict = judge(extraction, params)
        assert isinstance(verdict, Verdict)
        by_regex = match_in_worker(["(?=)" + params.reference, extraction.answer, False])
        assert (verdict.score == 1.0) is by_regex


async def test_a_pattern_has_a_longest_length() -> None:
    with pytest.raises(ValidationError):
        RegexParams(reference="a" * 5000)


@pytest.mark.parametrize("response", ["", "<think>"])
async def test_a_bad_pattern_is_told_even_when_there_is_nothing_to_match(verifier: Regex, response: str) -> None:
    assert (await ask(verifier, response, "(abc")).reason == "bad_pattern"
    assert (await ask(verifier, response, "(?=a)")).score == 0.0

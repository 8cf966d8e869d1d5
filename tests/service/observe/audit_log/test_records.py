"""What is remembered of an item, and which items are."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.observe.audit_log.records import Rules, is_kept, record_of, timestamp
from service.wire import DAMAGED, DAMAGED_JSON, ScoreItem
from tests.service.observe.audit_log.logs import JSON, finished, item, result

SECRETS = ["secret-response", "secret-prompt", "secret-reference", "secret-extract", "secret-detail", "secret-check"]


def remembered(of: ScoreItem, outcome: Any = None, rules: Rules | None = None, **references: Any) -> JSON:
    shared = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in references.items()}
    batch = finished(of, outcome, shared)
    record = record_of(batch, 0, timestamp(batch.time_s), rules or Rules())
    assert record is not None
    line = msgspec.json.encode(record)
    assert b"\n" not in line
    found: JSON = json.loads(line)
    return found


def test_a_record_says_which_answer_got_which_reward_and_why() -> None:
    of = item(response="so 12", prompt="6+6?", reference="12", metadata={"step": 3}, tag="gsm8k", id="a")
    outcome = result(
        id="a", reward=0.5, extracted="12", detail={"method": "exact"}, checks=[{"name": "math"}], recipe="r"
    )
    found = remembered(of, outcome)
    assert found.pop("time").startswith("20")
    assert found == {
        "id": "a", "status": "ok", "reason": "correct", "score": 1.0, "reward": 0.5, "verifier": "math", "version": "1",
        "cached": False, "elapsed_ms": 0.5, "request_id": "request-1", "recipe": "r", "tag": "gsm8k",
        "extracted": "12", "detail": {"method": "exact"}, "checks": [{"name": "math"}], "metadata": {"step": 3},
        "response": "so 12", "response_chars": 5, "prompt": "6+6?", "prompt_chars": 4,
        "reference": "12", "reference_chars": 2, "reference_is_json": False,
    }  # fmt: skip


def test_what_was_not_judged_has_no_score() -> None:
    found = remembered(item(), result(status="failed", score=None, reward=None, verifier=None, version=None))
    assert (found["score"], found["reward"], found["verifier"]) == (None, None, None)


@pytest.mark.parametrize(
    ("fields", "reference"),
    [
        ({"reference": {"b": [1, 2.50]}}, '{"b":[1,2.5]}'),
        ({"reference": "twelve"}, "twelve"),
        ({"reference_id": "p"}, "shared"),
        ({"ground_truth": 7}, "7"),
        ({"test_cases": [{"input": "1"}]}, '[{"input":"1"}]'),
        ({}, None),
    ],
)
def test_the_reference_is_remembered_whatever_it_is_called(fields: JSON, reference: str | None) -> None:
    assert remembered(item(**fields), p="shared").get("reference") == reference


def test_of_messages_the_text_is_remembered() -> None:
    answers = [{"role": "assistant", "content": content} for content in ("11?", "12")]
    messages = [{"role": "user", "content": "6+6?"}, *answers]
    found = remembered(item(response=messages, messages=messages[:1]))
    assert (found["response"], found["prompt"]) == ("12", "user: 6+6?")
    assert found["prompt_messages"] == messages[:1]
    record = remembered(item(response="12", messages=messages[:1]), rules=Rules(redact=True))
    assert "6+6" not in json.dumps(record)


CALLING = [{"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]


def test_of_a_conversation_all_is_remembered_and_what_was_said_last() -> None:
    messages = [*CALLING, {"role": "tool", "content": "1"}, {"role": "assistant", "content": "12"}]
    found = remembered(item(response=messages))
    assert (found["response"], found["response_messages"]) == ("12", messages)
    assert "response_messages" not in remembered(item(response=messages[-1:]))
    cut = remembered(item(response=messages), rules=Rules(max_text_chars=20))
    assert cut["response_messages"] == json.dumps(messages, separators=(",", ":"))[:20]
    record = remembered(item(response=messages), rules=Rules(redact=True))
    assert record["response_chars"] == len(json.dumps(messages, separators=(",", ":")))
    assert "tool_calls" not in json.dumps(record)


def test_what_are_no_messages_is_remembered_as_it_came() -> None:
    broken = [{"role": "nobody", "content": "x"}]
    found = remembered(item(response=broken, prompt=broken))
    assert found["response"] == found["prompt"] == json.dumps(broken, separators=(",", ":"))


def test_long_texts_are_cut_and_say_how_long_they_were() -> None:
    long = "0123456789"
    of = item(response=long, prompt=long, reference=long, metadata={"long": long})
    found = remembered(of, result(extracted=long, detail={"long": long}), Rules(max_text_chars=4))
    for name in ("response", "prompt", "reference"):
        assert (found[name], found[f"{name}_chars"]) == ("0123", 10)
    assert (found["extracted"], found["metadata"], found["detail"]) == ("0123", '{"lo', '{"lo')


def test_redaction_leaves_hashes_and_lengths_and_no_text_of_a_model() -> None:
    response, prompt, reference, extracted, detail, check = SECRETS
    of = item(
        response=response, prompt=prompt, reference=reference, metadata={"kept": 1}, params={"options": [reference]}
    )
    checks = [{"name": "math", "score": 1.0, "extracted": check, "detail": {"text": check}, "reason": "correct"}]
    outcome = result(extracted=extracted, detail={"text": detail}, checks=checks)
    found = remembered(of, outcome, Rules(redact=True))
    text = json.dumps(found)
    assert not [secret for secret in SECRETS if secret in text]
    # printf %s secret-response | sha256sum
    assert found["response_sha256"] == "aff7d3cf7192c0b14db17c767b86bab083d007e0846c8a8a604d728b6cb28252"
    assert (found["response_chars"], found["prompt_chars"], found["reference_chars"]) == (15, 13, 16)
    assert found["checks"] == [{"name": "math", "score": 1.0, "reason": "correct"}]
    assert found["metadata"] == {"kept": 1}
    assert "params" not in found
    assert remembered(of, outcome)["params"] == {"options": [reference]}
    assert all(secret in json.dumps(remembered(of, outcome)) for secret in SECRETS)


@pytest.mark.parametrize("raw", [b"{", b'{"a":\n 1}', b'"\xff"', b"[" * 100_000, b"nope\nnope", b'"a'])
def test_json_that_is_none_stays_on_its_line(raw: bytes) -> None:
    """Over gRPC it is text that nobody has looked at."""
    of = ScoreItem("12", reference=msgspec.Raw(raw), metadata=msgspec.Raw(raw))
    found = remembered(of)
    assert isinstance(found["reference"], str)
    if raw.endswith(b"1}"):
        assert found["metadata"] == {"a": 1}


def test_nobody_learns_the_mark_of_half_characters() -> None:
    marked = b'{"a":"' + DAMAGED_JSON + b'"}'
    of = ScoreItem(DAMAGED, id=DAMAGED, tag=DAMAGED, reference=msgspec.Raw(marked), metadata=msgspec.Raw(marked))
    found = json.dumps(remembered(of, result(id=DAMAGED, extracted=DAMAGED)), ensure_ascii=False)
    assert DAMAGED not in found
    assert DAMAGED[1:] not in found


texts = st.text(max_size=30)
anything = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3))


@given(texts, texts | st.integers(), anything, anything, st.integers(1, 20), st.booleans())
def test_any_item_becomes_one_line(
    response: str, item_id: str | int, reference: Any, metadata: Any, limit: int, redact: bool
) -> None:
    of = item(response=response, id=item_id, reference=reference, metadata=metadata, prompt=response)
    found = remembered(of, result(id=item_id), Rules(redact=redact, max_text_chars=limit))
    assert found["response_chars"] == len(response)
    assert ("response" in found) is not redact


def test_the_sample_is_the_same_for_everybody() -> None:
    rules = Rules(sample=0.3)
    kept = [is_kept(f"p{n}", "the answer", "ok", rules) for n in range(2000)]
    assert kept == [is_kept(f"p{n}", "the answer", "ok", rules) for n in range(2000)]
    assert 500 < sum(kept) < 700
    assert 500 < sum(is_kept("p", f"answer {n}", "ok", rules) for n in range(2000)) < 700
    more = [is_kept(f"p{n}", "the answer", "ok", Rules(sample=0.6)) for n in range(2000)]
    assert all(wide for wide, narrow in zip(more, kept, strict=True) if narrow)
    assert [is_kept(n, "", "ok", rules) for n in range(6)] == [False, False, False, False, True, True]


def test_what_was_not_judged_is_kept_whatever_the_sample() -> None:
    for status in ("failed", "invalid"):
        assert is_kept("a", "b", status, Rules(sample=0))
        assert not is_kept("a", "b", status, Rules(sample=0, keep_unjudged=False))
    assert not is_kept("a", "b", "ok", Rules(sample=0))

"""What a URL and a label say of how an item is judged."""

import json
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from service.doors.compat.request_options import RequestOptions, fields_of, item_of, read
from service.errors import Unprocessable
from service.wire import ScoreItem


def options(**options: str) -> RequestOptions:
    return read(urlencode(options).encode(), RequestOptions)


def reference(item: ScoreItem) -> Any:
    return msgspec.json.decode(item.reference) if bytes(item.reference) else None


def params(item: ScoreItem) -> Any:
    return msgspec.json.decode(item.params)


def test_a_url_names_what_judges_with_its_parameters() -> None:
    item = item_of("r", options(verifier="math", params='{"extract": "boxed"}'), "4", "p")
    assert (item.verifier, item.response, item.prompt, reference(item)) == ("math", "r", "p", "4")
    assert params(item) == {"extract": "boxed"}
    assert item_of("r", options(recipe="think_math"), "4").recipe == "think_math"
    item = item_of("r", options(domain="a", data_source="b", tag="c"), "4")
    assert (item.domain, item.data_source, item.tag, item.verifier) == ("a", "b", "c", None)


@pytest.mark.parametrize(
    "query",
    [
        "verifer=math",
        "verifier=math&verifier=qa",
        "verifier=",
        "deadline_s=soon",
        "deadline_s=0",
        "deadline_s=nan",
        "cache=maybe",
    ],
)
def test_what_a_url_cannot_say_is_refused_with_what_it_can(query: str) -> None:
    with pytest.raises(Unprocessable, match="verifier"):
        read(query.encode(), RequestOptions)


@pytest.mark.parametrize("text", ["[1]", "{", "4", "null", '{"a": ' * 1300])
def test_parameters_are_a_json_object(text: str) -> None:
    with pytest.raises(Unprocessable, match="params: expected a JSON object"):
        item_of("r", options(verifier="math", params=text), "4")


def test_a_url_names_a_verifier_or_a_recipe() -> None:
    with pytest.raises(Unprocessable, match="one of them"):
        item_of("r", options(verifier="math", recipe="think_math"), "4")


@pytest.mark.parametrize(
    "label", ["0.5", "[1, 2]", '{"test_cases": [], "case_type": "stdio"}', '{"a": 1}', "{no json", "{}"]
)
def test_a_label_that_names_no_field_of_an_item_is_the_reference(label: str) -> None:
    assert fields_of(label) is None
    assert reference(item_of("r", options(verifier="math"), label)) == label


@pytest.mark.parametrize("label", [4, 4.5, ["a"], {"a": 1}, {"answer": "4", "tag": "x"}, True])
def test_a_label_may_be_any_json(label: Any) -> None:
    assert reference(item_of("r", options(verifier="math"), label)) == label


@pytest.mark.parametrize("label", [None, ""])
def test_an_empty_label_is_none(label: Any) -> None:
    assert bytes(item_of("r", options(verifier="think_format"), label).reference) == b""


@pytest.mark.parametrize("as_text", [True, False])
def test_what_a_label_says_goes_before_the_url(as_text: bool) -> None:
    said = {"verifier": "qa", "reference": "Paris", "params": {"metric": "f1"}}
    label = json.dumps(said) if as_text else said
    item = item_of("r", options(recipe="think_math", tag="t", params='{"metric": "em", "extract": "whole"}'), label)
    assert (item.verifier, item.recipe, item.tag, reference(item)) == ("qa", None, "t", "Paris")
    assert params(item) == {"metric": "f1", "extract": "whole"}


def test_a_label_may_have_only_some_fields() -> None:
    item = item_of("r", options(verifier="math"), '{"ground_truth": "4", "tag": "x"}')
    assert (item.verifier, item.tag) == ("math", "x")
    assert msgspec.json.decode(item.ground_truth) == "4"


def test_a_field_that_is_none_of_an_item_is_refused_by_its_name() -> None:
    with pytest.raises(Unprocessable) as caught:
        item_of("r", options(), '{"verifier": "math", "refrence": "4"}')
    assert caught.value.errors[0].loc == ["item", "refrence"]


def test_no_label_can_be_the_response() -> None:
    assert item_of("r", options(), {"verifier": "math", "reference": "4", "response": "mine"}).response == "r"

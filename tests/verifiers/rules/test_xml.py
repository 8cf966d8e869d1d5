"""One well-formed XML document."""

import gc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Status, Verdict
from verifiers.rules.xml import XmlParams, judge

LAUGHS = "<!DOCTYPE a [<!ENTITY a '1'><!ENTITY b '&a;&a;&a;&a;'>]><a>&b;</a>"


def ask(response: str, **params: Any) -> Verdict:
    return judge(response, XmlParams(**params), True)


@table(
    "response",
    [
        "<a/>",
        "<a><b>1</b>text<!-- c --><![CDATA[<x>]]></a>",
        '<?xml version="1.0" encoding="UTF-8"?>\n<a b="1">&lt;&amp;&#233;</a>',
        '<?xml version="1.0" encoding="UTF-16"?><a>é</a>',
        '<x:a xmlns:x="urn:x"><x:b/></x:a>',
        "```xml\n<a/>\n```",
        "<think>hm</think><a/>",
        "<名前>値</名前>",
    ],
)
def test_well_formed_documents(response: str) -> None:
    assert ask(response).score == 1.0


@table(
    ("response", "reason"),
    [
        ("", "no_answer"),
        ("text", "not_readable"),
        ("<a>1</a><b>2</b>", "not_readable"),
        ("<a>1</a> so", "not_readable"),
        ("<a>", "not_readable"),
        ("<a><b></a></b>", "not_readable"),
        ("<A></a>", "not_readable"),
        ("<a b=1/>", "not_readable"),
        ("<a b='1' b='2'/>", "not_readable"),
        ("<a>&</a>", "not_readable"),
        ("<a>&nbsp;</a>", "not_readable"),
        ("<x:a/>", "not_readable"),
        ("<a>\x00</a>", "not_readable"),
        ("<a>\ud800</a>", "not_readable"),
        (LAUGHS, "not_readable"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "not_readable"),
        ("<a>" * 101 + "</a>" * 101, "too_deep"),
        ("<a>" * 500_000, "too_deep"),
    ],
)
def test_other_texts(response: str, reason: str) -> None:
    verdict = ask(response)
    assert (verdict.score, verdict.reason) == (0.0, reason)


@table(
    ("params", "reason"),
    [
        ({"root": "p"}, "correct"),
        ({"root": "q"}, "wrong_root"),
        ({"required": ("p/name", "p/pet/name")}, "correct"),
        ({"required": ("p", "p/pet")}, "correct"),
        ({"required": ("name",)}, "missing_element"),
        ({"required": ("p/age",)}, "missing_element"),
        ({"allowed": ("p", "name", "pet")}, "correct"),
        ({"allowed": ("p", "name")}, "unexpected_element"),
    ],
)
def test_elements_asked_for(params: dict[str, Any], reason: str) -> None:
    verdict = ask("<p><name>Ann</name><pet xmlns='urn:x'><name>Rex</name></pet></p>", **params)
    assert verdict.reason == reason


@table(
    ("rest", "reason"),
    [
        ("</a>", "correct"),
        ("<c/>" * 200 + "</a>", "correct"),
        ("<c>" * 98 + "<!-- <d> --><d></d>" + "</c>" * 98 + "</a>", "correct"),
        ("<c>" * 99 + "<d></d>" + "</c>" * 99 + "</a>", "too_deep"),
        ("<c>" * 99 + "<d/>" + "</c>" * 99 + "</a>", "too_deep"),
        ("<c>" * 99 + "<d><e f=", "too_deep"),
        ("<c>" * 99 + "<d x=", "not_readable"),
        ("<c></a>", "not_readable"),
        ("<x:c/></a>", "not_readable"),
        ("&l;</a>", "not_readable"),
        ("</a><a/>", "not_readable"),
    ],
)
def test_what_follows_all_that_is_required_counts(rest: str, reason: str) -> None:
    assert ask(f"<a><b/>{rest}", required=("a/b",)).reason == reason


@table("shape", ["{}", "<!-- </x></x> -->{}", "<?x </x>?>{}"])
@table(("depth", "reason"), [(100, "correct"), (101, "too_deep")])
def test_nesting_ends_at_one_hundred(shape: str, depth: int, reason: str) -> None:
    assert ask(shape.format("<a>" * depth + "</a>" * depth)).reason == reason
    assert ask(shape.format("<a>" * (depth - 1) + "<a/>" + "</a>" * (depth - 1))).reason == reason


def test_all_names_are_looked_at_where_some_are_allowed() -> None:
    assert ask("<a><b/><c/></a>", required=("a/b",), allowed=("a", "b")).reason == "unexpected_element"


def test_a_wrong_root_has_nothing_that_is_required() -> None:
    assert ask("<b><a/></b>", root="a").reason == "wrong_root"
    assert ask("<b><a/></b>", root="b", required=("a",)).reason == "missing_element"


def test_nothing_is_left_for_the_garbage_collector() -> None:
    documents = ("<a><b/></a>", "<a>" * 200, "<!DOCTYPE a><a/>", "<a>", "text")
    gc.collect()
    gc.disable()
    try:
        for required in ((), ("a/b",), ("a/c",)):
            for response in documents:
                ask(response, required=required)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_long_names_cost_nothing_extra() -> None:
    name = "n" * 200_000
    assert ask(f"<{name}>{'<b/>' * 20_000}</{name}>", required=("a/b",)).reason == "missing_element"


def test_a_path_is_names_and_slashes() -> None:
    with pytest.raises(ValidationError):
        XmlParams(required=("/a",))


@given(st.text("ab<>/&;'\"=![]-? \n", max_size=60))
def test_any_text_is_judged(text: str) -> None:
    assert ask(text).status is Status.OK

"""References as data sets have them: BFCL's possible values and turns, call strings, comparisons of single arguments."""

import json
from typing import Any

from tests.tables import table
from verifiers.base import Item, Status, Verdict
from verifiers.conversation import dialects
from verifiers.rules.tool_call import ToolCallParams, judge

JSON = dict[str, Any]


def of(response: str | list[Any], reference: Any, **params: Any) -> Verdict:
    read = ToolCallParams.model_validate({"reference": reference, **params})
    if isinstance(response, str):
        return judge(Item(response, read))
    conversation = dialects.read(response)
    return judge(Item(conversation.text("last"), read, conversation=conversation))


def calling(*made: tuple[str, JSON]) -> JSON:
    functions = [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in made]
    return {"role": "assistant", "content": None, "tool_calls": functions}


# --- BFCL

SIMPLE = [{"get_weather": {"city": ["Beijing", "Peking"], "unit": ["celsius", ""], "days": [3]}}]
NESTED = [
    {
        "plan": {
            "trip": [{"from": ["Rome"], "to": ["Oslo", "Bergen"], "by": ["train", ""]}],
            "stops": [["Kiel", "Malmö"]],
        }
    }
]
PARALLEL = [{"f": {"x": [1]}}, {"f": {"x": [2]}}, {"math.g": {}}]


@table(
    ("reference", "response", "reason"),
    [
        (SIMPLE, "get_weather(city='Beijing', unit='celsius', days=3)", "correct"),
        (SIMPLE, "get_weather(city='peking', days=3)", "correct"),
        (SIMPLE, "get_weather(city='Pe-king.', days=3.0)", "correct"),
        (SIMPLE, "get_weather(city='Beijing', days='3', unit=None)", "wrong_arguments"),
        (SIMPLE, "get_weather(city='Beijing', days=3, unit='kelvin')", "wrong_arguments"),
        (SIMPLE, "get_weather(city='Beijing')", "wrong_arguments"),
        (SIMPLE, "get_weather(city='Beijing', days=3, wind=True)", "wrong_arguments"),
        (SIMPLE, "It is warm.", "no_call"),
        (NESTED, "plan(trip={'from': 'Rome', 'to': 'Bergen'}, stops=['Kiel', 'Malmö'])", "correct"),
        (NESTED, "plan(trip={'from': 'rome', 'to': 'Oslo', 'by': 'train'}, stops=['kiel', 'malmö'])", "correct"),
        (NESTED, "plan(trip={'from': 'Rome'}, stops=['Kiel', 'Malmö'])", "wrong_arguments"),
        (NESTED, "plan(trip={'from': 'Rome', 'to': 'Oslo', 'x': 1}, stops=['Kiel', 'Malmö'])", "wrong_arguments"),
        (NESTED, "plan(trip={'from': 'Rome', 'to': 'Oslo'}, stops=['Malmö', 'Kiel'])", "wrong_arguments"),
        (PARALLEL, "[f(x=2), math.g(), f(x=1)]", "correct"),
        (PARALLEL, "[f(x=2), math_g(), f(x=1)]", "correct"),
        (PARALLEL, "[f(x=2), f(x=2), math_g()]", "wrong_arguments"),
        (PARALLEL, "[f(x=2), f(x=1)]", "missing_call"),
    ],
)
@table("as_text", [False, True])
def test_rows_of_bfcl_are_judged_by_their_possible_values(
    reference: Any, response: str, reason: str, as_text: bool
) -> None:
    assert of(response, json.dumps(reference) if as_text else reference).reason == reason


JAVA = {
    "id": ("long", None, [7]),
    "size": ("integer", None, [5]),
    "rate": ("double", None, [2.5]),
    "deep": ("boolean", None, [True]),
    "names": ("Array", "String", [["-v", "a, b"]]),
    "ids": ("ArrayList", "long", [[101, 202]]),
    "limits": ("HashMap", None, [{"limit": [50], "schema": ["public"]}]),
    "out": ("Array", "String", ["System.out"]),
    "note": ("any", None, ["dbMonitor", ""]),
    "from": ("any", None, [20.5, "20.5"]),
}
JAVA_RIGHT = {
    "id": "7L",
    "size": "5",
    "rate": "2.5",
    "deep": "true",
    "names": 'new String[]{"-v", "a, b"}',
    "ids": "new ArrayList<>(Arrays.asList(101L, 202L))",
    "limits": 'new HashMap<String, Object>() {{ put("limit", 50); put("schema", "public"); }}',
    "out": "System.out",
    "note": "DBMonitor",
    "from": "20.5",
}
JAVASCRIPT = {
    "id": ("Bigint", None, [7]),
    "rate": ("float", None, [5.0]),
    "deep": ("Boolean", None, [True]),
    "points": ("array", "float", [[10.0, 15.5]]),
    "rows": ("array", "array", [[[1, 2], [3]]]),
    "options": ("dict", None, [{"role": ["admin"], "on": [True], "steps": [["load", "show"]]}]),
    "title": ("String", None, ["Product A"]),
}
JAVASCRIPT_RIGHT = {
    "id": "7n",
    "rate": "5",
    "deep": "true",
    "points": "[10, 15.5]",
    "rows": "new Array([1, 2], [3])",
    "options": "{role: 'admin', \"on\": true, steps: [\"load\", 'show']}",
    "title": "'Product A'",
}


def of_language(declared: JSON, given: JSON, **params: Any) -> str:
    properties = {name: {"type": kind, "items": {"type": inner}} for name, (kind, inner, _) in declared.items()}
    tool = {"name": "Api.f", "parameters": {"type": "dict", "required": [], "properties": properties}}
    reference = [{"Api.f": {name: values for name, (_, _, values) in declared.items()}}]
    return of(json.dumps([{"name": "Api.f", "arguments": given}]), reference, tools=[tool], **params).reason


@table("params", [{}, {"language": "java"}])
@table(
    ("changed", "reason"),
    [
        ({}, "correct"),
        ({"id": "7"}, "wrong_arguments"),
        ({"size": "5L"}, "wrong_arguments"),
        ({"size": "5.0"}, "wrong_arguments"),
        ({"rate": "2.5f"}, "wrong_arguments"),
        ({"deep": "True"}, "wrong_arguments"),
        ({"names": 'new String[]{"-v", "a", "b"}'}, "wrong_arguments"),
        ({"names": '["-v", "a, b"]'}, "wrong_arguments"),
        ({"ids": "new ArrayList<Long>() {{ add(101L); add(202L); }}"}, "correct"),
        ({"ids": "new ArrayList<>(Arrays.asList(101, 202))"}, "wrong_arguments"),
        ({"ids": "new ArrayList<>(Arrays.asList(101L, 202L)).clear()"}, "wrong_arguments"),
        ({"limits": 'new HashMap<>() {{ put("limit", 51); put("schema", "public"); }}'}, "wrong_arguments"),
        ({"limits": "new HashMap<>()"}, "wrong_arguments"),
        ({"out": "system.out"}, "wrong_arguments"),
        ({"out": ""}, "wrong_arguments"),
        ({"size": 5, "deep": True}, "correct"),
        ({"note": ""}, "correct"),
        ({"from": "-20.5"}, "wrong_arguments"),
    ],
)
def test_arguments_of_bfcls_java_are_sources_of_their_declared_types(params: JSON, changed: JSON, reason: str) -> None:
    assert of_language(JAVA, JAVA_RIGHT | changed, **params) == reason


@table("strings", ["exact", "bfcl"])
@table(
    ("language", "argument"),
    [
        ("java", {"ids": "new ArrayList<>(Arrays.asList(101L, 202L)).clear()"}),
        ("java", {"ids": '"new ArrayList<>(Arrays.asList(101L, 202L))"'}),
        ("java", {"limits": '-new HashMap<>() {{ put("limit", 50); put("schema", "public"); }}L'}),
        ("javascript", {"points": "[10, 15.5];"}),
        ("javascript", {"rows": "[[1, 2], [3]].0"}),
        ("javascript", {"options": "{role: 'admin', on: true, steps: ['load', 'show']}x"}),
    ],
)
def test_what_stands_around_a_value_counts_unless_strings_are_compared_as_by_bfcl(
    language: str, argument: JSON, strings: str
) -> None:
    declared, right = (JAVA, JAVA_RIGHT) if language == "java" else (JAVASCRIPT, JAVASCRIPT_RIGHT)
    reason = of_language(declared, right | argument, language=language, strings=strings)
    assert reason == ("correct" if strings == "bfcl" else "wrong_arguments")


@table("params", [{}, {"language": "javascript"}])
@table(
    ("changed", "reason"),
    [
        ({}, "correct"),
        ({"id": "7"}, "wrong_arguments"),
        ({"rate": "5.1"}, "wrong_arguments"),
        ({"points": "[15.5, 10]"}, "wrong_arguments"),
        ({"rows": "[[1, 2], [3]]"}, "correct"),
        ({"rows": "[1, 2, 3]"}, "wrong_arguments"),
        ({"options": "{role: 'admin', on: true}"}, "wrong_arguments"),
        ({"options": "{role: 'admin', on: true, steps: ['load', 'show']}; evil()"}, "wrong_arguments"),
        ({"title": "product a"}, "correct"),
    ],
)
def test_arguments_of_bfcls_javascript_are_sources_of_their_declared_types(
    params: JSON, changed: JSON, reason: str
) -> None:
    assert of_language(JAVASCRIPT, JAVASCRIPT_RIGHT | changed, **params) == reason


@table(
    ("language", "response", "right"),
    [
        ("java", "[Api.f(id=7L, size=5, deep=true, rate=2.5)]", True),
        ("java", 'Api.f(deep=true, rate=2.5, id=7L, size=5, note="DBMonitor")', True),
        ("java", "[Api.f(id=7L, size=5, deep=true, rate=2.5, out=System.out)]", True),
        ("java", "```java\nApi.f(id=7L, size=5, deep=true, rate=2.5)\n```", True),
        ("java", "[Api.f(id=7, size=5, deep=true, rate=2.5)]", False),
        ("java", "[Api.f(id=7L, size=5, deep=true, rate=2.5), Api.f(id=7L, size=5, deep=true, rate=2.5)]", False),
        ("java", "[Api.f(id=7L, size=5, deep=true, rate=2.5, rate=2.5)]", False),
        ("java", "[Api.f(id=7L, size=5, deep=true, rate=2.5)", True),
        ("java", "[Api.f(id=7L, size=5, deep=true, rate=2.5", False),
        ("java", "[Api.f(id=7L, size=5, deep=true, rate=2.5)].run()", False),
        ("javascript", "[Api.f(id=7n, deep=true, rows=new Array([1, 2], [3]))]", True),
        ("javascript", "[Api.f(id=7n, deep=true, rows=[[1, 2], [3]], title='Product A')]", True),
        (
            "javascript",
            "[Api.f(id=7n, deep=true, rows=[[1, 2], [3]], options={role: 'admin', on: true, steps: ['load', 'show']})]",
            True,
        ),
        ("javascript", "[Api.f(id=7, deep=true, rows=[[1, 2], [3]])]", False),
        ("javascript", "[Api.f(id=7n, deep=true, rows=[[1, 2, [3]])]", False),
    ],
)
@table("named", [False, True])
def test_calls_of_bfcls_java_and_javascript_may_be_in_their_notation(
    language: str, response: str, right: bool, named: bool
) -> None:
    declared: JSON = JAVA if language == "java" else JAVASCRIPT
    needed = {"id", "size", "deep", "rate"} if language == "java" else {"id", "deep", "rows"}
    properties = {name: {"type": kind, "items": {"type": inner}} for name, (kind, inner, _) in declared.items()}
    tool = {"name": "Api.f", "parameters": {"type": "dict", "required": [], "properties": properties}}
    values = {name: given if name in needed else [*given, ""] for name, (_, _, given) in declared.items()}
    params = {"language": language} if named else {}
    assert (of(response, [{"Api.f": values}], tools=[tool], **params).score == 1.0) is right


BFCL_ROWS = [
    # berkeley-function-call-leaderboard of ShishirPatil/gorilla, Apache-2.0: simple_java_0, 7 and 22, simple_javascript_2
    (
        "java",
        {"GeometryPresentation.createPresentation": {"controller": ["mapController"], "parent": ["mapArea"]}},
        "[GeometryPresentation.createPresentation(controller=mapController, parent=mapArea)]",
    ),
    (
        "java",
        {"EFSNIOResource.copy": {"destination": ["new Path('/backup/data.txt')"], "force": [True], "monitor": ["p"]}},
        "[EFSNIOResource.copy(destination=new Path('/backup/data.txt'), force=true, monitor=p)]",
    ),
    (
        "java",
        {"PmsProductServiceImpl.updateNewStatus": {"ids": [[101, 202, 303]], "newStatus": [2]}},
        "[PmsProductServiceImpl.updateNewStatus(ids=new ArrayList<Long>(Arrays.asList(101L, 202L, 303L)), newStatus=2)]",
    ),
    (
        "javascript",
        {"extractLastTransactionId": {"filepath": ["/var/log/db.log"], "status": [["completed", "failed"]]}},
        '[extractLastTransactionId(filepath="/var/log/db.log", status=["completed", "failed"])]',
    ),
]


@table(("language", "wanted", "response"), BFCL_ROWS)
def test_rows_of_bfcls_java_and_javascript_are_right_as_its_prompts_ask_for_them(
    language: str, wanted: JSON, response: str
) -> None:
    assert of(response, [wanted], language=language).score == 1.0
    assert of(response.replace("=", "=x", 1), [wanted], language=language).score == 0.0


@table(
    ("response", "values", "params", "reason"),
    [
        ("f(a='800', b='x')", {"a": [800], "b": ["x"]}, {}, "correct"),
        ("f(a='5.0')", {"a": [5.0]}, {}, "correct"),
        ("f(a='{}')", {"a": [{}]}, {}, "correct"),
        ("f(a='800', b=1)", {"a": [800], "b": [1]}, {}, "wrong_arguments"),
        ("f(a='800', b=1)", {"a": [800], "b": [1]}, {"language": "java"}, "correct"),
        ("f(a='800')", {"a": [800]}, {"language": "python"}, "wrong_arguments"),
        ("f(a='[1]')", {"a": [[1]]}, {"language": "java"}, "wrong_arguments"),
        ("f(a='801')", {"a": [800]}, {}, "wrong_arguments"),
        ("f(a='" + "[" * 1900 + "')", {"a": [[]]}, {}, "wrong_arguments"),
    ],
)
def test_without_tools_a_call_of_texts_only_may_be_one_of_bfcls_java_or_javascript(
    response: str, values: JSON, params: JSON, reason: str
) -> None:
    assert of(response, [{"f": values}], **params).reason == reason


def test_calls_that_are_not_in_bfcls_form_have_values_and_no_sources() -> None:
    assert of("f(a='800')", [{"name": "f", "arguments": {"a": 800}}]).reason == "wrong_arguments"


WEATHER = {
    "name": "weather.get",
    "description": "Of a city.",
    "parameters": {
        "type": "dict",
        "required": ["city"],
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "float"},
            "near": {"type": "tuple", "items": {"type": "float"}},
            "note": {"type": "any"},
        },
    },
}


@table("name", ["weather.get", "weather_get"])
@table(
    ("given", "reason"),
    [
        ({"city": "Rome"}, "correct"),
        ({"city": "Rome", "days": 2, "near": [1, 2.5], "note": {}}, "correct"),
        ({"city": "Rome", "days": "2"}, "invalid_arguments"),
        ({"days": 2}, "invalid_arguments"),
    ],
)
def test_tools_of_bfcl_are_read_with_their_own_names_of_types(name: str, given: JSON, reason: str) -> None:
    wanted = [{"weather.get": {"city": ["Rome"], "days": [2, ""], "near": [[1.0, 2.5], ""], "note": [{}, ""]}}]
    assert of([calling((name, given))], wanted, tools=[WEATHER]).reason == reason


def test_values_in_a_tools_schema_are_no_schemas_and_depth_has_a_bound() -> None:
    kinds = {"type": "object", "properties": {"type": {"enum": ["any", {"type": "float"}]}}}
    tool = {"name": "f", "parameters": kinds}
    assert (
        of([calling(("f", {"type": {"type": "float"}}))], [{"f": {"type": [{"type": "float"}]}}], tools=[tool]).score
        == 1.0
    )
    deep: Any = {"type": "object"}
    for _ in range(500):
        deep = {"type": "object", "properties": {"a": deep}}
    assert of("f()", ["f()"], tools=[{"name": "f", "parameters": deep}]).reason == "bad_tools"


def test_irrelevance_wants_no_call() -> None:
    assert of("None of these functions can do that.", []).score == 1.0
    assert of("get_weather(city='Beijing')", []).reason == "unexpected_call"


USER = {"role": "user", "content": "and now?"}
TOLD = {"role": "tool", "content": "ok"}
TURNS = [["cd(folder='a')", "ls()"], [], ["rm(name='x')"]]
DONE = [
    *(calling(("cd", {"folder": "a"})), TOLD, calling(("ls", {})), TOLD, {"role": "assistant", "content": "Done."}),
    *(USER, {"role": "assistant", "content": "Which one?"}),
    *(USER, calling(("rm", {"name": "x"}))),
]


@table(
    ("messages", "params", "reason"),
    [
        (DONE, {}, "correct"),
        (DONE, {"ordered": True}, "correct"),
        (DONE[:-2], {}, "no_call"),
        ([*DONE[:-1], calling(("rm", {"name": "y"}))], {}, "wrong_arguments"),
        ([*DONE, TOLD, calling(("ls", {}))], {}, "extra_call"),
        ([*DONE, TOLD, calling(("ls", {}))], {"calls": "subset"}, "correct"),
        ([*DONE[:5], USER, calling(("rm", {"name": "x"}))], {}, "unexpected_call"),
        ([*DONE, USER, calling(("ls", {}))], {}, "unexpected_call"),
        ([calling(("ls", {}), ("cd", {"folder": "a"})), *DONE[5:]], {}, "correct"),
        ([calling(("ls", {}), ("cd", {"folder": "a"})), *DONE[5:]], {"ordered": True}, "wrong_order"),
    ],
)
def test_a_list_of_lists_wants_calls_turn_by_turn(messages: list[JSON], params: JSON, reason: str) -> None:
    verdict = of(messages, TURNS, **params)
    assert (verdict.reason, verdict.score) == (reason, float(reason == "correct"))


def test_graded_credit_is_the_mean_over_the_turns() -> None:
    half = [["f(x=1)"], ["g()"]]
    assert of([calling(("f", {"x": 1}))], half, credit="graded").score == 0.5
    assert of([calling(("f", {"x": 1})), USER, calling(("g", {}))], half, credit="graded").score == 1.0


@table(
    ("turn", "reason"),
    [("last", "correct"), ("all", "extra_call"), (1, "wrong_function"), (3, "correct"), (4, "no_answer")],
)
def test_a_plain_reference_is_about_the_chosen_turn(turn: Any, reason: str) -> None:
    assert of(DONE, ["rm(name='x')"], turn=turn).reason == reason


# --- comparisons


@table(
    ("compare", "wanted", "given", "right"),
    [
        ("exact", "Paris", "paris", False),
        ("loose", "Paris", " PARIS ", True),
        ("bfcl", "New York", "new-york", True),
        ("any", None, {"whatever": 1}, True),
        ("set", ["a", "b"], ["b", "a", "a"], True),
        ("set", ["a", "b"], ["a"], False),
        ("set", [1, {"x": 2}], [{"x": 2.0}, 1.0], True),
        ("set", [1], [True], False),
        ({"tolerance": 0.5}, 3, 3.5, True),
        ({"tolerance": 0.5}, 3, 3.51, False),
        ({"tolerance": 0.5}, 3, "3", False),
        ({"relative": 0.01}, 200, 198, True),
        ({"relative": 0.01}, 200, 197, False),
        ({"tolerance": 1}, 10**400, 10**400, True),
        ({"pattern": "[^@]+@x[.]org"}, None, "me@x.org", True),
        ({"pattern": "[^@]+@x[.]org"}, None, "me@x.org!", False),
        ({"pattern": "[0-9]+"}, None, 12, False),
        ({"schema": {"type": "integer", "minimum": 3}}, None, 3, True),
        ({"schema": {"type": "integer", "minimum": 3}}, None, 2, False),
    ],
)
def test_an_argument_is_compared_as_its_call_says(compare: Any, wanted: Any, given: Any, right: bool) -> None:
    arguments = {} if wanted is None else {"a": wanted}
    reference = {"name": "f", "arguments": arguments, "compare": {"a": compare}}
    assert (of([calling(("f", {"a": given}))], reference).score == 1.0) is right
    assert of([calling(("f", {}))], reference).reason == "wrong_arguments"


def test_further_values_and_optional_arguments_are_compared_the_same_way() -> None:
    reference = {
        "name": "f",
        "arguments": {"a": "x"},
        "accept": {"a": ["y"]},
        "optional": ["a"],
        "compare": {"a": "loose"},
    }
    for given in ({"a": "X"}, {"a": "Y"}, {}):
        assert of([calling(("f", given))], reference).score == 1.0
    assert of([calling(("f", {"a": "z"}))], reference).score == 0.0


@table(
    ("compare", "message"),
    [
        ("about", "compare is one of exact"),
        ({"tolerance": -1}, "tolerance is a number from 0"),
        ({"tolerance": "1"}, "tolerance is a number from 0"),
        ({"pattern": "(?=x)"}, "is not RE2's"),
        ({"pattern": 5}, "a pattern is text"),
        ({"schema": {"type": 5}}, "compare: "),
        ({"tolerance": 1, "relative": 1}, "compare is one of"),
        (5, "compare is one of"),
    ],
)
def test_a_comparison_that_is_none_is_the_callers_to_mend(compare: Any, message: str) -> None:
    verdict = of("f(a=1)", {"name": "f", "arguments": {"a": 1}, "compare": {"a": compare}})
    assert (verdict.status, verdict.reason) == (Status.INVALID, "bad_reference")
    assert message in verdict.detail["message"]


def test_a_comparison_needs_something_to_compare_with() -> None:
    verdict = of("f(a=1)", {"name": "f", "arguments": {}, "compare": {"a": "loose"}})
    assert "no argument 'a' to compare with" in verdict.detail["message"]


# --- typed calls and those of the text


HERMES = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


@table(
    ("text", "made", "wanted", "reason"),
    [
        (HERMES, [("f", {"a": 1})], ["f(a=1)"], "correct"),
        (HERMES, [("f", {"a": 2})], ["f(a=1)", "f(a=2)"], "correct"),
        (HERMES + HERMES, [("f", {"a": 1})], ["f(a=1)"], "extra_call"),
        ("I call f.", [("f", {"a": 1})], ["f(a=1)"], "correct"),
        (HERMES.replace("}}", "}"), [("f", {"a": 1})], ["f(a=1)"], "malformed_call"),
        ("<think>I wonder", [("f", {"a": 1})], ["f(a=1)"], "correct"),
        ("<think>I wonder", [], ["f(a=1)"], "truncated"),
    ],
)
def test_a_call_is_counted_once_however_it_is_told(
    text: str, made: list[tuple[str, JSON]], wanted: list[str], reason: str
) -> None:
    message = {**calling(*made), "content": text} if made else {"role": "assistant", "content": text}
    assert of([message, TOLD], wanted).reason == reason


@table("arguments", ['{"a": ', "[1]", '{"a": 1, "a": 2}', 5, "[" * 200 + "]" * 200])
def test_arguments_that_cannot_be_read_are_the_models_fault(arguments: Any) -> None:
    assert of([calling(("f", arguments))], ["f(a=1)"]).reason == "malformed_call"


def test_too_many_calls_are_no_answer_and_no_trouble() -> None:
    assert of([calling(*[("f", {"a": 1})] * 257)], ["f(a=1)"]).reason == "malformed_call"

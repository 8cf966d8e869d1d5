"""What is not quick is judged in workers: the same verdicts, and no item that takes its neighbours or the loop along."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from sandbox.workers import Workers
from verifiers.base import Item, Resources, Status, Unavailable, Verifier
from verifiers.rules import (
    code_format,
    cosine_length,
    exact_match,
    json_schema,
    language,
    length,
    overlong,
    repetition,
    structured_output,
    tag_count,
    think_format,
    xml,
)

LINEAR: dict[str, Any] = {
    module.__name__: module
    for module in (cosine_length, exact_match, length, overlong, repetition, tag_count, think_format, xml)
}
MODULES: dict[str, Any] = {
    module.__name__: module for module in (code_format, json_schema, language, structured_output)
}
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def verifiers() -> AsyncIterator[dict[str, Verifier[Any]]]:
    workers = Workers(1)
    found = {name: module.create(Resources(workers=workers)) for name, module in {**MODULES, **LINEAR}.items()}
    await workers.start()
    yield found
    await workers.stop()


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize("name", MODULES)
async def test_long_responses_get_the_verdict_they_would_get_at_once(
    verifiers: dict[str, Verifier[Any]], name: str
) -> None:
    module, verifier = MODULES[name], verifiers[name]
    items = [
        Item(response, verifier.params.model_validate_json(json.dumps(example.params)), example.prompt, explain)
        for example in module.EXAMPLES
        for response in (example.response, example.response + " \n" * 40_000, "x" * 40_000 + example.response)
        for explain in (False, True)
    ]
    assert await verifier.score(items) == [module.judge(item) for item in items]


@pytest.mark.parametrize("name", LINEAR)
async def test_long_texts_get_the_verdict_they_would_get_at_once(
    verifiers: dict[str, Verifier[Any]], name: str
) -> None:
    module, verifier = LINEAR[name], verifiers[name]
    items = [
        Item(response, verifier.params.model_validate_json(json.dumps(example.params)))
        for example in module.EXAMPLES
        for response in (
            example.response,
            "<think>" + example.response * (40_000 // (len(example.response) + 1) + 1),
            "a" * 40_000 + "\ud800" * 9,
        )
    ]
    assert await verifier.score(items) == [module.judge(item.response, item.params) for item in items]


@pytest.mark.wording(beyond=2)
@pytest.mark.parametrize("name", [*MODULES, *LINEAR])
async def test_lone_surrogates_are_judged(verifiers: dict[str, Verifier[Any]], name: str) -> None:
    module, verifier = {**MODULES, **LINEAR}[name], verifiers[name]
    examples = [example for example in module.EXAMPLES if example.status is Status.OK]
    for response in ("\ud800", "\udfff" * 40_000):
        items = [
            Item(response, verifier.params.model_validate_json(json.dumps(example.params)), "What?")
            for example in examples
        ]
        assert {verdict.status for verdict in await verifier.score(items)} == {Status.OK}


async def test_a_batch_of_the_largest_inline_texts_lets_others_have_their_turn(
    verifiers: dict[str, Verifier[Any]],
) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    for name, params in (
        (think_format.__name__, think_format.ThinkFormatParams()),
        (language.__name__, language.LanguageParams(language="en")),
    ):
        turns = 0
        async with asyncio.TaskGroup() as group:
            counting = group.create_task(count_turns())
            await verifiers[name].score([Item("word " * 6_000, params)] * 64)
            counting.cancel()
        assert turns >= 20


@pytest.mark.parametrize(
    ("module", "response", "params"),
    [
        (json_schema, "[" + "[]," * 9_000 + "[]]", {"reference": {"items": {"enum": list(range(500))}}}),
        (json_schema, "[" + "[]," * 9_000 + "[]]", {"reference": {"uniqueItems": True}}),
        (structured_output, "a,b\n" * 7_000, {"format": "csv", "reference": {"items": {"required": ["c"]}}}),
        (code_format, "~~~\n" * 7_000, {"language": "java"}),
    ],
)
async def test_texts_of_many_small_parts_do_not_hold_the_loop(
    verifiers: dict[str, Verifier[Any]], module: Any, response: str, params: dict[str, Any]
) -> None:
    verifier = verifiers[module.__name__]
    item = Item(response, verifier.params.model_validate(params))
    assert not module._is_quick(item)
    assert [verdict.score for verdict in await verifier.score([item])] == [0.0]


@pytest.mark.parametrize("params", [{"n": 64}, {"preset": "trl", "completion_ids": [7] * 60_000}])
async def test_costly_parameters_do_not_hold_the_loop(
    verifiers: dict[str, Verifier[Any]], params: dict[str, Any]
) -> None:
    item = Item("ab " * 9_000, repetition.RepetitionParams.model_validate(params))
    assert not repetition._is_quick(item)
    (verdict,) = await verifiers[repetition.__name__].score([item])
    assert verdict == repetition.judge(item.response, item.params)


@pytest.mark.growth
async def test_a_schema_that_multiplies_is_the_callers_to_mend(verifiers: dict[str, Verifier[Any]]) -> None:
    double = {f"n{n}": {"allOf": [{"$ref": f"#/$defs/n{n + 1}"}] * 10} for n in range(12)}
    schema = {"$defs": {**double, "n12": {"type": "integer"}}, "$ref": "#/$defs/n0"}
    params = json_schema.JsonSchemaParams(reference=schema)
    (verdict,) = await verifiers[json_schema.__name__].score([Item("1", params)])
    assert (verdict.status, verdict.reason) == (Status.INVALID, "schema_too_slow")


@pytest.mark.growth
async def test_a_response_that_makes_a_schema_slow_is_wrong(verifiers: dict[str, Verifier[Any]]) -> None:
    """Each item is compared with every value."""
    params = json_schema.JsonSchemaParams(reference={"items": {"not": {"enum": list(range(20_000))}}})
    many = Item(f"[{'0.5,' * 900_000}0.5]", params)
    slow, quick = await verifiers[json_schema.__name__].score([many, Item("[0.5]", params)])
    assert (slow.status, slow.score, slow.reason, quick.score) == (Status.OK, 0.0, "too_complex", 1.0)


@pytest.mark.parametrize(
    ("format_", "bomb"),
    [
        ("toml", "a" + ".a" * 120_000 + " = 1"),
        ("toml", "x = " + "[" * 250_000),
        ("yaml", "[" * 250_000),
        ("yaml", "{a: " * 60_000),
        ("yaml", "? " * 120_000),
        ("yaml", "- " * 120_000),
        ("yaml", "&a " * 80_000),
        ("json", "[" * 3_000_000),
        ("csv", '"' * 3_000_001),
    ],
)
async def test_documents_built_to_be_slow_are_not_rewarded(
    verifiers: dict[str, Verifier[Any]], format_: str, bomb: str
) -> None:
    params = structured_output.StructuredOutputParams.model_validate({"format": format_})
    good = {"toml": "a = 1", "yaml": "a: 1", "json": "1", "csv": "a,b\n1,2"}[format_]
    hostile, fine = await verifiers[structured_output.__name__].score([Item(bomb, params), Item(good, params)])
    assert (hostile.status, hostile.score, fine.score) == (Status.OK, 0.0, 1.0)


@pytest.mark.parametrize("nest", ["(" * 100_000, "-" * 100_000 + "1", "f(" * 50_000, "x" + ".a" * 100_000, "[" * 90])
async def test_nested_programs_are_judged(verifiers: dict[str, Verifier[Any]], nest: str) -> None:
    item = Item(f"```python\n{nest}\n```", code_format.CodeFormatParams())
    (verdict,) = await verifiers[code_format.__name__].score([item])
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)


async def test_without_workers_there_is_no_verdict() -> None:
    idle = structured_output.create(Resources(workers=Workers(1)))
    with pytest.raises(Unavailable):
        await idle.score([Item("a: 1", structured_output.StructuredOutputParams(format="yaml"))])

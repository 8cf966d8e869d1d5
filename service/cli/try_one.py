"""`rewardline try NAME` judges one response, here or by a running service, and says why."""

import json
import sys
from typing import Annotated, Any, Final

import typer
import uvloop
from rewardline import RewardlineError

from service.cli.console import fail, say
from service.cli.remote_scorer import scorer_at, versions_at
from service.rollouts.bad_input import BadInput, Json
from verifiers.near_names import near

_EXIT_CODES = {"ok": 0, "invalid": 1, "failed": 3}


def command(
    name: Annotated[str, typer.Argument(help="A verifier or a recipe: math, code, think_math ...")],
    response: Annotated[str, typer.Option(help="The response. - reads it from standard input.")] = "-",
    reference: Annotated[str | None, typer.Option(help="The reference as text.")] = None,
    reference_json: Annotated[str | None, typer.Option(help="The reference as JSON: test cases, options ...")] = None,
    params: Annotated[str, typer.Option(help='Parameters as JSON: \'{"unit_policy": "ignore"}\'.')] = "{}",
    prompt: Annotated[str | None, typer.Option(help="The prompt, for verifiers that read it.")] = None,
    url: Annotated[
        str | None, typer.Option(help="Have this service judge (http:// or grpc://); default: here.")
    ] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="For --url.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    r"""Judge one response, and say why. Exit code 1: the item is invalid; 3: it could not be judged.

    rewardline try math --response 'It is \boxed{1/2}.' --reference 0.5
    """
    if reference is not None and reference_json is not None:
        raise fail("--reference and --reference-json are both given; give one")
    item: Json = {"response": sys.stdin.read() if response == "-" else response, "params": _read("--params", params)}
    if reference_json is not None:
        item["reference"] = _read("--reference-json", reference_json)
    elif reference is not None:
        item["reference"] = reference
    if prompt is not None:
        item["prompt"] = prompt
    try:
        result = uvloop.run(_judged_at(url, api_key, name, item)) if url else _judged_here(name, item)
    except (BadInput, RewardlineError) as error:
        raise fail(str(error)) from error
    say(json.dumps(result, indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(name, result)))
    raise typer.Exit(_EXIT_CODES[result["status"]])


def _read(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise fail(f"{option} is not JSON: {error}") from error


async def _judged_at(url: str, api_key: str | None, name: str, item: Json) -> Json:
    verifiers = await versions_at(url, api_key, None, None)
    kind = "verifier" if name in verifiers else "recipe"
    if kind == "recipe":
        try:
            await versions_at(url, api_key, None, name)
        except BadInput as error:
            raise BadInput(f"{error}, and no verifier of that name{near(name, verifiers)}") from error
    async with scorer_at(url, api_key, explain=True) as score:
        (result,) = await score([{**item, kind: name}])
        return dict(result)


def _judged_here(name: str, item: Json) -> Json:
    from service.cli import try_here  # noqa: PLC0415 - asking a service needs no engine

    return try_here.judged(name, item)


_SAID: Final = {
    "channel": "found by",
    **dict.fromkeys(("span", "candidates", "mentions", "method", "reference_as_read", "answer_as_read"), ""),
}
"""Fields of a detail that have another name in words, or are for programs alone (`--json`)."""


def _lines(name: str, result: Json) -> list[str]:
    """The result in words: the outcome, then each field that says something."""
    judge = result["recipe"] or (f"{result['verifier']} {result['version']}" if result["verifier"] else name)
    score = "" if result["score"] is None else f", score {result['score']:g}, reward {result['reward']:g}"
    lines = [f"{judge}: {result['status']}{score} ({result['reason']})"]
    if result["extracted"] is not None:
        lines.append(f"answer: {result['extracted']}")
    for check in result["checks"] or ():
        lines.append(f"check {check['name']}: {check['status']}, score {check['score']} ({check['reason']})")
    detail = result["detail"]
    lines += [f"{words}: {_plain(value)}" for name, value in detail.items() if (words := _SAID.get(name, name))]
    for mention in detail.get("mentions", ()):
        role = ", the answer" if mention.get("role") == "answer" else ""
        lines.append(f"mention: {mention['text']} ({mention['stance']}{role})")
    return lines


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

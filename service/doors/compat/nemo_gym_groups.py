"""What NeMo-Gym's genrm_compare does: `POST compare` rewards several responses, `verify` a cohort that comes one by one.

    compare    {conversation_history, response_objs} ──► a tournament of scores ──► {rewards, comparison_results, metrics}
    verify     a row, with ?group={"size": 16} ──► a member of a group, see `service.groups.singles`

The option `group` takes the fields of an item's `group`, for the rows of any server: with `"method": "majority"` those of
math need no answer. A comparison that could not be read is left out, and never a 3.0; a response that was in none is no
number, and the caller tries again.
"""

import statistics
from hashlib import blake2b
from typing import Any, Final

import msgspec

from service.doors.compat.request_options import JSON, RequestOptions, refusal
from service.errors import NotJudged, Unprocessable
from service.groups.pairings import FEWEST
from service.groups.schemas import Group, GroupOf, GroupResult
from service.groups.scoring import GroupScorer
from service.groups.shown import text_of
from service.wire import Message, ScoreItem, encode

SERVER: Final = "genrm_compare"
_USUAL: Final[JSON] = {"method": "tournament", "tournament": {"pairs": "circular", "rating": "scores"}}
_WAIT_S: Final = 120.0


class Answered(msgspec.Struct):
    """The parts of a response object of OpenAI's Responses API that are read here."""

    output: list[Message]


class Comparison(msgspec.Struct):
    """Responses to one conversation."""

    conversation_history: list[Message]
    response_objs: list[Answered]
    principle: str | None = None
    """What the responses are compared by; shown by prompts that have the slot, see docs/groups.md."""


class Compared(msgspec.Struct):
    """`rewards[i]` belongs to `response_objs[i]`."""

    rewards: list[float]
    comparison_results: list[JSON]
    metrics: dict[str, float]


def options_of(given: str | msgspec.UnsetType, **usual: Any) -> JSON:
    """The fields of the option `group`.

    Raises:
        Unprocessable: they are not those of a group.
    """
    try:
        fields = msgspec.json.decode(given) if isinstance(given, str) else {}
        if "tournament" in usual and "tournament" in fields:
            fields["tournament"] = {**usual["tournament"], **fields["tournament"]}
        msgspec.convert({"size": 1, **usual, **fields}, GroupOf)
    except (msgspec.MsgspecError, TypeError) as error:
        raise refusal(["group"], f"expected the fields of an item's group as JSON: {error}") from error
    return {"wait_s": _WAIT_S, **usual, **fields}


def is_comparison(server: str | None, row: JSON) -> bool:
    """Whether a row is one of genrm_compare, by the URL or by its agent."""
    agent = row.get("agent_ref")
    name = agent.get("name") if isinstance(agent, dict) else None
    return server == SERVER if server is not None else isinstance(name, str) and name.startswith(SERVER)


def comparison_item(row_input: str | list[Message], response: list[Message]) -> ScoreItem:
    """The item of a rollout of genrm_compare."""
    return ScoreItem(_text_of(response), verifier="judge", prompt=_asked(row_input))


def member(item: ScoreItem, given: str | msgspec.UnsetType, row: JSON, *, is_compared: bool) -> ScoreItem:
    """The item as a member of the group of its task.

    Raises:
        Unprocessable: the option `group` has no size, or is not that of a group.
    """
    index, response = row.get("_ng_rollout_index"), row.get("response")
    # A circle goes by the indexes, as in the original.
    order = {} if index is None or not is_compared else {"seed": None}
    fields = options_of(given, **(_USUAL if is_compared else {}), **order)
    if "size" not in fields:
        raise refusal(["group"], 'the URL needs group={"size": 16}, the number of rollouts of each prompt')
    cohort, attempt = row.get("_ng_group_id"), row.get("_ng_group_attempt", 0)
    task = next((row[name] for name in ("_ng_task_index", "prompt_id") if row.get(name) is not None), None)
    own = response.get("id") if isinstance(response, dict) else None
    if cohort is not None:
        fields["id"] = f"nemo_gym/{_digest(cohort, attempt)}"
    elif task is not None:  # a trainer comes back to a task: its groups follow each other
        fields |= {"id": f"nemo_gym/{_digest(task, row.get('principle'), item.prompt)}", "again": True}
    if cohort is not None and index is not None:
        fields["member"] = index
    elif own or index is not None:  # an id alone may be that of several responses
        place = "" if index is None else f"{str(index)[:32]:0>9}/"
        fields["member"] = place + _digest(own or None, index, response)
    item.group = msgspec.Raw(encode(fields))
    if is_compared:
        item.params = _params({"principle": row.get("principle")})
    return item


def _params(fields: JSON) -> msgspec.Raw:
    return msgspec.Raw(encode({name: value for name, value in fields.items() if value is not None}))


def _digest(*parts: Any) -> str:
    return blake2b(encode(parts), digest_size=24).hexdigest()


async def compare(
    scorer: GroupScorer, body: Comparison, options: RequestOptions, given: Any, deadline: float
) -> Compared:
    """The rewards of the responses.

    Raises:
        Unprocessable: they cannot be compared until the request is mended.
        NotJudged: one of them was in no comparison that could be read.
    """
    fields = {"size": 2, "seed": None, "cache": options.cache, **options_of(given, **_USUAL)}
    named = options.fields()
    group = Group(
        responses=[_text_of(each.output) for each in body.response_objs],
        prompt=_asked(body.conversation_history),
        params=_params({"principle": body.principle, **named.get("params", {})}),
    )
    [result] = (await scorer.score([group], msgspec.convert(fields, GroupOf).options, deadline)).groups
    if result.status == "invalid" or len(result.members) < FEWEST:
        raise Unprocessable(result.message)
    rewards = [each.reward for each in result.members if each.reward is not None]
    if len(rewards) < len(result.members):
        raise NotJudged(f"{len(result.members) - len(rewards)} responses: {_why(result)}", retry_after_s=1.0)
    return Compared(rewards, _results(result), _metrics(result))


def _why(result: GroupResult) -> str:
    return next(each.reason for each in result.members if each.reward is None)


def _results(result: GroupResult) -> list[JSON]:
    names = ("response_i", "response_j", "score_1", "score_2", "ranking")
    return [{**dict(zip(names, each, strict=True)), "judge_idx": 0} for each in result.detail.get("scores", ())]


def _metrics(result: GroupResult) -> dict[str, float]:
    """The metrics of the original, over the comparisons that could be read."""
    games = result.detail.get("scores", ())
    single = [score for _, _, first, second, _ in games for score in (first, second)]
    if not single:
        return {}
    return {
        "mean_individual_score": statistics.fmean(single),
        "std_individual_score": statistics.pstdev(single),
        "tiebreak_usage_rate": sum(game[2] == game[3] for game in games) / len(games),
        "dropped_comparisons": float(result.detail["dropped"]),
    }


def _asked(history: str | list[Message]) -> str | list[Message]:
    """The prompt: one question stands as it is, without the name of its role before it."""
    if isinstance(history, list) and len(history) == 1 and history[0].get("role") == "user":
        content = history[0].get("content")
        return content if isinstance(content, str) else history
    return history


def _text_of(output: list[Message]) -> str:
    """The response as one text: its reasoning, if there is any, and its answer."""
    reasoning = "".join(text_of(each.get("summary")) for each in output if each.get("type") == "reasoning")
    answer = "".join(text_of(each.get("content")) for each in output if each.get("type") == "message")
    return f"<think>{reasoning}</think>{answer}" if reasoning else answer

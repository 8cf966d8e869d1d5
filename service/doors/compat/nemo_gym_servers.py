"""Judges a row as the resources server of NeMo-Gym does that its name says.

    URL      /compat/nemo_gym/{server}/verify, or ?server=
    row      `agent_ref.name`, where it holds the name of a server; or a field that only rows of one server have

A server of `VERIFIERS` has its rows judged by a verifier of this service: by a field of the row, as `nemo_gym_servers.yaml`
has it, or by what a function here makes of the row. The servers of `verifiers.nemo_gym` are judged by it. Where the original asks a model and one is configured here, ours is asked;
without one, the words that the row recorded of the original's judge count.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from importlib import resources
from typing import Any, Final

from service.doors.compat.request_options import JSON
from service.errors import Unprocessable
from verifiers import tables
from verifiers.nemo_gym import RECORDED, SERVERS
from verifiers.nemo_gym.documents import strict
from verifiers.nemo_gym.rollouts import merged


def _grid(row: JSON) -> JSON:
    if row.get("agent_mode") == "inductive":
        message = "rows of nvarc with 'agent_mode': 'inductive' need their program run with numpy and scipy"
        raise Unprocessable(f"{message}; they are not judged")
    return {"verifier": "arc_grid", "reference": row.get("expected_output")}


def _molecule(row: JSON) -> JSON:
    """A row of ether0: `solution` names its evaluation and the answer; the answer may be one of `choices`."""
    metadata = row.get("verifier_metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    solution, choices = fields.get("solution"), fields.get("choices")
    if not isinstance(solution, str):
        raise Unprocessable("rows of NeMo-Gym's server 'ether0' need 'verifier_metadata.solution'; add it")
    if not isinstance(choices, dict) or not choices:
        return {"verifier": "chemistry", "reference": solution}
    answer = solution.split("!:!")[1:2]
    label = next((label for label, text in choices.items() if [text] == answer), None)
    return {"verifier": "multiple_choice", "reference": label, "params": {"choices": choices}}


def _point(row: JSON) -> JSON:
    try:
        x, y = (float(part) for part in str(row.get("expected_answer")).split(","))
    except ValueError as error:
        raise Unprocessable("the row's 'expected_answer' must be 'x,y', both from 0 to 1") from error
    params = {"scale": 1, "image_size": [1000, 1000], "max_error": row.get("max_dist", 0.15)}
    return {"verifier": "point", "reference": [x, y], "params": params}


def _instructions(row: JSON) -> JSON:
    fields = merged(row)
    reference = {name: fields[name] for name in ("instruction_id_list", "kwargs", "prompt") if fields.get(name)}
    mode = {"binary": "all", "fraction": "fraction"}.get(str(fields.get("grading_mode", "binary")))
    if mode is None:
        raise Unprocessable("the row's 'grading_mode' must be binary or fraction")
    params = {"aggregate": mode, "mode": "strict", "profile": "official", "think": "auto"}
    return {"verifier": "instruction_following", "reference": reference, "params": params}


def _ruler2(row: JSON) -> JSON:
    if row.get("eval_type") == "multichoice":
        return {"verifier": "multiple_choice", "reference": row.get("expected_answer")}
    return _own("ruler2", row)


def _own(server: str, row: JSON) -> JSON:
    return {"verifier": "nemo_gym", "reference": row, "params": {"server": server}}


def _judge(row: JSON) -> JSON:
    """An item for our judge model; None of the row's recorded words are read."""
    fields = merged(row)
    names = ("expected_answer", "answer", "ideal")
    reference = next((fields[name] for name in names if fields.get(name) is not None), None)
    question = fields.get("question")
    return {"verifier": "judge", "reference": reference, "params": {"question": question} if question else {}}


def _rubric(row: JSON) -> JSON:
    """An item for our judge model, by the row's rubric."""
    fields = merged(row, "metadata")
    if not fields.get("rubric"):
        raise Unprocessable("rows of this server of NeMo-Gym need 'rubric', a list of criteria; add it")
    return {"verifier": "judge", "params": {"criteria": fields}}


def _puzzle(row: JSON) -> JSON:
    entry = {name: row.get(name) for name in ("question", "answer", "metadata")}
    return {"verifier": "reasoning_gym", "reference": entry, "params": {"threshold": None}}


def _string_match(row: JSON) -> JSON:
    mode, is_cased = str(row.get("extraction_mode", "any")), row.get("case_sensitive") is True
    if mode not in TABLE["extraction_modes"]:
        raise Unprocessable(f"the row's 'extraction_mode' must be one of {', '.join(TABLE['extraction_modes'])}")
    way: JSON = {"ignore_case": False} if is_cased else {"metric": "exact"}
    params = {**way, "extract": TABLE["extraction_modes"][mode]}
    return {"verifier": "exact_match" if is_cased else "qa", "reference": row.get("expected_answer"), "params": params}


def _document(row: JSON) -> JSON:
    """A document, or the arguments of a call, that a strict schema holds for."""
    if row.get("response_mode") == "tool_call":
        return _own("structured_outputs", row)
    text = row.get("schema_str")
    try:
        if not isinstance(text, str) or len(text) > _MAX_SCHEMA_CHARS:
            raise ValueError
        schema = strict(json.loads(text))
    except (ValueError, RecursionError) as error:
        message = f"need 'schema_str' as JSON of at most {_MAX_SCHEMA_CHARS} characters; add it"
        raise Unprocessable(f"rows of NeMo-Gym's server 'structured_outputs' {message}") from error
    params = {"format": row.get("schema_type", "json"), "allow_fence": False}
    return {"verifier": "structured_output", "reference": schema, "params": params}


_MAX_SCHEMA_CHARS: Final = 50_000
"""A larger one takes the event loop too long."""
TABLE: Final[Mapping[str, Any]] = tables.values(resources.files(__package__) / "nemo_gym_servers.yaml")
UNJUDGED: Final[Mapping[str, str]] = TABLE["unjudged"]
CONVENTION_OF: Final[Mapping[str, str]] = TABLE["conventions"]
CHOICES: Final = frozenset(server for server, verifier in CONVENTION_OF.items() if verifier == "multiple_choice")
"""Servers whose rows have options."""


def _plain(server: str, row: JSON) -> JSON:
    way = TABLE["verifiers"][server]
    params = {name: row[field] for name, field in way.get("fields", {}).items() if row.get(field) is not None}
    reference = row if way["reference"] == "." else row.get(way["reference"])
    return {"verifier": way["verifier"], "reference": reference, "params": way.get("params", {}) | params}


VERIFIERS: Final[Mapping[str, Callable[[JSON], JSON]]] = {
    "arc_agi": _grid,
    "ether0": _molecule,
    "gui_coordinate": _point,
    "ifbench": _instructions,
    "instruction_following": _instructions,
    "nvarc": _grid,
    "reasoning_gym": _puzzle,
    "ruler2": _ruler2,
    "string_match": _string_match,
    "structured_outputs": _document,
    **{server: partial(_plain, server) for server in TABLE["verifiers"]},
}
"""The item of a row, by the name of its server."""
NAMES: Final = frozenset([*CONVENTION_OF, *VERIFIERS, *TABLE["by_rubric"], *SERVERS, *RECORDED])
_MAX_AGENT_CHARS: Final = 100


def server_of(url_server: str | None, row: Mapping[str, Any]) -> str | None:
    """The server that judges a row: as the URL names it, or the row by its agent or a field. None: nothing names one.

    Raises:
        Unprocessable: rows of the server are not judged here, its agent has no name, or it records a judge and names no server.
    """
    if url_server is not None:
        if url_server not in NAMES:
            why = UNJUDGED.get(url_server) or f"these are: {', '.join(sorted(NAMES))}"
            raise Unprocessable(f"rows of NeMo-Gym's server {url_server!r} are not judged here; {why}")
        other = row.get("verifier_type") if url_server == "ns_tools" else None
        return url_server if other is None else server_of(str(other), {})
    name = agent_of(row)
    server = _named(name.lower().replace("-", "_")) if name is not None else None
    server = server or next((told for field, told in TABLE["told_by"].items() if field in row), None)
    if server is None and "library_reward" not in row and any(field.startswith(("judge_", "verdict")) for field in row):
        raise Unprocessable("the row records a judge, and may be of several servers; name its server in the URL")
    return None if server is None else server_of(server, row)


def agent_of(row: Mapping[str, Any]) -> str | None:
    """The name of the agent that made the rollout.

    Raises:
        Unprocessable: it is none.
    """
    agent = row.get("agent_ref")
    name = agent.get("name") if isinstance(agent, dict) else agent
    if not name:
        return None
    if not isinstance(name, str) or len(name) > _MAX_AGENT_CHARS:
        message = f"must be an object with a 'name' of at most {_MAX_AGENT_CHARS} characters, or be left out"
        raise Unprocessable(f"the row's 'agent_ref' {message}")
    return name


def _named(agent: str) -> str | None:
    """The server in the name of an agent, such as `aime24_math_with_judge_simple_agent`: the longest, then the first."""
    if agent in TABLE["agents"]:
        return str(TABLE["agents"][agent])
    words = f"_{agent}_"
    held = [server for server in (*NAMES, *UNJUDGED) if f"_{server}_" in words]
    return max(held, key=lambda server: (len(server), -words.index(f"_{server}_")), default=None)


def fields_of(server: str, row: JSON, *, has_judges: bool, replay: bool = False, is_member: bool = False) -> JSON:
    """The fields of the item.

    Args:
        server: One of `NAMES`; of those whose rows have a convention, only one whose row lacks what that has.
        row: All fields of the row.
        has_judges: A judge model is configured.
        replay: The caller vouches that what the row records of a judge is about this response.
        is_member: The row is of a group, whose majority needs no reference.

    Raises:
        Unprocessable: the row lacks what the server judges by.
    """
    row_fields = {name: value for name, value in row.items() if name not in _NOT_OF_THE_ROW}
    if replay:
        row_fields["replay"] = True
    if _is_cut_off(row):
        row_fields["cut_off"] = True
    if server in _WITH_TOOLS:
        row_fields |= _tools(row)
    if server in RECORDED and not any(_has(row_fields, path) for path in TABLE["judged_by"].get(server, ())):
        item = _own(server, row_fields)
        item["params"]["recorded"] = True
    elif server in VERIFIERS:
        item = VERIFIERS[server](row_fields)
        if server in TABLE["verifiers"] and item["reference"] is None and not is_member:
            field = TABLE["verifiers"][server]["reference"]
            raise Unprocessable(f"rows of NeMo-Gym's server {server!r} need {field!r}; add it")
    elif has_judges and server in TABLE["asked"]:
        item = _judge(row_fields)
    elif server in TABLE["by_rubric"] and has_judges:
        item = _rubric(row_fields)
    elif server not in SERVERS:
        raise Unprocessable(f"rows of NeMo-Gym's server {server!r} need a judge model, and none is configured")
    else:
        item = _own(server, row_fields)
    if server in TABLE["recipes"]:
        item["recipe"] = TABLE["recipes"][server]
        del item["verifier"]
    return {**item, "params": {"unfinished": "wrong", **item.get("params", {})}}


def _has(row: Any, path: str) -> bool:
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row not in (None, "")


_NOT_OF_THE_ROW: Final = ("responses_create_params", "response", "reward", "replay", "cut_off")
_WITH_TOOLS: Final = frozenset(["example_tool_call_multireward", "terminal_multi_harness"])
"""Servers that compare calls by the schemas of their tools."""


def _is_cut_off(row: JSON) -> bool:
    """Whether the model ran out of tokens."""
    response = row.get("response")
    details = response.get("incomplete_details") if isinstance(response, dict) else None
    return isinstance(details, dict) and details.get("reason") == "max_output_tokens"


def _tools(row: JSON) -> JSON:
    """The tools of the request to the model, unless the row lists them itself."""
    request = row.get("responses_create_params")
    tools = request.get("tools") if isinstance(request, dict) else None
    return {"declared_tools": row.get("declared_tools") or tools or []}

"""Judges rows of NeMo-Gym as the resources server of a name does, where no other verifier judges so.

    measures    a likeness or a share: graphwalks, lc_niah, mrcr, ruler, ruler2, equivalence_rule, asr_with_pc, vlm_eval_kit,
                rolemrc
    labels      one of a few labels: imo_gradingbench, math_proof_judgement, ragtruth, circle_count, spartqa
    actions     the calls of an agent: single_step_tool_use_with_argument_comparison, indirect_prompt_injection, ...
    image_calls, terminal, edits
                the next call of other agents: image_tools, terminal_multi_harness, swe_pivot
    games       episodes of simulations: grl_sokoban, grl_tetris, blackjack, openair_congestion
    properties, calendars, workplace
                litmus_agent, calendar, workplace_assistant
    documents   the form of the answer: structeval, format_verification
    citations   the sources that an answer cites: citation_if
    hierarchy   the system's instructions against the user's: iheval
    replays     what the server's judge model said, as the row recorded it: simpleqa, omniscience, longmemeval, ...
    records     the recorded result of a program, a proof or a query, where the row lacks what it was run against

The forms and formulas are those of NeMo-Gym (github.com/NVIDIA-NeMo/Gym, resources_servers). The door for NeMo-Gym
chooses the server; servers whose rows another verifier judges are in its table.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from sandbox.workers import Workers
from verifiers.base import Example, InvalidItem, Item, Params, Resources, Status, Verdict, Verifier, clip
from verifiers.nemo_gym import (
    actions,
    calendars,
    citations,
    documents,
    edits,
    games,
    hierarchy,
    image_calls,
    labels,
    measures,
    properties,
    records,
    replays,
    terminal,
    workplace,
)
from verifiers.nemo_gym.rollouts import Rollout, Servers
from verifiers.rules import bounded

MODULES: Final = (
    properties, calendars, measures, labels, documents, actions, citations, hierarchy, image_calls, terminal, edits, games,
    workplace, replays,
)  # fmt: skip
SERVERS: Final[Servers] = {server: judge for module in MODULES for server, judge in module.SERVERS.items()}
"""What each server does with a rollout."""
RECORDED: Final = records.SERVERS
"""The same for a rollout that holds a result instead of what its server judges by."""
_OF_TEXT: Final = frozenset({
    *properties.SERVERS, *calendars.SERVERS, *measures.SERVERS, *labels.SERVERS, *citations.SERVERS, *hierarchy.SERVERS,
    "format_verification", "structeval", *records.OF_TEXT, *replays.SERVERS,
})  # fmt: skip
"""Servers that read no calls: a response that ends in one has no answer."""
_QUICK_CHARS: Final = 2_000
_QUICK: Final = frozenset(["ragtruth", *replays.SERVERS])
"""Servers that read a short text within a turn of the event loop."""


class NeMoGymParams(Params):
    """The server, and the row that it judges by."""

    server: str = Field(min_length=1, max_length=64)
    """The name of the resources server."""
    reference: dict[str, Any]
    """The row's fields, without the request to the model and its response."""
    recorded: bool = False
    """Whether the result that the row recorded counts, if it is about this response."""
    measure: Literal["score", "gain", "loss"] = "score"
    """Of an episode: a 100th of the sum of its rewards, as far as it is above 0 (`gain`) or below (`loss`)."""


class NeMoGym(Verifier[NeMoGymParams]):
    name = "nemo_gym"
    version = "11"
    params = NeMoGymParams
    summary = "As NeMo-Gym's resources server of a name judges its rows, where no other verifier does"
    uses_prompt = True
    judges_calls = True

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[NeMoGymParams]]) -> Sequence[Verdict]:
        return await bounded.judge_all(self._workers, judge, items, _is_quick)


def create(resources: Resources) -> NeMoGym:
    bounded.register(resources.workers, judge, Item("Judgement: Yes", _WARM))
    return NeMoGym(resources.workers)


def judge(item: Item[NeMoGymParams]) -> Verdict:
    """The verdict of the server.

    Raises:
        InvalidItem: the row lacks what the server judges by.
    """
    server = item.params.server
    judged = RECORDED.get(server) if item.params.recorded else SERVERS.get(server)
    if judged is None:
        servers = ", ".join(sorted(RECORDED if item.params.recorded else SERVERS))
        return Verdict.invalid("unknown_server", f"server {clip(item.params.server)!r} is not one of: {servers}")
    try:
        judgement = judged(Rollout.of(item))  # first, as a row that lacks something is refused whatever the response is
        if server in _OF_TEXT and not item.params.reference.get("replay") and item.said.unjudged("last"):
            return Verdict.wrong("no_answer")
        if item.params.measure != "score":
            judgement = games.measured(judgement, item.params.measure)
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))
    return judgement.verdict()


def _is_quick(item: Item[NeMoGymParams]) -> bool:
    return item.params.server in _QUICK and len(item.response) <= _QUICK_CHARS


def _row(server: str, **reference: Any) -> dict[str, Any]:
    return {"server": server, "reference": reference}


_LINES: Final = {"type": "regex", "verify_regex": ["^-- .+"], "verify_min_matches": 3}
_WARM: Final = NeMoGymParams(**_row("math_proof_judgement", expected_judgement="Judgement: Yes"))
_NODES, _YES, _NEEDS = '["a", "b", "c"]', "Judgement: Yes", "without a recorded judgement it needs a judge model"
EXAMPLES = (
    Example("Final Answer: [b, a]", _row("graphwalks", expected_answer=_NODES), 0.8, "partial", "two of three nodes"),
    Example(f"So:\n{_YES}", _row("math_proof_judgement", expected_judgement=_YES), 1.0, "correct", "the label"),
    Example("-- a\n-- b", _row("format_verification", verifier=_LINES), 0.0, "wrong_format", "two lines of three"),
    Example("Paris", _row("simpleqa"), None, "no_recorded_judgement", _NEEDS, Status.INVALID),
    Example("5", _row("chess"), None, "unknown_server", "there is none", Status.INVALID),
)

"""Groups: majorities beside single verdicts, swiss tournaments beside all pairs, and our own time beside the judge's."""

import asyncio
import random
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import Any

import aiohttp

from service.groups import pairings, ratings
from service.groups.pairings import Pair
from service.groups.ratings import Game
from service.groups.schemas import Group, Tournament
from service.groups.tournament import Contest
from tests.benchmarks import servers
from tests.benchmarks.report import Effort, Report
from tests.judge_upstream.grader import Grader, honest
from tests.processes import family

_SIZE = 16
_WORK = "We work it out step by step. " * 10
_JUDGE_S = 0.5
"""What a call of a judge model takes at least."""


KINDS = {
    "numbers": ("math", ("\\boxed{{{0}}}", "\\boxed{{{0}.0}}", "\\boxed{{{1}}}"), "{0}"),
    "expressions": (
        "math",
        (r"\boxed{{{0}\sqrt{{2}}}}", r"\boxed{{\sqrt{{2}}\cdot{0}}}", r"\boxed{{{1}\sqrt{{2}}}}"),
        r"{0}\sqrt{{2}}",
    ),
    "choices": (
        "multiple_choice",
        ("Case {0}. The answer is (B).", "It is number {0}. Answer: B", "Case {0}. The answer is (C)."),
        "B",
    ),
    "names": ("qa", ("Answer: Lake {0}", "Answer: lake {0}.", "Answer: Lake {1}"), "Lake {0}"),
    "quantities": ("numeric", ("The answer is {0}", "It is {0:,}.", "The answer is {1}"), "{0}"),
    "units": ("expression", ("\\boxed{{{0} m}}", "\\boxed{{{0}000 mm}}", "\\boxed{{{1} m}}"), "{0} m"),
}
"""Of each kind of answers the verifier, the ways to write the right one and the wrong one, and the reference."""


async def run(effort: Effort) -> Sequence[Report]:
    return [*await _majorities(effort), _swiss(effort), await _own_time(effort)]


async def _majorities(effort: Effort) -> list[Report]:
    """Groups, and single responses with references, in turns, by the CPU time of the service. No text comes twice."""
    groups, parts = effort.of((100_000, 100), (600, 6), (24, 2))
    chance, rows, memory = random.Random(53), list[dict[str, Any]](), list[dict[str, Any]]()
    for kind, (verifier, forms, wanted) in KINDS.items():
        with servers.ours(servers.cores(), sandbox="none", workers="1") as ours:
            resident = [_resident_mb(ours)]
            async with aiohttp.ClientSession() as session:
                single_s = group_s = 0.0
                for part in range(parts):
                    values = chance.sample(range(1, 10**9), 2 * groups // parts)
                    single, voting = values[::2], values[1::2]
                    before = servers.cpu_s(family(ours.pid))
                    items = [_singles(verifier, _texts(forms, value), wanted.format(value)) for value in single]
                    await _post(session, ours, "/v1/score", "items", items)
                    middle = servers.cpu_s(family(ours.pid))
                    whole = [[{"verifier": verifier, "responses": _texts(forms, value)}] for value in voting]
                    await _post(session, ours, "/v1/groups/score", "groups", whole, method="majority")
                    single_s, group_s = single_s + middle - before, group_s + servers.cpu_s(family(ours.pid)) - middle
                    if part + 1 in (parts // 2, parts):
                        resident.append(_resident_mb(ours))
                await asyncio.sleep(effort.of(30, 2, 0))
                resident.append(_resident_mb(ours))
        count = groups * _SIZE
        row = {"answers": kind, "single, responses/CPU s": count / single_s, "majority": count / group_s}
        rows.append({**row, "ratio": single_s / group_s, "goal": 0.8})
        memory.append({"answers": kind, **dict(zip(("before, MB", "half", "all", "at rest"), resident, strict=True))})
    note = f"{groups} groups of {_SIZE}; nothing is kept, no text comes twice; CPU time, in turns"
    return [
        Report("Majorities beside single verdicts", note, rows),
        Report("Memory for majorities", "of all processes, as many single responses beside them", memory),
    ]


def _resident_mb(ours: servers.Server) -> float:
    return sum(map(servers.rss_mb, family(ours.pid)))


def _texts(forms: Sequence[str], value: int) -> list[str]:
    """The responses of one group, five of which are wrong."""
    return [f"{_WORK}{at}.\n{forms[at % 3].format(value, value + 1)}" for at in range(_SIZE)]


def _singles(verifier: str, texts: Sequence[str], reference: str) -> list[dict[str, Any]]:
    return [{"verifier": verifier, "response": text, "reference": reference} for text in texts]


async def _post(
    session: aiohttp.ClientSession, ours: servers.Server, path: str, name: str, parts: Sequence[Any], **options: Any
) -> None:
    """Post the parts, 100 of them in each request."""
    for start in range(0, len(parts), 100):
        body = {name: [each for part in parts[start : start + 100] for each in part], "cache": "off", **options}
        async with session.post(f"http://{ours.http}{path}", json=body) as reply:
            assert reply.status == 200, await reply.text()
            await reply.read()


def _swiss(effort: Effort) -> Report:
    """Both tournaments of the same responses, with a judge that has a clear order, and one that errs in a tenth."""
    chance, times = random.Random(53), effort.of(1_000, 200, 5)
    rows = [correlation(chance, times, rounds, errs) for rounds in (5, 6) for errs in (0.0, 0.1)]
    note = f"{_SIZE} responses, Bradley-Terry; the means of Spearman's correlations with the truth"
    return Report("Swiss tournaments beside all pairs", note, rows)


def correlation(chance: random.Random, times: int, rounds: int, errs: float) -> dict[str, Any]:
    swiss, whole, calls = list[float](), list[float](), 0
    every, texts = pairings.fixed("all", _SIZE), [str(at) for at in range(_SIZE)]
    for _ in range(times):
        strengths = [chance.random() for _ in range(_SIZE)]
        is_right = {frozenset(pair): chance.random() >= errs for pair in every}

        def game(pair: Pair, strengths: list[float] = strengths, is_right: dict[Any, bool] = is_right) -> Game:
            return Game(*pair, float((strengths[pair[0]] > strengths[pair[1]]) is is_right[frozenset(pair)]))

        contest = Contest(Group(responses=list(texts)), texts, Tournament(pairs="swiss", rounds=rounds))
        while not contest.is_over:
            contest.games += map(game, contest.next_pairs())
        for games, correlations in ((contest.games, swiss), (list(map(game, every)), whole)):
            ranks = _ranks([round(each, 6) for each in ratings.bradley_terry(_SIZE, games)])
            correlations.append(statistics.correlation(ranks, _ranks(strengths)))
        calls += len(contest.games)
    some, most = statistics.fmean(swiss), statistics.fmean(whole)
    row = {"rounds": rounds, "judge errs": errs, "share of calls": calls / times / len(every), "most": 0.4}
    return {**row, "swiss": some, "all pairs": most, "ratio": some / most, "goal": 0.95}


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value; equal ones share the mean of theirs."""
    return [sum(other < value for other in values) + sum(other == value for other in values) / 2 for value in values]


async def _own_time(effort: Effort) -> Report:
    """Tournaments by a judge that takes half a second for each call."""
    groups = effort.of(16, 8, 1)

    def slowly(sections: dict[str, str]) -> str:
        sleep(_JUDGE_S)
        return honest(sections)

    with Grader(slowly) as grader, tempfile.TemporaryDirectory() as folder:
        file = grader.file(Path(folder))
        with servers.ours(servers.cores(), sandbox="none", workers="1", judge_file=str(file)) as ours:
            async with aiohttp.ClientSession() as session:
                body = [
                    [
                        {
                            "prompt": f"Question {number}?",
                            "responses": [f"{number} {'word ' * at}." for at in range(1, 9)],
                        }
                    ]
                    for number in range(groups)
                ]
                before = servers.cpu_s(family(ours.pid))
                await _post(session, ours, "/v1/groups/score", "groups", body, method="tournament", deadline_s=300)
                own_s = servers.cpu_s(family(ours.pid)) - before
        judge_s = sum(grader.calls.values()) * _JUDGE_S
    row = {"calls": sum(grader.calls.values()), "judge, s": judge_s, "ours, CPU s": own_s, "share": own_s / judge_s}
    return Report("Our time in a tournament", "circles of 8, both orders", [{**row, "most": 0.02}])

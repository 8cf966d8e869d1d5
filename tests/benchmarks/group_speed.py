"""Groups: majorities beside single verdicts, swiss tournaments beside all pairs, and our own time beside the judge's."""

import random
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import Any

import aiohttp

from service.groups import pairings, ratings
from service.groups.ratings import Game
from tests.benchmarks import servers
from tests.benchmarks.report import Effort, Report
from tests.judge_upstream.grader import Grader, honest
from tests.processes import family

_SIZE = 16
_WORK = "We work it out step by step. " * 10
_JUDGE_S = 0.5
"""What a call of a judge model takes at least."""


async def run(effort: Effort) -> Sequence[Report]:
    return [await _majorities(effort), _swiss(effort), await _own_time(effort)]


async def _majorities(effort: Effort) -> Report:
    """The same responses as groups, and one by one with a reference, in turns, by the CPU time of the service."""
    groups, rounds = effort.of((2_000, 5), (500, 3), (20, 1))
    chance, rows = random.Random(53), list[dict[str, Any]]()
    with servers.ours(servers.cores(), sandbox="none", workers="1") as ours:
        async with aiohttp.ClientSession() as session:
            for kind, forms in (
                ("numbers", ("{0}", "{0}.0", "{1}")),
                ("expressions", (r"{0}\sqrt{{2}}", r"{1}\sqrt{{2}}")),
            ):
                values = [chance.randrange(1, 10**6) for _ in range(groups if kind == "numbers" else groups // 5)]
                texts = [[_response(chance.choice(forms), value) for _ in range(_SIZE)] for value in values]
                references = [forms[0].format(value) for value in values]
                single_s = group_s = 0.0
                for _ in range(rounds):
                    before = servers.cpu_s(family(ours.pid))
                    await _post(session, ours, "/v1/score", "items", _singles(texts, references))
                    middle = servers.cpu_s(family(ours.pid))
                    whole = [[{"verifier": "math", "responses": each}] for each in texts]
                    await _post(session, ours, "/v1/groups/score", "groups", whole, method="majority")
                    single_s, group_s = single_s + middle - before, group_s + servers.cpu_s(family(ours.pid)) - middle
                count = rounds * len(values) * _SIZE
                row = {"answers": kind, "single, responses/CPU s": count / single_s, "majority": count / group_s}
                rows.append({**row, "ratio": single_s / group_s, "goal": 0.8})
    return Report("Majorities beside single verdicts", f"groups of {_SIZE}; nothing is kept; CPU time, in turns", rows)


def _response(form: str, value: int) -> str:
    return f"{_WORK}\\boxed{{{form.format(value, value + 1)}}}"


def _singles(texts: Sequence[Sequence[str]], references: Sequence[str]) -> list[list[dict[str, Any]]]:
    return [
        [{"verifier": "math", "response": text, "reference": reference} for text in group]
        for group, reference in zip(texts, references, strict=True)
    ]


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
    rows = [_correlation(chance, times, rounds, errs) for rounds in (5, 6) for errs in (0.0, 0.1)]
    note = f"{_SIZE} responses, Bradley-Terry; the mean of Spearman's correlation with the ranks by all pairs"
    return Report("Swiss tournaments beside all pairs", note, rows)


def _correlation(chance: random.Random, times: int, rounds: int, errs: float) -> dict[str, Any]:
    found, calls = list[float](), 0
    every = pairings.fixed("all", _SIZE)
    for _ in range(times):
        strengths = [chance.random() for _ in range(_SIZE)]
        told = {frozenset(pair): chance.random() >= errs for pair in every}

        def game(pair: pairings.Pair, strengths: list[float] = strengths, told: dict[Any, bool] = told) -> Game:
            is_first = strengths[pair[0]] > strengths[pair[1]]
            return Game(*pair, float(is_first is told[frozenset(pair)]))

        games, met, points = list[Game](), set[frozenset[int]](), [0.0] * _SIZE
        for number in range(rounds):
            for pair in pairings.swiss_round(points, met, number):
                met.add(frozenset(pair))
                games.append(game(pair))
                points[pair[0]] += games[-1].result
                points[pair[1]] += 1 - games[-1].result
        some, whole = (ratings.bradley_terry(_SIZE, each) for each in (games, [game(pair) for pair in every]))
        found.append(statistics.correlation(_ranks(some), _ranks(whole)))
        calls = len(games)
    return {
        "rounds": rounds,
        "judge errs": errs,
        "share of calls": calls / len(every),
        "most": 0.4,
        "rank correlation": statistics.fmean(found),
        "goal": 0.95,
    }


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

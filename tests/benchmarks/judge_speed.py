"""Judge models: the cost of the proxy against direct calls of the same server, cached verdicts, and a pool with faults.

The server is llama.cpp's own with a model of a million parameters. Its replies take milliseconds, so that the cost of a
proxy shows. The pool with faults has scripted upstreams, so that one of them can be dead and another ten times as slow.
"""

import asyncio
import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import aiohttp

from tests.benchmarks import servers
from tests.benchmarks.bare import CHAT_S
from tests.benchmarks.report import Effort, Report
from tests.judge_upstream.behaviours import after, says
from tests.judge_upstream.llama import serving_llama
from tests.judge_upstream.scripted import Scripted
from verifiers.judge import prompts
from verifiers.judge.endpoints import ChatRequest, EndpointConfig, Gateway, PoolConfig
from verifiers.judge.errors import JudgeFailure
from verifiers.judge.rendering import Data, Prompt, render

_CONCURRENCIES = (1, 64)
_QUICK_S = 0.05
_SLOW_TIMES = 10
_AT_ONCE = 24
_RESPONSES = 500


async def run(effort: Effort) -> Sequence[Report]:
    return [await _overhead(effort), await _kept(effort), await _trouble(effort)]


@cache
def _prompt() -> Prompt:
    return prompts.load(["ref_equiv@1"])["ref_equiv@1"]


def _asked(number: int) -> dict[str, Any]:
    """What a caller with a prompt like ours would send."""
    data = Data(f"What is {number} + {number % 7}?", (f"{number + number % 7}",), f"It is {number + number % 5}.")
    messages = render(_prompt(), data, secret=b"bench").messages
    return {"model": "p", "temperature": 0, "max_tokens": 64, "messages": messages}


async def _overhead(effort: Effort) -> Report:
    """The same requests to a server directly and through ours, in turns."""
    with serving_llama() as llama:
        rows = [await _beside(effort, "llama.cpp", llama.url, at_once) for at_once in _CONCURRENCIES]
    with servers.bare(servers.CHAT, servers.cores()[-1:]) as fake:
        name = f"a fake of {CHAT_S * 1e3:g} ms"
        rows += [await _beside(effort, name, f"http://{fake.http}/v1", at_once) for at_once in _CONCURRENCIES]
    note = (
        "Our prompt for equivalence; wall time of all calls, in turns, the median of the rounds. Ours has a core, the fake shares "
        "the other one with the callers. Nothing is kept."
    )
    return Report("Judge models: the proxy beside the server alone", note, rows)


async def _beside(effort: Effort, name: str, server_url: str, at_once: int) -> dict[str, Any]:
    rounds, calls = effort.of((7, 128), (3, 64), (1, 4))
    calls = calls if at_once > 1 else calls // 2
    direct, took = f"{server_url}/chat/completions", dict[str, list[float]]()
    with tempfile.TemporaryDirectory() as folder:
        file = _configuration(Path(folder), server_url)
        with servers.ours(servers.cores()[:1], sandbox="none", workers="1", judge_file=str(file)) as ours:
            urls, used_s = (direct, f"http://{ours.http}/v1/chat/completions"), 0.0
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
                for number in range(-1, rounds):
                    for url in urls:
                        before_s = servers.cpu_s([ours.pid])
                        seconds = await _through(session, url, calls, at_once)
                        if number >= 0:
                            took.setdefault(url, []).append(seconds)
                            used_s += servers.cpu_s([ours.pid]) - before_s if url != direct else 0.0
    here, there = (took[url] for url in urls)
    return {
        "server": name,
        "calls at once": at_once,
        "direct, ms/call": statistics.median(here) * 1e3,
        "through us, ms/call": statistics.median(there) * 1e3,
        "ours, CPU ms/call": used_s / (rounds * calls) * 1e3,
        "ratio": statistics.median(through / alone for alone, through in zip(here, there, strict=True)),
        "goal": 1.15,
    }


def _configuration(folder: Path, url: str) -> Path:
    file = folder / "judges.yaml"
    content = {
        "endpoints": {"one": {"base_url": url, "model": "tiny-judge", "concurrency": {"start": 64}}},
        "pools": {"p": {"members": ["one"]}},
        "profiles": {"reference": {"mode": "reference", "pool": "p"}},
    }
    file.write_text(json.dumps(content))
    return file


async def _through(session: aiohttp.ClientSession, url: str, calls: int, at_once: int) -> float:
    """Seconds per call."""

    async def call(number: int) -> None:
        async with session.post(url, json=_asked(number), headers={"x-rewardline-cache": "off"}) as reply:
            assert reply.status == 200, await reply.text()
            await reply.read()

    async def call_again(number: int) -> None:
        """Repeat a call. The server closes a connection after some requests, perhaps just when the next one is sent."""
        try:
            await call(number)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
            await call(number)

    started = perf_counter()
    await _pooled(call_again, calls, at_once)
    return (perf_counter() - started) / calls


async def _pooled(call: Callable[[int], Awaitable[None]], calls: int, at_once: int) -> None:
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            await call(number)

    await asyncio.gather(*(work() for _ in range(at_once)))


async def _kept(effort: Effort) -> Report:
    """Items with known verdicts, over HTTP, on one core."""
    rounds = effort.of(40, 5, 5)
    async with Scripted(says()) as upstream:
        with tempfile.TemporaryDirectory() as folder:
            file = _configuration(Path(folder), upstream.url)
            with servers.ours(servers.cores()[:1], sandbox="none", workers="1", judge_file=str(file)) as ours:
                items = [
                    {"verifier": "judge", "response": f"It is {n}", "reference": f"{n}"} for n in range(_RESPONSES)
                ]
                body = json.dumps({"items": items}).encode()
                async with aiohttp.ClientSession() as session:
                    for _ in range(2):
                        await _post(session, f"http://{ours.http}/v1/score", body)
                    asked, before_s = len(upstream.calls), servers.cpu_s([ours.pid])
                    for _ in range(rounds):
                        await _post(session, f"http://{ours.http}/v1/score", body)
                    used_s = servers.cpu_s([ours.pid]) - before_s
                    assert len(upstream.calls) == asked
    row = {"verdicts": rounds * _RESPONSES, "per CPU second": rounds * _RESPONSES / used_s, "goal": 1_000}
    return Report(
        "Judge models: verdicts that are kept", f"Batches of {_RESPONSES} over HTTP; CPU of the service.", [row]
    )


async def _post(session: aiohttp.ClientSession, url: str, body: bytes) -> None:
    async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as reply:
        results = (await reply.json())["results"]
        assert all(result["status"] == "ok" for result in results), results[0]


async def _trouble(effort: Effort) -> Report:
    """Calls to three equal endpoints, and to three of which one is dead and one ten times as slow."""
    seconds = effort.of(20.0, 5.0, 0.5)
    rows = [await _pool_of(name, slow_times, dead, seconds) for name, slow_times, dead in _POOLS]
    for row in rows:
        row["p95 beside healthy"] = row["p95, ms"] / rows[0]["p95, ms"]
    note = f"Scripted upstreams that take {_QUICK_S * 1e3:g} ms; {_AT_ONCE} calls at once for {seconds} s each."
    return Report("Judge models: a pool in trouble", note, rows)


_POOLS = (("three healthy", 1, False), ("one dead, one 10 x slow", _SLOW_TIMES, True))


async def _pool_of(name: str, slow_times: int, dead: bool, seconds: float) -> dict[str, Any]:
    upstreams = [Scripted(after(_QUICK_S * times, says())) for times in (1, slow_times, 1)]
    for upstream in upstreams:
        await upstream.listen()
    endpoints = {
        f"e{at}": EndpointConfig.model_validate({"base_url": upstream.url, "model": "m", "health": {"probe": False}})
        for at, upstream in enumerate(upstreams)
    }
    if dead:
        await upstreams[2].stop()
    gateway = Gateway(endpoints, {"p": PoolConfig(members=list(endpoints))}, keys={})
    await gateway.start()
    took: list[float] = []
    lost = 0
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds

    async def work(worker: int) -> None:
        nonlocal lost
        while loop.time() < end:
            request = ChatRequest(messages=[{"role": "user", "content": f"{worker} {loop.time()}"}])
            started = perf_counter()
            try:
                await gateway.ask("p", request, deadline=loop.time() + 60)
            except JudgeFailure:
                lost += 1
            took.append(perf_counter() - started)

    try:
        await asyncio.gather(*(work(worker) for worker in range(_AT_ONCE)))
    finally:
        await gateway.stop()
        for upstream in upstreams[: 2 if dead else 3]:
            await upstream.stop()
    cuts = statistics.quantiles(took, n=100)
    return {
        "pool": name,
        "calls": len(took),
        "lost": lost,
        "p50, ms": cuts[49] * 1e3,
        "p95, ms": cuts[94] * 1e3,
        "p99, ms": cuts[98] * 1e3,
    }

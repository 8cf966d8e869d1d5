"""A tenant asks for what another one had judged, and for what nobody had: does anything differ that it could time?

No clock is read. What decides the time of an answer is counted: calls of verifiers, workers, programs in boxes,
compilations, calls of judge models, look-ups; and texts that functions read anew instead of remembering them. To that
comes all that the tenant is shown: results, summary, headers, order, its own usage.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from service.limits import keys
from tests.conftest import Served, serving
from tests.judge_upstream.grader import Grader
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.contract

JSON = dict[str, Any]
Make = Callable[[str], JSON]
"""Makes an item with a given word in it."""
CALLERS: dict[str, JSON] = {
    "red": {"scopes": ["score", "sandbox"]},
    "blue": {"scopes": ["score", "sandbox"]},
    "boss": {"scopes": ["admin"]},
}
OF_WORK = (
    *("rewardline_items_total", "rewardline_items_cached_total", "rewardline_items_deduplicated_total"),
    *("rewardline_verifier_seconds_count", "rewardline_cache_hits_memory_total", "rewardline_cache_hits_redis_total"),
    *("rewardline_cache_misses_total", "rewardline_box_jobs_total", "rewardline_box_runs_total"),
    *("rewardline_box_compile_cache_hits_total", "rewardline_box_compile_cache_misses_total"),
    *("rewardline_judge_endpoint_requests_total", "rewardline_judge_votes_total"),
)
"""The metrics that count work. Only the operator sees them."""

PLUGIN = '''
import asyncio
from functools import lru_cache
from pathlib import Path

from sandbox.workers import Task, worker_function
from verifiers.base import Example, Params, Verdict, Verifier

TASK = Task("rewardline_watched", "read_in_worker", 5.0)
READ = []


@lru_cache(maxsize=100)
def read(text):
    READ.append(text)


def is_read_anew(text):
    before = len(READ)
    read(text)
    return len(READ) > before


@worker_function
def read_in_worker(text):
    return is_read_anew(text)


class WatchedParams(Params):
    reference: str = ""
    calls: str = ""
    until: str = ""


class Watched(Verifier[WatchedParams]):
    """Writes its calls to a file, and says whether the texts had to be read, here and in a worker."""

    name = "watched"
    version = "1"
    params = WatchedParams
    summary = "There is a response"
    concurrency = 8
    chunk_items = 8

    def __init__(self, workers):
        self.workers = workers

    async def score(self, items):
        return [await self.judge(item) for item in items]

    async def judge(self, item):
        if not item.response:
            return Verdict.wrong("empty")
        with open(item.params.calls or "/dev/null", "a") as file:
            file.write(item.response + "\\n")
        while item.params.until and not Path(item.params.until).exists():
            await asyncio.sleep(0.01)
        texts = [item.response, item.params.reference]
        here = [is_read_anew(text) for text in texts]
        there = [outcome.value for outcome in await self.workers.map(TASK, texts)]
        if "trouble" in item.response:
            return Verdict.failed("trouble", "on demand", here=here, there=there)
        return Verdict.correct(None, here=here, there=there)


def create(resources):
    resources.workers.register(TASK)
    return Watched(resources.workers)


EXAMPLES = (
    Example("a", {}, 1.0, "correct", "any response"),
    Example("", {}, 0.0, "empty", "none"),
    Example(" ", {}, 1.0, "correct", "looks like none"),
)
'''

CPP = '#include <cstdio>\nint main() {{ std::puts("{word}"); }}'
PATHS: dict[str, Make] = {
    "inline": lambda word: {"verifier": "exact_match", "response": word, "reference": word},
    "wrong": lambda word: {"verifier": "exact_match", "response": word, "reference": word + "x"},
    "invalid": lambda word: {"verifier": "exact_match", "response": word, "reference": "a", "params": {word: 1}},
    "failed": lambda word: {"verifier": "watched", "response": f"trouble {word}", "reference": word},
    "remembered": lambda word: {"verifier": "watched", "response": word, "reference": f"of {word}"},
    "worker": lambda word: {
        "verifier": "math",
        "response": f"\\boxed{{x^2+2\\cdot{word}x+{word}^2}}",
        "reference": f"(x+{word})^2",
    },
    "long text": lambda word: {"verifier": "exact_match", "response": word * 4000, "reference": word},
    "database": lambda word: {
        "verifier": "sql",
        "response": f"SELECT '{word}'",
        "reference": {"setup_sql": f"CREATE TABLE t{word} (a);", "query": f"SELECT '{word}'"},
    },
    "program": lambda word: {
        "verifier": "code",
        "response": f"```python\nprint('{word}')\n```",
        "reference": [{"input": "", "output": word}],
    },
    "compiled program": lambda word: {
        "verifier": "code",
        "response": f"```cpp\n{CPP.format(word=word)}\n```",
        "reference": [{"input": "", "output": word}],
        "params": {"language": "cpp"},
    },
    "judge": lambda word: {
        "verifier": "judge",
        "prompt": "Which word?",
        "response": f"It might well be {word}",
        "reference": f"the {word}",
    },
    "composition": lambda word: {
        "checks": [{"verifier": "exact_match", "weight": 1}, {"verifier": "watched", "weight": 1}],
        "response": word,
        "reference": word,
    },
}
OPINIONS = {"judge"}
UNSHARED = {"invalid", "failed"}
"""What no cache keeps."""
WORDS = count(70_001)


def new_word() -> str:
    """A number like no other, as long as each other."""
    return str(next(WORDS))


@dataclass(frozen=True)
class Service:
    served: Served
    secrets: dict[str, str]
    folder: Path
    by_tenant: bool

    def call(self, caller: str, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {self.secrets[caller]}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return httpx.request(method, f"{self.served.url}{path}", json=body, headers=given, timeout=PATIENCE_S)

    def score(self, caller: str, *items: JSON, **more: Any) -> httpx.Response:
        reply = self.call(caller, "POST", "/v1/score", {"items": items, **more})
        assert reply.status_code == 200, reply.text
        return reply

    def work(self) -> dict[tuple[str, ...], float]:
        """How much work the service has done, by metric and labels."""
        families = text_string_to_metric_families(self.call("boss", "GET", "/metrics").text)
        samples = (sample for family in families for sample in family.samples)
        return {(each.name, *each.labels.values()): each.value for each in samples if each.name in OF_WORK}

    def used(self, caller: str) -> dict[str, float]:
        """What the tenant has used, as it is told. Of CPU seconds only whether there were any."""
        [tenant] = self.call(caller, "GET", "/v1/usage").json()["tenants"]
        total: dict[str, float] = tenant["total"]
        return total

    def seen(self, caller: str, word: str, path: str, body: JSON, *, is_job: bool = False) -> JSON:
        """All that decides the time of this answer, and all that the caller is shown, but for the word."""
        before, used = self.work(), self.used(caller)
        reply = self.call(caller, "POST", path, body)
        if is_job:
            reply = self.call(caller, "GET", f"{path}/{reply.json()['job_id']}?wait_s=60")
        after, used_then = self.work(), self.used(caller)
        spent = {name: used_then[name] - used[name] for name in used_then}
        spent["cpu_s"] = spent["cpu_s"] > 0
        shown = json.loads(reply.text.replace(word, "WORD"))
        names = {name for name in reply.headers if name != "content-length"}
        return {
            "work": {
                name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)
            },
            "spent": spent,
            "status": reply.status_code,
            "headers": names,
            "shown": _timeless(shown),
        }


TIMES = {"elapsed_ms", "job_id", "created_at", "started_at", "finished_at", "expires_at", "execution_time"}


def _timeless(shown: Any) -> Any:
    """Without measured times, which other load decides too."""
    if isinstance(shown, dict):
        return {name: _timeless(value) for name, value in shown.items() if name not in TIMES}
    return [_timeless(value) for value in shown] if isinstance(shown, list) else shown


def installed(folder: Path) -> Path:
    """The folder with the plugin in it, as pip would install it."""
    about = folder / "rewardline_watched-1.dist-info"
    about.mkdir(parents=True)
    (folder / "rewardline_watched.py").write_text(PLUGIN)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rewardline-watched\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[rewardline.verifiers]\nwatched = rewardline_watched:create\n")
    return folder


@pytest.fixture(scope="module", params=["parted in memory", "parted in redis", "shared in memory"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("timing")
    made = {name: keys.new_key() for name in CALLERS}
    path = folder / "keys.yaml"
    path.write_text(yaml.safe_dump({"keys": {name: {"sha256": made[name][1], **CALLERS[name]} for name in CALLERS}}))
    by_tenant = request.param.startswith("parted")
    with ExitStack() as stack:
        grader = stack.enter_context(Grader())
        settings = {
            "keys_file": str(path),
            "sandbox": "local",
            "workers": "1",
            "judge_file": str(grader.file(folder)),
            "cache_by_tenant": str(by_tenant),
        }
        if request.param.endswith("redis"):
            settings |= {"redis_url": stack.enter_context(RedisServer(folder)).url, "cache_memory_mb": "0"}
        plugins = installed(folder / "plugins")
        served = stack.enter_context(serving(folder / "log.jsonl", (), plugins, **settings))
        found = Service(served, {name: key for name, (key, _) in made.items()}, folder, by_tenant)
        # Versions of compilers are asked for once, in a box: that is work, too.
        eventually(lambda: found.call("boss", "GET", "/v1/sandbox").json()["versions"])
        yield found


@pytest.mark.parametrize("path", PATHS)
def test_what_another_tenant_had_judged_costs_as_much_as_what_nobody_had(service: Service, path: str) -> None:
    make, known, unknown, warm = PATHS[path], new_word(), new_word(), new_word()
    service.score("blue", make(warm))
    assert service.score("red", make(known)).json()["results"][0]["cached"] is False
    seen = service.seen("blue", known, "/v1/score", {"items": [make(known)]})
    service.score("red", make(new_word()))
    new = service.seen("blue", unknown, "/v1/score", {"items": [make(unknown)]})
    [result] = new["shown"]["results"]
    assert result["status"] == {"invalid": "invalid", "failed": "failed"}.get(path, "ok"), result
    if service.by_tenant or path in OPINIONS:
        assert seen == new
    elif path not in UNSHARED:
        assert (seen["shown"]["results"][0]["cached"], result["cached"]) == (True, False), "as the setting says"


def test_what_another_tenant_is_having_judged_is_judged_anew(service: Service) -> None:
    word, gate = new_word(), service.folder / new_word()
    calls = service.folder / f"calls of {word}"
    item = {
        "verifier": "watched",
        "response": word,
        "reference": "a",
        "params": {"calls": str(calls), "until": str(gate)},
    }

    def begun() -> int:
        return calls.read_text().count(word) if calls.exists() else 0

    def waiting() -> float:
        text = service.call("boss", "GET", "/metrics").text
        return next(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "rewardline_in_flight_items"
        )

    with ThreadPoolExecutor() as threads:
        red = threads.submit(service.score, "red", item)
        eventually(lambda: begun() == 1)
        blue = threads.submit(service.score, "blue", item, item)
        eventually(lambda: waiting() == 3)
        if service.by_tenant:
            eventually(lambda: begun() == 2)
        gate.touch()
        summaries = [each.result().json()["summary"] for each in (red, blue)]
    assert begun() == (2 if service.by_tenant else 1)
    assert [summary["deduplicated"] for summary in summaries] == [0, 1 if service.by_tenant else 2]


def test_order_and_neighbours_tell_nothing(service: Service) -> None:
    """Results are streamed as they come: those that another tenant had must not come first."""
    if not service.by_tenant:
        pytest.skip("the setting lets cached verdicts come first")
    words = [new_word() for _ in range(12)]
    service.score("red", *(PATHS["inline"](word) for word in words[1::2]))
    items = [PATHS["inline"](word) | {"id": word} for word in words]
    reply = service.call("blue", "POST", "/v1/score", {"items": items}, accept="application/x-ndjson")
    lines = [json.loads(line) for line in reply.text.splitlines()]
    results = [line for line in lines if "index" in line]
    assert ([each["id"] for each in results], {each["cached"] for each in results}) == (words, {False})


def test_a_reference_and_a_response_of_another_are_read_anew(service: Service) -> None:
    """Not the whole item is equal, but a part of it."""
    if not service.by_tenant:
        pytest.skip("the setting lets texts be remembered for everyone")
    word, other = new_word(), new_word()
    service.score("red", {"verifier": "watched", "response": word, "reference": f"of {word}"})
    for response, reference in ((word, other), (new_word(), f"of {word}")):
        item = {"verifier": "watched", "response": response, "reference": reference}
        detail = service.score("blue", item).json()["results"][0]["detail"]
        assert (detail["here"], detail["there"]) == ([True, True], [True, True])
        service.score("red", {"verifier": "watched", "response": word, "reference": f"of {word}"}, cache="off")


def test_a_program_that_another_compiled_is_compiled_again_whatever_the_setting(service: Service) -> None:
    known, unknown = new_word(), new_word()

    def run(word: str) -> JSON:
        body = {"code": CPP.format(word=word), "language": "cpp"}
        return service.seen("blue", word, "/run_code", body)

    body = {"code": CPP.format(word=known), "language": "cpp"}
    assert service.call("red", "POST", "/run_code", body).json()["status"] == "Success"
    assert run(known) == run(unknown)


def test_turns_and_jobs_cost_as_much_whoever_had_the_same_before(service: Service) -> None:
    if not service.by_tenant:
        pytest.skip("the setting lets them share verdicts")
    known, unknown = new_word(), new_word()

    def play(caller: str, word: str) -> JSON:
        task = {"instance_id": f"of-{word}", "verifier": "watched", "reference": word, "max_turns": 9}
        assert service.call(caller, "POST", "/v1/interactions", task).status_code == 201
        turn = {"messages": [{"role": "assistant", "content": f"turn {word}"}], "turn_index": 1}
        return service.seen(caller, word, f"/v1/interactions/{task['instance_id']}/turns", turn)

    def submit(caller: str, word: str) -> JSON:
        item = {"verifier": "watched", "response": f"job {word}", "reference": word}
        return service.seen(caller, word, "/v1/jobs", {"items": [item]}, is_job=True)

    for do in (play, submit):
        do("red", known)
        seen = do("blue", known)
        service.score("red", PATHS["inline"](new_word()))
        new = do("blue", unknown)
        assert new["status"] == 200, new
        assert ("rewardline_verifier_seconds_count", "watched") in new["work"], "it was judged"
        assert seen == new


def test_replies_of_models_and_jobs_are_a_tenants_own_whatever_the_setting(service: Service) -> None:
    known, unknown = new_word(), new_word()

    def ask(word: str) -> JSON:
        return {"model": "judges", "temperature": 0, "messages": [{"role": "user", "content": f"What is {word}?"}]}

    assert service.call("red", "POST", "/v1/chat/completions", ask(known)).status_code == 200
    seen, new = (service.seen("blue", word, "/v1/chat/completions", ask(word)) for word in (known, unknown))
    assert seen == new

    def submit(caller: str) -> JSON:
        given = {"Authorization": f"Bearer {service.secrets[caller]}", "Idempotency-Key": known}
        body = {"items": [PATHS["failed"](known)]}
        reply = httpx.post(f"{service.served.url}/v1/jobs", json=body, headers=given, timeout=PATIENCE_S)
        assert reply.status_code == 202, reply.text
        found: JSON = reply.json()
        return found

    assert submit("red")["job_id"] != submit("blue")["job_id"]

"""What a response can do to the service: nothing. Real worker processes."""

import json
import random
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.workers import Exit, Outcome, Workers
from tests.conftest import serving_as_users_do
from tests.fuzz import guard, targets
from tests.fuzz.bombs import BOMBS, FRAMES, INJECTIONS
from tests.processes import descendants
from tests.verifiers.math.patience import STARVED, until_judged
from verifiers.base import Item, Resources, Status, Unavailable, Verdict
from verifiers.commitment import ExtractionParams, extract
from verifiers.math import Math, MathParams, create
from verifiers.math.exact import EXACT, decide
from verifiers.math.grading import grade
from verifiers.math.limits import MAX_NESTING, nesting, refusal
from verifiers.math.options import DEFAULT
from verifiers.math.prose import read_prose
from verifiers.math.reader import read
from verifiers.math.tasks import TASK, TIME_LIMIT_S
from verifiers.math.tree import TooComplex, Unreadable

Judge = Callable[..., Awaitable[Verdict]]
DATA = Path(__file__).parents[2] / "data" / "math"


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    pool = Workers(1)
    create(Resources(workers=pool))
    await pool.start()
    yield pool
    await pool.stop()


def items_of(name: str) -> list[tuple[Item[MathParams], bool]]:
    rows = map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())
    return [(Item(row["response"], MathParams(reference=row["gold"])), row["expected"]) for row in rows]


@pytest.mark.bombs
async def test_killers_are_judged_and_their_neighbours_unharmed(verifier: Math) -> None:
    killers = items_of("killers.jsonl")
    good = Item(r"\boxed{\frac{x}{2}}", MathParams(reference="x/2"))
    items = [item for killer, _ in killers for item in (killer, good)]
    verdicts = await until_judged(verifier, items)
    assert [verdict.score for verdict in verdicts[1::2]] == [1.0] * len(killers)
    for verdict, (item, expected) in zip(verdicts[::2], killers, strict=True):
        assert (verdict.status, verdict.score) == (Status.OK, float(expected)), (item.response, verdict)


@pytest.mark.parametrize(
    "response",
    [
        r"\boxed{" + "9" * 1_000_000 + "}",
        r"\boxed{" + "x+" * 500_000 + "x}",
        r"\boxed{" + "{" * 100_000 + "1" + "}" * 100_000 + "}",
        r"\boxed{" + r"\frac{1}{" * 900 + "2" + "}" * 900 + "}",
        r"\boxed{" + "-" * 9_000 + "1}",
        r"\boxed{" + "1/x" * 3_000 + "}",
        r"\boxed{" + "^2" * 3_000 + "}",
        r"\boxed{" + r"\sqrt{" * 25 + "2" + "}" * 25 + "}",
        r"\boxed{((x!)!)!}",
        r"\boxed{e^{e^{e^{e^{9}}}}}",
    ],
    ids=lambda response: response[7:20],
)
async def test_large_answers_are_wrong_not_failed(judge: Judge, response: str) -> None:
    verdict = await judge("5", response)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)


@pytest.mark.parametrize(
    "piece", ["We get ", "so ", "therefore, ", "the answer is ", "it follows that: ", "solutions are "]
)
@pytest.mark.parametrize("end", ["dear $5$", "dear $x$, $y$", "$5$", "never"])
def test_openings_in_a_row_take_no_exponential_time(piece: str, end: str) -> None:
    with suppress(Unreadable, TooComplex):
        guard.within(2.0, read_prose, piece * 60 + end, read)


@pytest.mark.bombs(beyond=12)
@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda text: text[:30])
def test_nothing_in_an_answer_or_a_reference_is_executed(
    injection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here nothing is confined: no file comes into being, and nothing is even tried."""
    monkeypatch.chdir(tmp_path)
    hostile = injection.replace("MARKER", str(tmp_path / "marker"))
    for frame in FRAMES:
        text = frame.format(hostile)
        with guard.watched():
            extract(text, ExtractionParams())
            decide("5", text, EXACT)
            assert grade([["5"], text, DEFAULT.packed()])["outcome"] in targets.OUTCOMES - targets.REFUSED - {"equal"}
            assert grade([[text], "5", DEFAULT.packed()])["outcome"] in targets.OUTCOMES - {"equal"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.bombs
@pytest.mark.parametrize("side", ["answer", "reference"])
async def test_bombs_are_judged_within_the_limit_and_most_at_once(workers: Workers, side: str) -> None:
    payloads = [[["5"], bomb] if side == "answer" else [[bomb], "5"] for bomb in BOMBS.values()]
    outcomes = await workers.map(TASK, [[*payload, DEFAULT.packed()] for payload in payloads])
    used_s = dict(zip(BOMBS, (outcome.elapsed_s for outcome in outcomes), strict=True))
    print({name: round(seconds, 2) for name, seconds in used_s.items() if seconds > 0.1})
    for name, outcome in zip(BOMBS, outcomes, strict=True):
        assert outcome.exit in (Exit.OK, Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.STALLED), (name, outcome)
        if outcome.exit is Exit.OK:
            assert outcome.value["outcome"] in targets.OUTCOMES - {"equal"}, (name, outcome)
        assert outcome.elapsed_s <= 1.5 * TIME_LIMIT_S, (name, outcome)
    # Most are seen before anything is computed. What is computed takes the slowest machines a third of the limit or all of it.
    assert sum(seconds <= TIME_LIMIT_S / 2 for seconds in used_s.values()) >= 0.95 * len(BOMBS)


@pytest.mark.bombs
async def test_neighbours_of_any_bombs_are_unharmed(verifier: Math) -> None:
    """Whatever is judged before, beside and after: a right answer is right and a wrong one is wrong."""
    right = Item(r"\boxed{\frac{x}{2}}", MathParams(reference="x/2"))
    wrong = Item(r"\boxed{\frac{x}{3}}", MathParams(reference="x/2"))
    source = random.Random(0)
    for _ in range(10):
        picks = [(name, source.random() < 0.5) for name in source.sample(list(BOMBS), 12)]
        items = [right, wrong]
        for name, is_answer in picks:
            items += [_bomb(name, is_answer), right, wrong]
        verdicts = await until_judged(verifier, items)
        assert [verdict.score for verdict in verdicts[0::3]] == [1.0] * (len(picks) + 1)
        assert [verdict.score for verdict in verdicts[1::3]] == [0.0] * (len(picks) + 1)
        for (name, is_answer), verdict in zip(picks, verdicts[2::3], strict=True):
            assert verdict.score == 0.0 or (verdict.score is None and not is_answer), (name, verdict)


def _bomb(name: str, is_answer: bool) -> Item[MathParams]:
    answer, reference = (BOMBS[name], "5") if is_answer else ("5", BOMBS[name])
    return Item(rf"\boxed{{{answer}}}", MathParams(reference=reference))


async def test_an_answer_that_breaks_a_limit_is_wrong_and_a_reference_that_does_is_invalid(judge: Judge) -> None:
    for large in (r"\prod_{k=1}^{100000} (x+k)", r"\sum_{k=1}^{10^{12}} \frac{1}{k}"):
        answers = await judge("5", rf"\boxed{{{large}}}")
        assert (answers.status, answers.score, answers.reason) == (Status.OK, 0.0, "too_complex")
        references = await judge(large, r"\boxed{5}")
        assert (references.status, references.reason) == (Status.INVALID, "reference_too_complex")


async def test_what_a_large_reference_leaves_open_is_no_wrong_answer(judge: Judge) -> None:
    reference = "9^{9^{9^{9^9}}}"
    assert (await judge(reference, rf"\boxed{{{reference}}}")).score == 1.0
    assert (await judge(reference, r"\boxed{5}")).score == 0.0
    open_ = await judge(reference, r"\boxed{8^{9^{9^{9^9}}}}")
    assert (open_.status, open_.score, open_.reason) == (Status.FAILED, None, "too_complex")
    assert (await judge("5", rf"\boxed{{{reference}}}")).reason == "too_complex"


@pytest.mark.accuracy
@pytest.mark.bombs(beyond=1)
@pytest.mark.parametrize(
    "reference",
    [
        r"\int_0^\infty \frac{\sin(x^3+\cos x)}{x+\ln(x+2)} dx",  # sympy takes many seconds over it
        r"\sum_{n=1}^\infty (-1)^n",  # there is no value
    ],
)
@pytest.mark.parametrize("answer", ["2", "0.5"])
async def test_a_reference_that_sympy_cannot_evaluate_is_never_a_wrong_answer(
    judge: Judge, reference: str, answer: str
) -> None:
    verdict = await judge(reference, rf"\boxed{{{answer}}}")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, "reference_too_complex")


@pytest.mark.bombs
async def test_an_answer_that_sympy_cannot_evaluate_is_too_complex(judge: Judge) -> None:
    for answer in (r"\int_0^\infty \frac{\sin(x^3+\cos x)}{x+\ln(x+2)} dx", r"\sum_{n=1}^\infty (-1)^n"):
        verdict = await judge("2", rf"\boxed{{{answer}}}")
        assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "too_complex")


@pytest.mark.bombs
def test_bombs_at_the_door_cost_their_neighbours_nothing_and_little_memory(tmp_path: Path) -> None:
    items = []
    for index, bomb in enumerate((*BOMBS.values(), *INJECTIONS)):
        for response, reference in ((rf"\boxed{{{bomb}}}", "5"), (r"\boxed{5}", bomb)):
            items.append({"verifier": "math", "response": response, "reference": reference})
            items.append({"verifier": "math", "response": rf"\boxed{{x^2+{index}}}", "reference": f"{index}+x^2"})
    with (
        serving_as_users_do(tmp_path / "log.jsonl", sandbox="none", workers="2", cache_memory_mb="16") as served,
        httpx.Client(base_url=served.url, timeout=300) as client,
        Peaks(served.process.pid) as peaks,
    ):
        results = post_until_judged(client, items)
    assert [result["score"] for result in results[1::2]] == [1.0] * (len(items) // 2)
    for item, result in zip(items[0::2], results[0::2], strict=True):
        shown = result["reason"], result["detail"], item["response"][:80], item["reference"][:80]
        assert result["score"] in (None, 0.0), shown
        assert result["status"] == "ok" or item["reference"] != "5", shown
        assert result["status"] != "failed" or result["reason"] == "too_complex", shown
    print(f"peak of the service {peaks.service_mb:.0f} MB, of a worker {peaks.worker_mb:.0f} MB")
    assert peaks.service_mb < MAX_SERVICE_MB
    assert peaks.worker_mb < MAX_WORKER_MB


MAX_SERVICE_MB = 193
"""It has 145 at rest. The bodies, 25 MB, come in whole and are taken apart; nothing that grows is computed there."""
MAX_WORKER_MB = 200
"""A fresh one has 190; an item may map 1,024 more, and nothing here should need that."""


def post_until_judged(client: httpx.Client, items: list[dict[str, str]]) -> list[dict[str, Any]]:
    """As `until_judged`, over HTTP."""
    results: list[dict[str, Any]] = [{} for _ in items]
    missing = list(range(len(items)))
    for _ in range(10):
        content = json.dumps({"items": [items[index] for index in missing], "deadline_s": 280}).encode()
        reply = client.post("/v1/score", content=content)
        assert reply.status_code == 200, reply.text[:500]
        for index, result in zip(missing, reply.json()["results"], strict=True):
            results[index] = result
        missing = [index for index, result in enumerate(results) if result["reason"] in STARVED]
        if not missing:
            break
    return results


class Peaks:
    """Watches the largest memory of their own that a server and each of its workers have while it is entered.

    Pages of files are left out: those of libraries are mapped once for all processes, and the system takes them back at will.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.service_mb = 0.0
        self.worker_mb = 0.0

    def __enter__(self) -> "Peaks":
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.service_mb = max(self.service_mb, _peak_mb(self._pid))
            for pid in descendants(self._pid):
                self.worker_mb = max(self.worker_mb, _peak_mb(pid))


def _peak_mb(pid: int) -> float:
    """The most that a process has had, also between two looks, without the files that it maps now; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    sizes = {name: int(kb) / 1000 for name, kb in re.findall(r"^(VmHWM|RssFile):\s+(\d+) kB$", status, re.MULTILINE)}
    return sizes["VmHWM"] - sizes["RssFile"] if sizes else 0.0  # a process that has ended has no sizes


class Ending:
    """Stands in for the pool where an ending cannot be had at will: answers with one outcome per call."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)

    def register(self, task: object) -> None:
        pass

    async def map(self, task: object, payloads: list[Any], on_outcome: Callable[[int, Outcome], None]) -> list[Outcome]:
        outcomes = [self._outcomes.pop(0) for _ in payloads]
        for index, outcome in enumerate(outcomes):
            on_outcome(index, outcome)
        return outcomes


@pytest.mark.parametrize(
    ("exit_", "reason"),
    [(Exit.CRASHED, "worker_crashed"), (Exit.STALLED, "worker_stalled"), (Exit.RAISED, "verifier_bug")],
)
async def test_trouble_of_ours_is_no_score(exit_: Exit, reason: str) -> None:
    (verdict,) = await _ending(Outcome(exit_, message="why"))
    assert (verdict.status, verdict.score, verdict.reason) == (Status.FAILED, None, reason)


@pytest.mark.parametrize("exit_", [Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT])
async def test_a_broken_limit_is_charged_to_whoever_broke_it(exit_: Exit) -> None:
    fine = Outcome(Exit.OK, {"outcome": "different", "method": "reference"})
    (answers,) = await _ending(Outcome(exit_), fine, reference="5")
    assert (answers.status, answers.score, answers.reason) == (Status.OK, 0.0, "too_complex")
    (nobodys,) = await _ending(Outcome(exit_), fine)
    assert (nobodys.status, nobodys.score, nobodys.reason) == (Status.FAILED, None, "too_complex")
    (references,) = await _ending(Outcome(exit_), Outcome(exit_))
    assert (references.status, references.score) == (Status.INVALID, None)
    assert references.reason == "reference_too_complex"
    (neither,) = await _ending(Outcome(exit_), Outcome(Exit.STALLED))
    assert (neither.status, neither.score) == (Status.FAILED, None)


async def _ending(*outcomes: Outcome, reference: str = "y") -> list[Verdict]:
    made = create(Resources(workers=Ending(*outcomes)))  # type: ignore[arg-type] # the three methods used are there
    return list(await made.score([Item(r"\boxed{x}", MathParams(reference=reference))]))


async def test_a_pool_that_is_not_there_is_no_verdict() -> None:
    made = create(Resources(workers=Workers(1)))
    with pytest.raises(Unavailable):
        await made.score([Item(r"\boxed{x}", MathParams(reference="y"))])


def test_the_checks_before_reading_are_plain_text() -> None:
    assert refusal("x" * 10_001) == "too_complex"
    assert refusal("1" * 4_001) == "too_complex"
    assert refusal("{" * (MAX_NESTING + 1)) == "too_complex"
    assert refusal("a `code` b") == "unparseable"
    assert refusal(r"1 + \lambda") is None
    assert nesting("((a)(b(c)))") == 3

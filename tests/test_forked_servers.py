"""What tests take for a server of a user's is one: it ends as that does, and has its settings and nothing of another's."""

import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from sandbox.workers import Workers
from tests.benchmarks.servers import on_cores
from tests.chaos.servers import command_line
from tests.conftest import ROOT, Serve, rewardline, serving
from tests.forked_servers import ForkedServer, Seed
from tests.processes import children
from tests.service.slow_verifier import installed
from tests.waiting import PATIENCE_S, eventually
from verifiers import registry
from verifiers.base import Item, Resources


def test_servers_of_tests_are_forked_and_end_as_others_do(serve: Serve) -> None:
    one, other = serve(max_items_per_request="7"), serve()
    assert isinstance(one.process, ForkedServer), "none would be any more, and a run of all tests take minutes longer"
    assert os.getpid() not in (one.process.pid, other.process.pid)
    assert httpx.get(f"{one.url}/healthz").status_code == 200
    score = {
        "items": [{"verifier": "math", "response": f"\\boxed{{{n} + x}}", "reference": f"x+{n}"} for n in range(8)]
    }
    assert [httpx.post(f"{each.url}/v1/score", json=score).status_code for each in (one, other)] == [413, 200]
    with pytest.raises(subprocess.TimeoutExpired):
        one.process.wait(0.01)
    zygotes = [pid for pid in children(one.process.pid) if b"sandbox.workers" in command_line(pid)]
    assert len(zygotes) == 1
    one.process.kill()
    assert one.process.wait(PATIENCE_S) == -signal.SIGKILL
    assert one.process.poll() == -signal.SIGKILL
    assert other.process.poll() is None
    assert other.stop() == 0


def test_what_workers_are_forked_from_has_nothing_of_the_server_and_ends_with_it(serve: Serve) -> None:
    served = serve(api_keys="me=0123456789abcdef-secret")
    (zygote,) = (pid for pid in children(served.process.pid) if b"sandbox.workers" in command_line(pid))
    files = {int(fd.name): os.readlink(fd) for fd in Path(f"/proc/{zygote}/fd").iterdir()}
    assert (files[1], files[2]) == (os.devnull, str(served.log))
    assert len(files) <= 7, files  # standard streams, the control socket, both ends of its own pipe, and its poll
    assert (os.readlink(f"/proc/{zygote}/cwd"), os.getsid(zygote)) == ("/", zygote)
    served.process.kill()
    served.process.wait(PATIENCE_S)
    eventually(lambda: not Path(f"/proc/{zygote}").exists())


def test_a_server_has_its_own_plugins_and_the_cores_of_its_caller(tmp_path: Path) -> None:
    first = min(os.sched_getaffinity(0))
    with (
        on_cores([first]),
        serving(tmp_path / "log.jsonl", (), installed(tmp_path / "plugins"), sandbox="none") as served,
    ):
        assert isinstance(served.process, ForkedServer)
        assert os.sched_getaffinity(served.process.pid) == {first}
        assert "slow" in {entry["name"] for entry in httpx.get(f"{served.url}/v1/verifiers").json()["verifiers"]}


async def test_workers_of_a_test_are_forked_and_end_as_others_do() -> None:
    assert rewardline("recipes", "list").returncode == 0  # the seed has begun
    workers, before = Workers(1), children()
    entry = registry.load(Resources(workers))["math"]
    await workers.start()
    try:
        assert children() == before
        reference = entry.verifier.params.model_validate_json('{"reference": "x+1"}')
        items = [Item(text, reference) for text in (r"\boxed{1+x}", r"\boxed{2+x}")]
        assert [verdict.score for verdict in await entry.verifier.score(items)] == [1.0, 0.0]
    finally:
        await workers.stop()


def test_commands_are_told_by_what_they_print_and_their_exit_code() -> None:
    assert rewardline("recipes", "list").returncode == 0
    missing = rewardline("verifiers", "nosuch")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "there are" in missing.stderr


def test_what_a_server_would_not_find_in_the_seed_is_started_as_ever() -> None:
    seed = Seed(ROOT)
    assert seed.suits({**os.environ, "REWARDLINE_WORKERS": "3", "PYTEST_CURRENT_TEST": "this one"})
    assert not seed.suits({**os.environ, "LD_PRELOAD": "libfaketime.so"})
    assert not seed.suits({name: value for name, value in os.environ.items() if name != "PATH"})

"""What tests take for a server of a user's is one: it ends as that does, and has its settings and nothing of another's."""

import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.chaos.servers import command_line
from tests.conftest import ROOT, Serve, rewardline
from tests.forked_servers import ForkedServer, Seed
from tests.processes import children
from tests.waiting import PATIENCE_S, eventually


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

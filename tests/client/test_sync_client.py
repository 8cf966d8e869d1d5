"""Client: threads, forks, pickles, and the end of the process."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from rewardline import AsyncClient, Client, InvalidRequest, Status

from tests.waiting import PATIENCE_S, eventually

if TYPE_CHECKING:
    from tests.client.conftest import Body, FakeServer


def item(i: int) -> dict[str, Any]:
    return {"verifier": "math", "response": str(i), "reference": str(i) if i % 3 == 0 else "no"}


def right(i: int) -> float:
    return 1.0 if i % 3 == 0 else 0.0


def test_has_the_methods_of_the_async_client_with_their_arguments() -> None:
    methods = dict(inspect.getmembers(AsyncClient, inspect.iscoroutinefunction))
    shared = [name for name in methods if not name.startswith("_") and name not in ("call", "close")]
    assert len(shared) == 11
    for name in shared:
        assert inspect.signature(getattr(Client, name)) == inspect.signature(methods[name])
        assert not inspect.iscoroutinefunction(getattr(Client, name))
    blocking, streaming = inspect.signature(Client.stream), inspect.signature(AsyncClient.stream)
    assert blocking.parameters == streaming.parameters


def test_its_methods_can_be_pickled() -> None:
    with Client("http://127.0.0.1:1") as client:
        copy = pickle.loads(pickle.dumps(client.score))
        assert repr(copy.__self__) == repr(client)
        assert copy.__func__ is Client.score


def client_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "rewardline-client"]


def test_scores_a_batch_one_item_and_a_stream(server: FakeServer) -> None:
    with Client(server.url, batch_items=4) as client:
        assert [result.score for result in client.score([item(i) for i in range(10)])] == [right(i) for i in range(10)]
        assert client.score_one(item(3)).status is Status.OK
        assert dict(client.stream(item(i) for i in range(10))).keys() == set(range(10))
        assert client.verifiers()[0]["name"] == "math"
    assert client_threads() == []


def test_errors_of_the_server_and_of_the_caller_come_through(server: FakeServer) -> None:
    with Client(server.url) as client:
        with pytest.raises(InvalidRequest, match=r"items\[1\]\.verifer"):
            client.score([item(0), {**item(1), "verifer": "math"}])
        with pytest.raises(ValueError, match=r"items\[0\]"):
            client.score_one({"response": "1", "reference": float("nan")})
        with pytest.raises(ZeroDivisionError):
            list(client.stream({"response": str(1 // i)} for i in (1, 0)))


def test_many_threads_share_connections_and_requests(server: FakeServer) -> None:
    with Client(server.url, gather_ms=20) as client, ThreadPoolExecutor(64) as pool:
        results = list(pool.map(lambda i: client.score_one(item(i)), range(640)))
    assert [result.score for result in results] == [right(i) for i in range(640)]
    assert len(server.bodies) < 320
    assert len(server.connections) <= 8


def test_works_inside_a_running_loop(server: FakeServer) -> None:
    async def notebook() -> float | None:
        with Client(server.url) as client:
            return client.score_one(item(3)).score

    assert asyncio.run(notebook()) == 1.0


def test_close_is_final_may_be_repeated_and_ends_calls_in_flight(server: FakeServer) -> None:
    arrived = threading.Event()

    async def hanging(request: web.Request, body: Body) -> None:
        arrived.set()
        await asyncio.Event().wait()

    server.faults.append(hanging)
    client = Client(server.url)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.score, [item(1)])
        assert arrived.wait(20)
        client.close()
        with pytest.raises(RuntimeError, match="closed"):
            call.result(20)
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.score([item(1)])
    Client(server.url).close()
    assert client_threads() == []


def test_a_stream_left_early_ends_quietly(server: FakeServer) -> None:
    with Client(server.url, batch_items=1) as client:
        stream = client.stream(item(i) for i in range(1000))
        next(stream)
        del stream
        gc.collect()
        assert client.score_one(item(3)).score == 1.0
        left_open = client.stream(item(i) for i in range(1000))
        next(left_open)
    del left_open
    assert len(server.bodies) < 1000


def test_a_forgotten_client_ends_its_thread(server: FakeServer) -> None:
    client = Client(server.url)
    client.score_one(item(1))
    (thread,) = client_threads()
    del client
    gc.collect()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_pickled_client_opens_its_own_connections(server: FakeServer) -> None:
    server.api_key = "secret"
    with Client(server.url, api_key="secret", batch_items=2) as client:
        client.score_one(item(1))
        with pickle.loads(pickle.dumps(client)) as copy:
            assert [result.score for result in copy.score([item(3)] * 3)] == [1.0] * 3
    assert len(server.connections) >= 2
    assert "secret" not in repr(client)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_scores_and_leaves_the_parent_alone(server: FakeServer) -> None:
    with Client(server.url) as client:
        assert client.score_one(item(3)).score == 1.0
        child = os.fork()
        if child == 0:
            # Nothing may escape to pytest, of which there must not be two.
            status = 1
            try:
                gc.freeze()  # what other tests left to collect may wait for threads that are not here
                status = 0 if client.score_one(item(3)).score == 1.0 else 2
                client.close()
            finally:
                os._exit(status)
        assert _exit_status(child) == 0
        assert client.score_one(item(6)).score == 1.0
    assert len(server.connections) == 2  # the parent still has its first one


def _exit_status(child: int) -> int:
    try:
        eventually(lambda: os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT))
    except AssertionError:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "client.close()", "del client"])
def test_a_process_ends_by_itself_and_in_silence(server: FakeServer, ending: str) -> None:
    script = f"""
        import sys
        from rewardline import Client
        client = Client(sys.argv[1])
        print(client.score_one({{"response": "1", "reference": "1"}}).score, flush=True)
        {ending}
    """
    assert _output(["-W", "default"], script, server) == ("1.0\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_that_collects_what_it_inherited_costs_the_parent_nothing(server: FakeServer) -> None:
    # The connector's __del__ is what the collector calls in a child; called by name, since when it runs is chance.
    script = """
        import os, sys
        from rewardline import Client
        client = Client(sys.argv[1])
        item = {"response": "1", "reference": "1"}
        client.score_one(item)
        (state,) = client._client._loops.values()
        child = os.fork()
        if child == 0:
            state.transport._session.connector.__del__()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(client.score_one(item, deadline_s=10).score)
    """
    assert _output(["-W", "ignore"], script, server) == ("1.0\n", "")
    assert len(server.connections) == 1


def _output(options: list[str], script: str, server: FakeServer) -> tuple[str, str]:
    command = [sys.executable, *options, "-c", textwrap.dedent(script), server.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout, done.stderr

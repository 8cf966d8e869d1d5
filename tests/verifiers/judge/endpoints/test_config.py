"""What the file may say about endpoints, and where its keys go."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from tests.judge_upstream.behaviours import completion, gives, says, sends
from tests.judge_upstream.scripted import Scripted
from tests.tables import table
from tests.verifiers.judge.endpoints.calls import QUESTION, endpoint, gateway, outcome
from verifiers.judge.endpoints import BadKey, EndpointConfig, Gateway, PoolConfig
from verifiers.judge.endpoints.wire import Wire
from verifiers.judge.errors import EndpointFailure

GOOD = {"base_url": "http://127.0.0.1:9/v1", "model": "judge"}

BAD: dict[str, dict[str, Any]] = {
    "unknown_name": {"modle": "x"},
    "scheme": {"base_url": "file:///etc/passwd"},
    "no_host": {"base_url": "http://"},
    "password_in_address": {"base_url": "http://me:secret@host/v1"},
    "query": {"base_url": "http://host/v1?key=secret"},
    "empty_model": {"model": ""},
    "header_of_ours": {"headers_env": {"Authorization": "X"}},
    "header_with_break": {"headers_env": {"X-A\r\nX-B": "X"}},
    "health_elsewhere": {"health_path": "//other/health"},
    "cost_without_price": {"spend": {"max_cost": 1}},
    "spend_without_limit": {"spend": {"window_s": 1}},
    "limits_upside_down": {"concurrency": {"start": 9, "max": 8}},
    "negative_price": {"price": {"input": -1, "output": 1}},
    "nan": {"weight": float("nan")},
}


@table("parts", BAD.values(), list(BAD))
def test_what_makes_no_sense_is_refused_at_the_start(parts: dict[str, Any]) -> None:
    EndpointConfig.model_validate(GOOD)
    with pytest.raises(ValidationError):
        EndpointConfig.model_validate(GOOD | parts)


def test_members_are_named_once() -> None:
    with pytest.raises(ValidationError):
        PoolConfig(members=["one", "one"])
    with pytest.raises(ValidationError):
        PoolConfig(members=[])


def test_names_of_keys_are_known() -> None:
    config = EndpointConfig.model_validate(GOOD | {"api_key_env": "KEY", "headers_env": {"X-Team": "TEAM"}})
    assert config.env_names == ["KEY", "TEAM"]
    assert EndpointConfig.model_validate(GOOD).env_names == []


@table("value", ["", "a\r\nX-Evil: 1", "schlüssel", "a\x00b"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(value: str) -> None:
    config = EndpointConfig.model_validate(GOOD | {"api_key_env": "KEY"})
    with pytest.raises(BadKey, match="KEY") as bad:
        Gateway({"one": config}, {}, keys={"KEY": value})
    assert not value or value not in str(bad.value)
    with pytest.raises(BadKey, match="KEY"):
        Gateway({"one": config}, {}, keys={})


def test_keys_are_in_no_representation() -> None:
    config = EndpointConfig.model_validate(GOOD | {"api_key_env": "KEY"})
    assert "sesame" not in repr(config) + repr(Wire(config, {"KEY": "sesame"}))
    gateway = Gateway({"one": config}, {"judges": PoolConfig(members=["one"])}, keys={"KEY": "sesame"})
    assert "sesame" not in repr(gateway) + repr(gateway.states()) + repr(gateway.pool_states())


async def test_each_endpoint_gets_its_own_key_and_no_other() -> None:
    async with Scripted(says()) as one, Scripted(says()) as two, Scripted(says()) as bare:
        endpoints = {
            "one": endpoint(one, api_key_env="KEY_ONE"),
            "two": endpoint(two, headers_env={"X-Key": "KEY_TWO"}),
            "bare": endpoint(bare),
        }
        async with gateway(endpoints) as made:
            for name in endpoints:
                await made.ask("judges", QUESTION, only=name)
        for upstream, secrets in ((one, {"secret-of-KEY_ONE"}), (two, {"secret-of-KEY_TWO"}), (bare, set())):
            sent = " ".join(f"{name}: {value}" for name, value in upstream.calls[0].headers.items())
            assert {secret for secret in ("secret-of-KEY_ONE", "secret-of-KEY_TWO") if secret in sent} == secrets


async def test_connections_are_kept() -> None:
    async with Scripted(says()) as upstream, gateway({"one": endpoint(upstream)}) as made:
        for _ in range(5):
            await made.ask("judges", QUESTION)
        assert (len(upstream.calls), upstream.connections) == (5, 1)


async def test_cookies_and_the_environments_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    biscuit = gives(completion(), Set_Cookie="a=b")
    async with Scripted(biscuit) as upstream, gateway({"one": endpoint(upstream)}) as made:
        await made.ask("judges", QUESTION)
        await made.ask("judges", QUESTION)
        assert all("cookie" not in seen.headers for seen in upstream.calls)


async def test_every_call_that_is_over_is_told_of() -> None:
    calls: list[tuple[str, str]] = []
    async with Scripted(gives({}), says()) as upstream:
        made = Gateway(
            {"one": endpoint(upstream)},
            {"judges": PoolConfig.model_validate({"members": ["one"], "retry": {"base_s": 0}})},
            keys={},
            observe=lambda name, kind, seconds: calls.append((name, kind)),
        )
        await made.ask("judges", QUESTION)
        await made.stop()
    assert calls == [("one", "bad_upstream_body"), ("one", "ok")]


async def test_a_gateway_that_stops_leaves_nothing_running() -> None:
    async with Scripted(says()) as upstream:
        endpoints = {"one": endpoint(upstream), "gone": endpoint("http://127.0.0.1:9/v1")}
        async with gateway(endpoints, probing=True) as made:
            await made.ask("judges", QUESTION)
            assert {task.get_name() for task in asyncio.all_tasks()} >= {"probe one", "probe gone"}
        assert not any(task.get_name().startswith("probe") for task in asyncio.all_tasks())


async def test_a_gateway_that_stops_ends_the_calls_under_way() -> None:
    async with Scripted(sends(b"", then="hang")) as upstream, gateway({"one": endpoint(upstream)}) as made:
        call = asyncio.create_task(outcome(made))
        await upstream.until(1)
        await made.stop()
        failure = await call
        assert isinstance(failure, EndpointFailure)
        assert failure.kind == "connect"
        assert len(upstream.calls) == 1


async def test_an_endpoint_that_is_not_there_is_a_mistake_of_the_caller() -> None:
    async with Scripted(says()) as upstream, gateway({"one": endpoint(upstream)}) as made:
        assert not isinstance(await outcome(made), EndpointFailure)
        with pytest.raises(KeyError):
            await made.ask("judges", QUESTION, only="other")

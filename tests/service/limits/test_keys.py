"""API keys: whose, what for, how much; first by themselves, then at both doors of a server."""

import asyncio
import re
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from rewardline import Client, Unauthorized

from fairness import DEFAULT, TENANT, share_of, weight_of
from service.errors import Forbidden, Overloaded, Unauthenticated
from service.limits import keys
from service.limits.admission import Admission, Permit
from service.limits.budgets import UNLIMITED
from service.limits.keys import ANONYMOUS, CALLER, BadKeys, Caller, Keys, Scope, read
from service.limits.open_calls import OpenCalls
from service.limits.rate_limits import BURST_S, RateLimits
from tests.conftest import Serve, Served, rewardline
from tests.waiting import PATIENCE_S, eventually

ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}


def written(folder: Path, **specs: Any) -> tuple[Path, dict[str, str]]:
    """A file of keys with these specs, and the keys."""
    made = {name: keys.new_key() for name in specs}
    content = {name: {"sha256": made[name][1], **spec} for name, spec in specs.items()}
    path = folder / "keys.yaml"
    path.write_text(yaml.safe_dump({"keys": content}))
    return path, {name: key for name, (key, _) in made.items()}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_without_keys_everyone_may_do_everything() -> None:
    assert Keys({}).caller_of(None) is ANONYMOUS
    for scope in Scope:
        ANONYMOUS.check(scope)


def test_an_empty_file_of_keys_opens_nothing() -> None:
    with pytest.raises(Unauthenticated):
        Keys({}, required=True).caller_of(None)


def test_a_key_is_for_what_it_says(tmp_path: Path) -> None:
    path, secrets = written(tmp_path, one={}, two={"scopes": ["admin", "sandbox"], "items_per_s": 5})
    known = Keys(keys.gather({}, path))
    one, two = (known.caller_of(f"Bearer {secrets[name]}") for name in ("one", "two"))
    assert one == Caller("one", frozenset({Scope.SCORE}))
    assert (two.scopes, two.items_per_s) == (frozenset({Scope.ADMIN, Scope.SANDBOX}), 5.0)
    with pytest.raises(Forbidden, match="two"):
        two.check(Scope.SCORE)
    for wrong in (f"Bearer {secrets['one']}x", "Bearer ", "Basic !!", "", None):
        with pytest.raises(Unauthenticated):
            known.caller_of(wrong)


def test_a_tenant_is_a_key_or_what_its_keys_name(tmp_path: Path) -> None:
    path, secrets = written(tmp_path, one={}, two={"tenant": "team"}, three={"tenant": "team"})
    known = Keys(keys.gather({"four": b"4" * 32, "five@team": b"5" * 32}, path))
    assert [known.caller_of(f"Bearer {secrets[name]}").tenant for name in ("one", "two", "three")] == [
        *("one", "team", "team")
    ]
    callers = keys.gather({"four": b"4" * 32, "five@team": b"5" * 32}, path)
    assert [(callers[key].name, callers[key].tenant) for key in (b"4" * 32, b"5" * 32)] == [
        *(("four", "four"), ("five", "team"))
    ]
    assert ANONYMOUS.tenant == DEFAULT


def test_tenants_have_budgets_whether_or_not_a_key_names_them(tmp_path: Path) -> None:
    path, _ = written(tmp_path, one={"tenant": "maths"})
    path.write_text(
        path.read_text() + "tenants:\n"
        "  maths: {budget: {cpu_s: 3600, items_per_minute: 1e6}, run_budget: {judge_cost: 2.5}}\n"
        "  'https://issuer/user': {}\n"
    )
    found = keys.budgets(path)
    assert found["maths"].budget.set_limits() == {"cpu_s": 3600, "items_per_minute": 1e6}
    assert found["maths"].run_budget.set_limits() == {"judge_cost": 2.5}
    assert found["https://issuer/user"] == UNLIMITED
    assert len(keys.read(path)) == 1
    assert keys.budgets(None) == {}


def test_all_mistakes_of_keys_and_budgets_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text("keys: {a: {sha256: abc}}\ntenants: {b: {budget: {items: -1, cpu: 2}}}")
    for reads in (keys.read, keys.budgets):
        with pytest.raises(BadKeys) as caught:
            reads(path)
        assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("keys: {a: {sha256: " + "f" * 64 + ", tenant: 'a/b'}}", "keys.a.tenant"),
        ("keys: [", "cannot read"),
        ("[]", "keys"),
        ("keys: {a: {sha256: abc}}", "64 hexadecimal digits"),
        ("keys: {a: {sha256: " + "f" * 64 + ", scope: [score]}}", "keys.a.scope"),
        ("keys: {a: {sha256: " + "f" * 64 + ", scopes: [root]}}", "keys.a.scopes[0]"),
        ("keys: {a: {sha256: " + "f" * 64 + ", scopes: []}}", "keys.a.scopes"),
        ("keys: {a: {sha256: " + "f" * 64 + ", items_per_s: -1}}", "keys.a.items_per_s"),
        ("keys: {a: {sha256: " + "f" * 64 + "}, b: {sha256: " + "f" * 64 + "}}", "same key"),
        ("keys: {}\ntenants: {a: {budget: {item: 1}}}", "tenants.a.budget.item"),
        ("keys: {}\ntenants: {a: {budgets: {}}}", "tenants.a.budgets"),
        ("keys: {}\ntenants: {a: {run_budget: {judge_cost_per_minute: -1}}}", "run_budget.judge_cost_per_minute"),
        ("keys: {}\ntenants: {a: {budget: {cpu_s: .inf}}}", "tenants.a.budget.cpu_s"),
        ("keys: {}\ntenants: {a: {budget: {judged: 1}}}", "tenants.a.budget.judged"),
        ('keys: {}\ntenants: {"a b": {}}', "tenants.a b"),
        ('keys: {"a b": {sha256: ' + "f" * 64 + "}}", "a name is"),
    ],
)
def test_mistakes_in_the_file_are_told_with_their_place(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(content)
    with pytest.raises(BadKeys, match=re.escape(message)):
        keys.read(path)
    with pytest.raises(BadKeys, match="cannot read"):
        keys.read(tmp_path / "none.yaml")


def test_one_name_stands_in_one_place(tmp_path: Path) -> None:
    path, _ = written(tmp_path, one={})
    with pytest.raises(BadKeys, match="one"):
        keys.gather({"one": b"digest"}, path)


def test_a_rate_is_kept_by_debt(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("service.limits.rate_limits.time.monotonic", lambda: now_s)
    rate_limits, caller = RateLimits(), Caller("a", items_per_s=10.0)
    rate_limits.take(caller, int(BURST_S * 10) + 30)  # more than there is: 30 in debt
    with pytest.raises(Overloaded) as refused:
        rate_limits.take(caller, 1)
    assert refused.value.retry_after_s == pytest.approx(3.1)
    now_s += 3.05
    rate_limits.take(caller, 1)
    assert rate_limits.refused == {("a", "rate"): 1}
    now_s += 1000.0
    rate_limits.take(caller, int(BURST_S * 10))  # silence is worth no more than the burst
    with pytest.raises(Overloaded):
        rate_limits.take(caller, 1)


def test_items_in_flight_are_counted_to_their_key() -> None:
    rate_limits, caller = RateLimits(), Caller("a", max_items_in_flight=10)
    rate_limits.take(caller, 25)  # alone, a batch of any size may pass
    with pytest.raises(Overloaded):
        rate_limits.take(caller, 1)
    rate_limits.take(Caller("b", max_items_in_flight=10), 1)
    rate_limits.give(caller, 20)
    rate_limits.take(caller, 5)
    assert rate_limits.refused == {("a", "in_flight"): 1}


async def test_what_a_key_may_not_have_is_given_back_at_once() -> None:
    admission = Admission(1000, 1000)
    CALLER.set(Caller("a", max_items_in_flight=1))
    with admission.enter() as permit:
        permit.add(items=1)
        with pytest.raises(Overloaded):
            permit.add(items=5, nbytes=10)
        assert (admission.items, admission.bytes) == (1, 0)
    assert admission.items == 0
    with admission.enter() as permit:
        permit.add(items=1)


async def test_no_tenant_fills_the_room_for_items_or_bytes() -> None:
    admission = Admission(100, 1000)

    def take(tenant: str, **more: int) -> Permit:
        TENANT.set(tenant)
        permit = admission.enter()
        permit.add(**more)
        return permit

    with take("a", items=40), take("b", items=20):
        with pytest.raises(Overloaded, match=r"40 and 0\.0 MB of them yours") as refused:
            take("a", items=35)
        assert refused.value.retry_after_s
        with take("b", items=10), take("c", items=10), pytest.raises(Overloaded, match="kept for others"):
            take("c", items=20)
    with take("a", nbytes=700):
        with pytest.raises(Overloaded):
            take("a", nbytes=100)
        with take("b", nbytes=200):
            pass
    assert (admission.items, admission.bytes) == (0, 0)


async def test_many_tenants_are_forgotten_when_they_hold_nothing() -> None:
    admission = Admission(100, 1000)
    TENANT.set("stays")
    with admission.enter() as stays:
        stays.add(items=7)
        for n in range(1000):
            TENANT.set(f"tenant {n}")
            with admission.enter() as permit:
                permit.add(items=1)
        assert admission.items == 7
        assert len(admission._items._held) == 1
    assert admission.items == 0


async def test_no_tenant_holds_all_connections() -> None:
    calls = OpenCalls(100)
    with ExitStack() as greedy:
        TENANT.set("greedy")
        for _ in range(75):
            greedy.enter_context(calls.connected())
        with pytest.raises(Overloaded, match="75 of them yours"), calls.connected():
            pass
        TENANT.set("modest")
        for _ in range(10):
            greedy.enter_context(calls.connected())
    TENANT.set("greedy")
    with calls.connected():
        pass


@pytest.mark.parametrize(
    ("given", "share"),
    [
        ({"a": {}}, None),
        ({"a": {}, "boss": {"scopes": ["admin"]}}, None),
        ({"a": {}, "b": {"tenant": "a", "weight": 2}}, None),
        ({"a": {}, "b": {}}, 3),
        ({"a": {"weight": 2}, "boss": {"scopes": ["admin", "score"]}}, 6),
    ],
)
def test_a_team_shares_when_there_can_be_another(tmp_path: Path, given: dict[str, Any], share: int | None) -> None:
    path, _ = written(tmp_path, **given)
    Keys(read(path))
    assert share_of("a") == share
    Keys(read(path), takes_certificates=True)
    assert share_of("a") is not None


def test_the_file_of_keys_sets_weights(tmp_path: Path) -> None:
    path, _ = written(tmp_path, a={"weight": 3}, b={})
    Keys(read(path))
    assert [weight_of(name) for name in "abc"] == [3, 1, 1]
    Keys({})
    assert weight_of("a") == 1


async def test_doors_that_wait_keep_a_rate_by_waiting() -> None:
    admission = Admission(1000, 1000)
    CALLER.set(Caller("a", items_per_s=50.0))
    with admission.enter() as permit:
        permit.add(items=int(BURST_S * 50) + 5)
        async with asyncio.timeout(PATIENCE_S):
            await permit.add_when_possible(items=1)


@pytest.fixture
def keyed(serve: Serve, tmp_path: Path) -> tuple[Served, dict[str, str], Path]:
    path, secrets = written(
        tmp_path,
        trainer={"scopes": ["score"]},
        runner={"scopes": ["sandbox"]},
        grafana={"scopes": ["admin"]},
        slow={"scopes": ["score"], "items_per_s": 1},
    )
    return serve(keys_file=str(path), workers="1"), secrets, path


@pytest.mark.contract
def test_each_door_asks_for_its_scope(keyed: tuple[Served, dict[str, str], Path]) -> None:
    served, secrets, path = keyed
    calls: dict[str, Callable[[dict[str, str]], httpx.Response]] = {
        "score": lambda headers: httpx.post(f"{served.url}/v1/score", json={"items": [ITEM]}, headers=headers),
        "sandbox": lambda headers: httpx.post(
            f"{served.url}/run_code", json={"code": "print(1)", "language": "python"}, headers=headers
        ),
        "admin": lambda headers: httpx.get(f"{served.url}/metrics", headers=headers),
        "any": lambda headers: httpx.get(f"{served.url}/v1/verifiers", headers=headers),
    }
    statuses = {
        name: {call: ask(bearer(secrets[name])).status_code for call, ask in calls.items()}
        for name in ("trainer", "runner", "grafana")
    }
    assert statuses == {
        "trainer": {"score": 200, "sandbox": 403, "admin": 403, "any": 200},
        "runner": {"score": 403, "sandbox": 200, "admin": 403, "any": 200},
        "grafana": {"score": 403, "sandbox": 403, "admin": 200, "any": 200},
    }
    assert calls["score"]({}).status_code == 401
    assert "scope 'score'" in calls["score"](bearer(secrets["grafana"])).json()["detail"]
    with Client(f"grpc://{served.grpc}", api_key=secrets["trainer"]) as client:
        assert client.score_one(ITEM).score == 1.0
    with Client(f"grpc://{served.grpc}", api_key=secrets["runner"]) as client, pytest.raises(Unauthorized):
        client.score_one(ITEM)

    answers = [
        httpx.post(f"{served.url}/v1/score", json={"items": [ITEM] * 60}, headers=bearer(secrets["slow"]))
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1].headers["Retry-After"]) > 30
    text = httpx.get(f"{served.url}/metrics", headers=bearer(secrets["grafana"])).text
    assert 'rewardline_key_refused_total{key="slow",reason="rate"} 1.0' in text
    assert calls["score"](bearer(secrets["trainer"])).status_code == 200
    assert secrets["trainer"] not in served.log.read_text()

    path.write_text("keys: {}")
    served.process.send_signal(signal.SIGHUP)
    eventually(lambda: calls["any"](bearer(secrets["trainer"])).status_code == 401)
    path.write_text("keys: [")
    served.process.send_signal(signal.SIGHUP)
    eventually(lambda: "keys not reloaded" in served.log.read_text())
    assert calls["any"](bearer(secrets["trainer"])).status_code == 401


def test_the_command_writes_the_line_of_a_key_with_its_tenant(tmp_path: Path) -> None:
    made = rewardline("key", "one", "--tenant", "team", "--scope", "score", "--scope", "admin")
    path = tmp_path / "keys.yaml"
    path.write_text(f"keys:\n{made.stdout}")
    caller = Keys(keys.read(path)).caller_of(f"Bearer {made.stderr.strip()}")
    assert caller == Caller("one", frozenset({Scope.SCORE, Scope.ADMIN}), tenant="team")
    refused = rewardline("key", "one", "--tenant", "a/b")
    assert refused.returncode == 2
    assert "--tenant" in refused.stderr

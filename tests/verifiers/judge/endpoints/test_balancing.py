"""Which endpoint gets a call, who waits, and for whom."""

import asyncio
import random
import time

import pytest
import uvloop

from fairness import TENANT
from tests.judge_upstream.behaviours import Slots, after, echoes_nonce, refuses, says, sends, when
from tests.judge_upstream.scripted import Exchange, Scripted
from tests.verifiers.judge.endpoints.calls import QUESTION, endpoint, gateway, outcome
from tests.waiting import PATIENCE_S, turns, until
from verifiers.judge.endpoints import ChatReply, ChatRequest, PoolConfig
from verifiers.judge.endpoints.balancing import Dispatcher, NoEndpoint, Wanted
from verifiers.judge.endpoints.config import EndpointConfig
from verifiers.judge.endpoints.endpoint import Endpoint, Lease
from verifiers.judge.endpoints.messages import Usage
from verifiers.judge.endpoints.wire import Wire
from verifiers.judge.errors import EndpointFailure


class Desk:
    """A dispatcher with endpoints of which nothing is asked, and a clock that is set."""

    def __init__(self, **configs: dict[str, object]) -> None:
        self.now = 1000.0
        self.dispatcher = Dispatcher(self.clock)
        for name, parts in configs.items():
            config = EndpointConfig.model_validate({"base_url": "http://127.0.0.1:9", "model": "m"} | parts)
            self.dispatcher.endpoints[name] = Endpoint(
                name,
                config,
                Wire(config, {}),
                clock=self.clock,
                changed=self.dispatcher.dispatch,
                pause_cap_s=60,
            )

    def clock(self) -> float:
        return self.now

    async def lease(self, *shunned: str, affinity: bytes | None = None, max_waiting: int = 1000) -> Lease:
        names = frozenset(self.dispatcher.endpoints)
        wanted = Wanted(names, frozenset(shunned), 10.0, affinity)
        return await self.dispatcher.acquire(wanted, self.clock() + 1000, max_waiting)

    def endpoint(self, name: str) -> Endpoint:
        return self.dispatcher.endpoints[name]

    async def done(self, lease: Lease, seconds: float) -> None:
        self.now = max(self.now, lease.began_at + seconds)
        lease.succeeded(Usage(5, 0, 5))
        await asyncio.sleep(0)


class DeskInTime(Desk):
    """Its clock is the real one."""

    def clock(self) -> float:
        return time.monotonic()


def counts(leases: list[Lease]) -> dict[str, int]:
    return {name: sum(lease.endpoint.name == name for lease in leases) for name in ("a", "b", "c")}


FIXED = {"start": 100, "min": 100, "max": 100}


async def test_calls_are_spread_by_weight() -> None:
    desk = Desk(a={"weight": 1, "concurrency": FIXED}, b={"weight": 3, "concurrency": FIXED}, c={"concurrency": FIXED})
    leases = [await desk.lease() for _ in range(50)]
    assert counts(leases) == {"a": 10, "b": 30, "c": 10}


async def test_learned_limits_count_as_weights_once_all_are_learned() -> None:
    limits = {"min": 1, "max": 100}
    desk = Desk(
        a={"concurrency": limits | {"start": 10}, "weight": 9},
        b={"concurrency": limits | {"start": 20}},
        c={"concurrency": limits | {"start": 40}},
    )
    for name in "abc":
        desk.endpoint(name).limiter.refused(0.0, 1.0)
    leases = [await desk.lease() for _ in range(35)]
    spread = counts(leases)
    assert (spread["a"], spread["b"], spread["c"]) == (5, 10, 20)


async def test_a_slow_endpoint_gets_less() -> None:
    desk = Desk(a={"concurrency": FIXED}, b={"concurrency": FIXED}, c={"concurrency": FIXED})
    for name, seconds in (("a", 1.0), ("b", 1.0), ("c", 10.0)):
        desk.endpoint(name).latency.began(0, desk.now)
        desk.endpoint(name).latency.answered(seconds, desk.now)
    leases = [await desk.lease() for _ in range(42)]
    assert counts(leases) == {"a": 20, "b": 20, "c": 2}


async def test_a_much_slower_endpoint_is_asked_only_when_the_queue_is_long() -> None:
    two = {"start": 2, "min": 2, "max": 2}
    desk = Desk(a={"concurrency": two}, b={"concurrency": two})
    for name, seconds in (("a", 1.0), ("b", 5.0)):
        desk.endpoint(name).latency.began(0, desk.now)
        desk.endpoint(name).latency.answered(seconds, desk.now)
    async with asyncio.TaskGroup() as group:
        first = [await desk.lease() for _ in range(2)]
        assert counts(first)["a"] == 2
        waiting = [group.create_task(desk.lease()) for _ in range(7)]
        await asyncio.sleep(0)
        assert desk.dispatcher.waiting == 7
        waiting += [group.create_task(desk.lease()) for _ in range(3)]
        await asyncio.sleep(0)
        desk.dispatcher.dispatch()
        # A queue of more than eight would take longer than 5 s at two a second.
        await until(lambda: desk.dispatcher.waiting == 8)
        assert desk.endpoint("b").limiter.in_flight == 2
        for lease in first:
            lease.succeeded(Usage())
        while any(not task.done() for task in waiting):
            await asyncio.sleep(0)
            for task in waiting:
                if task.done():
                    task.result().succeeded(Usage())
    assert (desk.endpoint("a").limiter.in_flight, desk.endpoint("b").limiter.in_flight) == (0, 0)


async def test_those_who_wait_are_served_in_order() -> None:
    desk = Desk(a={"concurrency": {"start": 1, "min": 1, "max": 1}})
    order: list[int] = []

    async def call(number: int) -> None:
        lease = await desk.lease()
        order.append(number)
        await asyncio.sleep(0)
        lease.succeeded(Usage())

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(call(number))
    assert order == list(range(20))


async def test_whoever_leaves_the_queue_leaves_nothing_behind() -> None:
    desk = Desk(a={"concurrency": {"start": 1, "min": 1, "max": 1}})
    held = await desk.lease()
    waiting = [asyncio.create_task(desk.lease()) for _ in range(5)]
    await asyncio.sleep(0)
    for task in waiting[:3]:
        task.cancel()
    held.succeeded(Usage())  # granted to the first, who is leaving
    results = await asyncio.gather(*waiting[:3], return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    (await waiting[3]).succeeded(Usage())
    (await waiting[4]).succeeded(Usage())
    assert (desk.dispatcher.waiting, desk.endpoint("a").limiter.in_flight) == (0, 0)


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_happens_no_place_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    desk = Desk(a={"concurrency": {"start": 2, "max": 4}}, b={"concurrency": {"start": 1, "max": 3}})

    async def call() -> None:
        lease = await desk.lease(*chance.choice([(), ("a",), ("b",)]))
        assert lease.endpoint.limiter.in_flight <= 4
        try:
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            desk.now += chance.random()
            lease.succeeded(Usage())
        finally:
            lease.abandoned()

    tasks = [asyncio.create_task(call()) for _ in range(60)]
    for task in chance.sample(tasks, 20):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.wait(tasks)
    assert desk.dispatcher.waiting == 0
    assert [each.limiter.in_flight for each in desk.dispatcher.endpoints.values()] == [0, 0]
    assert all(task.cancelled() or task.exception() is None for task in tasks)


async def test_a_queue_has_a_bound() -> None:
    desk = Desk(a={"concurrency": {"start": 1, "max": 1}})
    held = await desk.lease()
    waiting = asyncio.create_task(desk.lease(max_waiting=1))
    await asyncio.sleep(0)
    with pytest.raises(NoEndpoint, match="waiting already") as none:
        await desk.lease(max_waiting=1)
    assert none.value.kind == "overloaded"
    held.succeeded(Usage())
    (await waiting).succeeded(Usage())


async def test_a_budget_per_minute_makes_calls_wait_and_another_endpoint_work() -> None:
    desk = Desk(a={"rpm": 12, "weight": 100}, b={})
    leases = [await desk.lease() for _ in range(5)]
    assert counts(leases) == {"a": 2, "b": 3, "c": 0}
    desk.now += 5
    assert (await desk.lease()).endpoint.name == "a"


async def test_tokens_per_minute_are_settled_with_what_was_used() -> None:
    desk = Desk(a={"tpm": 120, "weight": 100}, b={})  # a burst of 20 tokens
    first = [await desk.lease() for _ in range(3)]
    assert counts(first) == {"a": 2, "b": 1, "c": 0}
    first[0].succeeded(Usage(1, 0, 0))  # nine of ten come back
    first[1].succeeded(Usage(9, 0, 0))
    assert (await desk.lease()).endpoint.name == "a"
    assert (await desk.lease()).endpoint.name == "b"


async def test_what_belongs_together_goes_to_the_same_endpoint() -> None:
    desk = Desk(a={"concurrency": FIXED}, b={"concurrency": FIXED}, c={"concurrency": FIXED})
    homes = {}
    for group in (b"one", b"two", b"three", b"four", b"five", b"six"):
        leases = [await desk.lease(affinity=group) for _ in range(8)]
        assert len({lease.endpoint.name for lease in leases}) == 1
        homes[group] = leases[0].endpoint.name
        for lease in leases:
            lease.succeeded(Usage())
    assert len(set(homes.values())) > 1


async def test_what_belongs_together_is_spread_when_it_is_too_much_for_one() -> None:
    desk = Desk(a={"concurrency": FIXED}, b={"concurrency": FIXED}, c={"concurrency": FIXED})
    leases = [await desk.lease(affinity=b"one") for _ in range(60)]
    assert min(counts(leases).values()) > 0


async def test_replies_belong_to_their_questions_whatever_the_order() -> None:
    async with Scripted(echoes_nonce()) as one, Scripted(after(0.01, echoes_nonce())) as two:
        async with gateway({"one": endpoint(one), "two": endpoint(two)}) as made, asyncio.TaskGroup() as group:
            questions = [f"nonce {number}" for number in range(100)]
            calls = [
                group.create_task(made.ask("judges", ChatRequest(messages=({"role": "user", "content": text},))))
                for text in questions
            ]
        assert [call.result().message["content"] for call in calls] == questions


async def test_a_hard_cap_is_learned_and_learned_anew_and_nothing_is_lost() -> None:
    slots = Slots(6, turns=60)
    retry = {"attempts": 50, "base_s": 0.005, "cap_s": 0.05, "min_attempt_s": 0, "budget": 1.0}
    pool = PoolConfig.model_validate({"members": ["one"], "retry": retry})
    async with Scripted(slots) as upstream:
        one = endpoint(upstream, concurrency={"start": 4, "max": 200})
        async with gateway({"one": one}, pools={"judges": pool}) as made:
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(outcome(made)) for _ in range(400)]
            assert all(isinstance(call.result(), ChatReply) for call in calls)
            assert slots.most == 6
            # Blind retries were refused 97 times out of 100.
            assert slots.refused < 200
            assert 4 <= made.states()[0].limit <= 12
            slots.capacity = 2
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(outcome(made)) for _ in range(200)]
            assert all(isinstance(call.result(), ChatReply) for call in calls)
            assert 1 <= made.states()[0].limit <= 4
            assert made.states()[0].health == "healthy"


async def test_one_dead_and_one_slow_of_three_cost_no_item_and_get_little() -> None:
    async with Scripted(says()) as dead:
        gone = dead.url
    quick, over = Slots(1000, 0.005), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        """As long as the other takes for fifty, however long that is on this machine."""
        enough = quick.served + 50
        await until(lambda: quick.served >= enough or over.is_set())
        await says()(exchange)

    async with Scripted(quick) as one, Scripted(slow) as two:
        fixed = {"concurrency": {"start": 16, "min": 16, "max": 16}}
        endpoints = {"dead": endpoint(gone), "quick": endpoint(one, **fixed), "slow": endpoint(two, **fixed)}
        async with gateway(endpoints) as made:
            numbers = iter(range(600))

            async def work() -> list[str]:
                names = [(await made.ask("judges", QUESTION)).endpoint for _ in numbers]
                over.set()
                return names

            async with asyncio.TaskGroup() as group:
                workers = [group.create_task(work()) for _ in range(16)]
            asked = [name for worker in workers for name in worker.result()]
        assert len(asked) == 600
        assert asked.count("dead") == 0
        # Half of what is under way at any time, if slowness did not count: about eight in each fifty.
        assert asked.count("slow") < 50
        assert made.states()[0].health == "ejected"


async def test_an_endpoint_killed_in_mid_run_costs_no_item() -> None:
    async with Scripted(after(0.01, says())) as one, Scripted(after(0.01, says())) as two:
        retry = {"base_s": 0.001, "cap_s": 0.002, "min_attempt_s": 0}
        pool = PoolConfig.model_validate({"members": ["one", "two"], "retry": retry})
        async with gateway({"one": endpoint(one), "two": endpoint(two)}, pools={"judges": pool}) as made:
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(outcome(made)) for _ in range(100)]
                await one.until(10)
                await one.stop()
            assert all(isinstance(call.result(), ChatReply) for call in calls)
            await one.listen()
            assert isinstance(await outcome(made), ChatReply)


async def test_where_nobody_answers_another_pool_does() -> None:
    async with Scripted(refuses(500)) as ours, Scripted(says()) as theirs:
        pools = {
            "judges": PoolConfig.model_validate({"members": ["ours"], "fallback": "theirs", "retry": {"base_s": 0}}),
            "theirs": PoolConfig(members=["theirs"]),
        }
        async with gateway({"ours": endpoint(ours), "theirs": endpoint(theirs)}, pools=pools) as made:
            reply = await made.ask("judges", QUESTION)
            assert (reply.endpoint, reply.attempts, len(ours.calls)) == ("theirs", 4, 3)
            reply = await made.ask("judges", QUESTION)
            # By now ours is ejected, and not even tried.
            assert (reply.endpoint, reply.attempts, len(ours.calls)) == ("theirs", 1, 3)
            assert made.pool_states()[0].counters.failovers == 2


@pytest.mark.parametrize("behaviour", [refuses(400), refuses(413), refuses(400, code="context_length_exceeded")])
async def test_what_the_request_is_to_blame_for_asks_no_other_pool(behaviour: object) -> None:
    async with Scripted(behaviour) as ours, Scripted(says()) as theirs:  # type: ignore[arg-type]  # of a parametrised test
        pools = {"judges": PoolConfig(members=["ours"], fallback="theirs"), "theirs": PoolConfig(members=["theirs"])}
        async with gateway({"ours": endpoint(ours), "theirs": endpoint(theirs)}, pools=pools) as made:
            assert isinstance(await outcome(made), EndpointFailure)
            assert theirs.requests == []


async def test_pools_that_name_each_other_end() -> None:
    async with Scripted(refuses(500)) as ours:
        retry = {"base_s": 0, "attempts": 1}
        pools = {
            "judges": PoolConfig.model_validate({"members": ["ours"], "fallback": "others", "retry": retry}),
            "others": PoolConfig.model_validate({"members": ["ours"], "fallback": "judges", "retry": retry}),
        }
        async with gateway({"ours": endpoint(ours)}, pools=pools) as made:
            failure = await outcome(made)
            assert isinstance(failure, EndpointFailure)
            assert len(failure.attempts) == len(ours.calls) == 2


async def test_what_may_be_spent_is_not_exceeded_and_nothing_cheaper_is_asked_in_secret() -> None:
    usage = {"prompt_tokens": 60, "completion_tokens": 40}
    async with Scripted(says(usage=usage)) as upstream, Scripted(says()) as other:
        pools = {
            "judges": PoolConfig.model_validate(
                {"members": ["one"], "fallback": "other", "spend": {"window_s": 1000, "max_tokens": 650}}
            ),
            "other": PoolConfig(members=["other"]),
        }
        async with gateway({"one": endpoint(upstream), "other": endpoint(other)}, pools=pools) as made:
            request = ChatRequest(messages=QUESTION.messages, max_tokens=200)
            results = [await outcome(made, request) for _ in range(8)]
            spent = [result for result in results if isinstance(result, ChatReply)]
            refused = [result for result in results if isinstance(result, EndpointFailure)]
            assert (len(spent), len(upstream.calls), len(other.calls)) == (5, 5, 0)
            assert {failure.kind for failure in refused} == {"budget_exhausted"}
            assert all((failure.retry_after_s or 0) > 0 for failure in refused)


async def test_calls_at_once_cannot_pass_a_limit_of_spending_together() -> None:
    go = asyncio.Event()
    async with Scripted(when(go, says())) as upstream:
        priced = endpoint(upstream, price={"input": 0, "output": 1_000_000}, spend={"window_s": 1000, "max_cost": 250})
        async with gateway({"one": priced}) as made, asyncio.TaskGroup() as group:
            request = ChatRequest(messages=QUESTION.messages, max_tokens=100)
            calls = [group.create_task(outcome(made, request)) for _ in range(5)]
            await upstream.until(2)
            await turns()
            assert len(upstream.calls) == 2
            go.set()
        replies = [call.result() for call in calls]
        # Those that waited for a reservation were answered from what the others left.
        assert all(isinstance(reply, ChatReply) for reply in replies)
        assert sum(reply.cost or 0.0 for reply in replies if isinstance(reply, ChatReply)) <= 250


async def test_what_waits_for_a_reservation_fails_when_the_limit_is_spent() -> None:
    go = asyncio.Event()
    used = {"prompt_tokens": 0, "completion_tokens": 100}
    async with Scripted(when(go, says(usage=used))) as upstream:
        priced = endpoint(upstream, price={"input": 0, "output": 1_000_000}, spend={"window_s": 1000, "max_cost": 250})
        async with gateway({"one": priced}) as made, asyncio.TaskGroup() as group:
            request = ChatRequest(messages=QUESTION.messages, max_tokens=100)
            calls = [group.create_task(outcome(made, request)) for _ in range(5)]
            await upstream.until(2)
            go.set()
        kinds = sorted(type(call.result()).__name__ for call in calls)
        assert kinds == ["ChatReply"] * 2 + ["EndpointFailure"] * 3


async def test_an_endpoint_that_hangs_is_left_by_the_deadline_in_the_queue() -> None:
    async with Scripted(sends(b"", then="hang")) as upstream:
        narrow = endpoint(upstream, concurrency={"start": 1, "max": 1})
        async with gateway({"one": narrow}) as made:
            held = asyncio.create_task(outcome(made))
            await upstream.until(1)
            failure = await outcome(made, deadline=asyncio.get_running_loop().time() + 0.2)
            assert isinstance(failure, EndpointFailure)
            assert (failure.kind, failure.attempts, len(upstream.calls)) == ("deadline", (), 1)
            held.cancel()
            await asyncio.wait([held])


def test_who_waits_for_a_pause_to_end_gets_its_turn_though_a_timer_be_early() -> None:
    """The service's own event loop rounds timers to milliseconds: some come before their time."""

    async def wait_often() -> None:
        desk = DeskInTime(a={"concurrency": FIXED})
        for pause_us in range(1000, 4000, 25):
            desk.endpoint("a").paused_until = desk.clock() + pause_us / 1e6
            async with asyncio.timeout(PATIENCE_S):
                lease = await desk.lease()
            await desk.done(lease, 0.0)

    uvloop.run(wait_often())


async def test_tenants_are_served_in_turn_however_many_calls_one_of_them_waits_for() -> None:
    desk = Desk(a={"concurrency": {"start": 1, "max": 1}})
    order: list[str] = []

    async def call(tenant: str) -> None:
        TENANT.set(tenant)
        lease = await desk.lease()
        order.append(tenant)
        await desk.done(lease, 1.0)

    before = await desk.lease()
    large = [asyncio.create_task(call("large")) for _ in range(100)]
    small = [asyncio.create_task(call("small")) for _ in range(5)]
    await until(lambda: desk.dispatcher.waiting == 105)
    await desk.done(before, 1.0)
    await asyncio.gather(*small)
    assert desk.dispatcher.waiting >= 90
    await asyncio.gather(*large)
    assert (order.count("large"), order.count("small")) == (100, 5)

"""TRL's reward functions and environment, called as TRL calls them, against real servers. TRL itself: tests/e2e/test_trl.py."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import inspect
import json
import math
import pickle
import subprocess
import sys
import types
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rewardline import FailedItems, InvalidItems, InvalidRequest, Unavailable
from rewardline.hook import Hook, Options
from rewardline.trl import Environment, environment, reward, reward_func
from rewardline.trl.rows import Rows

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer

NOWHERE = "http://127.0.0.1:1"
CHECKS = [
    {"verifier": "math", "name": "answer", "weight": 0.8},
    {"verifier": "think_format", "name": "form", "weight": 0.2, "params": {"preset": "deepseek"}},
]
_IN_ANOTHER_PROCESS = """
import asyncio, inspect, json, pickle, sys
function = pickle.loads(sys.stdin.buffer.read())
assert inspect.iscoroutinefunction(function)
rewards = asyncio.run(function(prompts=["?"] * 2, completions=["4", "5"], solution=["4", "4"]))
print(json.dumps([function.__name__, rewards]))
"""


class Log:
    """What TRL gives functions to log with."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = defaultdict(list)
        self.metrics: dict[str, list[float]] = defaultdict(list)

    def log_extra(self, column: str, values: list[Any]) -> None:
        self.columns[column].extend(values)

    def log_metric(self, name: str, value: float) -> None:
        self.metrics[name].append(value)

    def both(self) -> dict[str, Any]:
        return {"log_extra": self.log_extra, "log_metric": self.log_metric}


def call(function: Any, completions: list[Any], **columns: Any) -> Any:
    """As the trainer does: prompts and token ids always, and whatever else it has."""
    given: dict[str, Any] = {
        "prompts": [f"prompt {place}" for place in range(len(completions))],
        "completions": completions,
        "completion_ids": [[1, 2, 3] for _ in completions],
        "trainer_state": object(),
    }
    answer = function(**(given | columns))
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


# --- what trainers see of a function ------------------------------------------------------------------------------------------


def test_a_function_is_a_coroutine_function_with_a_name_of_its_own() -> None:
    functions = [reward_func("math"), reward_func(recipe="trl.cosine"), reward_func("math", name="accuracy")]
    assert all(map(inspect.iscoroutinefunction, functions))
    assert [getattr(function, "__name__", None) for function in functions] == ["math", "trl.cosine", "accuracy"]
    assert inspect.getdoc(functions[0])


def test_functions_that_judge_otherwise_have_names_of_their_own() -> None:
    functions = [
        reward_func("math"),
        reward_func("math", where={"task": "sums"}),
        reward_func("math", where={"task": "proofs"}),
        reward_func("math", where={"task": "sums"}),
        reward_func("math", where={"task": "proofs"}, name="math"),
    ]
    assert [getattr(function, "__name__", None) for function in functions] == [
        "math",
        "math_2",
        "math_3",
        "math_2",
        "math",
    ]


def test_a_blocking_function_is_none() -> None:
    function = reward_func("math", blocking=True)
    assert not inspect.iscoroutinefunction(function)


@pytest.mark.parametrize("name", ["hook", "_settings", "__init__"])
def test_names_cannot_come_between_a_function_and_its_pickle(name: str) -> None:
    if name.startswith("_"):
        with pytest.raises(ValueError, match="underscore"):
            reward_func("math", name=name)
    else:
        function = pickle.loads(pickle.dumps(reward_func("math", name=name)))
        assert (function.__name__, inspect.iscoroutinefunction(function)) == (name, True)


def test_a_function_works_in_another_process(served: Any) -> None:
    function = reward_func("math", name="sums", url=served.url)
    done = subprocess.run(
        [sys.executable, "-c", _IN_ANOTHER_PROCESS], input=pickle.dumps(function), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == ["sums", [1.0, 0.0]]


def test_a_function_may_be_copied(served: Any) -> None:
    function = copy.deepcopy(reward_func("math", url=served.url))
    assert call(function, ["4"], solution=["4"]) == [1.0]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"token_params": ["tokens"]}, "token_params"),
        ({"log_columns": ["answer"]}, r"no \['answer'\]"),
        ({"columns": {"answer": "solution"}}, r"no \['answer'\]"),
        ({"recipe": "think_math"}, "one of verifier, recipe"),
        ({"on_failed": math.nan}, "on_failed"),
    ],
)
def test_an_option_that_can_never_work_is_told_at_once(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        reward_func("math", **options)


# --- rewards ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocking", [False, True])
def test_completions_are_judged_in_order(served: Any, blocking: bool) -> None:
    function = reward_func("math", url=served.url, blocking=blocking)
    assert call(function, ["4", "5", "\\boxed{6}"], solution=["4", "4", "6"]) == [1.0, 0.0, 1.0]


def test_of_a_conversation_the_last_thing_said_is_judged(served: Any) -> None:
    """With tools, what came before it and what the tools said is there too."""
    calculator = {"type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": 2}}}
    completions = [
        [{"role": "assistant", "content": "4"}],
        [
            {"role": "assistant", "content": "5", "tool_calls": [calculator]},
            {"role": "tool", "name": "add", "content": "5"},
            {"role": "assistant", "content": "It is \\boxed{4}"},
        ],
        [],
    ]
    prompts = [[{"role": "user", "content": "2+2"}]] * 3
    function = reward_func("math", url=served.url)
    assert call(function, completions, prompts=prompts, solution=["4"] * 3) == [1.0, 1.0, 0.0]


def test_calls_are_judged_and_to_a_verifier_of_text_what_ends_in_one_has_no_answer(served: Any) -> None:
    wanted = {"name": "add", "arguments": {"a": 2, "b": 2}}
    calling = [
        {"role": "assistant", "tool_calls": [{"type": "function", "function": wanted}]},
        {"role": "tool", "name": "add", "content": "4"},
    ]
    silent = [{"role": "assistant", "content": "It is 4."}]
    completions = [calling, [*calling, *silent], silent]
    function = reward_func("tool_call", url=served.url)
    assert call(function, completions, prompts=[[]] * 3, solution=[json.dumps([wanted])] * 3) == [1.0, 1.0, 0.0]
    assert call(function, completions, prompts=[[]] * 3, solution=["[]"] * 3) == [0.0, 0.0, 1.0]
    text = reward_func("math", url=served.url, on_invalid="abstain")
    assert call(text, completions, prompts=[[]] * 3, solution=["4"] * 3) == [0.0, 1.0, 1.0]


def test_a_step_of_8192_samples_is_answered_in_order(server: FakeServer) -> None:
    right = [str(number // 16) for number in range(8192)]
    completions = [text if place % 3 else "wrong" for place, text in enumerate(right)]
    function = reward_func("math", url=server.url, send_prompt=False)
    assert call(function, completions, solution=right) == [float(place % 3 != 0) for place in range(8192)]
    assert len(server.bodies) == 16
    assert sum(len(body["items"]) for body in server.bodies) == 8192


def test_an_empty_batch_asks_nobody() -> None:
    assert call(reward_func("math", url=NOWHERE), []) == []


def test_the_prompt_is_sent_unless_told_otherwise() -> None:
    """What it says; images stay here."""
    row = Rows("solution", {})
    prompt = [{"role": "user", "content": [{"type": "image", "image": object()}, {"type": "text", "text": "2+2"}]}]
    sent = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "2+2"}]}]
    assert row.item(Hook("math"), {"solution": "4"}, "4", prompt)["prompt"] == sent
    assert "prompt" not in row.item(Hook("math", send_prompt=False), {"solution": "4"}, "4", prompt)


# --- no judgement, no score ---------------------------------------------------------------------------------------------------


def test_what_could_not_be_judged_is_none_and_counted(server: FakeServer) -> None:
    server.fails["lost"] = 1000
    log = Log()
    function = reward_func("math", url=server.url, max_resends=0, send_prompt=False)
    rewards = call(function, ["4", "lost", "5", "lost"], solution=["4"] * 4, **log.both())
    assert rewards == [1.0, None, 0.0, None]
    assert log.metrics["math/failed"] == [0.5]
    assert log.metrics["math/score"] == [0.5]
    assert log.columns["math/reason"] == ["correct", "worker_lost", "wrong", "worker_lost"]


def test_where_all_failed_there_is_no_mean(server: FakeServer) -> None:
    server.fails["lost"] = 1000
    log = Log()
    function = reward_func("math", url=server.url, max_resends=0, send_prompt=False)
    assert call(function, ["lost"], solution=["4"], **log.both()) == [None]
    assert "math/score" not in log.metrics


def test_failures_raise_or_are_a_number_if_so_wished(server: FakeServer) -> None:
    server.fails["lost"] = 1000
    given: dict[str, Any] = {"url": server.url, "max_resends": 0, "send_prompt": False}
    with pytest.raises(FailedItems, match=r"items\[1\]: worker_lost"):
        call(reward_func("math", on_failed="raise", **given), ["4", "lost"], solution=["4", "4"])
    assert call(reward_func("math", on_failed=-0.5, **given), ["4", "lost"], solution=["4", "4"]) == [1.0, -0.5]


@pytest.mark.parametrize("on_failed", ["abstain", 0.0])
def test_a_server_without_judges_stops_the_training_at_once(served: Any, on_failed: Any) -> None:
    """Three of four samples would have no reward, and exact matches alone would be trained on."""
    function = reward_func("judge", url=served.url, on_failed=on_failed)
    with pytest.raises(FailedItems, match=r"items\[0\].*judge_not_configured.*judge_file"):
        call(function, ["4", "5"], solution=["5", "5"])


def test_a_sample_that_is_never_judged_may_be_left_out(served: Any) -> None:
    function = reward_func("judge", url=served.url, on_unserved="abstain")
    assert call(function, ["4"], solution=["5"]) == [None]


def test_boxes_that_were_there_may_be_lost_for_a_while(server: FakeServer) -> None:
    server.failure = {"reason": "sandbox_unavailable"}
    function = reward_func("math", url=server.url, max_resends=0, send_prompt=False)
    server.fails["lost"] = 1
    with pytest.raises(FailedItems, match="sandbox_unavailable"):
        call(function, ["lost"], solution=["4"])
    assert call(function, ["4"], solution=["4"]) == [1.0]
    server.fails["lost"] = 1
    assert call(function, ["4", "lost"], solution=["4", "4"]) == [1.0, None]


def test_what_no_retry_mends_is_sent_once(server: FakeServer) -> None:
    server.failure = {"reason": "language_unavailable"}
    server.fails["4"] = 9
    with pytest.raises(FailedItems):
        call(reward_func("math", url=server.url, send_prompt=False), ["4"], solution=["4"])
    assert len(server.bodies) == 1


def test_the_step_reaches_the_log_of_the_server(server: FakeServer) -> None:
    function = reward_func("math", url=server.url, send_prompt=False)
    state = types.SimpleNamespace(global_step=7)
    assert call(function, ["4"], solution=["4"], trainer_state=state) == [1.0]
    assert [item["metadata"] for item in server.bodies[0]["items"]] == [{"step": 7}]


def test_a_misspelt_option_is_named_with_the_one_that_was_meant() -> None:
    options: Any = {"dead_line_s": 3}
    with pytest.raises(TypeError, match=r"'dead_line_s': did you mean 'deadline_s'\?"):
        reward_func("math", **options)


def test_editors_see_every_option() -> None:
    own = {"verifier", "recipe", "checks", "params"}
    assert set(Options.__annotations__) == {one.name for one in dataclasses.fields(Hook) if one.init} - own | {"params"}


def test_nobody_there_until_the_deadline_is_none() -> None:
    function = reward_func("math", url=NOWHERE, deadline_s=0.3)
    assert call(function, ["4", "5"], solution=["4", "4"]) == [None, None]


def test_a_row_that_cannot_be_judged_stops_the_training_and_is_named(served: Any) -> None:
    """Its place is the one in TRL's batch, whatever of that was sent."""
    function = reward_func("math", url=served.url, where={"task": "math"})
    with pytest.raises(InvalidItems, match=r"items\[2\]"):
        call(function, ["1", "2", "3"], solution=["1", None, None], task=["math", "other", "math"])


def test_a_mistake_in_the_settings_stops_the_training_and_is_named(served: Any) -> None:
    function = reward_func("math", url=served.url, params={"extrakt": "boxed"}, where={"task": "math"})
    with pytest.raises((InvalidRequest, InvalidItems), match=r"items\[1\].*extrakt"):
        call(function, ["1", "2"], solution=["1", "2"], task=["other", "math"])


def test_a_column_of_the_wrong_type_is_named_by_its_row(served: Any) -> None:
    function = reward_func("math", url=served.url, where={"task": "math"})
    with pytest.raises(InvalidRequest, match=r"items\[1\].case_type"):
        call(function, ["1", "2"], solution=["1", "2"], task=["other", "math"], case_type=["text", 3])


# --- columns ------------------------------------------------------------------------------------------------------------------


def test_rows_of_other_tasks_get_none_and_are_not_sent(server: FakeServer) -> None:
    function = reward_func("math", url=server.url, where={"task": ["math", "sums"]}, send_prompt=False)
    rewards = call(function, ["4"] * 4, solution=["4"] * 4, task=["math", "code", "sums", "chat"])
    assert rewards == [1.0, None, 1.0, None]
    assert [len(body["items"]) for body in server.bodies] == [2]


def test_a_call_without_a_row_of_its_task_asks_nobody_and_logs_its_columns() -> None:
    log = Log()
    function = reward_func("math", url=NOWHERE, where={"task": "math"})
    assert call(function, ["4", "4"], solution=["4", "4"], task=["code", "chat"], **log.both()) == [None, None]
    assert log.columns == {"math/reason": [None, None], "math/extracted": [None, None]}
    assert log.metrics == {}


def test_columns_may_have_other_names(served: Any) -> None:
    function = reward_func("math", url=served.url, reference="answer")
    assert call(function, ["4"], answer=["4"]) == [1.0]
    function = reward_func("math", url=served.url, reference=None, columns={"ground_truth": "truth"})
    assert call(function, ["4", "5"], truth=["4", "4"]) == [1.0, 0.0]


def test_columns_that_the_server_knows_are_sent_as_they_are(served: Any) -> None:
    assert call(reward_func("math", url=served.url), ["4", "5"], ground_truth=["4", "4"]) == [1.0, 0.0]


@pytest.mark.parametrize(
    "options", [{"reference": "soluton"}, {"columns": {"test_cases": "soluton"}}, {"where": {"soluton": 1}}]
)
def test_a_column_that_is_not_there_is_told(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no column \['soluton'\]; there are \['solution'\]"):
        call(reward_func("math", url=NOWHERE, **options), ["4"], solution=["4"])


def test_a_reference_that_is_no_number_is_none(served: Any) -> None:
    """A data frame has NaN where a column says nothing; the row's own reference counts then."""
    assert call(reward_func("math", url=served.url), ["4"], solution=[math.nan], ground_truth=["4"]) == [1.0]


def test_rows_are_routed_by_their_labels(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_URL", served.url)
    rewards = call(
        reward,
        ["#### 4", "\\boxed{5}"],
        ground_truth=["4", "5"],
        data_source=["openai/gsm8k", "lighteval/MATH"],
    )
    assert rewards == [1.0, 1.0]


def test_what_only_the_trainer_knows_goes_into_the_parameters(served: Any) -> None:
    """TRL's own get_soft_overlong_punishment pays 0 up to max_length - buffer, and then less and less, to -1."""
    function = reward_func(
        recipe="trl.soft_overlong",
        url=served.url,
        params={"max_length": 10, "buffer": 4},
        token_params=["completion_tokens"],
    )
    ids = [list(range(length)) for length in (6, 8, 11)]
    assert call(function, ["a", "b", "c"], completion_ids=ids) == [0.0, -0.5, -1.0]


# --- what is logged -----------------------------------------------------------------------------------------------------------


def test_checks_become_metrics_and_components_columns(served: Any) -> None:
    log = Log()
    function = reward_func(checks=CHECKS, url=served.url, name="both", components=["answer", "form"])
    completions = ["<think>\n2 and 2\n</think>\n4", "4", "<think>\n2 and 2\n</think>\n5"]
    assert call(function, completions, solution=["4"] * 3, **log.both()) == pytest.approx([1.0, 0.8, 0.2])
    assert log.columns["both/answer"] == [1.0, 1.0, 0.0]
    assert log.columns["both/form"] == [1.0, 0.0, 1.0]
    assert log.metrics["both/answer"] == [pytest.approx(2 / 3)]
    assert log.metrics["both/form"] == [pytest.approx(2 / 3)]
    assert log.metrics["both/failed"] == [0.0]
    assert log.metrics["both/invalid"] == [0.0]


def test_the_table_of_completions_may_have_references_and_times(served: Any) -> None:
    log = Log()
    function = reward_func("math", url=served.url, log_columns=["reference", "elapsed_ms", "status"])
    assert call(function, ["4", "5"], solution=["4", "4"], **log.both()) == [1.0, 0.0]
    assert log.columns["math/reference"] == ["4", "4"]
    assert log.columns["math/status"] == ["ok", "ok"]
    assert all(milliseconds >= 0 for milliseconds in log.columns["math/elapsed_ms"])


def test_a_component_of_what_failed_is_no_number(server: FakeServer) -> None:
    server.fails["lost"] = 1000
    log = Log()
    function = reward_func("math", url=server.url, max_resends=0, send_prompt=False, components={"answer": 0.0})
    assert call(function, ["lost"], solution=["4"], **log.both()) == [None]
    assert log.columns["math/answer"] == [None]


def test_functions_of_one_call_log_apart(served: Any) -> None:
    log = Log()
    for function in (reward_func("math", url=served.url), reward_func("think_format", url=served.url, reference=None)):
        call(function, ["4", "5"], solution=["4", "4"], **log.both())
    assert {len(values) for values in log.columns.values()} == {2}
    assert set(log.columns) == {
        f"{name}/{column}" for name in ("math", "think_format") for column in ("reason", "extracted")
    }


# --- messages -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["reasoning_content", "thinking"])
def test_thinking_that_trl_cut_out_is_put_back(served: Any, key: str) -> None:
    completion = [{"role": "assistant", key: "2 and 2", "content": "4"}]
    form = reward_func("think_format", url=served.url, reference=None, params={"preset": "deepseek"})
    assert call(form, [completion], prompts=[[]]) == [1.0]


def test_what_utf8_cannot_say_costs_nobody_the_training(served: Any) -> None:
    function = reward_func("math", url=served.url)
    assert call(function, ["\ud800", [{"role": "assistant", "content": "\udfff 5"}], "4"], solution=["4"] * 3) == [
        0,
        0,
        1,
    ]


# --- the environment ----------------------------------------------------------------------------------------------------------


async def test_a_rollout_answers_until_it_is_right(served: Any) -> None:
    rollout = environment("math", url=served.url, interaction={"max_turns": 3})()
    assert rollout.reset(prompt=[{"role": "user", "content": "2+2"}], solution="4", colour="red") is None
    first, second = await rollout.submit_answer("5"), await rollout.submit_answer("4")
    assert first != second
    assert rollout.get_reward() == 1.0
    assert await rollout.submit_answer("5") == "No more answers are taken."
    assert rollout.get_reward() == 1.0


async def test_a_rollout_that_used_up_its_turns_is_over(served: Any) -> None:
    rollout = environment("math", url=served.url, interaction={"max_turns": 1})()
    rollout.reset(solution="4")
    await rollout.submit_answer("5")
    assert await rollout.submit_answer("4") == "No more answers are taken."
    assert rollout.get_reward() == 0.0


async def test_what_the_turns_come_to_is_as_the_interaction_says(served: Any) -> None:
    rollout = environment("math", url=served.url, interaction={"trajectory": "discounted", "gamma": 0.5})()
    rollout.reset(solution="4")
    for answer in ("5", "4"):
        await rollout.submit_answer(answer)
    assert rollout.get_reward() == 0.5


async def test_rollouts_use_an_environment_one_after_another(served: Any) -> None:
    rollout = environment("math", url=served.url)()
    for solution, expected in (("4", 1.0), ("7", 0.0)):
        rollout.reset(solution=solution)
        await rollout.submit_answer("4")
        assert rollout.get_reward() == expected


@pytest.mark.parametrize("worth", [0.0, -1.0, None])
def test_a_rollout_without_an_answer_is_worth_what_was_said(worth: float | None) -> None:
    rollout = environment("math", url=NOWHERE, unanswered=worth)()
    rollout.reset(solution="4")
    assert rollout.get_reward() == worth


def forget(rollout: Environment) -> None:
    assert rollout._interaction is not None
    rollout._interaction._id = "forgotten"


async def test_a_server_that_forgot_the_interaction_is_told_all_of_it_again(served: Any) -> None:
    rollout = environment("math", url=served.url, interaction={"trajectory": "sum", "success_threshold": 9})()
    rollout.reset(solution="4")
    await rollout.submit_answer("4")
    forget(rollout)
    await rollout.submit_answer("5")
    forget(rollout)
    await rollout.submit_answer("4.0")
    assert rollout.get_reward() == 2.0


async def test_a_turn_that_nobody_judged_leaves_the_rollout_without_reward(served: Any) -> None:
    rollout = environment("math", url=NOWHERE, deadline_s=0.3)()
    rollout.reset(solution="4")
    with pytest.raises(Unavailable):
        await rollout.submit_answer("4")
    with pytest.raises(Unavailable):
        await rollout.submit_answer("4")
    assert rollout.get_reward() is None
    rollout.reset(solution="4")
    assert rollout.get_reward() == 0.0


async def test_a_failure_of_a_rollout_may_raise_or_be_a_number() -> None:
    for policy in ("raise", -0.5):
        rollout = environment("math", url=NOWHERE, deadline_s=0.1, on_failed=policy)()
        rollout.reset(solution="4")
        with pytest.raises(Unavailable):
            await rollout.submit_answer("4")
        if policy == "raise":
            with pytest.raises(Unavailable):
                rollout.get_reward()
        else:
            assert rollout.get_reward() == policy


async def test_a_row_that_no_rollout_can_be_judged_by_stops_the_training(served: Any) -> None:
    rollout = environment("math", url=served.url)()
    rollout.reset(prompt="2+2")
    with pytest.raises(InvalidRequest):
        await rollout.submit_answer("4")
    with pytest.raises(InvalidRequest):
        rollout.get_reward()
    rollout = environment("math", url=served.url, reference="soluton")()
    rollout.reset(solution="4")
    with pytest.raises(ValueError, match="soluton"):
        await rollout.submit_answer("4")
    with pytest.raises(ValueError, match="soluton"):
        rollout.get_reward()


async def test_an_answer_that_utf8_cannot_say_is_wrong(served: Any) -> None:
    rollout = environment("math", url=served.url)()
    rollout.reset(solution="4")
    await rollout.submit_answer("\ud800")
    assert rollout.get_reward() == 0.0


def test_the_model_has_one_tool_and_subclasses_add_theirs(tmp_path: Path) -> None:
    def tools(kind: type) -> list[str]:
        functions = inspect.getmembers(kind, inspect.isfunction)
        return [name for name, _ in functions if not name.startswith("_") and name not in ("reset", "get_reward")]

    class Calculator(Environment):
        def add(self, a: int, b: int) -> int:
            return a + b

    assert tools(Environment) == ["submit_answer"]
    assert tools(type(environment("math", kind=Calculator)())) == ["add", "submit_answer"]
    assert type(pickle.loads(pickle.dumps(environment("math")))()) is Environment

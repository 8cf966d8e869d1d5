"""rLLM's evaluator and the examples, against stand-ins for the types that they are written against."""

from __future__ import annotations

import importlib
import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rewardline.always_reward import Unjudged
from rewardline.errors import FailedItems, InvalidItems

STAND_INS = Path(__file__).parent / "stand_ins"
EXAMPLES = Path(__file__).parents[2] / "client" / "examples" / "rllm"
NOWHERE = "http://127.0.0.1:9"
ASKED = [{"role": "system", "content": "Use the tool."}, {"role": "user", "content": "2+2="}]
WANTED = json.dumps([{"name": "add", "arguments": {"a": 2, "b": 2}}])
TOLD = {"role": "tool", "content": "4", "tool_call_id": "1"}
DONE = {"role": "assistant", "content": "It is \\boxed{4}."}


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(STAND_INS))
    yield importlib.import_module("rllm.types")
    ours = ["rewardline.rllm", "rewardline.rllm_evaluator"]
    for name in [name for name in sys.modules if name.split(".")[0] == "rllm"] + ours:
        sys.modules.pop(name, None)


def evaluator(**options: Any) -> Any:
    return importlib.import_module("rewardline.rllm_evaluator").evaluator(**options)


def calling(**arguments: int) -> dict[str, Any]:
    function = {"name": "add", "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": function}]}


def episode(types: Any, *said: dict[str, Any], name: str = "agent") -> Any:
    """One step for each answer of the model, with all messages so far, as rLLM's engine makes them."""
    ends = [place for place, message in enumerate(said) if message["role"] == "assistant"]
    steps = [types.Step(chat_completions=[*ASKED, *said[: end + 1]]) for end in ends]
    return types.Episode([types.Trajectory(name, steps)])


def test_an_episode_is_judged_by_its_last_message(served: Any, types: Any) -> None:
    judge = evaluator(verifier="math", url=served.url)
    right = judge.evaluate({"ground_truth": "4"}, episode(types, calling(a=2, b=2), TOLD, DONE))
    assert (right.reward, right.is_correct) == (1.0, True)
    signals = {signal.name: signal for signal in right.signals}
    assert (signals["score"].value, signals["acc"].value) == (1.0, 1.0)
    assert signals["score"].metadata["reason"] == "correct"
    task = types.Task("1", "2+2=", {"answer": "5"})
    wrong = judge(task, episode(types, DONE))
    assert (wrong.reward, wrong.is_correct) == (0.0, False)


@pytest.mark.parametrize(
    ("wanted", "arguments", "value"), [(WANTED, {"b": 2}, 1.0), (WANTED, {"b": 3}, 0.0), ("[]", {"b": 2}, 0.0)]
)
def test_the_calls_of_all_steps_are_judged(
    served: Any, types: Any, wanted: str, arguments: dict[str, int], value: float
) -> None:
    judge = evaluator(verifier="tool_call", url=served.url)
    played = episode(types, calling(a=2, **arguments), TOLD, DONE)
    assert judge.evaluate({"reference": wanted}, played).reward == value


@pytest.mark.parametrize(("written", "value"), [(None, 1.0), ('{"a": 2, "b": 2}', 1.0), ('{"a": 2, "b"', 0.0)])
def test_calls_beside_the_messages_are_judged_as_the_model_wrote_them(
    served: Any, types: Any, written: str | None, value: float
) -> None:
    call = types.ToolCall("add", {} if written else {"a": 2, "b": 2}, written)
    step = types.Step(chat_completions=[*ASKED, {"role": "assistant", "content": ""}])
    step.model_output = types.ModelOutput(tool_calls=[call])
    judge = evaluator(verifier="tool_call", url=served.url)
    assert judge.evaluate({"reference": WANTED}, types.Episode([types.Trajectory(steps=[step])])).reward == value
    step.model_output = None
    step.chat_completions[-1]["tool_calls"] = [call]
    assert judge.evaluate({"reference": WANTED}, types.Episode([types.Trajectory(steps=[step])])).reward == value


def test_the_examples_in_a_prompt_are_not_judged(served: Any, types: Any) -> None:
    shown = [*ASKED, calling(a=2, b=2), TOLD, {"role": "user", "content": "3+3="}]
    step = types.Step(chat_completions=[*shown, {"role": "assistant", "content": "6"}])
    judge = evaluator(verifier="tool_call", url=served.url)
    assert judge({"reference": "[]"}, types.Episode([types.Trajectory(steps=[step])])).reward == 1.0


def test_steps_that_are_no_continuation_are_judged_by_the_last(served: Any, types: Any) -> None:
    steps = [
        types.Step(chat_completions=[{"role": "user", "content": "Think."}, {"role": "assistant", "content": "Hm."}])
    ]
    steps.append(types.Step(chat_completions=[*ASKED, DONE]))
    judge = evaluator(verifier="math", url=served.url)
    assert judge({"answer": "4"}, types.Episode([types.Trajectory(steps=steps)])).reward == 1.0


def test_one_of_several_agents_is_judged_by_its_name(served: Any, types: Any) -> None:
    solver, critic = (episode(types, DONE, name="solver"), episode(types, {**DONE, "content": "Good."}, name="critic"))
    both = types.Episode([*solver.trajectories, *critic.trajectories])
    assert evaluator(verifier="math", trajectory="solver", url=served.url)({"answer": "4"}, both).reward == 1.0
    assert evaluator(verifier="math", url=served.url)({"answer": "4"}, both).reward == 0.0
    with pytest.raises(ValueError, match="no trajectory is named 'judge'; there are \\['solver', 'critic'\\]"):
        evaluator(verifier="math", trajectory="judge", url=served.url).evaluate({"answer": "4"}, both)


def test_an_episode_without_messages_is_judged_by_its_answer(served: Any, types: Any) -> None:
    judge = evaluator(verifier="math", url=served.url)
    text = "It is \\boxed{4}."
    for given in (
        types.Episode(artifacts={"answer": text}),
        types.Episode([types.Trajectory(output=text)]),
        types.Episode([types.Trajectory(steps=[types.Step(text), types.Step()])]),
    ):
        assert judge({"answer": "4"}, given).reward == 1.0
    assert judge({"answer": "4"}, types.Episode()).reward == 0.0


def test_what_was_not_judged_is_an_exception(served: Any, types: Any) -> None:
    with pytest.raises(InvalidItems):
        evaluator(verifier="math", url=served.url).evaluate({}, episode(types, DONE))
    lost = evaluator(verifier="math", url=NOWHERE, deadline_s=0.2)
    with pytest.raises(FailedItems):
        lost.evaluate({"answer": "4"}, episode(types, DONE))
    with pytest.raises(Unjudged):
        lost({"answer": "4"}, episode(types, DONE))
    assert not issubclass(Unjudged, Exception), "rLLM makes 0.0 of an exception of a benchmark's function"
    with pytest.raises(ValueError, match="rLLM knows no abstention"):
        evaluator(verifier="math", on_failed="abstain")


def test_the_examples_judge(served: Any, types: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_URL", served.url)
    evaluate = runpy.run_path(str(EXAMPLES / "evaluate.py"))["evaluate"]
    assert evaluate(types.Task("1", "2+2=", {"ground_truth": "4"}), episode(types, DONE)).reward == 1.0
    assert runpy.run_path(str(EXAMPLES / "rewards.py"))["reward_fn"]({"answer": "4"}, "\\boxed{4}").reward == 1.0

"""Real verl, in this process: its configuration, managers, tools and default scorers, with rewards from a server.

`managers.py SCENARIO URL TOKENIZER_FOLDER [...]` prints one line of JSON.
"""

import asyncio
import functools
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from omegaconf import OmegaConf
from rewardline.verl import compute_score_batch, compute_score_prime, compute_score_sync
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager
from verl.utils import hf_tokenizer
from verl.utils.reward_score import default_compute_score
from verl.workers.reward_manager import get_reward_manager_cls
from verl_batches import NOWHERE, Row, batch_of, config_of, objects, requests_to, row


def loop_manager(tokenizer: str, *overrides: str) -> Any:
    return load_reward_manager(config_of(tokenizer, *overrides), hf_tokenizer(tokenizer))


async def judge_all(tokenizer: str, overrides: Sequence[str], batch: DataProto) -> list[Any]:
    """The result of each sample, by `run_single` for all at once, as in a worker. For an exception: its name."""
    manager = loop_manager(tokenizer, *overrides)
    outcomes = await asyncio.gather(
        *(manager.run_single(batch[at : at + 1]) for at in range(len(batch))), return_exceptions=True
    )
    return [type(each).__name__ if isinstance(each, BaseException) else each for each in outcomes]


def in_loop(url: str, tokenizer: str) -> Any:
    """Our manager, selected in both ways, and our function under verl's own managers: 64 samples at once for each."""
    os.environ["REWARDLINE_URL"] = url
    batch = batch_of(hf_tokenizer(tokenizer), [row(f"I add.\n#### {at}", "7") for at in range(64)])
    function = ("reward.custom_reward_function.path=pkg://rewardline.verl",)
    kwargs = "+reward.custom_reward_function.reward_kwargs"
    setups = {
        "rewardline": ("reward.reward_manager.name=rewardline",),
        "imported": (
            "reward.reward_manager.source=importlib",
            "reward.reward_manager.module.path=pkg://rewardline.verl",
            "reward.reward_manager.name=RewardManager",
        ),
        "naive": function,
        "dapo": (
            *function,
            "reward.reward_manager.name=dapo",
            f"{kwargs}.verifier=math",
            f"{kwargs}.components=[math]",
        ),
        "gdpo": (*function, "reward.reward_manager.name=gdpo"),
    }
    answers, requests = {}, {}
    for name, overrides in setups.items():
        before = requests_to(url)
        answers[name] = asyncio.run(judge_all(tokenizer, overrides, batch))
        requests[name] = requests_to(url) - before
    scores = [each["reward_score"] for each in answers["rewardline"]]
    tensor = loop_manager(tokenizer, *setups["rewardline"]).assemble_rm_scores(batch, scores)
    return {"answers": answers, "requests": requests, "places": [*map(list, (tensor != 0).nonzero().tolist())]}


def in_trouble(url: str, tokenizer: str) -> Any:
    """Samples that cannot be judged: no server answers, or the data set is wrong."""
    named = ("reward.reward_manager.name=rewardline", "+reward.reward_kwargs.deadline_s=0.3")
    custom = "reward.custom_reward_function"
    function = (f"{custom}.path=pkg://rewardline.verl", f"+{custom}.reward_kwargs.deadline_s=0.3")
    rows = [row("#### 7", "7"), row("#### 7", "no number"), row("#### 7", "7", "my/own")]
    batch = batch_of(hf_tokenizer(tokenizer), rows)
    here, nowhere = f"+reward.reward_kwargs.url={url}", f"+reward.reward_kwargs.url={NOWHERE}"
    numbers = ("+reward.reward_kwargs.on_failed=-0.5", "+reward.reward_kwargs.on_invalid=-2")
    setups = {
        "manager": (*named, nowhere),
        "function": (*function, f"+{custom}.reward_kwargs.url={NOWHERE}"),
        "number": (*named, nowhere, *numbers),
        "invalid": (*named, here),
        "invalid_number": (*named, here, *numbers),
    }
    answers = {name: asyncio.run(judge_all(tokenizer, each, batch)) for name, each in setups.items()}
    refused = {
        "both": (*named, here, *function),
        "misplaced": (*named, f"+{custom}.reward_kwargs.verifier=math"),
        "model": (*named, "reward.reward_model.enable=true"),
        "typo": (*named, "+reward.reward_kwargs.verifer=math"),
        "abstain": (*named, "+reward.reward_kwargs.on_failed=abstain"),
    }
    return {"answers": answers, "refused": {name: refusal(tokenizer, *each) for name, each in refused.items()}}


def with_prompts(url: str, tokenizer: str) -> Any:
    """The inputs of a verifier beside the response: the prompt, the row's other columns, the tokens."""
    os.environ["REWARDLINE_URL"] = url
    named = ("reward.reward_manager.name=rewardline", "+reward.reward_kwargs.verifier=overlong")
    params = (
        "+reward.reward_kwargs.token_params=[completion_tokens]",
        "+reward.reward_kwargs.params={max_length: 10, buffer: 2}",
    )
    batch = batch_of(hf_tokenizer(tokenizer), [row("1234567890123", None), row("1", None)])
    answers = asyncio.run(judge_all(tokenizer, (*named, *params), batch))
    tests = {"test_cases": [{"input": "1 2", "expected_output": "3"}], "case_type": "stdio"}
    code = "```python\nprint(sum(map(int, input().split())))\n```"
    rows = [row(code, None, "codecontests", extra_info={**tests, "difficulty": "interview"})]
    tested = asyncio.run(judge_all(tokenizer, named[:1], batch_of(hf_tokenizer(tokenizer), rows)))
    return {"overlong": answers, "tested": tested}


def with_calls(url: str, tokenizer: str) -> Any:
    """Rewards for calls in text, and for calls in messages that an agent loop left, by our manager and by our
    function.
    """
    os.environ["REWARDLINE_URL"] = url
    wanted = [{"name": "add", "arguments": {"a": 2}}]

    def text(a: int) -> str:
        return f'<tool_call>\n{{"name": "add", "arguments": {{"a": {a}}}}}\n</tool_call>'

    def left(a: int) -> dict[str, Any]:
        call = {"type": "function", "function": {"name": "add", "arguments": {"a": a}}}
        result = {"role": "tool", "content": "4"}
        return {"response_messages": [{"role": "assistant", "content": "", "tool_calls": [call]}, result]}

    rows = [row(said, wanted) for said in (text(2), text(3), "So 4.")]
    rows += [row("So 4.", wanted, left=left(a)) for a in (2, 3)]
    ways = {
        "manager": ("reward.reward_manager.name=rewardline", "+reward.reward_kwargs.verifier=tool_call"),
        "function": (
            "reward.custom_reward_function.path=pkg://rewardline.verl",
            "+reward.custom_reward_function.reward_kwargs.verifier=tool_call",
        ),
    }
    batch = batch_of(hf_tokenizer(tokenizer), rows)
    answers = {name: asyncio.run(judge_all(tokenizer, named, batch)) for name, named in ways.items()}
    return {name: [each["reward_score"] for each in some] for name, some in answers.items()}


def with_groups(url: str, tokenizer: str) -> Any:
    """The samples of a `uid` are rewarded together, by our manager and in whole batches; verl says how many there are."""
    os.environ["REWARDLINE_URL"] = url
    known, kwargs = hf_tokenizer(tokenizer), "+reward.reward_kwargs"
    named = ("reward.reward_manager.name=rewardline", f"{kwargs}.verifier=math", f"{kwargs}.group={{method: majority}}")
    sizes = ("actor_rollout_ref.rollout.n=4", "actor_rollout_ref.rollout.val_kwargs.n=4")
    votes = ("0.5", "3", "1/2", "7", "7", "8", "9", "7")
    rows = [
        row(f"#### {text}", "not needed", prompt=f"Question {at // 4}?", extra_info={"prompt": f"Question {at // 4}?"})
        for at, text in enumerate(votes)
    ]
    batch = batch_of(known, rows)
    batch.non_tensor_batch["uid"] = objects([f"{os.urandom(8).hex()}"] * 4 + [f"{os.urandom(8).hex()}"] * 4)
    one_by_one = [each["reward_score"] for each in asyncio.run(judge_all(tokenizer, (*named, *sizes), batch))]
    options: dict[str, Any] = {"verifier": "math", "group": {"method": "majority"}}
    batches = {}
    for name, function in (("rewardline", None), ("batch", functools.partial(compute_score_batch, **options))):
        own = {} if function else options
        answer = get_reward_manager_cls(name)(known, 0, function, **own)(batch, return_dict=True)
        batches[name] = answer["reward_tensor"].sum(1).tolist()
    return {"manager": one_by_one, **batches, "refused": refusal(tokenizer, *named, sizes[0])}


def legacy(url: str, tokenizer: str) -> Any:
    """Verl's managers for whole batches with our functions, and our own."""
    os.environ["REWARDLINE_URL"] = url
    known = hf_tokenizer(tokenizer)
    functions: dict[str, Any] = {
        "naive": compute_score_sync,
        "dapo": compute_score_sync,
        "batch": compute_score_batch,
        "prime": compute_score_prime,
        "rewardline": None,
    }
    outcomes: dict[str, Any] = {}
    for name, function in functions.items():
        batch = batch_of(known, [row(f"#### {at}", "7") for at in (6, 7, 8)])
        more = {"overlong_buffer_cfg": OmegaConf.create({"enable": False, "len": 1})} if name == "dapo" else {}
        before = requests_to(url)
        answer = get_reward_manager_cls(name)(known, 0, function, **more)(batch, return_dict=True)
        outcomes[name] = {
            "rewards": answer["reward_tensor"].sum(1).tolist(),
            "places": answer["reward_tensor"].nonzero().tolist(),
            "columns": {key: list(map(float, values)) for key, values in answer.get("reward_extra_info", {}).items()},
            "requests": requests_to(url) - before,
        }
    options = {"url": NOWHERE, "deadline_s": 0.3}
    batch = batch_of(known, [row("#### 7", "7")])
    for name in ("batch", "prime", "rewardline"):
        function = None if name == "rewardline" else functools.partial(functions[name], **options)
        manager = get_reward_manager_cls(name)(known, 0, function, **(options if function is None else {}))
        try:
            outcomes[f"{name} without a server"] = manager(batch).tolist()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is not a reward
            outcomes[f"{name} without a server"] = type(error).__name__
    empty = get_reward_manager_cls("rewardline")(known)(batch[:0], return_dict=True)
    outcomes["empty"] = [list(empty["reward_tensor"].shape), empty["reward_extra_info"]]
    return outcomes


def default_scores(url: str, file: str) -> Any:
    """Scores by verl's scorers, and by ours for the same data source, for rows of `[data_source, response,
    ground_truth]`.
    """
    with open(file, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    theirs = [score_of(default_compute_score, *each) for each in rows]
    ours = compute_score_batch(*zip(*rows, strict=True), url=url, on_invalid=-9.0)
    return {"theirs": theirs, "ours": [each["score"] for each in ours]}


def score_of(scorer: Callable[..., Any], source: str, response: str, truth: Any) -> float | str:
    try:
        score = scorer(source, response, truth)
    except Exception as error:  # noqa: BLE001 - of a scorer of theirs
        return type(error).__name__
    return float(score["score"] if isinstance(score, dict) else score)


def sandbox_client(url: str) -> Any:
    """Verl's client for a sandbox, with the three forms of its tests."""
    add = "```python\na, b = map(int, input().split())\nprint(a + b if a < 3 else 0)\n```"
    function = "```python\ndef add(a, b):\n    return a + b\n```"
    truths = {
        "stdin": (add, {"inputs": ["1 2\n", "2 2\n", "3 3\n"], "outputs": ["3\n", "4\n", "6\n"]}),
        "function": (function, {"fn_name": "add", "inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"]}),
        "asserts": (function, {"assert_case": ["assert add(1, 2) == 3", "assert add(1, 2) == 4"]}),
    }
    return {
        name: default_compute_score(
            "codecontests", code, json.dumps(truth), sandbox_fusion_url=f"{url}/run_code", memory_limit_mb=512
        )
        for name, (code, truth) in truths.items()
    }


def tool(url: str, file: str) -> Any:
    """The tool as verl makes it from its file, and as the agent loop calls it."""
    from verl.tools.tool_registry import initialize_tools_from_config  # noqa: PLC0415 - not there in 0.7

    os.environ["REWARDLINE_URL"] = url
    (made,) = initialize_tools_from_config(file)
    return asyncio.run(call_tool(made))


async def call_tool(made: Any) -> Any:
    outcomes = {}
    calls: dict[str, tuple[Any, Row]] = {
        "right": ("56", {"ground_truth": "56"}),
        "wrong": (55, {"ground_truth": "56"}),
        "invalid": ("56", {"ground_truth": None}),
        "refused": ("56", {"ground_truth": "56", "case_type": 5}),
    }
    for name, (answer, columns) in calls.items():
        instance, _ = await made.create(create_kwargs={**columns, "data_source": "openai/gsm8k"})
        response, reward, numbers = await made.execute(instance, {"answer": answer}, agent_data=None)
        rewards = [reward] if reward is None else [reward, await made.calc_reward(instance)]
        await made.release(instance)
        outcomes[name] = [response.text, rewards, numbers]
    return {"name": made.name, "outcomes": outcomes, "left": len(made._rows) + len(made._results)}


def examples(url: str, tokenizer: str, file: str, *arguments: str) -> Any:
    """The example's command line, and the settings that the other example adds, each with a judged sample."""
    command = [each for each in arguments if "=" in each]
    os.environ["REWARDLINE_URL"] = url
    config = config_of(tokenizer)
    OmegaConf.set_struct(config, False)
    merged = OmegaConf.merge(config, OmegaConf.load(file))
    batch = batch_of(hf_tokenizer(tokenizer), [row("<think>I add.</think>It is \\boxed{7}.\n#### 7", "7")])

    async def judged(made_of: Any) -> Any:
        return await load_reward_manager(made_of, hf_tokenizer(tokenizer)).run_single(batch)

    return {"command": asyncio.run(judged(config_of(tokenizer, *command))), "file": asyncio.run(judged(merged))}


def refusal(tokenizer: str, *overrides: str) -> str:
    try:
        loop_manager(tokenizer, *overrides)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def in_process(url: str, tokenizer: str) -> Any:
    """All scenarios that need no other process, in one process: verl takes seconds to import."""
    scenarios = (in_loop, in_trouble, with_prompts, with_calls, with_groups, legacy)
    return {each.__name__: each(url, tokenizer) for each in scenarios} | {"sandbox_client": sandbox_client(url)}


def main() -> None:
    scenarios = (in_process, default_scores, tool, examples)
    chosen = {scenario.__name__: scenario for scenario in scenarios}[sys.argv[1]]
    print(json.dumps(chosen(*sys.argv[2:])))


if __name__ == "__main__":
    main()

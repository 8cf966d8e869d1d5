"""Answers for one grader, in its own environment: `python worker.py NAME`.

A line of JSON `[gold, response]` comes in, a line goes out: true, false, or null if the grader says that it cannot
judge. It imports nothing of this project. Whoever started it ends it when an answer takes too long.
"""

import contextlib
import importlib
import json
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Grader = Callable[[str, str], "bool | None"]
SITE = Path(importlib.import_module("math_verify").__file__ or "").parents[1]
GRADERS: dict[str, Callable[[], Grader]] = {}
"""What makes each grader, by its name."""


def grader(name: str) -> Callable[[Callable[[], Grader]], None]:
    def register(make: Callable[[], Grader]) -> None:
        GRADERS[name] = make

    return register


def bare(*packages: str, **attributes: Any) -> None:
    """Make packages importable without what they import themselves, such as torch."""
    for name in packages:
        module = types.ModuleType(name)
        module.__path__ = [str(SITE / name.replace(".", "/"))]
        module.__dict__.update(attributes)
        sys.modules[name] = module


@grader("Math-Verify")
def math_verify() -> Grader:
    library: Any = importlib.import_module("math_verify")

    def judge(gold: str, response: str) -> bool | None:
        parsed = library.parse(gold if "$" in gold else f"${gold}$")
        return bool(library.verify(parsed, library.parse(response))) if parsed else None

    return judge


@grader("TRL accuracy_reward")
def trl() -> Grader:
    bare("trl", "trl.rewards")
    bare("trl.import_utils", is_math_verify_available=lambda: True)
    rewards: Any = importlib.import_module("trl.rewards.accuracy_rewards")

    def judge(gold: str, response: str) -> bool | None:
        (reward,) = rewards.accuracy_reward([[{"content": response}]], [gold if "$" in gold else f"${gold}$"])
        return None if reward is None else reward == 1

    return judge


def _verl(module: str) -> Any:
    bare("verl", "verl.utils", "verl.utils.reward_score")
    bare("verl.utils.py_functional", timeout_limit=lambda **_: lambda function: function)
    return importlib.import_module(f"verl.utils.reward_score.{module}")


@grader("verl gsm8k, flexible")
def verl_gsm8k() -> Grader:
    score = _verl("gsm8k").compute_score
    return lambda gold, response: score(response, gold, method="flexible") == 1


@grader("verl math_reward")
def verl_math() -> Grader:
    score = _verl("math_reward").compute_score
    return lambda gold, response: score(response, gold) == 1


@grader("verl math_dapo")
def verl_dapo() -> Grader:
    score = _verl("math_dapo").compute_score
    return lambda gold, response: score(response, gold)["acc"] is True


@grader("verl prime_math")
def verl_prime() -> Grader:
    score = _verl("prime_math").compute_score
    return lambda gold, response: bool(score(response, gold)[0])


def _lm_eval(task: str) -> Any:
    bare("datasets", Dataset=object)
    bare("lm_eval", "lm_eval.tasks", f"lm_eval.tasks.{task}")
    return importlib.import_module(f"lm_eval.tasks.{task}.utils")


@grader("lm-eval hendrycks_math")
def hendrycks() -> Grader:
    score = _lm_eval("hendrycks_math").process_results
    return lambda gold, response: score({"solution": f"\\boxed{{{gold}}}"}, [response])["exact_match"] == 1


@grader("lm-eval gsm8k, flexible")
def lm_eval_gsm8k() -> Grader:
    text = (SITE / "lm_eval/tasks/gsm8k/gsm8k.yaml").read_text(encoding="utf-8")
    patterns = [pattern[1:-1] for pattern in re.findall(r"regex_pattern: (.+)", text)]
    last = re.compile(patterns[-1])

    def judge(gold: str, response: str) -> bool:
        groups = last.findall(response)
        taken = next((part for part in groups[-1] if part), "") if groups and isinstance(groups[-1], tuple) else ""
        return _plain_number(taken) == _plain_number(gold)

    return judge


def _plain_number(text: str) -> str:
    return re.sub(r"[,$]|(?s:.*#### )|\.$", "", text).lower()


@grader("OpenRLHF grade_answer")
def openrlhf() -> Grader:
    bare("openrlhf", "openrlhf.utils")
    library: Any = importlib.import_module("openrlhf.utils.math_utils")

    def judge(gold: str, response: str) -> bool:
        return bool(library.grade_answer(library.extract_boxed_answer(response), gold))

    return judge


def main() -> None:
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        judge = GRADERS[sys.argv[1]]()
        print("null", file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(judge(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()

"""Answers for one grader, in its own environment: `python worker.py NAME`.

A line of JSON `[gold, response]` comes in, a line goes out: true, false, or null if the grader says that it cannot
judge. It imports nothing of this project. Whoever started it ends it when an answer takes too long.

Graders limit their own time by the clock, so a busy machine would get other verdicts. Here these limits count CPU time.
"""

import asyncio
import contextlib
import importlib
import json
import os
import re
import resource
import runpy
import signal
import string
import sys
import types
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

Grader = Callable[[str, str], "bool | None"]
SITE = Path(importlib.import_module("math_verify").__file__ or "").parents[1]
SOURCES = Path(os.environ.get("GRADER_SOURCES", os.devnull))
"""The folder with checkouts of the graders that have no wheel: `sources.toml`."""
GRADERS: dict[str, Callable[[], Grader]] = {}
"""What makes each grader, by its name."""
OF_LETTERS: set[str] = set()
"""The graders that judge the letters of options, and nothing else."""


def grader(name: str, source: str = "", *, letters: bool = False) -> Callable[[Callable[[], Grader]], None]:
    """Register a grader. One with a `source` is there only if that file of `SOURCES` is."""

    def register(make: Callable[[], Grader]) -> None:
        if not source or (SOURCES / source).is_file():
            GRADERS[name] = make
            OF_LETTERS.update([name] * letters)

    return register


def alarms_count_cpu_time() -> None:
    """Have SIGALRM's timers, and their handlers, be those of this process's CPU time."""
    clock: Any = signal
    set_timer, set_handler, get_handler = clock.setitimer, clock.signal, clock.getsignal
    profiled = {signal.SIGALRM: signal.SIGPROF}

    def timer(which: int, seconds: float, interval: float = 0.0) -> Any:
        return set_timer(signal.ITIMER_PROF if which == signal.ITIMER_REAL else which, seconds, interval)

    clock.setitimer = timer
    clock.alarm = lambda seconds: int(timer(signal.ITIMER_REAL, seconds)[0])
    clock.signal = lambda number, handler: set_handler(profiled.get(number, number), handler)
    clock.getsignal = lambda number: get_handler(profiled.get(number, number))


def children_end_after(cpu_s: int) -> None:
    """For a grader that ends its child after some seconds by the clock: the child ends after as much CPU time."""
    process: Any = BaseProcess
    join = process.join
    process.join = lambda child, timeout=None: join(child)
    os.register_at_fork(after_in_child=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s)))


def bare(*packages: str, root: Path = SITE, **attributes: Any) -> None:
    """Make packages importable without what they import themselves, such as torch."""
    for name in packages:
        module = types.ModuleType(name)
        module.__path__ = [str(root / name.replace(".", "/"))]
        module.__dict__.update(attributes)
        sys.modules[name] = module


def absent(*modules: str) -> None:
    """Stand in for modules that a grader imports and does not use when it judges."""
    sys.modules.update((name, MagicMock()) for name in modules)


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
    absent("numpy", "verl.utils.metric")
    bare("verl", "verl.utils", "verl.utils.reward_score")
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
    children_end_after(10)
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


@grader("lm-eval minerva_math")
def minerva() -> Grader:
    absent("datasets")
    task = _lm_eval("minerva_math")

    def judge(gold: str, response: str) -> bool:
        document = {"solution": f"\\boxed{{{gold}}}", "answer": gold}
        return bool(task.process_results(document, [response])["exact_match"])

    return judge


@grader("Inspect math")
def inspect() -> Grader:
    absent("inspect_ai._util.error", "inspect_ai.solver._task_state", "inspect_ai.scorer._metrics")
    absent("inspect_ai.scorer._target")
    bare("inspect_ai", "inspect_ai._util", "inspect_ai.solver", "inspect_ai.scorer")
    score = type("Score", (types.SimpleNamespace,), {"unscored": lambda **_: types.SimpleNamespace(value=None)})
    bare("inspect_ai.scorer._metric", CORRECT="C", INCORRECT="I", Score=score)
    bare("inspect_ai.scorer._scorer", Scorer=object, scorer=lambda **_: lambda function: function)
    clock: Any = importlib.import_module("anyio")
    clock.fail_after = contextlib.nullcontext  # two seconds by the clock
    scores = importlib.import_module("inspect_ai.scorer._math").math()

    def judge(gold: str, response: str) -> bool | None:
        state = types.SimpleNamespace(output=types.SimpleNamespace(completion=response))
        try:
            value = asyncio.run(scores(state, [gold])).value
        except ValueError:  # it cannot read the reference
            return None
        return None if value is None else value == "C"

    return judge


def _nemo_gym(server: str) -> Any:
    bare("nemo_gym", "resources_servers")
    absent("fastapi", "nemo_gym.config_types", "nemo_gym.judge", "nemo_gym.openai_utils", "nemo_gym.reward_profile")
    bare("pydantic", BaseModel=object, PositiveFloat=float, PositiveInt=int)
    requests: dict[str, Any] = {
        f"Base{name}": type(name, (), {}) for name in ("RunRequest", "VerifyRequest", "VerifyResponse")
    }
    bare("nemo_gym.base_resources_server", **requests, ReverifyMode=MagicMock())
    base = sys.modules["nemo_gym.base_resources_server"]
    base.__dict__.update(BaseResourcesServerConfig=object, SimpleResourcesServer=object)
    return importlib.import_module(f"resources_servers.{server}.app")


@grader("NeMo-Gym math_with_judge, no judge")
def nemo_gym() -> Grader:
    server = _nemo_gym("math_with_judge").LibraryJudgeMathResourcesServer()
    server.config = types.SimpleNamespace(should_use_judge=False, library_verifier_timeout_seconds=float("inf"))
    children_end_after(10)

    def judge(gold: str, response: str) -> bool:
        server._library_verifier_semaphore = asyncio.Semaphore(1)
        return bool(asyncio.run(server._verify_answer("", gold, response))[0] == 1)

    return judge


def _simple_evals(module: str) -> Any:
    absent("datasets", "jinja2", "numpy", "tqdm", "tqdm.asyncio", "yaml", "simple_evals.diskcaching")
    absent(
        "simple_evals.sampler.chat_completion_sampler",
        "simple_evals.simple_evals_types",
        "simple_evals.evals.mmlu_eval",
    )
    absent("simple_evals.seed_generator", "pandas", "requests")
    bare("simple_evals", "simple_evals.evals", "simple_evals.sampler")
    return importlib.import_module(f"simple_evals.{module}")


@grader("SimpleEvals math, no judge")
def simple_evals_math() -> Grader:
    pattern = re.compile(_simple_evals("common").ANSWER_PATTERN)
    grade = _simple_evals("evals.math_grading.sympy_grader").grade_answer

    def judge(gold: str, response: str) -> bool:
        match = pattern.search(response)
        return bool(match and grade(match[1], gold))

    return judge


@grader("SimpleEvals mgsm")
def simple_evals_mgsm() -> Grader:
    task = _simple_evals("evals.mgsm_eval")
    return lambda gold, response: bool(task.score_mgsm(gold, task.parse_answer(response, "Answer")))


@grader("Open R1 accuracy_reward", source="open-r1/src/open_r1/rewards.py")
def open_r1() -> Grader:
    bare("open_r1", "open_r1.utils", root=SOURCES / "open-r1/src")
    absent("open_r1.utils.code_providers", "open_r1.utils.competitive_programming")
    rewards: Any = importlib.import_module("open_r1.rewards")

    def judge(gold: str, response: str) -> bool | None:
        (reward,) = rewards.accuracy_reward([[{"content": response}]], [gold if "$" in gold else f"${gold}$"])
        return None if reward is None else reward == 1

    return judge


_OPEN_INSTRUCT = "open-instruct/open_instruct/ground_truth_utils.py"


def _open_instruct(verifier: str) -> Grader:
    bare("open_instruct", "open_instruct.rubrics", root=SOURCES / "open-instruct")
    names = ("context_window_checker", "logger_utils", "if_functions", "IFEvalG", "judge_utils", "utils")
    absent(*(f"open_instruct.{name}" for name in names), "numpy", "requests")
    absent("open_instruct.rubrics.prompts", "open_instruct.rubrics.run_utils")
    verify = getattr(importlib.import_module("open_instruct.ground_truth_utils"), verifier)()
    return lambda gold, response: verify([], response, gold).score == 1


@grader("open-instruct math", source=_OPEN_INSTRUCT)
def open_instruct_math() -> Grader:
    return _open_instruct("MathVerifier")


@grader("open-instruct gsm8k", source=_OPEN_INSTRUCT)
def open_instruct_gsm8k() -> Grader:
    return _open_instruct("GSM8KVerifier")


@grader("slime math", source="slime/slime/rollout/rm_hub/math_utils.py")
def slime() -> Grader:
    bare("slime", "slime.rollout", "slime.rollout.rm_hub", root=SOURCES / "slime")
    grade: Any = importlib.import_module("slime.rollout.rm_hub.math_utils").grade_answer_verl
    return lambda gold, response: bool(grade(response, gold))


_ROLL = "roll/roll/pipeline/rlvr/rewards"


def _roll(worker: str) -> Any:
    absent("ray", "torch", "codetiming", "tqdm", "roll.configs.worker_config", "roll.distributed.executor.worker")
    absent("roll.distributed.scheduler.decorator", "roll.distributed.scheduler.protocol", "roll.models.model_providers")
    absent("roll.utils.logging")
    bare("roll", "roll.pipeline", "roll.pipeline.rlvr", "roll.pipeline.rlvr.rewards", root=SOURCES / "roll")
    bare("roll.distributed.executor.worker", Worker=object)
    return importlib.import_module(f"roll.pipeline.rlvr.rewards.{worker}")


@grader("ROLL math_rule", source=f"{_ROLL}/math_rule_reward_worker.py")
def roll() -> Grader:
    library = _roll("math_rule_reward_worker")
    children_end_after(6)

    def judge(gold: str, response: str) -> bool:
        return library.hf_verify_math_sample(response, gold if "$" in gold else f"${gold}$", "")[0] is True

    return judge


# --- graders of letters


@grader("NeMo-Gym mcqa", letters=True)
def nemo_gym_mcqa() -> Grader:
    server, letters = _nemo_gym("mcqa"), set(string.ascii_uppercase[:10])
    return lambda gold, response: server._parse_answer_letter_strict_boxed(response, letters)[0] == gold


@grader("lm-eval mmlu_pro", letters=True)
def lm_eval_mmlu_pro() -> Grader:
    text = (SITE / "lm_eval/tasks/mmlu_pro/_default_template_yaml").read_text(encoding="utf-8")
    pattern = re.compile(re.findall(r"regex_pattern: '(.+)'", text)[0])
    return lambda gold, response: (pattern.findall(response) or [""])[0] == gold


@grader("SimpleEvals mmlu", letters=True)
def simple_evals_mmlu() -> Grader:
    common = _simple_evals("common")
    forms = (common.MULTILINGUAL_ANSWER_PATTERN_TEMPLATE.format(lead) for lead in common.MULTILINGUAL_ANSWER_REGEXES)
    patterns = [re.compile(form) for form in forms]

    def judge(gold: str, response: str) -> bool:
        plain = common.normalize_response(response)
        match = next((match for pattern in patterns if (match := pattern.search(plain))), None)
        return bool(match and common.normalize_extracted_answer(match[1]) == gold)

    return judge


@grader("slime gpqa", source="slime/slime/rollout/rm_hub/gpqa.py", letters=True)
def slime_gpqa() -> Grader:
    bare("slime", "slime.rollout", "slime.rollout.rm_hub", root=SOURCES / "slime")
    score: Any = importlib.import_module("slime.rollout.rm_hub.gpqa").compute_gpqa_reward
    return lambda gold, response: score(response, gold) == 1


@grader("ROLL multiple_choice_boxed", source=f"{_ROLL}/multiple_choice_boxed_rule_reward_worker.py", letters=True)
def roll_letters() -> Grader:
    library = _roll("multiple_choice_boxed_rule_reward_worker")

    def judge(gold: str, response: str) -> bool:
        answer = library.extract_after_last_think(response)
        return bool(library.multiple_choice_boxed_reward_fn(answer, gold)[1] == 1)

    return judge


def main() -> None:
    alarms_count_cpu_time()
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        judge = GRADERS[sys.argv[1]]()
        print("null", file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(judge(*json.loads(line))), file=answers, flush=True)


if OWN := os.environ.get("GRADER_FILE"):
    runpy.run_path(OWN, init_globals={"grader": grader, "bare": bare, "absent": absent, "SOURCES": SOURCES})

if __name__ == "__main__":
    main()

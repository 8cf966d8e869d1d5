"""Real steps of TRL's GRPOTrainer with math, code and format rewards; prints one line of JSON in the end.

steps.py URL outage         says "step 2" after its second step, and goes on when told so on its standard input
steps.py URL groups         the samples of a prompt are right by majority, without references
steps.py URL conversation   messages instead of texts, a reward function that blocks, one whose server is not there
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

from datasets import Dataset
from rewardline.trl import reward_func
from transformers import TrainerCallback
from trl import GRPOTrainer

from tests.e2e.trl.tiny import completions, config, learn_by_heart, make_model, make_tokenizer

NOWHERE = "http://127.0.0.1:1"
THOUGHT = "<think>\nhm\n</think>\n"
DOUBLE = "```python\nprint(int(input()) * 2)\n```"
TRIPLE = "```python\nprint(int(input()) * 3)\n```"
TESTS = json.dumps([{"stdin": "2", "expected_stdout": "4"}, {"stdin": "5", "expected_stdout": "10"}])
ROWS = [
    {"prompt": "2+2?", "task": "math", "solution": "4", "test_cases": None},
    {"prompt": "3+4?", "task": "math", "solution": "7", "test_cases": None},
    {"prompt": "twice?", "task": "code", "solution": None, "test_cases": TESTS},
]
SAID = {
    "2+2?": ["4", "5", f"{THOUGHT}4", f"{THOUGHT}5"],
    "3+4?": ["7", "8", f"{THOUGHT}7", f"{THOUGHT}8"],
    "twice?": [DOUBLE, TRIPLE, f"{THOUGHT}{DOUBLE}", f"{THOUGHT}{TRIPLE}"],
}
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class PauseAfter(TrainerCallback):
    def __init__(self, step: int) -> None:
        self._step = step

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if state.global_step == self._step:
            print(f"step {self._step}", flush=True)
            sys.stdin.readline()


def functions(url: str) -> list[Any]:
    return [
        reward_func("math", url=url, deadline_s=120, where={"task": "math"}),
        reward_func("code", url=url, deadline_s=120, where={"task": "code"}, reference=None),
        reward_func(
            "think_format", url=url, deadline_s=120, reference=None, params={"preset": "deepseek"}, name="form"
        ),
    ]


def outage(url: str, folder: str) -> GRPOTrainer:
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    learn_by_heart(model, tokenizer, [(prompt, said) for prompt in SAID for said in SAID[prompt]], 250)
    return GRPOTrainer(
        model,
        reward_funcs=functions(url),
        args=config(folder, max_steps=6, max_completion_length=80, reward_weights=[1.0, 1.0, 0.25]),
        train_dataset=Dataset.from_list(ROWS * 4),
        processing_class=tokenizer,
        callbacks=[PauseAfter(2)],
    )


def conversation(url: str, folder: str) -> GRPOTrainer:
    tokenizer = make_tokenizer(TEMPLATE)
    model = make_model(tokenizer)
    asked = {prompt: [{"role": "user", "content": prompt}] for prompt in SAID}
    texts = {
        prompt: tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        for prompt, messages in asked.items()
    }
    learn_by_heart(model, tokenizer, [(texts[prompt], said) for prompt in SAID for said in SAID[prompt]], 250)
    return GRPOTrainer(
        model,
        reward_funcs=[
            reward_func("math", url=url, blocking=True, where={"task": "math"}),
            reward_func("math", url=NOWHERE, deadline_s=0.2, name="away", where={"task": "code"}),
            reward_func(
                checks=[{"verifier": "think_format", "name": "form", "params": {"preset": "deepseek"}}],
                where={"task": "math"},
                url=url,
                name="form",
                components=["form"],
                reference=None,
            ),
        ],
        args=config(folder, max_steps=3, max_completion_length=80, reward_weights=[1.0, 3.0, 0.25]),
        train_dataset=Dataset.from_list([row | {"prompt": asked[str(row["prompt"])]} for row in ROWS * 4]),
        processing_class=tokenizer,
    )


def groups(url: str, folder: str) -> GRPOTrainer:
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    learn_by_heart(model, tokenizer, [(prompt, said) for prompt in ("2+2?", "3+4?") for said in SAID[prompt]], 250)
    return GRPOTrainer(
        model,
        reward_funcs=[
            reward_func(
                "math", url=url, reference=None, group={"method": "majority", "size": 8}, log_columns=["extracted"]
            )
        ],
        args=config(folder, max_steps=3, max_completion_length=80),
        train_dataset=Dataset.from_list([{"prompt": prompt} for prompt in ("2+2?", "3+4?")] * 4),
        processing_class=tokenizer,
    )


def main() -> None:
    url, mode = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        trainer = {"outage": outage, "conversation": conversation, "groups": groups}[mode](url, folder)
        trainer.train()
        steps = [entry for entry in trainer.state.log_history if "reward" in entry]
        print(json.dumps({"step": trainer.state.global_step, "logged": steps, "completions": completions(folder)}))


if __name__ == "__main__":
    main()

"""A model with a tool to submit answers. The server gives feedback on each answer, and a reward for all turns.

rewardline serve &
pip install rewardline "trl>=1.16" jmespath
python guess.py --url http://127.0.0.1:8080 --model Qwen/Qwen3-0.6B
"""

from __future__ import annotations

import argparse

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from rewardline.trl import environment

TASK = "What is {a} * {b}? Submit your answer. If it is wrong, submit a better one."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the server; default: the variable REWARDLINE_URL, or this machine")
    parser.add_argument("--model", default="Qwen/Qwen3-0.6B")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=512, help="a completion has at most, calls of tools included")
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()

    pairs = [(a, b) for a in range(11, 100) for b in range(11, 100)]
    rows = [{"prompt": [{"role": "user", "content": TASK.format(a=a, b=b)}], "solution": str(a * b)} for a, b in pairs]
    trainer = GRPOTrainer(
        arguments.model,
        args=GRPOConfig(
            output_dir="out",
            max_steps=arguments.steps,
            max_completion_length=arguments.tokens,
            logging_steps=1,
            report_to=[],
            use_cpu=arguments.cpu,
            bf16=not arguments.cpu,
        ),
        train_dataset=Dataset.from_list(rows),
        environment_factory=environment(
            "math",
            url=arguments.url,
            interaction={"max_turns": 3, "trajectory": "discounted", "gamma": 0.8},
        ),
    )
    trainer.train()


if __name__ == "__main__":
    main()

"""A model learns to mend repositories: their own tests are the reward.

    rewardline serve &      # beside a Docker daemon that has the images of the tasks
    pip install rewardline "trl>=1.10"
    python patches.py --url http://127.0.0.1:8080 --rows tasks.jsonl --model Qwen/Qwen3-4B

A row of tasks.jsonl has `prompt`, what is wrong and the files that matter, and `task`, the reference of docs/repository-tasks.md
or a row of SWE-bench. With --verifier harbor it is a task of Harbor, and a response is a script.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from rewardline.trl import reward_func


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the server; default: the variable REWARDLINE_URL, or this machine")
    parser.add_argument("--rows", type=Path, default=Path("tasks.jsonl"))
    parser.add_argument("--verifier", choices=("repository", "harbor"), default="repository")
    parser.add_argument("--model", default="Qwen/Qwen3-4B")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=4096, help="a completion has at most")
    parser.add_argument("--deadline", type=float, default=3600.0, help="seconds for the tests of a whole step")
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()

    rows = [json.loads(line) for line in arguments.rows.read_text().splitlines()]
    # As text: a table would give each task the fields of all others.
    table = [{"prompt": row["prompt"], "task": json.dumps(row["task"])} for row in rows]
    trainer = GRPOTrainer(
        arguments.model,
        reward_funcs=[
            reward_func(
                arguments.verifier, reference="task", url=arguments.url, deadline_s=arguments.deadline, name="tests"
            )
        ],
        args=GRPOConfig(
            output_dir="out",
            max_steps=arguments.steps,
            max_completion_length=arguments.tokens,
            logging_steps=1,
            log_completions=True,
            report_to=[],
            use_cpu=arguments.cpu,
            bf16=not arguments.cpu,
        ),
        train_dataset=Dataset.from_list(table),
    )
    trainer.train()


if __name__ == "__main__":
    main()

"""AReaL's GRPO on mathematics with rewards of Rewardline: AReaL's own example with another workflow.

python3 train.py --config gsm8k_grpo.yaml
"""

import sys
from typing import Any


def workflow(gconfig: Any, tokenizer: Any) -> dict[str, Any]:
    """The arguments of `trainer.train` that say how to make and judge samples. The server is REWARDLINE_URL."""
    options = {"verifier": "math", "deadline_s": 300}
    return {
        "workflow": "rewardline.areal_workflow.Workflow",
        "workflow_kwargs": {"rewardline": options, "gconfig": gconfig, "tokenizer": tokenizer},
    }


def main(arguments: list[str]) -> None:
    # Here, since these imports need all packages of a training run.
    from areal import PPOTrainer  # noqa: PLC0415
    from areal.api.cli_args import GRPOConfig, load_expr_config  # noqa: PLC0415
    from areal.dataset import get_custom_dataset  # noqa: PLC0415
    from areal.utils.hf_utils import load_hf_tokenizer  # noqa: PLC0415

    config, _ = load_expr_config(arguments, GRPOConfig)
    tokenizer = load_hf_tokenizer(config.tokenizer_path)
    rows = get_custom_dataset(split="train", dataset_config=config.train_dataset, tokenizer=tokenizer)
    with PPOTrainer(config, train_dataset=rows) as trainer:
        trainer.train(**workflow(config.gconfig, config.tokenizer_path))


if __name__ == "__main__":
    main(sys.argv[1:])

"""NeMo-RL's GRPO with our environment in its registry: `python train.py --config grpo_verifier.yaml`.

The rest is NeMo-RL's own `run_grpo.py`. Its folder must be on PYTHONPATH.
"""

import runpy

from rewardline.nemo_rl import register

register()

if __name__ == "__main__":
    runpy.run_module("run_grpo", run_name="__main__")

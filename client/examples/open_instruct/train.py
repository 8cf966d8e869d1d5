"""open-instruct's GRPO with verifiers of Rewardline: `python train.py` and the arguments of `open_instruct/grpo_fast.py`.

The server of REWARDLINE_URL judges rows if their `dataset` is one of the names below. open-instruct judges all others.
"""

import runpy

from rewardline import open_instruct as remote

REPLACED = ("math", "gsm8k", "ifeval", "code", "code_stdio")

for name in REPLACED:
    remote.define(name)
remote.define("think_math", recipe="think_math")

if __name__ == "__main__":
    runpy.run_module("open_instruct.grpo_fast", run_name="__main__")

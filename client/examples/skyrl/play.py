"""Registers our environment in SkyRL and plays two rows as SkyRL's generator does. The server is REWARDLINE_URL.

Train with `environment.env_class=verifier`, after the same `register` in the entry point of your run.
"""

import skyrl_gym
from omegaconf import OmegaConf

# The value of `environment.skyrl_gym.verifier` in a configuration. If yours has no such key, pass the same to `register` as
# `kwargs`.
CONFIG = """
verifier: math
max_turns: 3          # without it: one turn
trajectory: last      # the reward of several turns
"""
ROW = {"env_class": "verifier", "reward_spec": {"method": "rule", "ground_truth": "4"}}

skyrl_gym.register(id="verifier", entry_point="rewardline.skyrl:VerifierEnv")


def play(*answers: str) -> float:
    environment = skyrl_gym.make("verifier", env_config=OmegaConf.create(CONFIG), extras=ROW)
    environment.init([{"role": "user", "content": "What is 2+2?"}])
    total = 0.0
    for answer in answers:
        step = environment.step(answer)
        total += step["reward"]
        print(f"{answer}: {step['reward']} {step['observations']}")
        if step["done"]:
            break
    environment.close()
    return total


if __name__ == "__main__":
    print(play("It is \\boxed{5}.", "Rather, it is \\boxed{4}."))
    print(play("It is \\boxed{4}."))

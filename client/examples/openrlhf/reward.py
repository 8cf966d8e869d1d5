"""Rewards for OpenRLHF: `--reward.remote_url client/examples/openrlhf/reward.py`; the server is REWARDLINE_URL."""

from rewardline.openrlhf import reward

reward_func = reward(verifier="math")

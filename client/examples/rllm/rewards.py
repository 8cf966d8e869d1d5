"""A reward function for rLLM's environments and workflows. The server is REWARDLINE_URL."""

from rewardline.rllm import reward

reward_fn = reward(verifier="math")

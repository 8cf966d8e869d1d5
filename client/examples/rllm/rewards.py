"""A reward function for rLLM's environments and workflows; the server is that of the variable REWARDLINE_URL."""

from rewardline.rllm import reward

reward_fn = reward(verifier="math")

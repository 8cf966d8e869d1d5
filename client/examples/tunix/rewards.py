"""Rewards for google-tunix: `GRPOLearner(rl_cluster=..., algo_config=..., reward_fns=reward_fns)`.

On tunix's command line, `reward_functions: ["rewards.py"]` finds `math` and `form`. The data set has the column `answer`. The
server is REWARDLINE_URL.
"""

from rewardline.tunix import reward

math = reward(name="math", verifier="math")
form = reward(name="form", verifier="think_format", reference=None, params={"preset": "deepseek"})

reward_fns = [math, form]

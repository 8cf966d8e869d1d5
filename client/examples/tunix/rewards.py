"""For google-tunix: `GRPOLearner(rl_cluster=..., algo_config=..., reward_fns=reward_fns)`.

The data set has the column `answer`; the server is that of the variable REWARDLINE_URL.
"""

from rewardline.tunix import reward

reward_fns = [
    reward(name="math", verifier="math"),
    reward(name="form", verifier="think_format", reference=None, params={"preset": "deepseek"}),
]

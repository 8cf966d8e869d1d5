"""For google-tunix: `GRPOLearner(rl_cluster=..., algo_config=..., reward_fns=reward_fns)`, or, by its command line,
`reward_functions: ["rewards.py"]`, which finds `math` and `form`.

The data set has the column `answer`; the server is that of the variable REWARDLINE_URL.
"""

from rewardline.tunix import reward

math = reward(name="math", verifier="math")
form = reward(name="form", verifier="think_format", reference=None, params={"preset": "deepseek"})

reward_fns = [math, form]

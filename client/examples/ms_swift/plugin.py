"""A plugin for `swift rlhf --rlhf_type grpo --external_plugins plugin.py --reward_funcs rewardline`; see train.sh."""

from swift.rewards import orms

from rewardline.ms_swift import orm

orms["rewardline"] = orm(verifier="math")

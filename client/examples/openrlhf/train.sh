#!/bin/sh
# GRPO with OpenRLHF and rewards of Rewardline. Options that do not concern rewards are examples; use your own.
export REWARDLINE_URL="${REWARDLINE_URL:-http://verifier:8080}"

python3 -m openrlhf.cli.train_ppo_ray \
  --reward.remote_url client/examples/openrlhf/reward.py \
  --data.prompt_dataset zwhe99/DeepMath-103K \
  --data.input_key question \
  --data.label_key final_answer \
  "$@"

# By HTTP, without our package in the trainer's environment:
#   --reward.remote_url "$REWARDLINE_URL/compat/openrlhf/get_reward?verifier=math"

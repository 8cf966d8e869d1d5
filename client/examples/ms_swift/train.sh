#!/bin/sh
# ms-swift with rewards of Rewardline; what is not about rewards is an example of your own settings.
export REWARDLINE_URL="${REWARDLINE_URL:-http://verifier:8080}"

swift rlhf --rlhf_type grpo \
  --model Qwen/Qwen2.5-7B-Instruct \
  --dataset /data/math.jsonl \
  --external_plugins client/examples/ms_swift/plugin.py \
  --reward_funcs rewardline \
  "$@"

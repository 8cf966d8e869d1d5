#!/bin/sh
# ms-swift with rewards of Rewardline. Options that do not concern rewards are examples; use your own.
export REWARDLINE_URL="${REWARDLINE_URL:-http://verifier:8080}"

swift rlhf --rlhf_type grpo \
  --model Qwen/Qwen2.5-7B-Instruct \
  --dataset /data/math.jsonl \
  --external_plugins client/examples/ms_swift/plugin.py \
  --reward_funcs rewardline \
  "$@"

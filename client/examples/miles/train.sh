#!/bin/sh
# miles with rewards of Rewardline. Options that do not concern rewards are examples; use your own.
# miles refuses --group-rm together with evaluation. Without it, samples still share requests.
export REWARDLINE_URL="${REWARDLINE_URL:-http://verifier:8080}"

python3 train.py \
  --prompt-data /data/dapo-math-17k.jsonl --input-key prompt --label-key label --metadata-key metadata \
  --custom-rm-path rewardline.miles.custom_rm \
  --custom-reward-post-process-path rewardline.miles.post_process_rewards \
  --custom-config-path client/examples/miles/rewardline.yaml \
  --eval-interval 20 --eval-prompt-data aime /data/aime-2024.jsonl \
  --advantage-estimator grpo \
  "$@"

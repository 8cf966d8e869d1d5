#!/bin/sh
# GRPO on GSM8K with rewards from a Rewardline server, verl 0.9. Further arguments go to verl, and come last.
#
#   REWARDLINE_URL=http://verifier:8080 sh train.sh trainer.n_gpus_per_node=8
#
# `pip install rewardline` on every node: verl then finds the manager `rewardline` by itself. The server routes each row by its
# data_source; with +reward.reward_kwargs.verifier=math, or .recipe=think_math, it judges all rows alike.
set -eu

exec python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_files="${DATA:-$HOME/data/gsm8k}/train.parquet" \
    data.val_files="${DATA:-$HOME/data/gsm8k}/test.parquet" \
    data.train_batch_size=512 \
    data.max_prompt_length=512 \
    data.max_response_length=1024 \
    actor_rollout_ref.model.path="${MODEL:-Qwen/Qwen2.5-0.5B-Instruct}" \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=8 \
    actor_rollout_ref.actor.ppo_mini_batch_size=128 \
    reward.reward_manager.name=rewardline \
    +reward.reward_kwargs.url="${REWARDLINE_URL:-http://127.0.0.1:8080}" \
    +reward.reward_kwargs.deadline_s=120 \
    "$@"

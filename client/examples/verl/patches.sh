#!/bin/sh
# GRPO on tasks in repositories, whose own tests are the reward, verl 0.9. Further arguments go to verl, and come last.
#
#   DATA=$HOME/data/tasks REWARDLINE_URL=http://verifier:8080 sh patches.sh trainer.n_gpus_per_node=8
#
# A row of the data set has the task as `reward_model.ground_truth`: JSON text of the reference of docs/repository-tasks.md, or of
# a row of SWE-bench. With reward.reward_kwargs.verifier=harbor it is a task of Harbor. Where a sample could not be judged, the
# step raises; with +reward.reward_kwargs.on_failed=NUMBER it gets that number, and is marked.
set -eu

exec sh "$(dirname "$0")/train.sh" \
    data.max_prompt_length=16384 \
    data.max_response_length=4096 \
    +reward.reward_kwargs.verifier=repository \
    reward.reward_kwargs.deadline_s=3600 \
    "$@"

"""The verifier of a benchmark of rLLM, its tests/evaluate.py. The server is REWARDLINE_URL.

For rLLM's trainer: `AgentTrainer(agent_flow=..., evaluator=evaluate, ...)`.
"""

from rewardline.rllm_evaluator import evaluator

SYSTEM_PROMPT = "Give the final answer in \\boxed{}."
"""rLLM's harnesses append this to their own system prompt."""

evaluate = evaluator(verifier="math")

"""The verifier of a benchmark of rLLM, its tests/evaluate.py; the server is that of the variable REWARDLINE_URL.

For its trainer: `AgentTrainer(agent_flow=..., evaluator=evaluate, ...)`.
"""

from rewardline.rllm_evaluator import evaluator

SYSTEM_PROMPT = "Give the final answer in \\boxed{}."
"""What rLLM's harnesses add to their own."""

evaluate = evaluator(verifier="math")

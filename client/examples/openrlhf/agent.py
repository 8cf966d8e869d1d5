"""Several turns for OpenRLHF: `--train.agent_func_path client/examples/openrlhf/agent.py`; the server is REWARDLINE_URL."""

from rewardline.openrlhf_agent import agent_executor

AgentExecutor = agent_executor(verifier="math", max_turns=3)

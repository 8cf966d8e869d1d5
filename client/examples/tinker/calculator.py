"""An agent with a tool for tinker-cookbook. The Rewardline server of REWARDLINE_URL judges its conversations."""

from typing import Annotated, Any

from tinker_cookbook.tool_use import ToolResult, build_agent_tool_env, simple_tool_result, tool

from rewardline.hook import Hook
from rewardline.tinker import conversation_reward


@tool
async def add(a: Annotated[int, "One number"], b: Annotated[int, "Another"]) -> ToolResult:
    """Add two numbers."""
    return simple_tool_result(str(a + b))


def environment(renderer: Any, first: int, second: int) -> Any:
    """One sum, which the agent must compute with the tool."""
    messages = renderer.create_conversation_prefix_with_tools([add.to_spec()])
    messages.append({"role": "user", "content": f"{first}+{second}="})
    expected_calls = [{"name": "add", "arguments": {"a": first, "b": second}}]
    reward = conversation_reward(hook=Hook(verifier="tool_call"), reference=expected_calls, prompt=messages)
    return build_agent_tool_env(renderer, [add], messages, reward, max_turns=3)

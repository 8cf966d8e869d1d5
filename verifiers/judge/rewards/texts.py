"""The input that a server is sent about one response. Texts of others are neutralised, so that none forges a turn or a step."""

from collections.abc import Sequence
from dataclasses import dataclass

from verifiers.judge.endpoints.reward_servers import Input
from verifiers.judge.rendering.clipping import clipped
from verifiers.judge.rewards.profiles import RewardModel, Template


@dataclass(frozen=True, slots=True)
class Sent:
    """An input, and whether something was left out of the response."""

    input: Input
    is_cut: bool


def input_of(
    model: RewardModel,
    question: str,
    response: str,
    steps: Sequence[str],
    *,
    max_chars: int,
    control_tokens: Sequence[str],
) -> Sent:
    """The input for a response, or for its steps if the model scores steps."""
    tokens = [*control_tokens, *([model.steps.separator] if model.steps else [])]
    question_text, _ = clipped(question, max_chars, tokens, keeps_breaks=True)
    if model.steps is None:
        response_text, is_cut = clipped(response, max_chars, tokens, keeps_breaks=True)
    else:
        step_texts = [clipped(step, max(max_chars // len(steps), 1), tokens, keeps_breaks=True) for step in steps]
        response_text = model.steps.between.join(step_text + model.steps.separator for step_text, _ in step_texts)
        is_cut = any(cut for _, cut in step_texts)
    if model.input == "pair":
        return Sent((question_text, response_text), is_cut)
    messages = [{"role": "user", "content": question_text}, {"role": "assistant", "content": response_text}]
    if model.system is not None:
        messages.insert(0, {"role": "system", "content": model.system})
    return Sent(messages if model.template is None else _text(model.template, messages), is_cut)


def _text(template: Template, messages: Sequence[dict[str, str]]) -> str:
    head, ending = template.turn.split("{content}")
    lead, has_role, tail = head.partition("{role}")
    pieces = [template.begin]
    for message in messages:
        role = template.roles.get(message["role"], message["role"])
        pieces += [lead, role if has_role else "", tail, message["content"], ending]
    return "".join((*pieces, template.end))

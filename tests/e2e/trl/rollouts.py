"""Real steps of TRL's GRPOTrainer. Its model submits answers to our environment. It prints one line of JSON in the end.

rollouts.py URL right      there are rollouts that answer right at once, after a mistake, never, and not at all
rollouts.py URL nobody     the environment's server is not there
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

from datasets import Dataset
from rewardline.trl import environment, reward_func
from trl import GRPOTrainer
from trl.chat_template_utils import qwen3_template

from tests.e2e.trl.tiny import completions, config, learn_by_heart, make_model, make_tokenizer

NOWHERE = "http://127.0.0.1:1"
TEMPLATE = """
{%- if tools %}<|im_start|>system
{%- for tool in tools %}
{{ tool.function.name }}({{ tool.function.parameters.properties | join(', ') }})
{%- endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}
{%- for each in message.tool_calls or [] %}<tool_call>
{{ each.function | tojson }}
</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""A template with calls as Qwen3 writes them, and few words about tools: with a token per byte the model's own
template is slow."""
QUESTION = [{"role": "user", "content": "2+2?"}]
TURNS = {"max_turns": 2, "feedback": {"correct": "Yes.", "incorrect": "No.", "exhausted": "Over."}}


def call(answer: str) -> dict[str, Any]:
    function = {"name": "submit_answer", "arguments": {"answer": answer}}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}


def tool_result(content: str) -> dict[str, str]:
    return {"role": "tool", "name": "submit_answer", "content": content}


def said(content: str) -> dict[str, str]:
    return {"role": "assistant", "content": content}


ROLLOUTS = {
    "right": [
        [call("4"), tool_result("Yes."), said("Done.")],
        [call("5"), tool_result("No."), call("4"), tool_result("Yes."), said("Done.")],
        [call("5"), tool_result("No."), call("6"), tool_result("Over."), said("Done.")],
        [said("It is 4.")],
    ],
    "nobody": [[call("4")], [said("It is 4.")]],
}


WANTED = json.dumps([call("4")["tool_calls"][0]["function"]])


def texts(tokenizer: Any, rollouts: list[list[dict[str, Any]]], tools: list[Any]) -> list[tuple[str, str]]:
    """The input of the model and its answer, for each of its messages."""
    pairs = []
    for rollout in rollouts:
        for place, message in enumerate(rollout):
            if message["role"] == "assistant":
                before = [*QUESTION, *rollout[:place]]
                given = tokenizer.apply_chat_template(before, tools=tools, tokenize=False, add_generation_prompt=True)
                whole = tokenizer.apply_chat_template([*before, message], tools=tools, tokenize=False)
                pairs.append((given, whole[len(given) :].removesuffix("\n").removesuffix(tokenizer.eos_token)))
    return pairs


def main() -> None:
    url, mode = sys.argv[1:]
    tokenizer = make_tokenizer(TEMPLATE)
    tokenizer.response_template = qwen3_template
    model = make_model(tokenizer)
    server = {"url": url} if mode == "right" else {"url": NOWHERE, "deadline_s": 0.2}
    factory = environment("math", interaction=TURNS, unanswered=-1.0, **server)
    learn_by_heart(model, tokenizer, texts(tokenizer, ROLLOUTS[mode], [factory().submit_answer]), 300)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model,
            reward_funcs=[
                reward_func(
                    "length",
                    url=url,
                    reference=None,
                    params={"mode": "band", "minimum": 1, "maximum": 5, "unit": "characters"},
                ),
                reward_func("tool_call", url=url, reference="wanted"),
            ],
            args=config(folder, max_steps=2, max_completion_length=600, temperature=0.7, reward_weights=[0.5, 1.0]),
            train_dataset=Dataset.from_list([{"prompt": QUESTION, "solution": "4", "wanted": WANTED}] * 8),
            processing_class=tokenizer,
            environment_factory=factory,
        )
        trainer.train()
        steps = [entry for entry in trainer.state.log_history if "reward" in entry]
        print(json.dumps({"step": trainer.state.global_step, "logged": steps, "completions": completions(folder)}))


if __name__ == "__main__":
    main()

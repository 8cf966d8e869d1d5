"""One item for every recipe that ships, with two responses: one that earns the whole reward, and one that is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Example:
    """An item with two responses."""

    right: str
    wrong: str
    reference: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    prompt: str | None = None

    def item(self, recipe: str, response: str) -> dict[str, Any]:
        reference = {} if self.reference is None else {"reference": self.reference}
        return {"recipe": recipe, "response": response, "params": self.params, "prompt": self.prompt, **reference}


_MATH = Example("<think>\n2 + 3\n</think>\nAnswer: $\\boxed{5}$", "<think>\n2 + 3\n</think>\nAnswer: $\\boxed{6}$", "5")
_BOXED = replace(_MATH, right=r"<think>2 + 3</think>\boxed{5}", wrong=r"<think>2 + 3</think>\boxed{6}")
_LAST_NUMBER = Example("So it is 5.", "So it is 6.", "5")
_TAGGED = Example("<think>2 + 3</think><answer>5</answer>", "<think>2 + 3</think><answer>6</answer>", "5")
_LINES = "<think>\n2 + 3\n</think>\n<answer>\n\\boxed{5}\n</answer>"
_TOKENS = {"completion_tokens": 10}
_IDS = {"completion_ids": list(range(20))}
_STEPS = {"final_answer": "40", "steps": ["5*8=40"]}

_OPTION = Example(r"<think>a</think>The answer is \boxed{C}.", r"<think>a</think>The answer is \boxed{B}.", "C")
_CITY = Example("<think>a</think><answer>Paris</answer>", "<think>a</think><answer>London</answer>", "Paris")
_TEXT = Example("The answer is: Paris", "The answer is: London", "Paris")
_BOXED_TEXT = replace(_TEXT, right=r"\boxed{Paris}", wrong=r"\boxed{London}")
_CITIES = replace(_CITY, reference={"target": ["Paris"]})
_RED_FOX = Example(
    "<think>a</think><answer>the red fox</answer>", "<think>a</think><answer>no idea</answer>", "the red fox"
)
_NUMBER = Example("<think>a</think><answer>90</answer>", "<think>a</think><answer>-90</answer>", "90")

_FORM = Example("<think>a</think> <answer>b</answer>", "b")
_PLAIN = Example("The cat sat on the mat.", "no " * 50)
_SHORT = replace(_PLAIN, params=_TOKENS)

_CASES = [{"input": "1 2\n", "output": "3\n"}, {"input": "2 2\n", "output": "4\n"}]
_SUMS = {"language": "python", "test_cases": _CASES}
_ADD = "```python\ndef add(a, b):\n    return a + b\n```"
_PROGRAM = Example("```python\nprint(sum(map(int, input().split())))\n```", "```python\nprint(0)\n```", _SUMS)
_FORMED_PROGRAM = replace(_PROGRAM, right=f"<think>\na\n</think>\n<answer>\n{_PROGRAM.right}\n</answer>")
_CODE_FORM = Example(_FORMED_PROGRAM.right, _PROGRAM.right)

_INSTRUCTIONS = {"instruction_id_list": ["keywords:existence"], "kwargs": [{"keywords": ["boat"]}]}
_INSTRUCTED = Example("A boat sails.", "A ship sails.", _INSTRUCTIONS)
_BY_FUNCTION = replace(_INSTRUCTED, reference={"func_name": "verify_keywords", "keyword_list": ["boat"]})

_DOG = '[{"bbox_2d": [0, 0, 10, 10], "label": "dog"}]'
_CAT = _DOG.replace("dog", "cat")
_BOXES = Example(f"a\n<answer>\n{_DOG}\n</answer>", f"a\n<answer>\n{_CAT}\n</answer>", f"<answer>\n{_DOG}\n</answer>")

_CALL = '<tool_call>\n{"name": "look", "parameters": {"city": "Paris"}}\n</tool_call>'
_CALLED = Example(
    f"<think>a</think>\n{_CALL}",
    f"<think>a</think>\n{_CALL.replace('look', 'go')}",
    [{"name": "look", "arguments": {"city": "Paris"}}],
)
_SAID = "\n<response>It rains.</response>"

OURS: Mapping[str, Example] = {
    "think_math": _MATH,
    "phybench": Example(r"So \boxed{2mg+4kx}", "So it is 5.", "2mg+4kx"),
    "math_steps": Example(r"5 * 8 = 40, so \boxed{40}", r"5 + 8 = 13, so \boxed{13}", _STEPS),
    "code_multi": _PROGRAM,
    "math_then_judge": _MATH,
}

_JUDGED = Example("Judgement: Yes", "Judgement: No", {"expected_judgement": "Judgement: Yes"})
_ROOM = "Sokoban board:\n####\n#_O#\n#_X#\n#_P#\n####"
RLLM: Mapping[str, Example] = {"rllm.code": _PROGRAM}
NEMO_SKILLS: Mapping[str, Example] = {"nemo_skills.math": _BOXED}
NEMO_GYM: Mapping[str, Example] = {
    **dict.fromkeys(
        ("nemo_gym.blackjack", "nemo_gym.components", "nemo_gym.newton_bench"),
        replace(_JUDGED, params={"server": "math_proof_judgement"}),
    ),
    "nemo_gym.episode": Example(
        "<action>Up</action>", "<action>Down</action>", {}, {"server": "grl_sokoban"}, prompt=_ROOM
    ),
}

TRL: Mapping[str, Example] = {
    "trl.accuracy": _MATH,
    "trl.math_verify": _MATH,
    "trl.reasoning_accuracy": _MATH,
    "trl.think_format": _FORM,
    "trl.soft_overlong": _SHORT,
    "trl.cosine": replace(_MATH, params={"completion_tokens": 0}),
    "trl.repetition": replace(_PLAIN, params=_IDS),
    "trl.accuracy_and_format": _MATH,
}

OPEN_R1: Mapping[str, Example] = {
    "open_r1.accuracy": _MATH,
    "open_r1.math_verify": replace(_MATH, reference="$5$"),
    "open_r1.format": Example(_LINES, "b"),
    "open_r1.tag_count": Example(_LINES, "b"),
    "open_r1.reasoning_steps": Example("1. Add.\n2. Halve.\n3. Look.", "It is 5."),
    "open_r1.length": Example(r"\boxed{5}", r"\boxed{6}" + "x" * 999, "5", {"group_lengths": [0, 9999]}),
    "open_r1.cosine": Example(r"\boxed{5}", r"\boxed{6}" + "x" * 991, "5"),
    "open_r1.repetition_penalty": _PLAIN,
    "open_r1.soft_overlong_punishment": _SHORT,
    "open_r1.code": _PROGRAM,
    "open_r1.binary_code": _PROGRAM,
    "open_r1.code_format": _CODE_FORM,
    "open_r1.cf_code": _PROGRAM,
    "open_r1.default": Example(_LINES, "It is 6.", "5"),
    "open_r1.demo_code": _FORMED_PROGRAM,
    "open_r1.codeforces": replace(_FORMED_PROGRAM, params={"language": "python"}),
}

SLIME: Mapping[str, Example] = {
    "slime.math": _BOXED,
    "slime.math_verify": _BOXED,
    "slime.deepscaler": _BOXED,
    "slime.dapo": _MATH,
    "slime.f1": replace(_TEXT, right="Paris", wrong="London"),
    "slime.gpqa": _OPTION,
    "slime.ifbench": _INSTRUCTED,
    "slime.boxed_math": _BOXED,
    "slime.boxed_deepscaler": _BOXED,
    "slime.boxed_dapo": _BOXED,
    "slime.boxed_f1": _BOXED_TEXT,
    "slime.boxed_gpqa": _OPTION,
}

OPEN_INSTRUCT: Mapping[str, Example] = {
    "open_instruct.gsm8k": _LAST_NUMBER,
    "open_instruct.math": _MATH,
    "open_instruct.strict_math": _MATH,
    "open_instruct.ifeval": _INSTRUCTED,
    "open_instruct.ifeval_old": _BY_FUNCTION,
    "open_instruct.flan": _TEXT,
    "open_instruct.string_matcher": _CITY,
    "open_instruct.string_f1": _CITY,
    "open_instruct.puzzle": _CITY,
    "open_instruct.max_length": replace(_PLAIN, params={**_TOKENS, "target": 10}),
    "open_instruct.up_to_max_length": replace(_PLAIN, params={**_TOKENS, "target": 10}),
    "open_instruct.code": Example(_ADD, "```python\nadd = 3\n```", ["assert add(1, 2) == 3", "assert add(1, 1) == 2"]),
    "open_instruct.code_stdio": replace(_PROGRAM, reference=_CASES),
    "open_instruct.rubric": Example(
        "It is Paris", "It is London", {"query": "Where?", "rubrics": [{"description": "names Paris", "weight": 1.0}]}
    ),
    "open_instruct.soft_format": _FORM,
    "open_instruct.r1_style_math": _TAGGED,
}

ROLL: Mapping[str, Example] = {
    "roll.math_rule": _MATH,
    "roll.format": _FORM,
    "roll.repetition": _PLAIN,
    "roll.custom_reward": _TAGGED,
    "roll.code_sandbox": _PROGRAM,
    "roll.code_sandbox_http": _PROGRAM,
    "roll.llm_judge": Example("<think>a</think>It is Paris", "<think>a</think>It is London", "Paris"),
    "roll.model_eval": Example("It is Paris", "It is London", params={"criteria": ["names Paris"]}),
    "roll.general_val": _OPTION,
    "roll.crossthink_qa": _OPTION,
    "roll.crossthink_qa.length": replace(_OPTION, params={"completion_tokens": 400}),
    "roll.crossthink_qa.loose": _OPTION,
    "roll.crossthink_qa.strict": _OPTION,
    "roll.multiple_choice_boxed": _OPTION,
    "roll.general_rule": _BY_FUNCTION,
    "roll.detection": _BOXES,
    "roll.video_r1": Example(_FORM.right.replace("b", "C"), "B", "C"),
    "roll.video_r1.free_form": _RED_FOX,
    "roll.video_r1.numerical": _NUMBER,
    "roll.video_r1.ocr": _RED_FOX,
    "roll.video_r1.regression": _NUMBER,
}

VERL: Mapping[str, Example] = {
    "verl.gsm8k": Example("2 + 3 = 5\n#### 5", "2 + 3 = 6\n#### 6", "5"),
    "verl.gsm8k.flexible": _LAST_NUMBER,
    "verl.math_reward": _BOXED,
    "verl.math_dapo": _MATH,
    "verl.math_dapo.strict_box": _BOXED,
    "verl.math_dapo.overlong": replace(_MATH, params=_TOKENS),
    "verl.math_verify": _MATH,
    "verl.prime_math": _MATH,
    "verl.prime_code": _PROGRAM,
    "verl.sandbox_fusion": _PROGRAM,
    "verl.geo3k": _BOXED,
    "verl.search_r1": _CITIES,
    "verl.search_r1.subem": _CITIES,
    "verl.rlla": _CALLED,
    "verl.rlla.call_and_response": replace(_CALLED, right=_CALLED.right + _SAID, wrong=_CALLED.wrong),
    "verl.rlla.response": Example(f"<think>a</think>{_SAID}", "It rains."),
}

DATA_SETS: Mapping[str, Example] = {
    "theorem_qa.exact": _LAST_NUMBER,
    "theorem_qa.near": Example("So it is 5.1.", "So it is 5.3.", "5.0"),
    "theorem_qa.option": _OPTION,
    "scibench.answer": Example("So it is 5.2.", "So it is 5.3.", "5.0"),
    "chartqa.relaxed": Example("So it is 5.2.", "So it is 5.3.", "5.0"),
    "chartqa.words": Example("The answer is Solomon Islands.", "The answer is Jamaica.", "Solomon Islands"),
    "chemiq.molecule": Example("c1cc(ccc1N=O)Br", "c1cc(ccc1N=O)Cl", "O=Nc1ccc(Br)cc1"),
    "chemiq.exact": _LAST_NUMBER,
}
"""Of data sets, by the checks of their repositories."""

EXAMPLES: Mapping[str, Example] = {
    **OURS,
    **DATA_SETS,
    **NEMO_GYM,
    **RLLM,
    **NEMO_SKILLS,
    **TRL,
    **OPEN_R1,
    **SLIME,
    **OPEN_INSTRUCT,
    **ROLL,
    **VERL,
}

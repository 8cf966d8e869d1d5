"""Writes a reference as a response: in the channel that the parameters read, behind thinking if they require it."""

from typing import Final

from verifiers.commitment import Channel, ExtractionParams

STAND_IN: Final = "\ue000stand-in\ue000"
"""A reference that is there only so that the answers of responses are found: it is compared with none of them."""

_WRITTEN = {
    Channel.BOXED: "\\boxed{{{}}}",
    Channel.ANSWER_TAG: "<answer>{}</answer>",
    Channel.HASH4: "#### {}",
    Channel.ANSWER_LINE: "Answer: {}",
}
_MARKS = ("\\boxed", "<answer>", "#### ")


def written(answer: str, params: ExtractionParams, usual: Channel = Channel.BOXED) -> str:
    """The answer, written in the first channel that the parameters name; in `usual` if they name none.

    A reference that is already written as a response stays as it is.
    """
    if params.extract == "auto":
        channel = usual
    else:
        channel = params.extract[0] if isinstance(params.extract, tuple) else params.extract
    is_response = any(mark in answer for mark in _MARKS)
    response = answer if is_response else _WRITTEN.get(channel, "{}").format(answer)
    return f"<think>\n</think>\n{response}" if params.think == "required" else response

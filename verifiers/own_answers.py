"""A reference written as a response: where these parameters look for an answer, and behind thinking if they want any."""

from verifiers.commitment import Channel, ExtractionParams

_WRITTEN = {
    Channel.BOXED: "\\boxed{{{}}}",
    Channel.ANSWER_TAG: "<answer>{}</answer>",
    Channel.HASH4: "#### {}",
    Channel.ANSWER_LINE: "Answer: {}",
}
_MARKS = ("\\boxed", "<answer>", "#### ")


def written(answer: str, params: ExtractionParams, usual: Channel = Channel.BOXED) -> str:
    """The answer in the first channel the parameters name; `usual` is for those that name none.

    A reference that is written as a response already stays as it is.
    """
    if params.extract == "auto":
        channel = usual
    else:
        channel = params.extract[0] if isinstance(params.extract, tuple) else params.extract
    is_response = any(mark in answer for mark in _MARKS)
    response = answer if is_response else _WRITTEN.get(channel, "{}").format(answer)
    return f"<think>\n</think>\n{response}" if params.think == "required" else response

"""Maps HTTP statuses to faults, together with the server's words if servers disagree about a status."""

from collections.abc import Mapping, Sequence

from verifiers.judge.endpoints.faults import ErrorBody, Fault, Filtered, Retry, quoted, read_error, retry_after

SERVER_TROUBLE = frozenset({500, 502, 503, 504, *range(520, 530)})
PASSING_TROUBLE = frozenset({409, 425})
"""The status means a conflict with another request, or that the request came too early."""

DROPPABLE = (
    "response_format", "structured_outputs", "top_logprobs", "logprobs", "max_completion_tokens", "max_tokens",
    "temperature", "top_p", "seed", "n",
)  # fmt: skip
"""Parameters of ours that a server may not know. A longer name comes before a name that it contains."""

_UNSUPPORTED_WORDS = (
    "unsupported",
    "not supported",
    "does not support",
    "doesn't support",
    "unrecognized",
    "unknown",
    "unexpected",
    "not permitted",
    "not allowed",
    "extra_forbidden",
    "input should be",
    "validation error",
    "is not available",
    "cannot be set",
)
_ABOUT_THE_PROMPT = frozenset({400, 413, 422, 500})
"""The statuses for a prompt that is too long. llama.cpp answers 500 where a prompt does not fit its batch."""
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_CONTEXT_WORDS = (
    "maximum context length",
    "model's context length",
    "context length exceeded",
    "context size",
    "context window",
    "prompt is too long",
    "maximum input length",
    "max_new_tokens` must be",
    "`inputs` must have less than",
    "is too large to process",
)
_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "moderation", "flagged"}
)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"})
_MODEL_CODES = frozenset({"model_not_found", "deploymentnotfound", "notfounderror"})


def fault_of(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    names: Sequence[str],
    retry_404: bool,
    wall: float,
    secrets: Sequence[str],
) -> Fault:
    """The fault for a status other than 200.

    `names`: the parameters of the request; `wall`: the time, for headers with dates.

    Raises:
        Filtered: the endpoint's filter refused the prompt.
    """
    error = read_error(body)
    fault = _classify(status, error, names, retry_404, secrets)
    fault.status = status
    fault.retry_after_s = retry_after(headers, wall)
    wish = headers.get("x-should-retry")
    if wish == "false":
        fault.retry = Retry.NEVER
    elif wish == "true" and fault.retry is Retry.NEVER:
        fault.retry = Retry.ANYWHERE
    return fault


def _classify(status: int, error: ErrorBody, names: Sequence[str], retry_404: bool, secrets: Sequence[str]) -> Fault:
    text = f"HTTP {status}: {quoted(error.message, secrets)}" if error.message else f"HTTP {status}"
    if status < 300:
        return Fault("bad_upstream_body", f"{text} where 200 was expected", ill=True)
    if status < 400:
        return Fault("bad_upstream_body", f"HTTP {status}: redirects are not followed", Retry.ELSEWHERE, ill=True)
    if status in (400, 403, 422) and _is_filtered(error):
        raise Filtered(text)
    if status in _ABOUT_THE_PROMPT and (fault := _about_the_prompt(status, error, names, text)) is not None:
        return fault
    if status in SERVER_TROUBLE:
        return Fault("upstream_5xx", text, refused=status == 503, ill=True)
    if status == 429:
        if _QUOTA_CODES & error.words:
            return Fault("quota", text, Retry.ELSEWHERE, ill=True)
        return Fault("rate_limited", text, refused=True)
    if status in (400, 413, 422):
        return _about_the_request(status, error, text)
    if status == 404 and retry_404:
        return Fault("upstream_5xx", text, ill=True)
    if status in (401, 403, 404):
        # The server's own words are not used, because they may hold a part of the key.
        kind = "model_not_found" if status == 404 else "auth"
        return Fault(kind, text if status == 404 else f"HTTP {status}", Retry.ELSEWHERE, suspect=True)
    if status == 402:
        return Fault("quota", text, Retry.ELSEWHERE, ill=True)
    if status == 408:
        return Fault("timeout", text, refused=True, ill=True)
    if status in PASSING_TROUBLE:
        return Fault("upstream_5xx", text)
    if status >= 500:
        return Fault("upstream_5xx", text, Retry.ELSEWHERE, ill=True)
    return Fault("bad_upstream_request", text, Retry.NEVER)


def _about_the_prompt(status: int, error: ErrorBody, names: Sequence[str], text: str) -> Fault | None:
    """The fault of a parameter or of the length of the prompt; None if the error means something else."""
    parameter = _unsupported(error, names) if status != 413 else None
    if parameter is not None:
        return Fault("bad_upstream_request", text, Retry.ELSEWHERE, parameter=parameter)
    return Fault("context_overflow", text, Retry.NEVER) if _is_too_long(error) else None


def _about_the_request(status: int, error: ErrorBody, text: str) -> Fault:
    if status == 413:
        return Fault("bad_upstream_request", text, Retry.NEVER)
    if _MODEL_CODES & error.words:
        return Fault("model_not_found", text, Retry.ELSEWHERE, suspect=True)
    return Fault("bad_upstream_request", text, Retry.NEVER)


def _is_too_long(error: ErrorBody) -> bool:
    text = error.message.casefold()
    if _CONTEXT_CODES & error.words or error.param == "input_tokens":
        return True
    return any(word in text for word in _CONTEXT_WORDS)


def _is_filtered(error: ErrorBody) -> bool:
    return bool(_FILTER_CODES & error.words)


def _unsupported(error: ErrorBody, names: Sequence[str]) -> str | None:
    """The parameter of ours that the server refuses; None if the error means something else.

    A message about context lengths may name `max_tokens`, too, but has none of the words for an unknown parameter.
    """
    text = error.message.casefold()
    candidates = [name for name in DROPPABLE if name in names]
    if _CONTEXT_CODES & error.words or any(word in text for word in _CONTEXT_WORDS):
        return None
    if error.code.casefold() in ("unsupported_parameter", "unsupported_value", "unknown_parameter") or any(
        word in f"{text} {error.type.casefold()}" for word in _UNSUPPORTED_WORDS
    ):
        param = error.param.split(".")[0].split("[")[0]
        if param:
            return param if param in candidates else None
        mentioned = _words(text)
        return next((name for name in candidates if name in mentioned), None)
    return None


def _words(text: str) -> frozenset[str]:
    return frozenset("".join(char if char.isalnum() or char == "_" else " " for char in text).split())

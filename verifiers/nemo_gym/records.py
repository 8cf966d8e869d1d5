"""Servers whose rollouts hold the result of what was run, and not what it was run against.

NeMo-Gym leaves tests, data bases and hidden references out of the rollouts that it collects. It writes down what it took
from the response, and the result of that. The result counts if this response gives the very same; otherwise the row is
refused. A row that has what its server judges by is judged by that, where the door's table says how.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from verifiers.base import InvalidItem
from verifiers.commitment import Channel
from verifiers.nemo_gym.rollouts import FENCE, Judgement, Rollout, Servers, between, clicked, parsed, stands_by

_SYMBOLIC_SHARE, _ERROR_SHARE = 0.3, 0.7

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """What a server writes down of a response and its result."""

    names: str | tuple[str, ...]
    """The fields with what it took from the response."""
    taken: Callable[[Rollout], Any] | None
    """What this response gives; all of it with or without the thoughts, which some servers do not know. None: nothing that
    was recorded shows which response it is about."""
    score: Callable[[Row], float | bool | None]
    """The score by the other recorded fields. None: there is none."""
    needs: str
    """What the server judges by."""


def _judge(record: Record) -> Callable[[Rollout], Judgement]:
    def judge(rollout: Rollout) -> Judgement:
        row = rollout.row
        names = (record.names,) if isinstance(record.names, str) else record.names
        score = record.score(row) if all(name in row for name in names) else None
        if not isinstance(score, int | float) or not -1 <= score <= 1:
            message = (
                f"the row needs {record.needs}; NeMo-Gym leaves it out of its rollouts, and this has no result either"
            )
            raise InvalidItem("bad_row", message)
        if row.get("replay"):
            return Judgement(float(score), None, detail={"replayed": True})
        if record.taken is None:
            message = "nothing shows that the recorded result is about this response; set ?replay=true if it is"
            raise InvalidItem("stale_judgement", message)
        recorded = [row.get(name) for name in names]
        expected = _plain(recorded[0] if isinstance(record.names, str) else recorded)
        views = [rollout, replace(rollout, text=rollout.written)] if record.taken is _whole else [rollout]
        if expected not in [_plain(record.taken(view)) for view in views]:
            message = f"the recorded result is about another response: this one does not give the row's {names[0]!r}"
            raise InvalidItem("stale_judgement", message)
        return Judgement(float(score), None, detail={"replayed": True})

    return judge


def _plain(value: Any) -> Any:
    """A value without white space around it. An empty text is none, and so is what is nested too deep."""
    return value.strip() or None if isinstance(value, str) else parsed(value)


def _whole(rollout: Rollout) -> str:
    return rollout.text


def _boxed(rollout: Rollout) -> str | None:
    return stands_by(rollout.text, Channel.BOXED)


def _answer(rollout: Rollout) -> str:
    """What the last answer tag holds, else the first box, else everything."""
    if tagged := list(between(rollout.text, "<answer>", "</answer>")):
        return tagged[-1]
    boxed = re.search(r"\\boxed\{([^}]{1,100000})\}", rollout.text)
    return boxed.group(1) if boxed else rollout.text


def _calls(rollout: Rollout) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": parsed(call.arguments)} for call in rollout.calls]


def _extracted(rollout: Rollout) -> Any:
    """The values of the last call that hands them in."""
    calls = [parsed(call.arguments) for call in rollout.calls if call.name == "extract_synonym_values"]
    return calls[-1].get("synonym_values") if calls and isinstance(calls[-1], dict) else []


def _first_call(rollout: Rollout) -> str:
    """The first call as `swe_pivot` writes it down; it cuts long arguments off, and such a record is of no call."""
    if not rollout.calls:
        return "(no function_call in response)"
    return f"{rollout.calls[0].name}({json.dumps(parsed(rollout.calls[0].arguments))})"


def _proof(rollout: Rollout) -> str | None:
    """The proof that was recorded, if the last fence, or the text where there is none, ends with its steps."""
    recorded = rollout.row.get("predicted_proof")
    _, mark, steps = recorded.rpartition(":= by") if isinstance(recorded, str) else ("", "", "")
    proof = (FENCE.findall(rollout.text) or [rollout.text])[-1]
    return recorded if mark and steps.strip() and "".join(proof.split()).endswith("".join(steps.split())) else None


def _patch(rollout: Rollout) -> str | None:
    """The recorded change, if the response holds it; else all that it wrote. An empty one does not show a change."""
    patch = rollout.row.get("model_patch")
    is_given = isinstance(patch, str) and bool(patch.strip()) and patch.strip() in rollout.written
    return patch if is_given else rollout.written


def _no_turns(rollout: Rollout) -> int | None:
    """A response without a turn; what an agent did in others cannot be told."""
    return None if rollout.written or rollout.calls else 0


def _passed(row: Row) -> bool | None:
    """Whether all tests passed, if the patch could be applied."""
    shares = [row.get(name) for name in ("f2p", "p2p")]
    return shares == [1.0, 1.0] and row.get("apply_failed") is False if row.get("evaluation_completed") else None


def _law(rollout: Rollout) -> str | None:
    return stands_by(rollout.text, Channel.ANSWER_TAG, tag="final_law")


def _newton(row: Row) -> float | None:
    """0.3 for the symbolic form and 0.7 for a small error, less as much for a wrong form and a large error: from -1 to 1,
    as a score from 0 to 1.
    """
    error, is_same = row.get("rmsle"), row.get("symbolic_equivalent")
    if not isinstance(error, int | float) or error < 0:
        return 1.0 if is_same is True else None
    share = 1 - 2 * error / (error + 3)
    reward = (_SYMBOLIC_SHARE if is_same is True else -_SYMBOLIC_SHARE) + _ERROR_SHARE * share
    return (reward + 1) / 2


def _tests(row: Row) -> bool | None:
    results = row.get("result")
    return all(result is True for result in results) if isinstance(results, list) and results else None


def _reproduction(row: Row) -> bool | None:
    """The test fails before the patch and passes after it."""
    result = row.get("verification_result")
    if not isinstance(result, dict):
        return False if "verification_result" in row and row.get("model_patch") is None else None
    codes_before, codes_after = result.get("return_codes_before_patch"), result.get("return_codes_after_patch")
    if not _are_codes(codes_before) or not _are_codes(codes_after):
        return None
    return result.get("status") == "done" and any(codes_before) and not any(codes_after)


def _are_codes(values: Any) -> TypeGuard[list[int]]:
    return isinstance(values, list) and bool(values) and all(map(_is_code, values))


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _files(rollout: Rollout) -> Any:
    """The files that were recorded, if the response holds them."""
    recorded = rollout.row.get("extracted_rtl")
    files = list(recorded.values()) if isinstance(recorded, dict) else [None]
    texts = {part.strip() for part in (rollout.text, *FENCE.findall(rollout.text))}
    is_given = all(isinstance(text, str) and text.strip() in texts for text in files)
    return recorded if files and is_given else None


def _container(row: Row) -> bool | None:
    code = row.get("container_exit_code")
    return code == 0 if _is_code(code) else None


def _is_pivot(row: Row) -> bool | None:
    failure = row.get("failure_reason")
    return failure == "none" if isinstance(failure, str) else None


def _compiled(row: Row) -> bool | None:
    status = row.get("proof_status")
    return status == "completed" if isinstance(status, str) else None


def _matched(row: Row) -> bool | None:
    counts = [row.get(name) for name in ("num_correct", "num_expected", "num_predicted")]
    return len(set(counts)) == 1 if all(isinstance(count, int) for count in counts) else None


_STATUS: Final = {"pass": True, "fail": False, "timeout": False}
_PROGRAM: Final = "the tests of its task"
_RECORDS: Final[Mapping[str, Record]] = {
    "bigcodebench": Record(
        "extracted_model_output", _whole, lambda row: _STATUS.get(str(row.get("status"))), "'verifier_metadata.test'"
    ),
    "circle_click": Record(
        ("clicked_x", "clicked_y"),
        lambda rollout: list(clicked(rollout) or (None, None)),
        lambda row: row.get("hit"),
        "'circles'",
    ),
    "code_fim": Record("extracted_model_output", _whole, lambda row: row.get("passed"), _PROGRAM),
    "code_gen": Record("extracted_model_output", _whole, _tests, "'verifier_metadata.unit_tests'"),
    "cvdp": Record("extracted_rtl", _files, _container, "the container of its task"),
    "deepswe": Record("model_patch_sha256", None, _passed, "'instance_dict', a row for the verifier repository"),
    "evalplus": Record("extracted_model_output", _whole, lambda row: row.get("is_correct_plus"), _PROGRAM),
    "example_multi_step": Record(
        "parsed_synonym_values", _extracted, lambda row: row.get("accuracy"), "'expected_synonym_values'"
    ),
    "longmt_eval": Record("generation", _whole, lambda row: row.get("comet_qe"), "the model COMET"),
    "math_formal_lean": Record("predicted_proof", _proof, _compiled, "'formal_statement'"),
    "math_with_code": Record("extracted_answer", _boxed, lambda row: row.get("accuracy"), "'expected_result'"),
    "newton_bench": Record("extracted_law", _law, _newton, "the law of its universe"),
    "reasoning_gym": Record("extracted_answer", _answer, lambda row: row.get("score"), "'answer' and 'metadata'"),
    "scicode": Record("step_results", None, lambda row: row.get("problem_accuracy"), "the server's own tests"),
    "spider2_lite": Record("model_output", _whole, lambda row: row.get("execution_match"), "the data base"),
    "swe_pivot": Record(
        "model_output", _first_call, _is_pivot, "'expected_action', a call with a name and an object of arguments"
    ),
    "swebench": Record("model_patch", _patch, lambda row: row.get("resolved"), "'FAIL_TO_PASS'"),
    "swerl_gen": Record("model_output", _whole, _reproduction, "the container of its task"),
    "toolsandbox": Record("turn_count", _no_turns, lambda row: row.get("similarity"), "the state of its world"),
    "verifif": Record("validation_results", None, lambda row: row.get("follow_all_instructions"), "models that judge"),
    "xlam_fc": Record("predicted_calls", _calls, _matched, "'expected_answers'"),
}
"""What is recorded, by the server."""


SERVERS: Final[Servers] = {server: _judge(record) for server, record in _RECORDS.items()}
OF_TEXT: Final = frozenset(
    server for server, record in _RECORDS.items() if record.taken in (_whole, _boxed, _answer, _proof, _law, _files)
)
"""Servers that took text from the response."""

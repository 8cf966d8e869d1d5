"""The answer of most responses takes the place of a reference (TTRL, arXiv 2504.16084).

A group is decided only if nothing that is unknown could change the decision: responses that could not be read, and answers
whose comparison came to no end, may belong to any class. Of ballots that tie, those who vote for all are right if they are
more than the others: fourteen times 50% whether 50 or 0.5 is the other, which stays open. A group without a majority
is `failed` for all its responses, never wrong for some of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from service.advantages.schemas import Status
from service.groups.classes import Partition
from service.groups.schemas import GroupResult, Majority, Member
from service.wire import Result
from verifiers.base import clip
from verifiers.own_answers import STAND_IN

_SHOWN_CLASSES: Final = 32
_SHOWN_CAUSES: Final = 3
_FOR_EACH: Final = "; a response that equals several of them counts for each"


@dataclass(frozen=True, slots=True)
class Decision:
    """The largest class, or the reason why none is right."""

    winner: int | None
    reason: str
    message: str = ""


def decide(sizes: Sequence[int], unknown: int, count: int, options: Majority) -> Decision:
    """Which class is right.

    Args:
        sizes: The sizes of the ballots, the largest first.
        unknown: Responses that may belong to any class.
        count: All responses of the group, and those that never came.
        options: What a majority is.
    """
    if not sizes:
        return Decision(None, "undecided" if unknown else "no_answers", "no response gives an answer")
    first, second = sizes[0], sizes[1] if len(sizes) > 1 else 0
    if (first + unknown) / count < options.min_share:
        return Decision(None, "no_majority", f"{first} of {count} responses agree; min_share is {options.min_share:g}")
    if first == 1 and options.on_tie == "drop" and not unknown:
        return Decision(None, "no_majority", "no two responses agree")
    if first == second and not unknown:
        if options.on_tie == "drop":
            tied = f"{sizes.count(first)} different answers have {first} of {count} responses each"
            return Decision(None, "no_majority", tied + (_FOR_EACH if sum(sizes) > count else ""))
    elif first <= second + unknown or first / count < options.min_share:
        return Decision(None, "undecided", f"{unknown} of {count} responses could not be read or compared")
    return Decision(0, "majority")


def entropy(sizes: Sequence[int]) -> float:
    """The entropy of the classes in nats."""
    total = sum(sizes)
    return -math.fsum(size / total * math.log(size / total) for size in sizes) + 0.0 if total else 0.0


def result_of(partition: Partition, name: str | int, options: Majority, missing: int) -> GroupResult:
    """The rewards of a group: 1 for its largest class, 0 for the others. `missing` members never came."""
    if partition.message:
        return GroupResult.invalid(name, len(partition.answers), partition.message)
    ballots = [set(ballot) for ballot in partition.ballots]
    voters = ballots[0] if ballots else set[int]()
    outside = partition.unsettled - voters
    unknown = len(partition.failed) + len(outside)
    leaders = [ballot for ballot in ballots if len(ballot) + unknown >= len(voters)]
    shared = set.intersection(*leaders) if leaders else voters
    disputed = set[int]().union(*leaders) - shared
    if options.on_tie == "drop" and len(shared) > len(disputed):
        voters, outside = shared, (outside | disputed) - shared
    votes = [len(ballot) for at, ballot in enumerate(ballots) if at == 0 or not voters <= ballot]
    decision = decide(votes, unknown, len(partition.answers) + missing, options)
    if len(partition.failed) == len(partition.results):
        causes = dict.fromkeys(_cause(read) for read in partition.results)
        decision = Decision(
            None, decision.reason, f"no response could be judged: {'; '.join([*causes][:_SHOWN_CAUSES])}"
        )
    if decision.reason == "no_answers" and partition.group.verifier == "multiple_choice":
        hint = "if labels are not A, B, ..., name them in params.letters or params.choices"
        decision = Decision(None, decision.reason, f"{decision.message}; {hint}")
    if decision.winner is not None and partition.unfit | partition.vague >= voters:
        about = "the answer of most responses is right for no task, or a refusal, an evasion, a hedge or a remark"
        decision = Decision(None, "no_majority", about)
    if decision.winner is not None and partition.denials > votes[0]:
        decision = Decision(None, "no_majority", f"{partition.denials} responses say that there is no answer")
    classes = {at: number for number, positions in enumerate(partition.classes) for at in positions}
    status: Status = "ok" if decision.winner is not None else "failed"
    members = []
    for at, read in enumerate(partition.results):
        number = classes.get(at)
        member = Member("failed", None, None, decision.reason, read.extracted, number)
        if at in partition.failed:
            member.reason = read.reason
            member.detail = {"message": message} if (message := read.detail.get("message")) else {}
        elif decision.winner is not None and at in outside:
            member.reason = "undecided"
        elif decision.winner is not None:
            is_right = at in voters
            member.status, member.score = "ok", float(is_right)
            member.reason = "majority" if is_right else "minority" if number is not None else read.reason
            member.reason = partition.withheld.get(at, member.reason)
        member.reward = member.score
        members.append(member)
    return GroupResult(
        id=name,
        status=status,
        reason=decision.reason,
        message="" if status == "ok" else decision.message,
        members=members,
        detail=_detail(partition, missing),
    )


def _cause(read: Result) -> str:
    message = read.detail.get("message")
    return f"{read.reason}: {message}" if message else read.reason


def _detail(partition: Partition, missing: int) -> dict[str, Any]:
    sizes = [len(positions) for positions in partition.classes]
    class_details = [
        {"answer": clip((partition.answers[positions[0]] or "").replace(STAND_IN, "sha256:")), "size": len(positions)}
        for positions in partition.classes[:_SHOWN_CLASSES]
    ]
    count = len(partition.answers)
    return {
        "classes": class_details,
        "distinct": len(sizes),
        "share": len(partition.ballots[0]) / (count + missing) if sizes else 0.0,
        "entropy": entropy(sizes),
        "without_answer": count - sum(sizes) - len(partition.failed),
        "unread": len(partition.failed),
        "unsettled": len(partition.unsettled),
    }

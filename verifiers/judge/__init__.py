"""Scores a response by what a judge model says of it, and never guesses if the model gives no clear verdict.

    mode        asks                                                    score
    reference   is the final answer that of the reference?              1 equal, 0 not equal or nothing to grade
    criteria    how far is each criterion met?                          their weighted mean; 0 if one that must pass fails
    quality     how good is it, from 1 to 10?                           (grade - 1) / 9
    pairwise    is it better than `other`? Asked in both orders.        1, 0.5 (also if the orders disagree), 0
    steps       which step is the first wrong one?                      1 if none; else 0, or the share before it

Two kinds of response need no model: one that equals the reference, and one without anything to judge (mode
`reference`), which some models call right. A model that is down, refuses, or gives no verdict even when it is asked
again, gives no score: the item is `failed`, with `judge_` and the kind of failure as its reason. Where no judge models
are configured, every item is.

Texts from outside are put between fences with tags that they cannot know, and their control tokens and hidden
characters are made visible (`rendering`). A persuasive sentence still reaches the model, so a response that addresses
the judge is flagged.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.commitment import Channel, ExtractionParams, extract, final_segment
from verifiers.judge import cascades, guards
from verifiers.judge.errors import JudgeFailure, OverBudget, Unparseable
from verifiers.judge.inquiry import Inquiry, explanation
from verifiers.judge.long_texts import by_length
from verifiers.judge.modes import Question, TooManySteps, finding, questions, require, suits
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.profiles import Cascade, Mode, Profile
from verifiers.judge.rendering import Prompt
from verifiers.judge.rubrics import rules
from verifiers.judge.schemas import SCHEMAS
from verifiers.pace import together

if TYPE_CHECKING:
    from verifiers.judge.panel import Ballot, Panel

_COMMITTED = ExtractionParams(extract=(Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE))
_MAX_FAILURE_CHARS = 200


class Judge(Verifier[JudgeParams]):
    name = "judge"
    version = "10"
    params = JudgeParams
    summary = (
        "What judge models say: equal to a reference, criteria met, quality, better than another, first wrong step"
    )
    is_opinion = True
    uses_prompt = True
    chunk_items = 1
    bounds_itself = True

    def __init__(self, panel: "Panel | None") -> None:
        self._panel = panel
        self._others: Mapping[str, Verifier[Any]] = {}
        if panel is not None:
            self.version = f"{self.version}-{panel.fingerprint[:12]}"
            self.concurrency = panel.config.max_items_in_flight

    def meet(self, verifiers: Mapping[str, Verifier[Any]]) -> None:
        self._others = verifiers

    def judged_with(self, params: JudgeParams) -> Sequence[Verifier[Any]]:
        return rules.verifiers_of(params.criteria or (), self._others)

    async def score(self, items: Sequence[Item[JudgeParams]]) -> Sequence[Verdict]:
        return await asyncio.gather(*(self._judge(item) for item in items))

    async def score_each(self, items: Sequence[Item[JudgeParams]], deliver: Callable[[int, Verdict], None]) -> None:
        async def one(position: int, item: Item[JudgeParams]) -> None:
            deliver(position, await self._judge(item))

        async with asyncio.TaskGroup() as tasks:
            for position, item in enumerate(items):
                tasks.create_task(one(position, item))

    async def _judge(self, item: Item[JudgeParams]) -> Verdict:
        inquiries: list[Inquiry] = []
        try:
            return await self._judged(item, inquiries)
        except OverBudget as error:
            return Verdict.failed(error.kind, error.message, **error.detail)
        except (InvalidItem, JudgeFailure) as error:
            return _refusal(error, **(explanation(inquiries) if item.explain else {}))

    async def _judged(self, item: Item[JudgeParams], inquiries: list[Inquiry]) -> Verdict:
        """The verdict. `inquiries` gets one for each question, in order, which tells what was asked if there is none."""
        case = await by_length(len(item.response), self._case_of, item)
        if isinstance(case, Verdict):
            return case
        panel, profile, params = case.panel, case.profile, item.params
        by_rule = await rules.decided(params.criteria or (), item, self._others) if case.mode == "criteria" else {}
        deadline = asyncio.get_running_loop().time() + profile.deadline_s
        if item.deadline is not None:
            deadline = min(deadline, item.deadline)
        cascade: dict[str, Any] = {}
        ballots = None
        if profile.cascade is not None and params.prompt_template is None:
            ballots, cascade = await _first_ballots(case, profile.cascade, item, deadline, inquiries)
        if ballots is None:
            votes = params.votes or profile.votes.n
            ballots = await _ballots(case, profile, case.prompt, votes, item, deadline, inquiries)
        decisions = [ballot.decision for ballot in ballots]
        result = finding(case.mode, case.asked, decisions, params, profile, by_rule)
        detail = dict(result.detail) | _votes_detail(ballots) | cascade
        if item.explain:
            detail |= explanation(inquiries)
        detail |= {"judge": case.name, "prompt": case.prompt.name}
        flags = {flag for ballot in ballots for flag in ballot.flags} | set(result.detail.get("flags", ()))
        if case.addresses_judge:
            flags.add("addresses_judge")
        if flags:
            detail["flags"] = sorted(flags)
        for flag in flags:
            panel.counts["flag", flag.partition(":")[0]] += 1
        return Verdict(Status.OK, result.score, result.reason, clip(case.extracted), detail)

    def _case_of(self, item: Item[JudgeParams]) -> "_Case | Verdict":
        """The questions about an item, or its verdict if no model has to be asked.

        Raises:
            InvalidItem, JudgeFailure
        """
        params = item.params
        panel, name, mode, profile, prompt = self._way(params)
        segment = final_segment(item.response)
        text = item.response[segment.start : segment.end]
        if not text:
            return Verdict.wrong("truncated" if segment.reason == "truncated" else "no_answer")
        decided = _without_a_model(text, params, profile) if mode == "reference" else None
        if decided is not None:
            return decided
        visible, extracted = _view(text, params.view or profile.view)
        try:
            case_questions = questions(mode, visible, params.question or item.prompt, params, profile)
        except TooManySteps:
            return Verdict.wrong("too_many_steps")
        addresses_judge = guards.addresses_judge(visible)
        return _Case(panel, name, mode, profile, prompt, case_questions, extracted, addresses_judge)

    def obstacle(self, params: JudgeParams) -> Verdict | None:
        try:
            self._way(params)
        except (InvalidItem, JudgeFailure) as error:
            return _refusal(error)
        return None

    def _way(self, params: JudgeParams) -> "tuple[Panel, str | None, Mode, Profile, Prompt]":
        """The models that judge, the name of their profile, the mode, the profile and the prompt.

        Raises:
            InvalidItem, JudgeFailure: no response can be judged.
        """
        name, mode, profile = self._profile(params)
        require(mode, params)
        if self._panel is None or profile is None:
            raise _not_configured()
        return self._panel, name, mode, profile, self._prompt(self._panel, params, mode, profile)

    def _prompt(self, panel: "Panel", params: JudgeParams, mode: Mode, profile: Profile) -> Prompt:
        """The prompt.

        Raises:
            InvalidItem: there is no prompt of that name, or it asks another question.
        """
        prompt = panel.prompts.get(params.prompt_template or profile.prompt)
        if prompt is None or not suits(prompt, mode):
            raise InvalidItem("bad_params", f"params.prompt_template: no prompt of that name for mode {mode}")
        return prompt

    def _profile(self, params: JudgeParams) -> tuple[str | None, Mode, Profile | None]:
        """The name of the profile that judges, the mode, and the profile.

        Raises:
            InvalidItem: there is no profile of that name, or it has another mode.
            JudgeFailure: no judge models are configured, and only a profile says what the mode is.
        """
        mode = params.usual_mode
        if self._panel is None:
            if params.judge is not None and params.mode is None:
                raise _not_configured()  # the mode may be the profile's
            return params.judge, mode, None
        config = self._panel.config
        name = params.judge or config.default_profile(mode)
        if name is None:
            raise InvalidItem(
                "unknown_judge", f"no profile for mode {mode} is configured; there are {sorted(config.profiles)}"
            )
        profile = config.profiles.get(name)
        if profile is None:
            raise InvalidItem(
                "unknown_judge", f"params.judge: no profile {name!r}; there are {sorted(config.profiles)}"
            )
        if params.judge is not None and params.mode is None:
            mode = profile.mode
        if profile.mode != mode:
            raise InvalidItem("bad_params", f"params.mode: profile {name} is of mode {profile.mode}, not {mode}")
        return name, mode, profile


def _refusal(error: InvalidItem | JudgeFailure, **detail: Any) -> Verdict:
    if isinstance(error, InvalidItem):
        return Verdict.invalid(error.reason, str(error))
    kind = "unparseable" if isinstance(error, Unparseable) else error.kind
    return Verdict.failed(f"judge_{kind}", str(error)[:_MAX_FAILURE_CHARS], **detail)


def _not_configured() -> JudgeFailure:
    return JudgeFailure("not_configured", "no judge models are configured (setting judge_file)", retryable=False)


def create(resources: Resources) -> Judge:
    return Judge(cast("Panel | None", resources.judges))


@dataclass(frozen=True, slots=True)
class _Case:
    """The questions about an item, and the profile that answers them."""

    panel: "Panel"
    name: str | None
    mode: Mode
    profile: Profile
    prompt: Prompt
    asked: Sequence[Question]
    extracted: str | None
    addresses_judge: bool


def _without_a_model(text: str, params: JudgeParams, profile: Profile) -> Verdict | None:
    """The verdict if no model has to be asked; None otherwise."""
    guard = guards.precheck(text, params.reference)
    if guard == "exact_match" and profile.accept_exact:
        return Verdict(Status.OK, 1.0, "correct", clip(text), {"source": "exact_match"})
    if guard == "trivial" and profile.reject_trivial:
        return Verdict(Status.OK, 0.0, "nothing_to_grade", clip(text), {"source": "trivial"})
    return None


def _view(text: str, view: str) -> tuple[str, str | None]:
    """The text that the judge is shown; and the answer, if only that is shown."""
    if view == "full":
        return text, None
    extraction = extract(text, _COMMITTED)
    return (text, None) if extraction.answer is None else (extraction.answer, extraction.answer)


async def _ballots(
    case: "_Case",
    profile: Profile,
    prompt: Prompt,
    votes: int,
    item: Item[JudgeParams],
    deadline: float,
    inquiries: list[Inquiry],
) -> "list[Ballot]":
    """A ballot for each question, in order. `inquiries` gets one for each before any is asked."""
    begun = [Inquiry() for _ in case.asked]
    inquiries.extend(begun)
    return await together(
        [
            case.panel.ballot(
                profile,
                prompt,
                question,
                votes=votes,
                deadline=deadline,
                use=item.cache,
                owner=item.owner,
                inquiry=inquiry,
            )
            for question, inquiry in zip(case.asked, begun, strict=True)
        ]
    )


async def _first_ballots(
    case: "_Case", cascade: Cascade, item: Item[JudgeParams], deadline: float, inquiries: list[Inquiry]
) -> "tuple[list[Ballot] | None, dict[str, Any]]":
    """The ballot of the profile that is asked first, with its verdict as a whole score, if it is certain of it; and what
    the detail says of the cascade. What it cannot judge is for the profile behind it.
    """
    first = case.panel.config.profiles[cascade.profile]
    prompt = case.panel.prompts[first.prompt]
    right = None
    try:
        (ballot,) = await _ballots(case, first, prompt, first.votes.n, item, deadline, inquiries)
        right = cascades.probability(ballot, SCHEMAS[prompt.schema].scores)
    except OverBudget:
        raise
    except (InvalidItem, JudgeFailure):
        pass
    is_certain = cascades.certainty(right) >= cascade.certainty
    case.panel.counts["cascade", "first" if is_certain else "behind"] += 1
    detail = {"cascade": {"profile": cascade.profile, "probability": right, "decided": is_certain}}
    if right is None or not is_certain:
        return None, detail
    return [replace(ballot, decision=replace(ballot.decision, score=float(right > 0.5)))], detail


def _votes_detail(ballots: "Sequence[Ballot]") -> dict[str, Any]:
    votes = [vote for ballot in ballots for vote in ballot.votes]
    detail: dict[str, Any] = {"votes": [vote.as_json() for vote in votes]}
    if not votes:
        return detail
    if len(votes) > len(ballots):
        detail["agreement"] = min(ballot.decision.agreement for ballot in ballots)
    rationale = votes[0].reading.rationale
    if rationale:
        detail["rationale"] = clip(rationale)
    if votes[0].reading.probabilities is not None:
        detail["probabilities"] = dict(votes[0].reading.probabilities)
    return detail


_PARIS = {"reference": "Paris", "question": "What is the capital of France?"}
EXAMPLES = (
    Example("Paris", _PARIS, 1.0, "correct", "the reference itself: no model is asked"),
    Example("<think>Lyon? No.</think> Paris", _PARIS, 1.0, "correct", "judged is what follows the thinking"),
    Example(":", _PARIS, 0.0, "nothing_to_grade", "some models call this right; none is asked"),
    Example("Thought process:", _PARIS, 0.0, "nothing_to_grade", "an announcement of an answer is none"),
    Example("<think>It is Paris", _PARIS, 0.0, "truncated", "the thinking never ends"),
)

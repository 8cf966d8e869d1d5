"""Asks judge models: reads their answers, asks again once, lets them vote, and keeps what they answered."""

import asyncio
import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from verifiers.base import InvalidItem
from verifiers.judge.canaries import Canaries
from verifiers.judge.config import BadJudges, JudgeConfig
from verifiers.judge.endpoints import ChatReply, ChatRequest, Gateway, Usage
from verifiers.judge.errors import EndpointFailure, JudgeFailure, Unparseable
from verifiers.judge.inquiry import Inquiry
from verifiers.judge.long_texts import by_length
from verifiers.judge.modes import Question, suits
from verifiers.judge.parsing import PARSER_VERSION, Reading, read
from verifiers.judge.profiles import Profile
from verifiers.judge.rendering import Limits, MissingData, Prompt, Rendered, TooLarge, render
from verifiers.judge.rewards.panel import RewardPanel
from verifiers.judge.schemas import SCHEMAS, Kind, Schema, with_logprobs
from verifiers.judge.sharing import Shared, Use
from verifiers.judge.voting import Decision, decide, is_decided

_TOP_LOGPROBS: Final = 20
_WARMER: Final = 0.3
"""Models that are asked again at temperature 0 repeat themselves, so a higher temperature is used."""
_OF_THE_CALL: Final = ("no_schema", "dropped:")
"""Flags about how the endpoint was asked, which say nothing about the verdict."""
_NEEDED_WHOLE: Final = frozenset({"reference", "criteria"})
"""Texts that must be shown whole: a verdict against a part of them would be about something else."""
_JUDGED: Final = frozenset({"response", "steps"})
_HOPELESS: Final = frozenset({"refusal", "content_filter"})
_ASK_AGAIN: Final = "Your last reply could not be used: {why}. Give the verdict again, exactly in the form that was asked for, and nothing else."


class Answer(msgspec.Struct, array_like=True, frozen=True):
    """A model's answer in the form in which it is stored."""

    message: dict[str, Any]
    finish_reason: str | None
    logprobs: Any
    model: str | None
    endpoint: str
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    flags: tuple[str, ...]

    @property
    def text(self) -> str:
        """What the model wrote."""
        for name in _KEPT:
            if content := self.message.get(name):
                return content if isinstance(content, str) else msgspec.json.encode(content).decode()
        return ""


@dataclass(frozen=True, slots=True)
class Vote:
    """One model's answer with its meaning."""

    reading: Reading
    answer: Answer
    cached: bool

    def as_json(self) -> dict[str, Any]:
        """The vote as JSON."""
        value = self.reading.value
        return {
            "endpoint": self.answer.endpoint,
            "model": self.answer.model,
            "value": dict(value) if isinstance(value, Mapping) else value,
            "score": self.reading.score,
            "tokens": [self.answer.prompt_tokens, self.answer.completion_tokens],
        } | ({"cached": True} if self.cached else {})


@dataclass(frozen=True, slots=True)
class Ballot:
    """The votes on one question, and their result."""

    decision: Decision
    votes: Sequence[Vote]
    flags: frozenset[str]


class Panel:
    """All pools, prompts and profiles of the configuration."""

    def __init__(
        self,
        config: JudgeConfig,
        gateway: Gateway,
        shared: Shared,
        prompts: Mapping[str, Prompt],
        *,
        fence_secret: bytes,
        caller: Callable[[], Hashable] = lambda: None,
    ) -> None:
        """Check the profiles and prepare the prompts.

        `fence_secret`: the key for the tags of fences, so that no response can hold a tag. `caller`: whose item is
        judged in the current task; the items of two are in no call together.

        Raises:
            BadJudges: a profile names a prompt that does not exist, or that is for another mode.
        """
        for name, profile in config.profiles.items():
            if profile.prompt not in prompts:
                raise BadJudges(f"profiles.{name}.prompt: no {profile.prompt!r}; there are {sorted(prompts)}")
            if not suits(prompts[profile.prompt], profile.mode):
                raise BadJudges(f"profiles.{name}.prompt: {profile.prompt!r} is not for mode {profile.mode}")
            labels = SCHEMAS[prompts[profile.prompt].schema].scores
            unknown = sorted(profile.rewards.keys() - labels.keys())
            if unknown:
                raise BadJudges(f"profiles.{name}.rewards: no label {unknown[0]!r}; there are {list(labels)}")
        self.config = config
        self.gateway = gateway
        self.shared = shared
        self.prompts = prompts
        self._secret = fence_secret
        self.models = {name: config.models_of(name) for name in config.pools}
        self.counts: Counter[tuple[str, str]] = Counter()
        """Counts of events, by kind of event and by word."""
        self.canaries: Canaries | None = None
        self.rewards = RewardPanel(config, gateway, shared, self.counts, caller)
        hashes = {name: prompt.sha256 for name, prompt in prompts.items()}  # an item may name any of them
        self.fingerprint = config.fingerprint(hashes | {"parser": PARSER_VERSION})

    async def start(self) -> None:
        await self.gateway.start()
        if self.config.canaries.every_s is not None:
            self.canaries = Canaries(self, self.config.canaries)
            self.canaries.start()

    async def stop(self) -> None:
        if self.canaries is not None:
            await self.canaries.stop()
        await self.rewards.stop()
        await self.gateway.stop()

    def limit_of(self, profile: Profile) -> Limits:
        limits = profile.limits
        return Limits(limits.question_chars, limits.reference_chars, limits.response_chars)

    def rendered(self, profile: Profile, prompt: Prompt, question: Question) -> Rendered:
        """The messages of a question."""
        tokens = [
            token
            for name in sorted(self.config.reach_of(profile.pool))
            for token in self.config.endpoints[name].extra_control_tokens
        ]
        return render(prompt, question.data, secret=self._secret, limits=self.limit_of(profile), control_tokens=tokens)

    async def ballot(
        self,
        profile: Profile,
        prompt: Prompt,
        question: Question,
        *,
        votes: int,
        deadline: float,
        use: Use = "use",
        owner: str = "",
        inquiry: Inquiry | None = None,
    ) -> Ballot:
        """Let models vote on a question. Stored answers are those of the same owner. `inquiry` is filled meanwhile.

        Raises:
            InvalidItem: the item lacks a text that the prompt shows, or a text is too long.
            JudgeFailure: too few votes were understood, or they are divided.
        """
        try:
            rendered = await by_length(_chars_of(question), self.rendered, profile, prompt, question)
        except (MissingData, TooLarge) as error:
            raise InvalidItem("bad_params", str(error)) from error
        cut = {flag.removeprefix("truncated_") for flag in rendered.flags if flag.startswith("truncated_")}
        if question.data.response is None and "criteria" in cut:  # of a list, these are the responses
            cut = (cut - {"criteria"}) | {"response"}
        if cut & _NEEDED_WHOLE:
            raise InvalidItem(
                "reference_too_large", f"the {min(cut & _NEEDED_WHOLE)} is longer than this judge is shown"
            )
        if cut & _JUDGED and profile.on_truncate == "fail":
            raise JudgeFailure("too_large", "the response is longer than this judge is shown", retryable=False)
        schema = SCHEMAS[prompt.schema]
        if profile.score_source == "expected" and schema.kind in (Kind.LABELS, Kind.NUMBER) and not schema.logprobs:
            schema = with_logprobs(schema)
        inquiry = inquiry or Inquiry()
        inquiry.asked = rendered
        poll = _Poll(self, profile, prompt, schema, question, rendered, votes, deadline, use, owner, inquiry)
        return await poll.ballot()


@dataclass(slots=True)
class _Poll:
    """The votes on one question."""

    panel: Panel
    profile: Profile
    prompt: Prompt
    schema: Schema
    question: Question
    rendered: Rendered
    votes: int
    deadline: float
    use: Use
    owner: str
    inquiry: Inquiry

    async def ballot(self) -> Ballot:
        """Ask as many models at once as could decide the question, and the others only if needed."""
        policy = self.profile.votes
        labels = self.schema.kind in (Kind.LABELS, Kind.STEPS)
        stops_early = policy.early_stop and not policy.unanimous  # if each vote may be a veto, all are asked
        requested = 0
        while requested < self.votes and not (stops_early and is_decided(self._readings, self.votes, labels=labels)):
            missing = self.votes - requested
            if stops_early and labels:
                missing = max(1, self.votes // 2 + 1 - len(self.found))
            indexes = range(requested, min(self.votes, requested + missing))
            requested = indexes.stop
            await self._several(indexes)
        quorum = policy.quorum if self.votes == policy.n else self.votes // 2 + 1
        if len(self.found) < quorum:
            raise self._failure(quorum)
        decision = decide(self._readings, labels=labels, tie=policy.tie, unanimous=policy.unanimous)
        if decision.agreement < 1.0:
            self.panel.counts["ballot", "disagreement"] += 1
        all_flags = {flag for vote in self.found for flag in (*vote.reading.flags, *vote.answer.flags)}
        flags = {flag for flag in all_flags if not flag.startswith(_OF_THE_CALL)}
        flags |= set(self.rendered.flags)
        return Ballot(decision, self.found, frozenset(flags))

    @property
    def found(self) -> list[Vote]:
        return self.inquiry.votes

    @property
    def failures(self) -> list[JudgeFailure]:
        return self.inquiry.failures

    @property
    def _readings(self) -> list[Reading]:
        return [vote.reading for vote in self.found]

    async def _several(self, indexes: Sequence[int]) -> None:
        if len(indexes) == 1:
            await self._one(indexes[0])
            return
        async with asyncio.TaskGroup() as tasks:
            for index in indexes:
                tasks.create_task(self._one(index))

    async def _one(self, index: int) -> None:
        try:
            self.found.append(await self._vote(index))
        except JudgeFailure as error:
            self.panel.counts["failure", error.kind] += 1
            self.failures.append(error)

    async def _vote(self, index: int) -> Vote:
        request = self._request(index)

        async def compute() -> tuple[bytes, bool]:
            return _encoder.encode(await self._understood(request, self._avoid(index))), True

        key = self._key(request, index)
        value, cached = await self.panel.shared.get(key, compute, use=self.use, deadline=self.deadline)
        try:
            answer = _decoder.decode(value)
            reading = await self._read(answer)
        except (msgspec.MsgspecError, Unparseable):
            if not cached:
                raise
            # A stored value that is damaged, or has another layout, is a miss.
            value, cached = await self.panel.shared.get(key, compute, use="refresh", deadline=self.deadline)
            answer = _decoder.decode(value)
            reading = await self._read(answer)
        self.panel.counts["vote", "cached" if cached else "asked"] += 1
        return Vote(reading, answer, cached)

    def _request(self, index: int) -> ChatRequest:
        sampling = self.profile.sampling
        return ChatRequest(
            messages=self.rendered.messages,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=sampling.max_tokens,
            max_tokens_cap=sampling.max_tokens_cap,
            seed=None if sampling.seed is None else sampling.seed + index,
            schema=self.schema.json_schema(self.question.context),
            schema_name=self.schema.name,
            top_logprobs=_TOP_LOGPROBS if self.schema.logprobs else None,
            affinity=_affinity(self.question),
        )

    async def _understood(self, request: ChatRequest, avoid: frozenset[str]) -> Answer:
        """A model's answer with a verdict; if the first answer has none, the model is told why and asked once more."""
        gateway, pool = self.panel.gateway, self.profile.pool
        answer = _answer(await gateway.ask(pool, request, deadline=self.deadline, avoid=avoid))
        try:
            await self._read(answer)
        except Unparseable as error:
            self.panel.counts["unparseable", error.kind] += 1
            if error.kind in _HOPELESS:
                raise
            answer = _answer(await gateway.ask(pool, _again(request, error), deadline=self.deadline, avoid=avoid))
            try:
                await self._read(answer)
            except Unparseable as second:
                self.panel.counts["unparseable", second.kind] += 1
                raise
        return answer

    async def _read(self, answer: Answer) -> Reading:
        content = answer.message.get("content")
        chars = len(content) if isinstance(content, str) else 0
        context, logprobs = self.question.context, answer.logprobs
        try:
            return await by_length(
                chars, read, self.schema, answer.message, answer.finish_reason, context=context, logprobs=logprobs
            )
        except Unparseable as error:
            error.endpoint, error.text = answer.endpoint, answer.text
            raise

    def _avoid(self, index: int) -> frozenset[str]:
        """All endpoints but one in turn, so that the votes come from different models if there are several."""
        members = self.panel.config.pools[self.profile.pool].members
        if self.votes == 1 or len(members) == 1:
            return frozenset()
        first = int(self.rendered.sha256[:8], 16)
        return frozenset(members) - {members[(first + index) % len(members)]}

    def _key(self, request: ChatRequest, index: int) -> bytes:
        """A key of everything that an answer depends on, except the address of the endpoint."""
        request_fields = dataclasses.asdict(dataclasses.replace(request, affinity=None))
        models = self.panel.models[self.profile.pool]
        ingredients = [self.prompt.name, self.prompt.sha256, PARSER_VERSION, models, index, request_fields]
        if self.owner:
            ingredients.append(self.owner)
        return hashlib.sha256(b"vote" + msgspec.json.encode(ingredients, order="deterministic")).digest()

    def _failure(self, quorum: int) -> JudgeFailure:
        """The failure of the only vote; for several votes a missing quorum, unless all failed in the same way."""
        first = self.failures[0]
        alike = all(isinstance(f, EndpointFailure) is isinstance(first, EndpointFailure) for f in self.failures)
        if (len(self.failures) == 1 and not self.found) or (not self.found and alike):
            return first
        message = (
            f"{len(self.found)} of {self.votes} votes were understood, {quorum} are needed; the first failure: {first}"
        )
        return JudgeFailure("no_quorum", message, retryable=True)


def _answer(reply: ChatReply) -> Answer:
    usage: Usage = reply.usage
    message = {name: reply.message[name] for name in _KEPT if reply.message.get(name) is not None}
    return Answer(
        message,
        reply.finish_reason,
        reply.logprobs,
        reply.model,
        reply.endpoint,
        usage.prompt,
        usage.cached,
        usage.completion,
        reply.flags,
    )


_KEPT: Final = ("content", "refusal", "tool_calls")


def _again(request: ChatRequest, error: Unparseable) -> ChatRequest:
    """The same question, with the reason why the first answer was of no use, but without that answer."""
    *earlier, last = request.messages
    repeated = last
    if last["role"] == "user":  # the other roles hold nothing but data
        why = _ASK_AGAIN.format(why=_WHY.get(error.kind, "it held no verdict"))
        repeated = {**last, "content": f"{last['content']}\n\n{why}"}
    tokens = request.max_tokens
    if error.kind == "truncated":
        tokens = min(2 * tokens, request.max_tokens_cap or 2 * tokens)
    return replace(
        request,
        messages=(*earlier, repeated),
        temperature=max(request.temperature or 0.0, _WARMER),
        max_tokens=tokens,
    )


_WHY: Final[Mapping[str, str]] = {
    "empty_output": "it was empty",
    "truncated": "it was cut off before its end",
    "invalid_json": "it was not valid JSON",
    "duplicate_key": "a key stood in it twice",
    "schema_mismatch": "it did not have the fields that were asked for",
    "ambiguous": "it could be read in more than one way",
    "no_verdict": "it held no verdict",
    "out_of_range": "its number was not on the scale",
    "scale_mismatch": "its number was not on the scale",
    "missing_criteria": "criteria were missing from it",
    "unknown_criteria": "it held criteria that were not asked about",
    "duplicate_criteria": "it held a criterion twice",
}
"""The reasons by kind, in our own words: a model's text never goes back into a prompt."""


def _chars_of(question: Question) -> int:
    data = question.data
    texts = (
        data.question,
        data.response,
        data.response_b,
        *data.references,
        *(data.steps or ()),
        *(data.replies or ()),
    )
    return sum(len(text) for text in texts if text is not None)


def _affinity(question: Question) -> bytes:
    """A key that is equal for questions of one group, whose prompts share their beginning."""
    data = question.data
    return hashlib.sha256("\0".join((data.question or "", *data.references)).encode()).digest()[:8]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Answer)

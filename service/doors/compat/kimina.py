"""`/verify` and `/api/check` run texts of Lean 4 in the format of kimina-lean-server; they judge nothing.

    text ──► imports │ the rest ──► a process of Lean's loop, in a box ──► what the loop says of the rest

    the loop answered               response: its answer, with `message` alone if it could not do it
    the text reached a limit,       error, which says `timed out` for the time
      or Lean crashed
    no box, or no Lean in it        503, for the whole request

Each text has a process of its own, which ends with it: `reuse` and `disable_cache` change nothing. Time limits are CPU
seconds of the process, with ten more for the imports. Unlike the verifier `lean`, the door believes the process that
read the text: a text that prints what the loop would print is not found out.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from sandbox.base import Exit, Limits, SandboxUnavailable
from service.doors.compat.door import Door, Exchange, Route
from service.doors.compat.request_options import PatienceOptions, refusal
from service.errors import NotInTime, NotJudged
from service.wire import parse
from verifiers.lean import repl, texts

VERIFY: Final = ("/compat/kimina/verify", "/compat/kimina/one_pass_verify_batch")
CHECK: Final = ("/api/check", "/compat/kimina/api/check")
HEALTH: Final = "/compat/kimina/health"
_TIMEOUT_S: Final = 570.0
_MAX_TEXTS: Final = 4096
_OUTPUT_BYTES: Final = 8 << 20

Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]
Infotree = Literal["full", "tactics", "original", "substantive"]
Id = Annotated[str, msgspec.Meta(max_length=1024)]


class Code(msgspec.Struct):
    """A text. One of `proof` and `code` is there."""

    custom_id: Id | int
    proof: str | None = None
    code: str | None = None


class VerifyRequest(msgspec.Struct):
    """Other fields are ignored."""

    codes: Annotated[list[Code], msgspec.Meta(max_length=_MAX_TEXTS)]
    timeout: Seconds = 300.0
    infotree_type: Infotree | None = None
    disable_cache: bool = False


class Snippet(msgspec.Struct):
    id: Id
    code: str


class CheckRequest(msgspec.Struct):
    """Other fields are ignored."""

    snippets: Annotated[list[Snippet], msgspec.Meta(min_length=1, max_length=_MAX_TEXTS)]
    timeout: Seconds = 30.0
    debug: bool = False
    reuse: bool = True
    infotree: Infotree | None = None


class Verified(msgspec.Struct, omit_defaults=True):
    """The result of one text. Exactly one of `error` and `response` is there."""

    custom_id: str
    error: str | None = None
    response: dict[str, Any] | None = None
    """The loop's answer (`env`, `messages`, `sorries`, or `message`), and `time`, the seconds that it took."""


class VerifyResponse(msgspec.Struct):
    results: list[Verified]


class Checked(msgspec.Struct, omit_defaults=True):
    """The result of one text. Exactly one of `error` and `response` is there."""

    id: str
    time: float
    error: str | None = None
    response: dict[str, Any] | None = None


class CheckResponse(msgspec.Struct):
    results: list[Checked]


class Health(msgspec.Struct):
    status: Literal["ok"]


class Kimina(Door):
    name = "kimina"
    routes: ClassVar = (
        Route(
            VERIFY,
            "kimina_verify",
            "Run texts of Lean 4",
            "In the shape of kimina-lean-server's older route: what Lean's loop says of each text after its imports.",
            VerifyResponse,
            VerifyRequest,
            {"codes": [{"custom_id": "a", "proof": "theorem two : 1 + 1 = 2 := rfl"}], "timeout": 60},
            PatienceOptions,
            timeout_s=_TIMEOUT_S,
        ),
        Route(
            CHECK,
            "kimina_check",
            "Check texts of Lean 4",
            "In the shape of kimina-lean-server: what Lean's loop says of each text after its imports.",
            CheckResponse,
            CheckRequest,
            {"snippets": [{"id": "a", "code": "theorem two : 1 + 1 = 2 := rfl"}], "timeout": 60},
            PatienceOptions,
            timeout_s=_TIMEOUT_S,
        ),
        Route(
            (HEALTH,),
            "kimina_health",
            "Whether the door is there",
            "Clients of kimina-lean-server ask it before anything else.",
            Health,
            method="GET",
        ),
    )

    async def answer(self, exchange: Exchange[Any]) -> VerifyResponse | CheckResponse | Health:
        if exchange.route.body is None:
            return Health("ok")
        if exchange.route.body is CheckRequest:
            return await self._check(exchange)
        request = parse(_verify_decoder, exchange.body, [])
        names = [str(code.custom_id) for code in request.codes]
        codes = [code.code if code.proof is None else code.proof for code in request.codes]
        codes_given = [code for code in codes if code is not None]
        if len(codes_given) < len(codes):
            raise refusal(["codes", codes.index(None)], "a code has neither `proof` nor `code`")
        answers = await self._run(exchange, codes_given, request.timeout, request.infotree_type)
        return VerifyResponse([outcome.verified(name) for name, outcome in zip(names, answers, strict=True)])

    async def _check(self, exchange: Exchange[Any]) -> CheckResponse:
        request = parse(_check_decoder, exchange.body, [])
        names = [snippet.id for snippet in request.snippets]
        if len(set(names)) < len(names):
            raise refusal(["snippets"], "two snippets have the same id")
        answers = await self._run(
            exchange, [snippet.code for snippet in request.snippets], request.timeout, request.infotree
        )
        return CheckResponse([answer.checked(name) for name, answer in zip(names, answers, strict=True)])

    async def _run(
        self, exchange: Exchange[Any], codes: Sequence[str], timeout_s: float, infotree: Infotree | None
    ) -> "Sequence[_Said]":
        """What the loop says of each text.

        Raises:
            NotJudged, NotInTime: one of them could not be run; nothing is known of the others either.
        """
        exchange.body = b""
        settings = self.parts.settings
        await exchange.hold(len(codes), settings.max_items_per_request)
        limits = Limits(
            cpu_s=max(0.1, min(timeout_s, settings.max_run_s)),
            memory_mb=settings.box_memory_mb,
            file_mb=settings.box_disk_mb,
            output_bytes=_OUTPUT_BYTES,
        )
        turns = asyncio.Semaphore(max(1, self.parts.boxes.slots))

        async def run(code: str) -> _Said:
            async with turns:
                return await self._said(code, limits, infotree)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(run(code)) for code in codes]
        except* SandboxUnavailable as errors:
            raise _refused(errors) from errors
        return [task.result() for task in tasks]

    async def _said(self, code: str, limits: Limits, infotree: Infotree | None) -> "_Said":
        header, text = texts.split_header(code)
        body: repl.Order = {"cmd": text, "env": 0}
        if infotree is not None:
            body = {**body, "infotree": infotree}
        talk = await repl.talk(self.parts.boxes, [{"cmd": header}, body], limits)
        time_s = round(talk.result.wall_s, 3)
        index = 0 if talk.replies and talk.replies[0].error is not None else 1
        if len(talk.replies) > index:
            return _Said(time_s, None, msgspec.json.decode(repl.parts_of(talk.result.stdout)[index]))
        if talk.result.exit is Exit.TIME_LIMIT:
            command = "command" if talk.replies else "header command"
            return _Said(time_s, f"Lean REPL {command} timed out in {limits.cpu_s:g} seconds", None)
        return _Said(time_s, f"Lean REPL ended: {talk.end}", None)


class _Said(msgspec.Struct, frozen=True):
    time_s: float
    error: str | None
    answer: dict[str, Any] | None

    def verified(self, name: str) -> Verified:
        return Verified(name, self.error, None if self.answer is None else {**self.answer, "time": self.time_s})

    def checked(self, name: str) -> Checked:
        return Checked(name, self.time_s, self.error, self.answer)


def _refused(errors: ExceptionGroup[SandboxUnavailable]) -> NotJudged | NotInTime:
    """The refusal that says the first reason."""
    first: BaseException = errors
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, SandboxUnavailable)
    if first.reason == "sandbox_busy":
        return NotInTime(str(first))
    return NotJudged(f"{first.reason}: {first}", retry_after_s=1.0)


_verify_decoder = msgspec.json.Decoder(VerifyRequest)
_check_decoder = msgspec.json.Decoder(CheckRequest)

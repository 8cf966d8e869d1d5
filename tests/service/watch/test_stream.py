"""What the stream makes of finished batches, without a service around it."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from fairness import TENANT
from service.recipes.model import CheckSpec, WatchSpec
from service.tenant import RUN
from service.watch.alarms import Alarms
from service.watch.pass_rates import PassRates
from service.watch.probes import Prober
from service.watch.stream import Stream
from service.wire import BatchRequest, Result, ScoreItem
from tests.tables import table


def observed(items: Sequence[dict[str, Any]], spec: WatchSpec, share: float = 1.0) -> tuple[Stream, Prober, PassRates]:
    """A stream that has read one batch, in which each item is right."""
    prober, rates = Prober(None), PassRates(1_000_000)  # type: ignore[arg-type]  # nothing is judged
    stream = Stream(Alarms(), prober, lambda result: spec, share=share, max_bytes=8_000_000, rates=rates, seed=1)
    batch = [msgspec.convert({"response": "5", "verifier": "exact_match", **item}, ScoreItem) for item in items]
    results = [Result("", "ok", 1.0, 1.0, "correct", "exact_match", "1", "5", {}, False, 0.1, None) for _ in batch]
    caller, run = TENANT.set("maths"), RUN.set("r")
    try:
        stream.observe(BatchRequest(batch, {}, "use", explain=False, deadline=0.0), results)
    finally:
        RUN.reset(run)
        TENANT.reset(caller)
    stream.start()
    stream.close(10.0)
    return stream, prober, rates


@table(
    "prompts, shown",
    [
        ([{}, {}], [""]),
        ([{"prompt": "2 + 3?"}, {"prompt": "1 + 4?"}], ["1 + 4?", "2 + 3?"]),
        (
            [
                {"prompt": [{"role": "user", "content": "2 + 3?"}]},
                {"messages": [{"role": "user", "content": "1 + 4?"}]},
            ],
            ["user: 1 + 4?", "user: 2 + 3?"],
        ),
    ],
    ids=["no prompt", "texts", "messages"],
)
def test_prompts_are_shown_and_references_are_not(prompts: list[dict[str, Any]], shown: list[str]) -> None:
    items = [{"reference": msgspec.Raw(b'"5"'), **prompt} for prompt in prompts]
    _, _, rates = observed(items, WatchSpec(impostors=False))
    assert sorted(rate.prompt for rate in rates.of("maths", "r").values()) == shown


def test_shadows_that_are_dropped_are_told_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    spec = WatchSpec(shadow=CheckSpec(verifier="exact_match"), share=1.0, impostors=False)
    items = [{"reference": msgspec.Raw(b'"5"'), "prompt": f"{at}?"} for at in range(300)]
    _, prober, _ = observed(items, spec)
    assert prober.counts["shadow_dropped"] == 300 - 256
    (line,) = [vars(record)["fields"] for record in caplog.records if record.message == "watch_probes_dropped"]
    assert (line["tenant"], line["run"], line["judge"], line["shadow_dropped"]) == ("maths", "r", "exact_match", 1)


@table("prompt", [{}, {"prompt": ""}, {"messages": []}], ids=["no prompt", "an empty one", "no messages"])
def test_without_a_prompt_tasks_are_told_apart_by_their_references(prompt: dict[str, Any]) -> None:
    items = [{"reference": msgspec.Raw(b'"%d"' % number), **prompt} for number in (5, 5, 6)]
    _, _, rates = observed(items, WatchSpec(impostors=False))
    assert sorted(rate.count for rate in rates.of("maths", "r").values()) == [1, 2]


@table("step", ["1e3", '"7"', "true", "9" * 400, str(2**63)])
def test_what_is_not_a_step_of_64_bits_is_not_one(step: str) -> None:
    metadata = msgspec.Raw(f'{{"step": {step}}}'.encode())
    item = {"reference": msgspec.Raw(b'"5"'), "prompt": "2 + 3?", "metadata": metadata}
    stream, _, rates = observed([item], WatchSpec(impostors=False))
    assert [run.step for run in stream.windows.runs("maths")] == [None]
    assert [rate.step for rate in rates.of("maths", "r").values()] == [0]
    assert stream.counts["bug"] == 0


def test_the_step_is_known_where_no_text_is_read() -> None:
    item = {"reference": msgspec.Raw(b'"5"'), "prompt": "2 + 3?", "metadata": msgspec.Raw(b'{"step": 12}')}
    stream, _, rates = observed([item], WatchSpec(impostors=False), share=0.0)
    assert [run.step for run in stream.windows.runs("maths")] == [12]
    assert [rate.step for rate in rates.of("maths", "r").values()] == [12]

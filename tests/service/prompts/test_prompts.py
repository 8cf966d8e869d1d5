"""Pass rates, near duplicates, and rows for trainers, from stored verdicts."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from service.cli.main import application
from service.prompts.collecting import collect
from service.prompts.duplicates import near_duplicates
from service.watch.pass_rates import Band, PassRate, PassRates, sampled
from tests.service.watch.recorded_runs import rows
from tests.tables import table


@table(
    "scores, band",
    [
        ((0, 0, 0, 0, 0), "never"),
        ((1, 1, 1, 1, 1), "always"),
        ((0, 0, 0, 1, 0), "hard"),
        ((0, 1, 0, 1), "medium"),
        ((1, 1, 0, 1), "easy"),
        ((1, 1, 1), "unknown"),
        ((0.4, 0.6, 0.4, 0.6), "medium"),
    ],
)
def test_the_band_of_a_prompt(scores: tuple[float, ...], band: Band) -> None:
    rate = PassRate("")
    for score in scores:
        rate.add([score], 0)
    assert rate.band == band


def test_older_steps_count_less() -> None:
    rate = PassRate("")
    for _ in range(8):
        rate.add([0.0], 0)
    for _ in range(8):
        rate.add([1.0], 100)
    assert rate.rate == pytest.approx(8 / (8 + 8 / 4))


def test_runs_and_tenants_are_apart_and_memory_is_bounded() -> None:
    rates = PassRates(40_000)
    rates.add(("a", "r", 1), [1.0], 0, lambda: "p")
    rates.add(("b", "r", 1), [0.0], 0, lambda: "p")
    assert rates.of("a", "r")[1].rate == 1.0
    assert rates.of("a", "other") == {}
    rates.add(("a", "later", 2), [0.0] * 4, 0, lambda: "q")
    assert list(rates.bands("a").items()) == [("later", {"never": 1}), ("r", {"unknown": 1})]
    assert rates.bands("b") == {"r": {"unknown": 1}}
    assert rates.bands("c") == {}
    for key in range(1000):
        rates.add(("a", "r", key), [1.0], 0, lambda: "p")
    assert 50 <= len(rates.of("a", "r")) <= 100


def test_a_sample_prefers_what_varies() -> None:
    rates = {key: PassRate("") for key in range(200)}
    for key, rate in rates.items():
        for at in range(8):
            rate.add([float(at % 2 if key < 20 else at < 7)], 0)
    drawn = sampled(rates, 40, ["easy", "medium"], by_variance=True, seed=1)
    assert len(drawn) == 40
    assert sum(key < 20 for key, _ in drawn) >= 8, "a tenth of the prompts, with twice the variance"
    assert sampled(rates, 5, ["never"], by_variance=True) == []


def test_near_duplicates_of_real_questions_are_told() -> None:
    questions = sorted({row["prompt"] for row in rows("math")})[:300]
    assert near_duplicates(questions) == []
    twins = [questions[5] + " Explain.", questions[9].replace("How many", "Tell me how many")]
    assert [first for first, _ in near_duplicates([*questions, *twins])][:1] == [5]
    other = questions[7].replace("2", "3") if "2" in questions[7] else questions[7] + " 5"
    assert near_duplicates([questions[7], other]) == []


def _log(path: Path) -> Path:
    solved = {"easy": (1, 1, 1, 0), "never": (0, 0, 0, 0), "half": (0, 1, 0, 1)}
    records: list[dict[str, Any]] = [
        {"status": "ok", "score": score, "prompt": f"{name} question, which is asked here", "reference": "4",
         "response": f"r{at}", "verifier": "math", "data_source": None if name == "half" else "set", "metadata": {"step": 3}}
        for name, scores in solved.items() for at, score in enumerate(scores)
    ]  # fmt: skip
    records.append({"status": "failed", "score": None, "prompt": "never asked", "reference": "1"})
    records += [{"status": "ok", "score": at % 2, "reference": f"of no prompt {at // 2}"} for at in range(8)]
    records.append(
        {"status": "invalid", "score": None, "reason": "bad_reference", "prompt": "impossible", "reference": "{"}
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@table(
    "trainer, columns, reference",
    [
        ("verl", {"data_source", "prompt", "ability", "reward_model", "extra_info"}, lambda row: row["reward_model"]["ground_truth"]),
        ("trl", {"prompt", "solution", "data_source", "index", "pass_rate", "responses", "band"}, lambda row: row["solution"]),
        ("prime-rl", {"prompt", "answer", "info"}, lambda row: row["answer"]),
    ],
)  # fmt: skip
def test_rows_have_the_columns_of_the_trainer(tmp_path: Path, trainer: str, columns: set[str], reference: Any) -> None:
    output = tmp_path / f"{trainer}.parquet"
    log = _log(tmp_path / "log.jsonl")
    result = CliRunner().invoke(
        application("dataset"), ["dataset", "filter", str(log), "-o", str(output), "--format", trainer]
    )
    assert result.exit_code == 0, result.output
    written = pq.read_table(output).to_pylist()
    assert {*written[0]} == columns
    assert [row["prompt"][0]["content"].split()[0] for row in written] == ["easy", "half"]
    assert [reference(row) for row in written] == ["4", "4"]
    assert [row["data_source"] for row in written if "data_source" in row] in (["set", "math"], [])


def test_stats_and_mix(tmp_path: Path) -> None:
    log, output = _log(tmp_path / "log.jsonl"), tmp_path / "mixed.parquet"
    run = CliRunner().invoke
    told = run(application("dataset"), ["dataset", "stats", str(log)]).output
    assert "8 prompts; 0 are near duplicates" in told
    assert "1 rows are impossible: no response to them can be judged (bad_reference)" in told
    options = ["dataset", "mix", str(log), "-o", str(output), "--share", "medium=0.5", "--count", "2"]
    assert run(application("dataset"), options).exit_code == 0
    assert len(pq.read_table(output)) == 1
    for wrong in ("medium=x", "midway=1", "medium=3", "unknown=1"):
        assert run(application("dataset"), [*options[:5], "--share", wrong]).exit_code == 2


def test_verdicts_of_score_are_read_with_the_rows_beside_them(tmp_path: Path) -> None:
    rows_path, run = tmp_path / "rollouts.jsonl", CliRunner().invoke
    rows_path.write_text(
        "".join(
            json.dumps({"question": "unread", "prompt": f"question {at % 3}?", "gold": "4", "output": text}) + "\n"
            for at, text in enumerate(["4", "5", "4"] * 4)
        )
    )
    scored = run(application("score"), ["score", str(rows_path), "--verifier", "exact_match"])
    assert scored.exit_code == 0, scored.output
    verdicts = tmp_path / "rollouts.verdicts.jsonl"
    for places in ([verdicts], [tmp_path]):
        prompts, damaged = collect(places)
        assert not damaged
        assert {key: prompt.rate.rate for key, prompt in prompts.items()} == {
            ("question 0?", "4"): 1.0,
            ("question 1?", "4"): 0.0,
            ("question 2?", "4"): 1.0,
        }
        assert {prompt.fields["verifier"] for prompt in prompts.values()} == {"exact_match"}
        assert [response.text for response in prompts["question 1?", "4"].responses] == ["5"] * 4
    verdicts.write_bytes(
        b"".join(line for at, line in enumerate(verdicts.read_bytes().splitlines(True)) if at in (0, 2, 5))
    )
    assert {key[0] for key in collect([verdicts])[0]} == {"question 1?"}, "a sample names its lines"
    rows_path.rename(tmp_path / "elsewhere.txt")
    assert (
        "the file that was scored is not beside it"
        in run(application("dataset"), ["dataset", "stats", str(verdicts)]).output
    )


@table(
    "arguments, message",
    [
        (["stats", "empty"], "no files to read in"),
        (["mix", "empty", "-o", "o", "--share", "medium=2"], "the shares add up to 2"),
        (["mix", "empty", "-o", "o", "--share", "medium=-1"], "write shares above 0"),
        (["mix", "empty", "-o", "o", "--share", "medium=0.5", "--share", "medium=0.2"], "medium has a share already"),
        (
            ["mix", "empty", "-o", "o", "--share", "medium=1", "--format", "trx"],
            "'trx' is not one of 'verl',",
        ),
        (["filter", "empty", "-o", "o", "--band", "harder"], "no band 'harder'"),
    ],
)
def test_mistakes_are_told_before_files_are_read(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "empty").mkdir(exist_ok=True)
    named = [str(tmp_path / word) if word in ("empty", "o") else word for word in arguments]
    result = CliRunner().invoke(application("dataset"), ["dataset", *named])
    assert (result.exit_code, message in result.output.replace("\n", " ")) == (2, True), result.output


def test_a_folder_may_hold_a_log_by_any_name(tmp_path: Path) -> None:
    _log(tmp_path / "audit-x.jsonl")
    assert len(collect([tmp_path])[0]) == 8


def test_a_mixture_says_which_band_ran_out(tmp_path: Path) -> None:
    log, output = _log(tmp_path / "log.jsonl"), tmp_path / "mixed.parquet"
    options = [
        "dataset",
        "mix",
        str(log),
        "-o",
        str(output),
        "--share",
        "medium=0.5",
        "--share",
        "easy=0.1",
        "--count",
        "10",
    ]
    result = CliRunner().invoke(application("dataset"), options)
    assert result.exit_code == 0
    assert "medium: 1 prompts for 5 rows" in result.output
    assert "easy: " not in result.output.partition("(")[0]


_LONG = "a question of many words"
_SYSTEM = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]},
]
_IMAGE = [
    {"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {}}]}
]


@table(
    "prompt, messages",
    [
        ({"prompt": "2 + 2?"}, [{"role": "user", "content": "2 + 2?"}]),
        ({"prompt": "as text", "prompt_messages": _SYSTEM}, [_SYSTEM[0], {"role": "user", "content": "2 + 2?"}]),
        ({"prompt": "as text", "prompt_messages": _IMAGE}, []),
        ({"prompt": "as text", "prompt_messages": '[{"role": "sys'}, []),
        ({"prompt": _LONG, "prompt_chars": len(_LONG)}, [{"role": "user", "content": _LONG}]),
        ({"prompt": _LONG, "prompt_chars": len(_LONG) + 1}, []),
        ({"prompt": _LONG, "reference": "cu", "reference_chars": 3}, []),
        ({"prompt": ""}, []),
    ],
    ids=["text", "messages", "an image", "cut messages", "whole", "cut", "a cut reference", "none"],
)
def test_trainers_get_the_messages_of_a_prompt_or_nothing(
    tmp_path: Path, prompt: dict[str, Any], messages: list[dict[str, str]]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"status": "ok", "score": 1, "reference": "4", **prompt}) + "\n")
    assert [prompt.messages for prompt in collect([log])[0].values()] == [messages]


def test_a_scored_file_with_messages_goes_out_as_messages(tmp_path: Path) -> None:
    rows_path = tmp_path / "rows.jsonl"
    row = {"verifier": "exact_match", "prompt": _SYSTEM, "reference": "4"}
    rows_path.write_text("".join(json.dumps({**row, "response": str(4 + at % 2)}) + "\n" for at in range(8)))
    output = tmp_path / "o.parquet"
    assert CliRunner().invoke(application("score"), ["score", str(rows_path)]).exit_code == 0
    arguments = ["dataset", "filter", str(tmp_path / "rows.verdicts.jsonl"), "-o", str(output)]
    assert CliRunner().invoke(application("dataset"), arguments).exit_code == 0
    assert [row["prompt"] for row in pq.read_table(output).to_pylist()] == [
        [_SYSTEM[0], {"role": "user", "content": "2 + 2?"}]
    ]


@table("step", [10**400, -(2**64), 1.5, True, "7", None])
def test_what_is_not_a_step_of_64_bits_is_not_one(tmp_path: Path, step: Any) -> None:
    log = tmp_path / "log.jsonl"
    record = {"status": "ok", "score": 1, "prompt": "p", "reference": "4", "metadata": {"step": step, "global_step": 9}}
    log.write_text(json.dumps(record) + "\n")
    assert [prompt.rate.step for prompt in collect([log])[0].values()] == [9]

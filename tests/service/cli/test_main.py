"""The commands as a user runs them."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from service.cli.main import COMMANDS, application
from tests.conftest import ROOT, rewardline
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually


def anew(*arguments: str) -> subprocess.CompletedProcess[str]:
    """As a user runs it, with its own interpreter and the settings of a user who has none."""
    command = [sys.executable, "-m", "service", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def verdicts(path: Path) -> list[dict[str, Any]]:
    first, *others = [json.loads(line) for line in path.read_text().splitlines()]
    assert list(first) == ["made_by"]
    return others


def rows(count: int) -> list[dict[str, Any]]:
    """Every third answer is wrong."""
    return [
        {"id": f"r{n}", "response": f"#### {n + (n % 3 == 0)}", "gold": str(n), "expected": n % 3 != 0}
        for n in range(count)
    ]


@pytest.mark.contract
def test_the_verdicts_are_in_the_order_of_the_lines(tmp_path: Path) -> None:
    source = write(tmp_path / "rollouts.jsonl", rows(600))
    done = anew("score", str(source), "--verifier", "numeric")
    assert done.returncode == 0, done.stderr
    found = verdicts(tmp_path / "rollouts.verdicts.jsonl")
    assert [row["line"] for row in found] == list(range(1, 601))
    assert [row["id"] for row in found] == [f"r{n}" for n in range(600)]
    assert [row["score"] for row in found] == [float(n % 3 != 0) for n in range(600)]
    assert "600 of 600 agree (100.00%)" in done.stdout
    assert "mean score 0.6667" in done.stdout


@pytest.mark.chaos
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", rows(2000)), tmp_path / "out.jsonl"
    out.symlink_to(tmp_path / "verdicts.jsonl")
    assert rewardline("score", str(source), "-o", str(out), "--verifier", "numeric").returncode == 0
    whole = out.read_text()
    lines = whole.splitlines(keepends=True)
    # What a killed run leaves: some whole lines and half of one. A mark in a whole line shows it is not judged again.
    marked = lines[8].replace('"reason":"correct"', '"reason":"marked"')
    assert marked != lines[8]
    missed = json.dumps({**json.loads(lines[9]), "status": "failed", "reason": "overloaded", "score": None}) + "\n"
    out.write_text("".join([*lines[:8], marked, missed, *lines[10:701]]) + lines[701][:30])
    done = rewardline("score", str(source), "-o", str(out), "--verifier", "numeric")
    assert done.returncode == 0, done.stderr
    assert "1301 lines" in done.stdout
    assert "699 lines were there before" in done.stdout
    assert "1,332" in done.stdout, "the table counts the whole file"
    assert "overloaded" not in done.stdout
    found = out.read_text().splitlines(keepends=True)
    assert found[8] == marked

    def timeless(line: str) -> dict[str, Any]:
        return {name: value for name, value in json.loads(line).items() if name not in ("elapsed_ms", "cached")}

    assert [timeless(line) for line in found[9:]] == [timeless(line) for line in lines[9:]]
    again = rewardline("score", str(source), "-o", str(out), "--verifier", "numeric", "--overwrite")
    assert "2000 lines" in again.stdout
    assert out.read_text().count('"marked"') == 0
    assert out.is_symlink(), "an output may be a link, or a device as /dev/stdout is one"


@pytest.mark.contract
def test_an_interrupt_leaves_whole_lines_and_says_how_to_go_on(tmp_path: Path) -> None:
    hard = [{"response": f"\\boxed{{\\sqrt{{x^{n % 90 + 2}+{n}}}}}", "gold": "\\sqrt{x+1}+y"} for n in range(60_000)]
    source, out = write(tmp_path / "in.jsonl", hard), tmp_path / "out.jsonl"
    command = ["env", "--default-signal=INT", sys.executable, "-m", "service"]
    command += ["score", str(source), "-o", str(out), "--verifier", "math"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        eventually(lambda: (out.exists() and out.read_bytes().count(b"\n") > 1) or process.poll() is not None)
        assert process.poll() is None, "it ended before it was interrupted"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said
    assert "continues" in said
    text = out.read_text()
    assert text.endswith("\n")
    assert 0 < len(verdicts(out)) < 60_000


@pytest.mark.load
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    row = json.dumps({"response": "x" * 20_000 + " 1", "gold": "1"}) + "\n"
    source = tmp_path / "large.jsonl"
    with source.open("w") as out:
        for _ in range(20_000):
            out.write(row)
    script = (
        "import sys; sys.argv[0] = 'rewardline'\n"
        "from service.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n    print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    command = [sys.executable, "-c", script, "score", str(source), "--verifier", "exact_match"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=True)
    peak_mb = int(done.stdout.rpartition("VmHWM:")[2].split()[0]) / 1000
    assert peak_mb < 250, f"{peak_mb} MB for a file of {source.stat().st_size / 1e6:.0f} MB"


def test_bad_lines_are_invalid_in_their_place(tmp_path: Path) -> None:
    good = {"response": "12", "gold": "12"}
    source = write(
        tmp_path / "in.jsonl",
        [good, "not json", "[1]", "", good, {**good, "gold": "a dozen or so"}, {**good, "response": None}],
    )
    done = rewardline("score", str(source), "--verifier", "numeric")
    assert done.returncode == 0, done.stderr
    found = verdicts(tmp_path / "in.verdicts.jsonl")
    assert [row["line"] for row in found] == [1, 2, 3, 5, 6, 7]
    assert [row["status"] for row in found] == ["ok", "invalid", "invalid", "ok", "invalid", "invalid"]
    assert [row["reason"] for row in found if row["line"] in (2, 3, 7)] == ["bad_json", "bad_json", "no_response"]
    assert "invalid no_response, first on line 7: the row has no response" in done.stdout


def test_a_file_of_which_nothing_can_be_judged_is_no_success(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"response": "12", "gold": "a dozen or so"}] * 2)
    done = rewardline("score", str(source), "--verifier", "numeric")
    assert done.returncode == 1
    assert "first on line 1: " in done.stdout


MISTAKES: list[tuple[list[str], str]] = [
    (["--verifier", "math"], 'was made with verifier "numeric", now "math"'),
    (["--recipe", "think_math"], 'recipe null, now "think_math"'),
    (["--verifier", "numeric", "--params", '{"abs_tol": 1}'], 'params null, now {"abs_tol": 1}'),
    (["--verifier", "numeric", "--reference-field", "id"], 'reference_field null, now "id"'),
    (["--verifier", "numeric", "--limit", "5"], "limit null, now 5"),
    (["--verifier", "numrc"], "there is no verifier 'numrc'; did you mean `numeric`?"),
    (["--recipe", "think_mth"], "there is no recipe 'think_mth'; did you mean `think_math`"),
    (["--verifier", "numeric", "--recipe", "think_math"], "name one"),
    ([], "name a --verifier or a --recipe"),
    (
        ["--verifier", "numeric", "--reference-field", "glod"],
        "has no field 'glod' (--reference-field); it has ['expected'",
    ),
    (["--verifier", "numeric", "--params", "[]"], "--params is not a JSON object"),
    (
        ["--verifier", "numeric", "--overwrite", "--params", '{"abs_tl": 1}'],
        "--params: params.abs_tl: no such parameter; did you mean `abs_tol`",
    ),
    (["--verifier", "numeric", "--url", "http://127.0.0.1:9"], "--url http://127.0.0.1:9: unreachable"),
    (["--verifier", "numeric", "--url", "127.0.0.1:9"], "--url 127.0.0.1:9: "),
]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = write(tmp_path_factory.mktemp("scored") / "in.jsonl", rows(10))
    assert rewardline("score", str(source), "--verifier", "numeric").returncode == 0
    return source


@pytest.mark.contract
@table(("options", "said"), MISTAKES)
def test_a_mistake_ends_before_the_first_row_and_changes_nothing(scored: Path, options: list[str], said: str) -> None:
    target = scored.with_suffix(".verdicts.jsonl")
    before = target.read_bytes()
    done = CliRunner().invoke(application("score"), ["score", str(scored), *options])
    assert (done.exit_code, done.stdout, said in done.stderr) == (2, "", True), done.stderr
    assert target.read_bytes() == before


@table(
    ("options", "said"),
    [
        (["in.jsonl", "--recipe", "think_mth"], "there is no recipe 'think_mth'; did you mean `think_math`"),
        (["in.jsonl", "--verifier", "math", "--recipe", "think_math"], "name one"),
        (["none.jsonl", "--verifier", "math"], "there is no file none.jsonl"),
        (["in.jsonl", "--verifier", "math", "--params", "7"], "--params is not a JSON object"),
        ([".", "--verifier", "math", "-o", "report.json"], "2 files, and --report is of one; name one file"),
    ],
)
def test_a_mistake_ends_an_audit_before_the_first_row(
    scored: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    monkeypatch.chdir(scored.parent)
    (scored.parent / "b.csv").touch()
    done = CliRunner().invoke(application("audit"), ["audit", *options])
    assert (done.exit_code, done.stdout, said in done.stderr) == (2, "", True), done.stderr


@pytest.mark.contract
def test_an_input_that_has_changed_is_not_continued(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", rows(3))
    assert rewardline("score", str(source), "--verifier", "numeric").returncode == 0
    write(source, [*rows(2), {"response": "5", "gold": "5"}])
    done = rewardline("score", str(source), "--verifier", "numeric")
    assert done.returncode == 2
    assert "was made with input" in done.stderr
    assert "--overwrite" in done.stderr
    assert rewardline("score", str(source), "--verifier", "numeric", "--overwrite").returncode == 0


def test_another_version_of_a_verifier_does_not_continue(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", rows(3)), tmp_path / "in.verdicts.jsonl"
    assert rewardline("score", str(source), "--verifier", "numeric").returncode == 0
    first, rest = out.read_text().split("\n", 1)
    made = json.loads(first)
    made["made_by"]["versions"]["numeric"] = "1"
    out.write_text(json.dumps(made) + "\n" + rest)
    done = rewardline("score", str(source), "--verifier", "numeric")
    assert done.returncode == 2
    assert "was made with version 1 of numeric" in done.stderr


def test_a_file_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", rows(3)), tmp_path / "notes.txt"
    out.write_text("mine\n")
    done = rewardline("score", str(source), "--verifier", "numeric", "-o", str(out))
    assert done.returncode == 2
    assert out.read_text() == "mine\n"


def test_an_output_that_is_the_input_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", rows(3))
    before = source.read_bytes()
    done = rewardline("score", str(source), "--verifier", "numeric", "-o", str(source), "--overwrite")
    assert done.returncode == 2
    assert "is an input" in done.stderr
    assert source.read_bytes() == before


def test_empty_cells_of_csv_are_empty_responses_and_absent_labels(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("response,gold,verifier,params\n,7,,\n7,7,,\n")
    done = rewardline("score", str(source), "--verifier", "numeric")
    assert done.returncode == 0, done.stderr
    found = verdicts(tmp_path / "in.csv.verdicts.jsonl")
    assert [(row["status"], row["score"]) for row in found] == [("ok", 0.0), ("ok", 1.0)]


@pytest.mark.contract
def test_what_json_cannot_hold_is_one_rows_verdict_with_a_service_too(tmp_path: Path, served: Any) -> None:
    lines = ['{"response": "7", "gold": NaN}', {"response": "7", "gold": "7"}, {"response": {}, "gold": "7"}]
    source = write(tmp_path / "in.jsonl", lines)
    for options in ((), ("--url", served.url)):
        done = rewardline("score", str(source), "--verifier", "math", "--overwrite", *options)
        assert done.returncode == 0, done.stderr
        found = verdicts(tmp_path / "in.verdicts.jsonl")
        assert [row["status"] for row in found] == ["invalid", "ok", "invalid"]
        assert found[2]["detail"]["message"] == "response: must be a text or a list; it is an object"


@pytest.mark.contract
def test_a_folder_is_scored_file_by_file(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", rows(4))
    (tmp_path / "a.json").write_text(json.dumps(rows(2)))
    (tmp_path / "a.csv").write_text("response,gold\n7,7\n")
    (tmp_path / "empty.json").write_text('{"samples": []}')
    (tmp_path / "results.json").write_text('{"results": {"gsm8k": 0.5}}')
    (tmp_path / "notes.txt").write_text("no rows")
    done = rewardline("score", str(tmp_path), "--verifier", "numeric")
    assert done.returncode == 0, done.stderr
    made = {path.name: len(verdicts(path)) for path in tmp_path.glob("*.verdicts.jsonl")}
    assert made == {"a.verdicts.jsonl": 4, "a.json.verdicts.jsonl": 2, "a.csv.verdicts.jsonl": 1}
    assert "empty.json has no row that is a JSON object; it is left out" in " ".join(done.stderr.split())
    assert "The file is one object, not a list of rows; it is left out" in " ".join(done.stderr.split())
    again = rewardline("score", str(tmp_path), "--verifier", "numeric")
    assert "7 lines were there before" in again.stdout


@pytest.mark.contract
def test_files_that_a_shell_has_made_of_a_pattern_are_scored(tmp_path: Path) -> None:
    sources = [write(tmp_path / name, rows(2)) for name in ("a.jsonl", "b.jsonl")]
    done = rewardline("score", *sources, sources[0], "--verifier", "numeric")
    assert "4 lines" in done.stdout, done.stderr
    assert len(verdicts(tmp_path / "b.verdicts.jsonl")) == 2
    assert rewardline("audit", *sources, "--verifier", "numeric").stdout.count(".jsonl: 2 rows; 0 with findings") == 2
    alone = rewardline("score", sources[0], "-", "--verifier", "numeric", "-o", tmp_path / "out")
    assert (alone.returncode, "- is standard input, and stands alone" in alone.stderr) == (2, True)


def test_a_file_without_a_row_says_what_its_first_line_is(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes("response,gold\né,5\n".encode("latin-1"))
    done = rewardline("score", tmp_path / "in.csv", "--verifier", "numeric")
    assert done.returncode == 2
    assert "(line 1: the row cannot be read: it is not UTF-8; write the file in UTF-8)" in " ".join(done.stderr.split())


def test_rows_from_standard_input_are_scored(tmp_path: Path) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows(5))
    for before in ("", "5 lines were there before"):
        done = rewardline("score", "-", "--verifier", "numeric", "-o", tmp_path / "out.jsonl", text=text)
        assert done.returncode == 0, done.stderr
        assert before in done.stdout
    assert len(verdicts(tmp_path / "out.jsonl")) == 5


@pytest.mark.contract
def test_a_sample_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", rows(200))

    def lines(seed: str) -> list[int]:
        out = tmp_path / "out.jsonl"
        options = ["--sample", "20", "--seed", seed, "--limit", "100", "--overwrite", "-o", str(out)]
        assert rewardline("score", str(source), "--verifier", "numeric", *options).returncode == 0
        return [row["line"] for row in verdicts(out)]

    first = lines("1")
    assert len(first) == 20
    assert max(first) <= 100
    assert lines("1") == first != lines("2")


COLUMNS: dict[str, dict[str, Any]] = {
    "TRL": {"prompt": "6+1?", "completion": [{"role": "assistant", "content": "7"}], "answer": "7"},
    "verl": {"input": "6+1?", "output": "7", "gts": "7", "score": 1.0, "step": 3},
    "verl's data sets": {"prompt": [], "reward_model": {"ground_truth": "7", "style": "rule"}, "responses": ["7"]},
    "slime": {"prompt": "6+1?", "response": "7", "label": "7"},
    "lm-eval": {"doc": {}, "target": "7", "resps": [["It is 7."]], "filtered_resps": ["[invalid]"]},
    "messages": {"messages": [{"role": "user", "content": "6+1?"}, {"role": "assistant", "content": "7"}], "gold": "7"},
    "messages as text": {"messages": json.dumps([{"role": "assistant", "content": "7"}]), "gold": "7"},
    "predictions": {"prediction": "7", "target": "7"},
    "answers": {"question": "6+1?", "answer": "7", "gold": "7"},
    "NeMo-Gym": {
        "response": {
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "7"}]}]
        },
        "expected_answer": "7",
    },
    "Inspect": {"target": "7", "output": {"choices": [{"message": {"role": "assistant", "content": "7"}}]}},
    "OpenAI's batches": {
        "response": {"body": {"choices": [{"message": {"role": "assistant", "content": "7"}}]}},
        "gold": "7",
    },
    "lists of one": {"responses": ["7"], "answer": "7"},
    "parameters in a table": {"response": "7.4", "gold": "7", "params": '{"abs_tol": 0.5}', "expected": True},
}


def test_columns_of_known_files_need_no_names(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", list(COLUMNS.values()))
    done = rewardline("score", str(source), "--verifier", "numeric")
    found = verdicts(tmp_path / "in.verdicts.jsonl")
    assert dict(zip(COLUMNS, [row["score"] for row in found], strict=True)) == dict.fromkeys(COLUMNS, 1.0), done.stdout
    assert "1 of 1 agree" in done.stdout


def test_a_file_without_responses_says_so(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"respones": "2", "ground_truth": "2"}])
    done = rewardline("score", str(source), "--verifier", "numeric")
    assert done.returncode == 2
    assert "line 1, has no field of response, completion, output" in done.stderr
    assert "did you mean `responses` or `response` or `resps`? Name one with --response-field" in done.stderr


@pytest.mark.contract
@table(
    ("row", "options", "code", "said"),
    [
        ({"response": "2", "refrence": "2"}, [], 2, "line 1: reference is missing (The number"),
        ({"response": "2", "refrence": "2"}, [], 2, "did you mean `reference`? Name one with --reference-field"),
        ({"response": "2", "label": True}, [], 2, "of the fields ['label', 'response'] none is one."),
        ({"response": "2", "gold": None}, [], 1, "; 'gold' of this row is empty"),
        ({"response": "2", "gold": "2"}, ["--reference-field", "gold.is"], 1, "; 'gold' of this row has no 'is'"),
    ],
)
def test_a_file_without_references_says_so(
    tmp_path: Path, row: dict[str, Any], options: list[str], code: int, said: str
) -> None:
    source = write(tmp_path / "in.jsonl", [row] * 2)
    done = rewardline("score", source, "--verifier", "numeric", "--overwrite", *options)
    assert (done.returncode, said in " ".join((done.stdout + done.stderr).split())) == (code, True), done


def test_one_row_without_a_reference_does_not_end_the_run(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"response": "7"}, {"response": "7", "gold": "7"}])
    done = rewardline("score", source, "--verifier", "numeric")
    assert done.returncode == 0, done.stderr
    found = verdicts(tmp_path / "in.verdicts.jsonl")
    assert [row["status"] for row in found] == ["invalid", "ok"]
    assert "of the fields ['response'] none is one" in found[0]["detail"]["message"]


def test_columns_can_be_named(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"text": "12", "right": {"is": "12"}, "ok": True, "gold": "13"}])
    named = ["--response-field", "text", "--reference-field", "right.is", "--label-field", "ok"]
    done = rewardline("score", str(source), "--verifier", "numeric", *named)
    assert "1 of 1 agree" in done.stdout


@pytest.mark.contract
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_a_running_service_gives_the_same_verdicts(tmp_path: Path, served: Any, door: str) -> None:
    source = write(tmp_path / "in.jsonl", rows(1500))
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    url = served.url if door == "http" else f"grpc://{served.grpc}"
    assert rewardline("score", str(source), "-o", str(here), "--verifier", "numeric").returncode == 0
    done = rewardline("score", str(source), "-o", str(there), "--verifier", "numeric", "--url", url)
    assert done.returncode == 0, done.stderr
    fields = ("line", "id", "status", "score", "reward", "reason", "verifier", "version", "extracted", "detail")

    def compared(path: Path) -> list[dict[str, Any]]:
        return [{name: row[name] for name in fields} for row in verdicts(path)]

    assert compared(here) == compared(there)


def test_without_arguments_it_says_what_it_can_do() -> None:
    done = rewardline()
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 100
    shown = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  rewardline ")}
    command = get_command(application(*COMMANDS))
    assert isinstance(command, TyperGroup)
    assert shown == set(command.commands)


def test_the_first_example_of_the_front_page_works() -> None:
    line = next(line for line in rewardline().stdout.splitlines() if line.startswith("  rewardline try"))
    done = rewardline(*shlex.split(line)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("math ")
    assert ": ok, score 1, reward 1 (correct)\nanswer: \\frac12\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["math", "--response", "7", "--reference", "8"], 0, "ok, score 0, reward 0 (wrong_answer)"),
        (["numeric", "--response", "7", "--reference", "a dozen or so"], 1, "invalid ("),
        (
            ["math", "--response", "7", "--reference", "7", "--params", '{"unit_policy": "nosuch"}'],
            1,
            "math: invalid (bad_params)\n",
        ),
        (
            ["think_math", "--response", "<think>so</think>7", "--reference", "7"],
            0,
            "check think_format: ok, score 1.0",
        ),
        (["exact_match", "--response", "b", "--reference-json", '["a", "b"]'], 0, "ok, score 1"),
        (["code", "--response", "```python\n1\n```", "--reference", "assert f(1) == 1"], 3, "failed ("),
    ],
)
def test_one_response_is_judged_and_explained(arguments: list[str], code: int, said: str) -> None:
    done = rewardline("try", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout


@table(
    ("arguments", "said"),
    [
        (["mth", "--response", "7", "--reference", "7"], "no verifier and no recipe 'mth'; did you mean `math`"),
        (["math", "--response", "7", "--params", "{"], "--params is not JSON"),
        (["math", "--response", "7", "--reference", "7", "--reference-json", "7"], "give one"),
        (["math", "--response", "7", "--reference-json", "[1,"], "--reference-json is not JSON"),
    ],
)
def test_what_cannot_be_tried_is_said(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(application("try"), ["try", *arguments])
    assert (done.exit_code, done.stdout, said in done.stderr) == (2, "", True), done.stderr


def test_a_response_from_standard_input_is_judged_by_a_running_service(served: Any) -> None:
    done = rewardline("try", "math", "--reference", "8", "--json", "--url", served.url, text="So it is 8.")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["status"], result["score"], result["extracted"]) == ("ok", 1.0, "8")
    assert result["detail"]["method"]


def test_the_counts_of_a_run_fit_80_columns(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", rows(60))
    done = rewardline("score", str(source), "--verifier", "numeric")
    table = [line for line in done.stdout.splitlines() if line.startswith(("│", "┃"))]
    assert max(map(len, table)) <= 80
    lengths = {line.split("│")[3].strip(): line.split("│")[5].count("█") for line in table if line.startswith("│")}
    assert lengths == {"correct": 13, "wrong_answer": 6}


def test_verifiers_are_listed_and_shown() -> None:
    listed = rewardline("verifiers").stdout
    for name in ("exact_match", "math", "multiple_choice", "numeric", "regex"):
        assert name in listed
    shown = json.loads(rewardline("verifiers", "numeric").stdout)
    assert shown["name"] == "numeric"
    assert shown["params_schema"]["properties"]["reference"]
    missing = rewardline("verifiers", "nosuch")
    assert missing.returncode == 2
    assert "there are" in missing.stderr


def test_serve_refuses_the_open_network_without_keys() -> None:
    done = anew("serve", "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "api_keys" in done.stderr


@pytest.mark.contract
def test_check_host_says_what_boxes_stop_here() -> None:
    done = anew("check-host", "--short", "--sandbox", "local", "--json")
    seen = {one["kind"]: one for one in json.loads(done.stdout)}
    assert set(seen) == {"local namespaces", "local landlock"}
    for one in seen.values():
        assert one["available"] or one["message"]
    here = [one for one in seen.values() if one["available"]]
    assert all(one["findings"] and one["caveats"] for one in here)
    assert done.returncode == (0 if here and all(one["held"] for one in here) else 1)


@pytest.mark.contract
def test_check_host_prints_a_table_for_people() -> None:
    done = anew("check-host", "--short", "--sandbox", "local")
    assert "attack" in done.stdout
    assert "network" in done.stdout
    assert "stopped" in done.stdout


@pytest.mark.contract
def test_check_host_without_any_boxes_is_no_success() -> None:
    done = anew("check-host", "--sandbox", "none", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (1, [])


@pytest.mark.contract
def test_garbage_is_collected_after_modules_are_loaded() -> None:
    script = (
        "import gc, sys\nfrom service.__main__ import main\nsys.argv = ['rewardline', 'try', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    print('collects:', gc.isenabled())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.endswith("collects: True\n")


CALL = {"name": "add", "arguments": {"a": 1}}
CALLING = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"type": "function", "function": {**CALL, "arguments": '{"a": 1}'}}],
    },
    {"role": "tool", "content": "2"},
]


@pytest.mark.contract
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_responses_are_messages_too_as_structures_or_as_their_json_text(tmp_path: Path, kind: str) -> None:
    responses: list[Any] = [CALLING, json.dumps(CALLING), [{"role": "assistant", "content": "2"}], "2", '[{"x": 1}]']
    source = tmp_path / f"rollouts.{kind}"
    if kind == "jsonl":
        write(source, [{"response": response, "reference": [CALL]} for response in responses])
    else:  # a column has one type: structures in one file, text in another
        table = {"completion": [CALLING, [{"role": "assistant", "content": "2"}]], "solution": [json.dumps([CALL])] * 2}
        parquet.write_table(pyarrow.table(table), source)
    done = rewardline("score", str(source), "--verifier", "tool_call")
    assert done.returncode == 0, done.stderr
    name = "rollouts.verdicts.jsonl" if kind == "jsonl" else "rollouts.parquet.verdicts.jsonl"
    scores = [row["score"] for row in verdicts(tmp_path / name)]
    assert scores == ([1.0, 1.0, 0.0, 0.0, 0.0] if kind == "jsonl" else [1.0, 0.0])


def test_a_line_of_an_audit_log_is_scored_by_its_messages(tmp_path: Path) -> None:
    line = {"response": "", "response_messages": CALLING, "reference": json.dumps([CALL])}
    source = write(tmp_path / "log.jsonl", [line])
    assert rewardline("score", str(source), "--verifier", "tool_call").returncode == 0
    assert [row["score"] for row in verdicts(tmp_path / "log.verdicts.jsonl")] == [1.0]


def test_an_unreadable_table_says_so(tmp_path: Path) -> None:
    source = tmp_path / "rollouts.parquet"
    source.write_bytes(b"PAR1 and no more")
    done = rewardline("score", str(source))
    assert done.returncode == 2
    assert "rollouts.parquet" in done.stderr

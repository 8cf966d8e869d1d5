"""The bench of graders counts what graders say, and goes on when one hangs or crashes."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from tests.accuracy.real_data import Rows
from tests.graders import bench, page
from tests.graders.__main__ import main, replayed
from tests.graders.bench import Environment, Tally
from tests.graders.sets import SHOWN_ROWS, all_sets, is_of_letters, plain, recording, xverify_examples

PYTHON = Path(sys.executable)
FAULTY = """
import json, os, sys
print("null", flush=True)
for line in sys.stdin:
    gold, response = json.loads(line)
    while response == "hang":
        pass
    if response == "child":
        os.fork() or os.execlp("sh", "sh", "-c", "while :; do :; done")
        os.wait()
    if response == "crash":
        os._exit(3)
    print(json.dumps(None if response == "refuse" else gold == response), flush=True)
"""
OWN_GRADER = '''
"""A grader of the user's: the whole response, without blanks."""


@grader("the text itself")
def make():
    return lambda gold, response: gold.split() == response.split()


@grader("a slow one")
def slow():
    import signal

    def judge(gold, response):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.alarm(1)
        try:
            while True:
                pass
        except KeyboardInterrupt:
            return signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)

    return judge
'''

REPLAYED = ["CompassVerifier", "xVerify"]
NAMED = [
    *(
        "Math-Verify",
        "verl gsm8k",
        "verl math_reward",
        "verl math_dapo",
        "verl prime_math",
        "TRL",
        "Open R1",
        "NeMo-Gym math",
    ),
    *(
        "open-instruct",
        "slime math",
        "OpenRLHF",
        "ROLL math",
        "Inspect",
        "lm-eval gsm8k",
        "lm-eval minerva",
        "SimpleEvals m",
    ),
    *REPLAYED,
]


def rows(*responses: str, labels: list[bool], name: str = "rows") -> Rows:
    items = [{"verifier": "math", "reference": "1", "response": response} for response in responses]
    return Rows(name, items, list(labels))


def test_a_grader_is_asked_about_each_row() -> None:
    asked = rows(r"It is $\boxed{1}$.", r"It is $\boxed{2}$.", labels=[True, True])
    (tally,) = bench.judged(Environment(PYTHON), "Math-Verify", [asked])
    assert list(tally.answers) == [True, False]
    assert [row["response"] for row in tally.disagreements] == [asked.items[1]["response"]]


@pytest.mark.accuracy
def test_hangs_and_crashes_are_counted_and_the_next_rows_are_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(FAULTY)
    monkeypatch.setattr(bench, "WORKER", worker)
    monkeypatch.setattr(bench, "MOST_CPU_S", 0.5)
    asked = rows("1", "hang", "child", "crash", "refuse", "2", "1", labels=[True, True, True, True, True, True, False])
    (tally,) = bench.judged(Environment(PYTHON), "faulty", [asked])
    assert list(tally.answers) == [True, "hang", "hang", "crash", None, False, True]
    line = list(bench.table([tally]))[-1]
    assert line.startswith("| faulty | 7 | 14.3% | 1 | 1 | 1 | 2 | 1 |")


@pytest.mark.accuracy
def test_a_grader_is_added_by_a_file_of_twenty_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN_GRADER)
    assert len(OWN_GRADER.split("@grader")[1].splitlines()) < 20
    main([str(PYTHON), "--grader", str(own), "--only", "the text", "--sets", "Inspect", "--most", "31"])
    table = capsys.readouterr().out
    assert "| the text itself | 31 | 29.0% | 0 | 22 |" in table


@pytest.mark.accuracy
def test_a_time_limit_of_a_grader_counts_the_time_of_the_processor(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN_GRADER)
    (tally,) = bench.judged(Environment(PYTHON, own=own), "a slow one", [rows("1", labels=[True])])
    assert tally.answers == [True]
    assert tally.cpu_s >= 0.9


def test_what_is_known_is_not_asked_again() -> None:
    known = Tally("Math-Verify", rows("1", "gone", labels=[True, True]), [False, False], 4.0)
    (tally,) = bench.judged(Environment(PYTHON), "Math-Verify", [rows("1", "2", labels=[True, True])], {"rows": known})
    assert tally.answers == [False, False]
    assert tally.cpu_s < 4.0


def test_what_models_said_of_rows_is_a_grader_of_these_alone(tmp_path: Path) -> None:
    file = tmp_path / "recorded.jsonl"
    said = [{"model": True}, {"model": True}, {"other": False}]
    lines = (
        {"gold": "1", "response": str(index), "expected": not index, "said": row} for index, row in enumerate(said)
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    replay = recording(file)
    model, other = replayed(replay)
    assert (list(model.answers), list(other.answers)) == ([True, True, None], [None, None, False])
    more = Rows("more", replay.rows.items, replay.rows.labels)
    assert list(bench.by_set([model, Tally("ours", more, [True] * 3, 0.0)]))[2:] == [
        "| recorded verdicts | 3 | 33.3% (1) |  |",
        "| more | 3 |  | 33.3% (2) |",
    ]


def test_the_verdicts_of_xverify_are_read_from_its_page(tmp_path: Path) -> None:
    example = '    "correct_answer": "{}",\n    "llm_output": "{}",\n    "xVerify_judgment": "{}"\n'
    values = [("1", r"\\frac{1}{1}", "Correct"), ("2", r"\frac \mathcal", "Correct"), ("3", "4", "Incorrect")]
    text = "".join(example.format(*value) for value in [*values, values[0], ("words", "words", "Correct")])
    (tmp_path / "xverify").mkdir()
    (tmp_path / "xverify/README.md").write_text(text)
    replay = xverify_examples(tmp_path)
    assert [row[1] for row in bench.rows_of(replay.rows)] == [r"\frac{1}{1}", r"\frac \mathcal", "4", r"\frac{1}{1}"]
    (tally,) = replayed(replay)
    assert (list(tally.answers), tally.disagreements) == ([True, True, False, True], [])


def test_a_source_is_the_file_that_is_pinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pins = tmp_path / "sources.toml"
    digest = hashlib.sha256(b"x = 1").hexdigest()
    pins.write_text(f'[made]\nrepository = "R"\ncommit = "C"\nfiles."a.py" = "{digest}"\n')
    monkeypatch.setattr(bench, "SOURCES", pins)
    (tmp_path / "made").mkdir()
    source = tmp_path / "made" / "a.py"
    source.write_bytes(b"x = 1")
    assert bench.checked(tmp_path) == tmp_path
    for content in (b"x = 2", None):
        source.unlink() if content is None else source.write_bytes(content)
        with pytest.raises(ValueError, match="check out C of R"):
            bench.checked(tmp_path)


def test_there_are_twelve_sets_of_rows_with_labels() -> None:
    sets = all_sets()
    assert len(sets) >= 12
    assert all(each.items and None not in each.labels for each in sets)
    assert [each.name for each in sets if is_of_letters(each)] == [
        "reports: multiple_choice",
        "GAOKAO-Bench, real answers",
        "MATH-V, real answers",
    ]


def test_rows_with_parameters_are_for_ours_alone() -> None:
    items = [
        {"reference": "1", "response": "1", "params": params} for params in ({}, {"choices": ["a"]}, {"abs_tol": 1})
    ]
    assert len(plain(Rows("rows", items, [True, False, True])).items) == 2


def test_the_page_keeps_what_was_not_asked_again_and_says_where_ours_is_behind(tmp_path: Path) -> None:
    hostile = rows(
        "</script><script>alert(1)</script>", "2", "\0", labels=[True, False, False], name="recorded verdicts"
    )
    hidden = rows("secret", labels=[True], name=SHOWN_ROWS)
    old = [
        Tally("Rewardline", hostile, [True, True, None], 1.0),
        Tally("other", hostile, [True, False, "hang"], 2.0),
        Tally("other", rows("3", labels=[True]), [True], 2.0),
        Tally("other", hidden, [True], 0.0),
    ]
    markdown, html = tmp_path / "page.md", tmp_path / "page.html"
    markdown.write_text("before\n<!-- measured -->\nold\n<!-- end -->\nafter\n")
    page.write(old, page=markdown, rows=html)
    assert html.read_text().count("</script>") == page.TEMPLATE.read_text().count("</script>")
    assert "secret" not in html.read_text() + markdown.read_text()
    again = page.read(html)
    assert [(tally.grader, tally.rows.name, list(tally.answers)) for tally in again] == [
        ("Rewardline", "recorded verdicts", [True, True, None]),
        ("other", "recorded verdicts", [True, False, "hang"]),
        ("other", "rows", [True]),
        ("other", SHOWN_ROWS, [True]),
    ]
    shorter = rows("</script><script>alert(1)</script>", "2", labels=[True, False], name="recorded verdicts")
    other = rows("4", labels=[True])
    new = [Tally("Rewardline", shorter, [True, True], 1.0), Tally("Rewardline", other, [True], 1.0)]
    whole = page.merged(again, new, [shorter, other])
    assert [(tally.grader, tally.rows.name) for tally in whole] == [
        ("Rewardline", "recorded verdicts"),
        ("Rewardline", "rows"),
        ("other", "recorded verdicts"),
        ("other", SHOWN_ROWS),
    ]
    text = "\n".join(page.standing(whole))
    assert "in 2 of 3 sets" in text
    assert "Not in *recorded verdicts*: more rows are right for other" in text
    assert list(page.changes(again, [Tally("other", shorter, [True, True], 0.0)])) == [
        "other, recorded verdicts: 1 answers differ from docs/graders-rows.html"
    ]


def test_a_row_in_doubt_counts_as_it_is_labelled_and_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "doubts", lambda: {("1", "2", False): "says one"})
    asked = rows("1", "2", labels=[True, False])
    tallies = [Tally(page.OURS, asked, [True, True], 1.0), Tally("other", asked, [True, False], 1.0)]
    first, second, *_ = page.standing(tallies)
    assert "in 0 of 1 sets" in first
    assert "in 1 of 1 without the 1 rows" in second
    assert list(page.doubtful(tallies))[2:] == ["| rows | `` 1 `` | `` 2 `` | wrong | says one | right | 1 of 1 |"]


def test_the_page_has_every_named_grader_and_the_tables_of_its_rows() -> None:
    tallies = page.read()
    text = page.PAGE.read_text(encoding="utf-8")
    lines = (*page.standing(tallies), *bench.table(tallies), *bench.by_set(tallies))
    assert [line for line in lines if line not in text.splitlines()] == []
    graders = {tally.grader.split(",")[0] for tally in tallies}
    assert {name for name in NAMED if not any(grader.startswith(name) for grader in graders)} == set()
    by_grader = {
        name: [tally for tally in tallies if tally.grader.startswith(name)] for name in NAMED[: -len(REPLAYED)]
    }
    assert all(len({tally.rows.name for tally in own}) >= 12 for own in by_grader.values())
    assert [line for line in lines if line.startswith("* Not in") and "; " not in line] == []  # each with its reason
    assert page.ROWS.stat().st_size < 5_000_000

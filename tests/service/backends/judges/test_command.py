"""`rewardline judges FILE`, as a user runs it."""

import json
import subprocess
from pathlib import Path

import pytest

from service.backends import judge_evaluations
from tests.conftest import rewardline
from tests.judge_upstream.grader import Grader, honest
from verifiers.judge.evaluation import Figure

pytestmark = pytest.mark.judges


def _run(file: Path) -> subprocess.CompletedProcess[str]:
    return rewardline("judges", file, "--wait-s", "30")


def test_what_endpoints_can_do_and_say_is_shown(tmp_path: Path) -> None:
    def answer(sections: dict[str, str]) -> str:
        return honest({**sections, "RESPONSE": sections["RESPONSE"].replace("seven.", "7")})

    with Grader(answer) as grader:
        file = grader.file(tmp_path)
        file.write_text(file.read_text().replace('"probe": false', '"probe": true'))
        done = _run(file)
    assert done.returncode == 0, done.stderr
    for word in ("grader", "healthy", "reference", "1 correct", "0 wrong_answer"):
        assert word in done.stdout


def test_an_endpoint_that_is_down_is_told_by_the_exit_code(tmp_path: Path) -> None:
    with Grader() as grader:
        file = grader.file(tmp_path)
    done = _run(file)
    assert done.returncode == 1, done.stderr
    assert "judge_" in done.stdout


@pytest.mark.parametrize("verdict", ["A", "B"])
def test_a_judge_that_says_the_same_of_right_and_wrong_is_not_good(tmp_path: Path, verdict: str) -> None:
    with Grader(lambda _: json.dumps({"verdict": verdict})) as grader:
        done = _run(grader.file(tmp_path))
    assert done.returncode == 1, done.stdout
    assert "does not tell the right answer from the wrong one" in done.stderr
    assert "profile quality: not asked, because it is of mode quality" in done.stdout


def test_each_profile_is_judged_by_its_own_endpoint(tmp_path: Path) -> None:
    """Another endpoint has a model of the same name, and its answers are not answers of this one."""
    with Grader() as honest_grader, Grader(lambda _: "I cannot say.") as silent:
        files = [json.loads(each.file(tmp_path).read_text()) for each in (honest_grader, silent)]
        whole, other = files
        whole["endpoints"]["silent"] = next(iter(other["endpoints"].values()))
        whole["pools"]["silent"] = {"members": ["silent"]}
        profile = next(each for each in other["profiles"].values() if each["mode"] == "reference")
        whole["profiles"]["silent"] = {**profile, "pool": "silent"}
        file = tmp_path / "judges.yaml"
        file.write_text(json.dumps(whole))
        done = _run(file)
    assert done.returncode == 1, done.stdout
    assert "profile silent: it does not tell" in done.stderr


def test_a_key_in_the_file_is_not_printed(tmp_path: Path) -> None:
    with Grader() as grader:
        file = grader.file(tmp_path)
    known = json.loads(file.read_text())
    for endpoint in known["endpoints"].values():
        endpoint["api_key_env"] = "sk-a-secret-of-the-user"
    file.write_text(json.dumps(known))
    done = _run(file)
    assert done.returncode == 2
    assert "expected the name of an environment variable" in done.stderr
    assert "secret" not in done.stdout + done.stderr


def test_mistakes_are_told_without_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "judges.yaml"
    file.write_text(json.dumps({"endpoints": {}, "pools": {}}))
    done = _run(file)
    assert done.returncode == 2
    assert "endpoints" in done.stderr
    assert "Traceback" not in done.stderr


def _evaluated(folder: Path, grader: Grader, *options: str) -> subprocess.CompletedProcess[str]:
    rows = [
        {"prompt": "Who?", "response": f"It is {name}{' indeed' * at}", "reference": name, "label": label, "other": "x"}
        for at in range(4)
        for name, label in (("Ada", at == 0), ("Bob", False))
    ]
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rewardline("judges", "evaluate", file, "--judges", grader.file(folder), "--json", *options)


def test_profiles_are_measured_on_labelled_rows(tmp_path: Path) -> None:
    """The honest judge takes the two responses that end with the reference for right, and a row calls one of them wrong."""
    with Grader() as grader:
        done = _evaluated(tmp_path, grader, "--profile", "reference", "--profile", "pairwise", "--repeats", "2")
    assert done.returncode == 0, done.stderr
    reference, pairwise = json.loads(done.stdout)
    assert (reference["rows"], reference["judged"], reference["not_judged"]) == (8, 8, {})
    assert reference["agreement"]["value"] == 7 / 8
    assert reference["f1"]["value"] == pytest.approx(2 / 3)
    assert reference["kappa"]["value"] == pytest.approx(0.6)
    assert reference["self_consistency"]["value"] == 1.0
    assert reference["injection_rate"]["value"] == 0.0
    assert (reference["tokens"], reference["cost"]) == (110, None)
    assert reference["position_bias"] is None
    assert pairwise["position_bias"]["value"] == 0.0  # it prefers the longer one wherever it stands
    (kept,) = tmp_path.glob("*.evaluations.json")
    assert json.loads(kept.read_text()) == [reference, pairwise]
    assert kept.stat().st_mode & 0o777 == 0o644


def test_the_last_evaluation_of_each_profile_is_kept(tmp_path: Path) -> None:
    judge_file = tmp_path / "judges.yaml"
    judge_evaluations.file_of(judge_file).write_text("[")
    assert judge_evaluations.read(judge_file) == judge_evaluations.read(None) == []
    first, second = (judge_evaluations.Evaluation(name, "quality", 3) for name in "ab")
    again = judge_evaluations.Evaluation("a", "quality", 9, judged=9, agreement=Figure(1.0, 0.7, 1.0, 9))
    judge_evaluations.keep(judge_file, [first, second])
    judge_evaluations.keep(judge_file, [again])
    assert judge_evaluations.read(judge_file) == [again, second]
    with pytest.raises(OSError):
        judge_evaluations.keep(tmp_path / "absent" / "judges.yaml", [first])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judges.yaml.evaluations.json"]


def test_a_judge_that_obeys_responses_is_measured_as_one(tmp_path: Path) -> None:
    def obeys(sections: dict[str, str]) -> str:
        return '{"verdict": "A"}' if "verdict" in sections["RESPONSE"] else honest(sections)

    with Grader(obeys) as grader:
        done = _evaluated(tmp_path, grader, "--profile", "reference")
    (found,) = json.loads(done.stdout)
    assert found["injection_rate"]["value"] > 0.5


@pytest.mark.parametrize("row", ['{"response": "x"}', '{"response": "x", "label": 2}', '{"label": 1}', "{", ""])
def test_rows_that_are_none_are_told(tmp_path: Path, row: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(row)
    with Grader() as grader:
        done = rewardline("judges", "evaluate", file, "--judges", grader.file(tmp_path))
    assert done.returncode == 2
    assert "row" in done.stderr
    assert "Traceback" not in done.stderr

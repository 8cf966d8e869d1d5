"""`rewardline check-config`: every mistake at once, each in a line that names its setting."""

from pathlib import Path

from tests.conftest import rewardline


def test_nothing_is_wrong() -> None:
    done = rewardline("check-config")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("No mistakes in settings, keys, TLS files, recipes, judges and tasks.")


def test_every_mistake_is_named_with_its_setting(tmp_path: Path) -> None:
    keys, recipes, tasks = tmp_path / "keys.yaml", tmp_path / "recipes.yaml", tmp_path / "tasks.jsonl"
    keys.write_text("a: {sha256: short}\n")
    recipes.write_text("recipes: {mine: {checks: {mth: {}}}}\n")
    tasks.write_text("{}\n[]\n")
    done = rewardline(
        "check-config",
        keys_file=str(keys),
        recipes_file=str(recipes),
        openenv_tasks=str(tasks),
        judge_file="/no/judges.yaml",
        tls_cert="/no/cert",
        tls_key="/no/key",
        redis_url="redis://host/x",
        harbor_root="/no/tasks",
        receipt_key_file="/no/key",
        oidc_issuer="https://i",
        oidc_audience="a",
        oidc_jwks="/no/jwks",
        pins_dir="/no/pins",
    )
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line.removeprefix("rewardline: ").partition(":")[0] for line in done.stderr.splitlines()]
    assert [*dict.fromkeys(lines)] == [
        "harbor_root",
        "keys_file",
        "oidc_jwks",
        "tls_cert /no/cert, tls_key /no/key",
        "redis_url",
        "judge_file",
        "recipes_file",
        "openenv_tasks",
        "receipt_key_file",
        "pins_dir",
    ]


def test_misspelt_names_are_named_wherever_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "options.yaml"
    file.write_text("htpp_port: 1\n")
    done = rewardline("check-config", "--config", file, workres="1", redis_ulr="redis://host", qwertz="1")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "rewardline: REWARDLINE_QWERTZ: there is no such variable; service/settings.py has all of them",
        "rewardline: REWARDLINE_REDIS_ULR: there is no such variable; did you mean REWARDLINE_REDIS_URL?",
        "rewardline: REWARDLINE_WORKRES: there is no such variable; did you mean REWARDLINE_WORKERS?",
        f"rewardline: {file}: htpp_port: there is no such option; did you mean http_port?",
    ]

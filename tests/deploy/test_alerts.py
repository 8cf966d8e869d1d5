"""Alerts, autoscalers and probes against the service itself: every metric, label value and path that they name is there."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from deploy.kubernetes import render
from sandbox.boxes.pool.counters import Reason
from service.backends.boxes import STATES
from service.backends.task_containers import STATES as DAEMON_STATES
from tests.conftest import Served, serving
from tests.deploy.manifests import of_kind, of_rewardline, rendered
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.deploy

RULES = render.RULES
UNIT_TESTS = RULES.with_name("rewardline_test.yml")
RUNBOOK = render.ROOT / "docs/runbook.md"
_METRIC = re.compile(r"\brewardline_[a-z0-9_]+")
JUDGES = {
    "endpoints": {"one": {"base_url": "http://127.0.0.1:9/v1", "model": "judge"}},
    "pools": {"judges": {"members": ["one"]}},
    "profiles": {"equivalence": {"mode": "reference", "pool": "judges"}},
}
EXAMPLES = 2
"""Of each verifier, sent to a service without boxes."""


def _rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in _rules() if "alert" in rule}


def _promtool(*arguments: str, folder: Path = RULES.parent) -> str:
    program = shutil.which("promtool")
    assert program is not None, "promtool is missing: `make prometheus` installs it"
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_prometheus_takes_the_rules_and_each_alert_fires_when_it_should_and_only_then() -> None:
    _promtool("check", "rules", "--lint-fatal", RULES.name)
    assert "SUCCESS" in _promtool("test", "rules", UNIT_TESTS.name)


def test_each_alert_is_tested_both_ways() -> None:
    tried: dict[str, set[bool]] = {}
    for test in yaml.safe_load(UNIT_TESTS.read_text())["tests"]:
        for each in test["alert_rule_test"]:
            tried.setdefault(each["alertname"], set()).add(bool(each["exp_alerts"]))
    assert tried == {name: {True, False} for name in _alerts()}


def test_each_alert_says_what_to_do_and_the_runbook_knows_no_others() -> None:
    headings = re.findall(r"^## (Rewardline\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert sorted(headings) == sorted(_alerts())
    for name, rule in _alerts().items():
        assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{name.lower()}"
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_the_operator_gets_the_same_rules() -> None:
    (rule,) = of_kind(rendered("prod"), "PrometheusRule")
    assert rule["spec"] == yaml.safe_load(RULES.read_text())


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with all that has metrics, and without boxes."""
    folder = tmp_path_factory.mktemp("operated")
    (folder / "judges.yaml").write_text(yaml.safe_dump(JUDGES))
    judges, audit = str(folder / "judges.yaml"), str(folder / "audit")
    log = folder / "log.jsonl"
    with serving(log, ops_port="0", sandbox="none", workers="1", judge_file=judges, audit_dir=audit) as server:
        yield server


@pytest.fixture(scope="module")
def metrics(operated: Served) -> str:
    return httpx.get(f"{operated.ops}/metrics").text


def _known(metrics: str) -> set[str]:
    """Every name of a series that may be asked for."""
    found: set[str] = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", metrics, re.MULTILINE):
        found |= {f"{name}_{part}" for part in ("bucket", "count", "sum")} if kind == "histogram" else {name}
    return found


def test_every_metric_that_an_alert_or_an_autoscaler_names_is_there(metrics: str) -> None:
    asked = [rule["expr"] for rule in _rules()]
    asked += [query for name in ("prod", "hardened") for query in _queries(name)]
    asked.append((render.HERE / "components/prometheus-adapter/adapter-rules.yaml").read_text())
    made_by_adapter = {"rewardline_queued_work_seconds_front_peak", "rewardline_queued_work_seconds_boxes_peak"}
    named = {name for text in asked for name in _METRIC.findall(text)} - made_by_adapter
    assert len(named) > 20
    assert named - _known(metrics) == set()


def _queries(name: str) -> list[str]:
    triggers = [trigger for each in of_kind(rendered(name), "ScaledObject") for trigger in each["spec"]["triggers"]]
    return [trigger["metadata"]["query"] for trigger in triggers if trigger["type"] == "prometheus"]


def test_every_recorded_series_that_is_used_is_recorded() -> None:
    recorded = {rule["record"] for rule in _rules() if "record" in rule}
    used = {name for rule in _alerts().values() for name in re.findall(r"\brewardline:[a-z0-9_:]+", rule["expr"])}
    assert used <= recorded


def test_label_values_that_alerts_name_exist() -> None:
    text = RULES.read_text()
    (states,) = re.findall(r'sandbox_state\{state=~"([^"]+)"', text)
    assert set(states.split("|")) <= set(STATES)
    (daemon,) = re.findall(r'task_daemon_state\{state="([^"]+)"', text)
    assert daemon in DAEMON_STATES
    (reasons,) = re.findall(r'boxes_ended_total\{reason=~"([^"]+)"', text)
    assert set(reasons.split("|")) <= set(Reason)
    (restarts,) = re.findall(r'worker_restarts_total\{reason=~"([^"]+)"', text)
    pool = (render.ROOT / "sandbox/workers/pool.py").read_text()
    assert [reason for reason in restarts.split("|") if f'"{reason}"' not in pool] == []


def test_external_metrics_of_the_adapter_are_those_that_the_autoscaler_asks_for() -> None:
    rules = yaml.safe_load((render.HERE / "components/prometheus-adapter/adapter-rules.yaml").read_text())
    asked = {
        metric["external"]["metric"]["name"]
        for each in of_kind(rendered("hardened"), "HorizontalPodAutoscaler")
        for metric in each["spec"]["metrics"]
        if metric["type"] == "External"
    }
    assert {rule["name"]["as"] for rule in rules["externalRules"]} == asked


def test_the_paths_of_probes_and_hooks_answer_on_the_port_for_operations(operated: Served) -> None:
    for each in of_rewardline(rendered("prod")):
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert httpx.get(f"{operated.ops}{each.container[probe]['httpGet']['path']}").status_code == 200


def test_box_hosts_are_scaled_by_the_verifiers_that_need_boxes(operated: Served) -> None:
    items = [
        _item(verifier["name"], example)
        for verifier in httpx.get(f"{operated.url}/v1/verifiers").json()["verifiers"]
        for example in verifier["examples"][:EXAMPLES]
        if verifier["name"] != "judge"
    ]
    results = httpx.post(f"{operated.url}/v1/score", json={"items": items}, timeout=PATIENCE_S).json()["results"]
    assert sum(result["status"] == "invalid" for result in results) < len(results) / 4
    need = {result["verifier"] for result in results if result["reason"] == "sandbox_unavailable"}
    patterns = re.findall(r'verifier=~"([^"]+)"', "".join(_queries("prod")) + _recorded("boxes"))
    assert [set(pattern.split("|")) for pattern in patterns] == [need, need]
    others = re.findall(r'verifier!~"([^"]+)"', "".join(_queries("prod")) + _recorded("front"))
    assert [set(pattern.split("|")) for pattern in others] == [need | {"judge", "reward_model"}] * 2


def _item(verifier: str, example: dict[str, Any]) -> dict[str, Any]:
    params = dict(example["params"])
    fields = {name: params.pop(name) for name in ("reference",) if name in params}
    return fields | {
        "verifier": verifier,
        "response": example["response"],
        "prompt": example["prompt"],
        "params": params,
    }


def _recorded(part: str) -> str:
    return next(
        str(rule["expr"]) for rule in _rules() if rule.get("record") == f"rewardline:queued_work_seconds:{part}"
    )


def test_a_burst_counts_for_ten_minutes_and_then_no_more(tmp_path: Path) -> None:
    """Replicas for a square wave: those for the last step's burst are still there when the next comes."""
    series = 'rewardline_queued_work_seconds{namespace="rewardline",verifier="%s",pod="%s"}'
    burst = "0 0 120 40 0x100"
    given = [
        {"series": series % (verifier, pod), "values": burst} for verifier in ("math", "code", "judge") for pod in "ab"
    ]
    front, boxes = _queries("prod")
    test: dict[str, Any] = {
        "evaluation_interval": "15s",
        "tests": [
            {
                "interval": "15s",
                "input_series": given,
                "promql_expr_test": [
                    {"expr": query, "eval_time": at, "exp_samples": [{"labels": "{}", "value": value}]}
                    for query in (front, boxes)
                    for at, value in (("15s", 0), ("1m", 240), ("10m", 240), ("11m15s", 0))
                ],
            }
        ],
    }
    (tmp_path / "burst.yml").write_text(yaml.safe_dump(test))
    assert "SUCCESS" in _promtool("test", "rules", "burst.yml", folder=tmp_path)

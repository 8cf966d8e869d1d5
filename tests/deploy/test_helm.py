"""The chart: the same objects as the kustomization, with values put in, and values that make no sense refused."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from deploy.kubernetes import render, tools
from tests.deploy.manifests import Object, Workload, kit, named, of_kind, of_rewardline, parsed, rendered

CHART = render.CHART
PROD: dict[str, Any] = {
    "image": {
        "front": {"repository": "registry.example.com/rewardline-server"},
        "boxHost": {"repository": "registry.example.com/rewardline-box-host"},
    },
    "autoscaling": {"by": "keda"},
    "monitoring": {"enabled": True},
    "secrets": {"redis": {"required": True}},
    "network": {
        "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 6379, "protocol": "TCP"}]}]
    },
}
EVERYTHING: dict[str, Any] = {
    "autoscaling": {"by": "prometheus-adapter"},
    "judges": {"configMap": "rewardline-judges"},
    "recipes": {"configMap": "rewardline-recipes"},
    "secrets": {
        "tls": {"name": "rewardline-tls", "clientCertificates": True},
        "boxHostTls": {"boxes": "rewardline-boxes-tls", "front": "rewardline-front-tls"},
    },
    "boxHost": {"isolation": "namespaces"},
    "tracing": {"endpoint": "http://otel-collector.monitoring:4318"},
    "dashboard": {"enabled": True},
}


@pytest.fixture(scope="module")
def programs() -> tools.Tools:
    return kit()


class Chart:
    """The chart with values of a test."""

    def __init__(self, programs: tools.Tools, folder: Path) -> None:
        self._programs = programs
        self._file = folder / "values.yaml"

    def objects(self, values: dict[str, Any], namespace: str = "rewardline") -> list[Object]:
        self._file.write_text(yaml.safe_dump(values))
        return parsed(self._programs.template(CHART, "--namespace", namespace, "--values", str(self._file)))

    def refusal(self, values: dict[str, Any]) -> str:
        with pytest.raises(subprocess.CalledProcessError) as refused:
            self.objects(values)
        return str(refused.value.stderr)


@pytest.fixture
def chart(programs: tools.Tools, tmp_path: Path) -> Chart:
    return Chart(programs, tmp_path)


def test_the_schema_has_the_names_of_all_settings_but_secrets() -> None:
    assert (CHART / "values.schema.json").read_text(encoding="utf-8") == render.schema(), (
        "run `python -m deploy.kubernetes.render`"
    )
    names = json.loads(render.schema())["definitions"]["setting"]["enum"]
    assert "REWARDLINE_WORKERS" in names
    assert "REWARDLINE_API_KEYS" not in names


@pytest.mark.deploy
def test_lint_finds_nothing(programs: tools.Tools) -> None:
    done = subprocess.run([programs.helm, "lint", "--strict", str(CHART)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_chart_makes_what_the_overlay_for_production_makes(chart: Chart) -> None:
    assert _plain(chart.objects(PROD)) == _plain(
        [each for each in rendered("prod") if each["kind"] != "Namespace"],
    )


def test_the_chart_makes_box_hosts_within_gvisor_as_the_component_does(chart: Chart) -> None:
    made = _plain(chart.objects({"boxHost": {"isolation": "gvisor", "runtimeClassName": "rewardline-boxes"}}))
    boxes, wanted = (
        each["Deployment rewardline-boxes"]["spec"]["template"]["spec"] for each in (made, _plain(rendered("gvisor")))
    )
    boxes["containers"][0]["image"] = wanted["containers"][0]["image"]
    assert boxes == wanted


def test_the_chart_can_make_what_the_components_make(chart: Chart) -> None:
    made = _plain(chart.objects(EVERYTHING))
    wanted = _plain(rendered("hardened"))
    # They are not in the chart; nor is a tag in the rendered file, which is made without an overlay.
    left_out = {name for name in wanted if name.startswith(("Job ", "RuntimeClass ", "PersistentVolumeClaim "))}
    assert made.keys() == wanted.keys() - left_out
    for name in made.keys() - {"Deployment rewardline", "Deployment rewardline-boxes"}:
        assert made[name] == wanted[name]
    boxes, wanted_boxes = (each["Deployment rewardline-boxes"]["spec"]["template"]["spec"] for each in (made, wanted))
    boxes["containers"][0]["image"] = wanted_boxes["containers"][0]["image"]
    assert boxes == wanted_boxes
    front, wanted_front = (each["Deployment rewardline"]["spec"]["template"]["spec"] for each in (made, wanted))
    _drop_audit_log(wanted_front)
    for field in ("env", "volumeMounts"):
        assert _sorted(front["containers"][0][field]) == _sorted(wanted_front["containers"][0][field])
    assert _sorted(front["volumes"]) == _sorted(wanted_front["volumes"])
    assert front["containers"][0]["envFrom"] == wanted_front["containers"][0]["envFrom"]


def _drop_audit_log(pod: Object) -> None:
    container = pod["containers"][0]
    pod["volumes"] = [each for each in pod["volumes"] if each["name"] != "audit"]
    container["volumeMounts"] = [each for each in container["volumeMounts"] if each["name"] != "audit"]
    container["env"] = [each for each in container["env"] if each["name"] not in ("REWARDLINE_AUDIT_DIR", "POD_NAME")]


def _sorted(things: list[Object]) -> list[Object]:
    return sorted(things, key=lambda each: str(each["name"]))


_OF_HELM = ("app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart")
_HASH = re.compile(r"\b(rewardline(?:-boxes)?)-[a-z0-9]{10}$")


def _plain(objects: list[Object]) -> dict[str, Object]:
    """Objects by kind and name, less what Helm and kustomize each do in their own way."""
    found: dict[str, Object] = {}
    for each in objects:
        copied: Object = json.loads(json.dumps(each), object_hook=_unhashed)
        copied["metadata"]["labels"] = {
            name: value for name, value in copied["metadata"]["labels"].items() if name not in _OF_HELM
        }
        copied["metadata"].pop("namespace", None)
        name = copied["metadata"].pop("name").replace("to-others", "to-redis")
        if each["kind"] == "NetworkPolicy":
            copied["metadata"].pop("labels")
        copied["spec"].get("template", {}).get("metadata", {}).pop("annotations", None) if "spec" in copied else None
        found[f"{each['kind']} {name}"] = copied
    return found


def _unhashed(thing: Object) -> Object:
    return thing | {"name": _HASH.sub(r"\1", thing["name"])} if isinstance(thing.get("name"), str) else thing


@pytest.mark.deploy(beyond=1)
@pytest.mark.parametrize("values", [{}, PROD, EVERYTHING], ids=["defaults", "prod", "everything"])
def test_kubernetes_takes_what_the_chart_makes(chart: Chart, values: dict[str, Any]) -> None:
    for each in chart.objects(values):
        if each["kind"] not in ("ScaledObject", "ServiceMonitor", "PrometheusRule"):
            kubernetes_validate.validate(each, "1.37", strict=True)


def test_objects_go_to_the_namespace_of_the_release_and_so_do_queries(chart: Chart) -> None:
    objects = chart.objects({"autoscaling": {"by": "keda"}}, namespace="rl")
    assert {each["metadata"]["namespace"] for each in objects} == {"rl"}
    for each in of_kind(objects, "ScaledObject"):
        assert 'namespace="rl"' in each["spec"]["triggers"][0]["metadata"]["query"]


def test_values_reach_the_pods(chart: Chart) -> None:
    digest = f"sha256:{'0' * 64}"
    objects = chart.objects(
        {
            "image": {"front": {"digest": digest}, "boxHost": {"tag": "9.9"}, "pullSecrets": [{"name": "pull"}]},
            "front": {
                "replicas": 7,
                "settings": {"REWARDLINE_ITEM_DEADLINE_S": "20"},
                "resources": {"requests": {"cpu": 8}, "limits": {"cpu": 8, "memory": "8Gi"}},
                "nodeSelector": {"pool": "cpu"},
            },
            "boxHost": {"tolerations": [], "nodeSelector": {}},
            "secrets": {"keys": "my-keys", "boxHosts": "my-hosts", "redis": {"name": ""}},
        }
    )
    front, boxes = (
        Workload(named(objects, "Deployment", name), objects) for name in ("rewardline", "rewardline-boxes")
    )
    assert front.object["spec"]["replicas"] == 7
    assert front.container["image"] == f"rewardline-server@{digest}"
    assert boxes.container["image"] == "rewardline-box-host:9.9"
    assert front.pod["imagePullSecrets"] == [{"name": "pull"}]
    assert front.environment["REWARDLINE_ITEM_DEADLINE_S"] == "20"
    assert front.environment["REWARDLINE_WORKERS"] == "8"
    assert front.pod["nodeSelector"] == {"pool": "cpu"}
    assert "nodeSelector" not in boxes.pod
    assert "tolerations" not in boxes.pod
    assert "REWARDLINE_REDIS_URL" not in front.environment
    assert [each["secret"]["secretName"] for each in front.pod["volumes"] if "secret" in each] == ["my-keys"]
    assert [each["secret"]["secretName"] for each in boxes.pod["volumes"] if "secret" in each] == ["my-hosts"]


VARIABLES: list[dict[str, Any]] = [
    {"name": "REWARDLINE_JUDGE_FENCE_SECRET", "valueFrom": {"secretKeyRef": {"name": "fences", "key": "secret"}}},
    {"name": "REWARDLINE_WORKERS", "value": "3"},
]
OWN: dict[str, Any] = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "cpu", "operator": "In", "values": ["new"]}]}]
            }
        },
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": "other"}}}
            ]
        },
    },
    "priorityClassName": "training",
    "annotations": {"deployment": {"a/b": "1"}, "pod": {"c/d": "2"}, "service": {"e/f": "3"}},
    "env": VARIABLES,
    "envFrom": [{"secretRef": {"name": "more", "optional": True}}, {"configMapRef": {"name": "others"}}],
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "nodeSelector": {"pool": "mine"},
}


@pytest.mark.deploy
@pytest.mark.parametrize(("part", "name"), [("front", "rewardline"), ("boxHost", "rewardline-boxes")])
def test_pods_get_what_a_cluster_asks_of_them(chart: Chart, part: str, name: str) -> None:
    objects, plain = chart.objects({part: OWN}), chart.objects({})
    for each in objects:
        if each["kind"] not in ("ScaledObject", "ServiceMonitor", "PrometheusRule"):
            kubernetes_validate.validate(each, "1.37", strict=True)
    changed, before = (Workload(named(every, "Deployment", name), every) for every in (objects, plain))
    pod = changed.pod
    assert (pod["priorityClassName"], pod["nodeSelector"]) == ("training", OWN["nodeSelector"])
    assert pod["tolerations"] == OWN["tolerations"]
    assert pod["affinity"]["nodeAffinity"] == OWN["affinity"]["nodeAffinity"]
    rules = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    kept = (
        before.pod.get("affinity", {})
        .get("podAntiAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution", [])
    )
    assert rules == kept + OWN["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert len(kept) == (part == "boxHost"), "a node has one box host, whatever else is asked"
    assert changed.object["metadata"]["annotations"] == {"a/b": "1"}
    assert changed.template["metadata"]["annotations"].keys() == {"rewardline/settings", "c/d"}
    variables = changed.container["env"]
    assert [
        each for each in variables if each["name"] in ("REWARDLINE_JUDGE_FENCE_SECRET", "REWARDLINE_WORKERS")
    ] == VARIABLES
    assert len({each["name"] for each in variables}) == len(variables)
    assert changed.container["envFrom"] == before.container["envFrom"] + OWN["envFrom"]
    services = {each["metadata"]["name"]: each["metadata"].get("annotations") for each in of_kind(objects, "Service")}
    own = {"rewardline", "rewardline-grpc", "rewardline-ops"} if part == "front" else {"rewardline-boxes"}
    assert {service for service, annotations in services.items() if annotations == {"e/f": "3"}} == own
    # The other part stays as it was.
    (other,) = {"rewardline", "rewardline-boxes"} - {name}
    assert named(objects, "Deployment", other) == named(plain, "Deployment", other)


def test_changed_settings_replace_the_pods_they_are_for(chart: Chart) -> None:
    def marks(values: dict[str, Any]) -> list[str]:
        deployments = of_kind(chart.objects(values), "Deployment")
        return [each["spec"]["template"]["metadata"]["annotations"]["rewardline/settings"] for each in deployments]

    before, after = marks({}), marks({"front": {"settings": {"REWARDLINE_WORKER_MEMORY_MB": "256"}}})
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, False]
    traced = marks({"tracing": {"endpoint": "http://collector:4318"}})
    assert [one != other for one, other in zip(before, traced, strict=True)] == [True, False]


def test_without_box_hosts_nothing_of_them_is_left(chart: Chart) -> None:
    objects = chart.objects({"boxHost": {"enabled": False}, "autoscaling": {"by": "cpu"}})
    (front,) = of_rewardline(objects)
    assert front.environment["REWARDLINE_SANDBOX"] == "none"
    assert not {"REWARDLINE_BOX_HOSTS", "REWARDLINE_BOX_HOSTS_KEY"} & front.environment.keys()
    assert [each["metadata"]["name"] for each in objects if each["metadata"]["name"].endswith("boxes")] == []


def test_without_keys_the_service_is_open_because_it_says_so(chart: Chart) -> None:
    for each in of_rewardline(chart.objects({"secrets": {"keys": ""}})):
        assert each.environment["REWARDLINE_ALLOW_OPEN"] == "1"
        assert "REWARDLINE_KEYS_FILE" not in each.environment
        assert [volume["name"] for volume in each.pod["volumes"]] == ["tmp"]


def test_without_a_collector_nothing_of_traces_is_there(chart: Chart) -> None:
    objects = chart.objects({})
    for each in of_rewardline(objects):
        assert not [name for name in each.environment if "OTLP" in name or "TRACE" in name]
        assert [source.keys() for source in each.container["envFrom"]] == [{"configMapRef"}]
    assert [each["metadata"]["name"] for each in objects if "collector" in each["metadata"]["name"]] == []


@pytest.mark.parametrize(
    ("endpoint", "port"),
    [
        ("http://collector:4318", 4318),
        ("https://collector.example.com/otlp/v1/traces", 443),
        ("http://collector", 80),
        ("http://[fd00::1]:55681/v1/traces", 55681),
    ],
)
def test_fronts_may_reach_the_collector_that_is_named_at_its_port(chart: Chart, endpoint: str, port: int) -> None:
    peers = [{"ipBlock": {"cidr": "192.0.2.7/32"}}]
    objects = chart.objects({"tracing": {"endpoint": endpoint, "share": 0.25, "collector": peers, "secret": "headers"}})
    front, boxes = of_rewardline(objects)
    assert front.environment["REWARDLINE_OTLP_ENDPOINT"] == endpoint
    assert float(front.environment["REWARDLINE_TRACE_SHARE"]) == 0.25
    assert {"secretRef": {"name": "headers", "optional": True}} in front.container["envFrom"]
    policy = named(objects, "NetworkPolicy", "rewardline-to-collector")["spec"]
    assert policy["egress"] == [{"to": peers, "ports": [{"port": port, "protocol": "TCP"}]}]
    assert "REWARDLINE_OTLP_ENDPOINT" not in boxes.environment


def test_the_dashboard_has_the_labels_that_a_sidecar_is_told_to_look_for(chart: Chart) -> None:
    wanted = {"labels": {"grafana_dashboard": None, "team/dashboards": "yes"}, "annotations": {"grafana_folder": "RL"}}
    settings = {"REWARDLINE_ITEM_DEADLINE_S": "20"}
    objects = chart.objects({"dashboard": {"enabled": True, **wanted}, "front": {"settings": settings}})
    found = named(objects, "ConfigMap", "rewardline-dashboard")
    assert found["metadata"]["labels"]["team/dashboards"] == "yes"
    assert "grafana_dashboard" not in found["metadata"]["labels"]
    assert found["metadata"]["annotations"] == {"grafana_folder": "RL"}
    assert found["data"].keys() == {"rewardline.json"}


@pytest.mark.deploy(beyond=3)
@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"replicas": 3}, "replicas"),
        ({"boxHost": {"isolation": "docker"}}, "isolation"),
        ({"autoscaling": {"by": "magic"}}, "by"),
        ({"autoscaling": {"front": {"min": 0, "max": 4}}}, "min"),
        ({"front": {"settings": {"REWARDLINE_API_KEYS": "a=0123456789abcdef"}}}, "REWARDLINE_API_KEYS"),
        ({"front": {"settings": {"REWARDLINE_WORKERS": 4}}}, "REWARDLINE_WORKERS"),
        ({"front": {"settings": {"REWARDLINE_WORKRES": "4"}}}, "REWARDLINE_WORKRES"),
        ({"front": {"resources": {"limits": {"cpu": 4, "memory": "4Gi"}}}}, "requests"),
        ({"front": {"env": [{"name": "REWARDLINE_API_KEYS", "value": "a=0123456789abcdef"}]}}, "valueFrom"),
        ({"front": {"env": [{"name": "A"}]}}, "env"),
        ({"front": {"envFrom": [{"secretRef": {}}]}}, "name"),
        ({"boxHost": {"affinity": {"podAfinity": {}}}}, "podAfinity"),
        ({"boxHost": {"annotations": {"pod": {"a": 1}}}}, "annotations"),
        ({"secrets": {"keys": "Not_A_Name"}}, "keys"),
        ({"secrets": {"boxHosts": ""}}, "boxHosts"),
        ({"secrets": {"boxHostTls": {"boxes": "rewardline-boxes-tls"}}}, "boxHostTls"),
        ({"network": {"callers": []}}, "callers"),
        ({"network": {"callers": [{}]}}, "callers"),
        ({"image": {"front": {"digest": "latest"}}}, "digest"),
        ({"tracing": {"endpoint": "collector:4318"}}, "endpoint"),
        ({"tracing": {"endpoint": "http://name:key@collector:4318"}}, "endpoint"),
        ({"tracing": {"share": 2}}, "share"),
        ({"tracing": {"collector": []}}, "collector"),
        ({"dashboard": {"labels": {"grafana_dashboard": 1}}}, "grafana_dashboard"),
        ({"boxHost": {"isolation": "gvisor"}}, "set boxHost.runtimeClassName"),
    ],
)
def test_values_that_make_no_sense_are_refused(chart: Chart, values: dict[str, Any], complaint: str) -> None:
    assert complaint in chart.refusal(values)

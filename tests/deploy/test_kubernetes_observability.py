"""Traces and the dashboard in the manifests: sent where the way is open, and found by Grafana's sidecar."""

import json
from urllib.parse import urlsplit

from deploy.kubernetes import render
from tests.deploy.manifests import named, of_rewardline, rendered

_MOST_THAT_APPLY_TAKES = 262_144
"""`kubectl apply` keeps the object in an annotation of itself."""


def test_the_collector_that_fronts_send_to_is_one_they_reach() -> None:
    objects = rendered("hardened")
    front = next(each for each in of_rewardline(objects) if each.name == "rewardline")
    address = urlsplit(front.environment["REWARDLINE_OTLP_ENDPOINT"])
    (rule,) = named(objects, "NetworkPolicy", "rewardline-to-collector")["spec"]["egress"]
    assert [port["port"] for port in rule["ports"]] == [address.port]
    assert address.hostname is not None
    namespace = address.hostname.split(".")[1]
    (peer,) = rule["to"]
    assert peer == {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}


def test_box_hosts_are_not_told_of_a_collector_that_they_cannot_reach() -> None:
    boxes = next(each for each in of_rewardline(rendered("hardened")) if each.name == "rewardline-boxes")
    assert "REWARDLINE_OTLP_ENDPOINT" not in boxes.environment


def test_grafanas_sidecar_finds_the_dashboard_as_it_is_here() -> None:
    found = named(rendered("hardened"), "ConfigMap", "rewardline-dashboard")
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert found["data"].keys() == {"rewardline.json"}
    shown = json.loads(found["data"]["rewardline.json"])
    assert shown == json.loads(render.DASHBOARD.read_text(encoding="utf-8"))
    assert len(json.dumps(found)) < _MOST_THAT_APPLY_TAKES
    # A sidecar knows no name of a data source: it is chosen in the dashboard.
    assert shown["templating"]["list"][0]["type"] == "datasource"

"""What the manifests keep apart: box hosts from everything, callers from operators, programs from the node."""

import json

import pytest

from deploy.docker import build
from deploy.kubernetes import render
from tests.deploy.engine import Engine
from tests.deploy.manifests import RENDERED, Workload, of_kind, of_rewardline, rendered, selects, workloads

NAMES = sorted(RENDERED)
COMPONENTS = render.HERE / "components"
FRONT = {"app.kubernetes.io/name": "rewardline", "app.kubernetes.io/part-of": "rewardline"} | {
    "app.kubernetes.io/component": "front"
}
BOX_HOST = FRONT | {"app.kubernetes.io/component": "box-host"}


def test_nobody_on_a_node_shares_the_user_of_its_box_host() -> None:
    """The kernel counts processes by user and node: a program's limit on them would be used up by others."""
    for name in NAMES:
        every = list(workloads(rendered(name)))
        boxes = [each for each in every if each.labels["app.kubernetes.io/component"] == "box-host"]
        others = {each.pod["securityContext"]["runAsUser"] for each in every if each not in boxes}
        for each in boxes:
            assert each.pod["securityContext"]["runAsUser"] not in others
            (rule,) = each.pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            assert rule["topologyKey"] == "kubernetes.io/hostname"
            assert all(selects(rule["labelSelector"], other.labels) for other in boxes)


@pytest.mark.parametrize("name", NAMES)
def test_box_hosts_reach_nothing_and_are_reached_by_fronts_alone(name: str) -> None:
    policies = of_kind(rendered(name), "NetworkPolicy")
    for labels in [each.labels for each in workloads(rendered(name))]:
        holding = [each["spec"] for each in policies if selects(each["spec"]["podSelector"], labels)]
        assert {kind for spec in holding for kind in spec["policyTypes"]} == {"Ingress", "Egress"}
    boxes = [each["spec"] for each in policies if selects(each["spec"]["podSelector"], BOX_HOST)]
    assert [rule for spec in boxes for rule in spec.get("egress", [])] == []
    doors = [rule for spec in boxes for rule in spec.get("ingress", [])]
    assert [port["port"] for rule in doors for port in rule["ports"]] == ["http", "ops"]
    assert doors[0]["from"] == [
        {"podSelector": {"matchLabels": {k: v for k, v in FRONT.items() if not k.endswith("part-of")}}}
    ]


@pytest.mark.parametrize("name", NAMES)
def test_fronts_reach_only_what_is_named(name: str) -> None:
    policies = of_kind(rendered(name), "NetworkPolicy")
    fronts = [each["spec"] for each in policies if selects(each["spec"]["podSelector"], FRONT)]
    for rule in [rule for spec in fronts for rule in spec.get("egress", [])]:
        assert rule["to"]
        assert all(peer for peer in rule["to"])
        assert {"cidr": "0.0.0.0/0"} not in [peer.get("ipBlock") for peer in rule["to"]]
    for rule in [rule for spec in fronts for rule in spec.get("ingress", [])]:
        assert rule["from"]
        assert all(peer for peer in rule["from"])
        ports = {port["port"] for port in rule["ports"]}
        assert ports in ({"http", "grpc"}, {"ops"}), "who may call may not drain, and who watches may not call"


@pytest.mark.parametrize("name", NAMES)
def test_only_those_who_watch_reach_the_operators_port(name: str) -> None:
    """Neither box hosts nor callers do, and no Service that callers use leads there."""
    objects = rendered(name)
    for labels in (FRONT, BOX_HOST):
        rules = [
            rule
            for each in of_kind(objects, "NetworkPolicy")
            if selects(each["spec"]["podSelector"], labels)
            for rule in each["spec"].get("ingress", [])
            if "ops" in {port["port"] for port in rule["ports"]}
        ]
        monitoring = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
        assert [rule["from"] for rule in rules] == [[monitoring]]
    for each in of_kind(objects, "Service"):
        ports = {port["targetPort"] for port in each["spec"]["ports"]}
        assert "ops" not in ports or each["metadata"]["labels"].get("rewardline/scrape") == "ops"


def test_the_seccomp_profile_denies_what_boxes_and_their_host_never_need() -> None:
    profile = json.loads((COMPONENTS / "namespaced-boxes/rewardline-boxes.json").read_text())
    denied = {name for rule in profile["syscalls"] for name in rule["names"] if rule["action"] == "SCMP_ACT_ERRNO"}
    assert {
        "bpf",
        "kexec_load",
        "init_module",
        "ptrace",
        "io_uring_setup",
        "open_by_handle_at",
        "userfaultfd",
    } <= denied
    # With these boxes are made.
    assert (
        not {"unshare", "mount", "pivot_root", "mount_setattr", "clone", "seccomp", "landlock_restrict_self"} & denied
    )


@pytest.mark.deploy
@pytest.mark.parametrize(("name", "kind"), [("prod", "local landlock"), ("hardened", "local namespaces")])
def test_boxes_hold_under_the_security_context_that_the_manifests_give(
    docker_images: Engine, name: str, kind: str
) -> None:
    """All attacks, in a container as closed as the pod; Docker cannot put it into a user namespace of its own as well."""
    boxes = next(each for each in of_rewardline(rendered(name)) if each.name == "rewardline-boxes")
    command = ["docker", "run", "--rm", "--network=none", "--tmpfs=/tmp:mode=1777,exec"]
    command += ["--env=REWARDLINE_HOST=127.0.0.1", *_closed(boxes)]
    command += [build.BOX_HOST.name, "check-host", "--sandbox", "local", "--json"]
    tried = {each["kind"]: each for each in json.loads(docker_images.run(*command))}
    assert tried[kind]["available"]
    assert tried[kind]["held"]
    assert len(tried[kind]["findings"]) > 15
    assert tried["local namespaces"]["available"] is (name == "hardened"), (
        "what namespaces need, the base does not give"
    )


def _closed(each: Workload) -> list[str]:
    """A pod's security context in Docker's words."""
    pod, own = each.pod["securityContext"], each.container["securityContext"]
    said = [f"--user={pod['runAsUser']}:{pod['runAsGroup']}", "--read-only", "--security-opt=no-new-privileges"]
    said += [f"--cap-drop={capability}" for capability in own["capabilities"]["drop"]]
    said += [f"--cap-add={capability}" for capability in own["capabilities"].get("add", [])]
    if own.get("procMount") == "Unmasked":
        said.append("--security-opt=systempaths=unconfined")
    if pod["seccompProfile"]["type"] == "Localhost":
        profile = COMPONENTS / "namespaced-boxes" / pod["seccompProfile"]["localhostProfile"]
        said.append(f"--security-opt=seccomp={profile}")
    return said

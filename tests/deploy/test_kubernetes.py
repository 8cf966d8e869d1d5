"""The manifests: made from what is committed, valid, consistent with the service, and as closed as they say."""

import copy
import json
import os
import re
from collections.abc import Iterator

import jsonschema_rs
import kubernetes_validate
import pytest

from deploy.kubernetes import render
from service import settings
from service.cli import drain
from tests.deploy.manifests import (
    RENDERED,
    SCHEMAS,
    Object,
    Workload,
    kit,
    label_of,
    named,
    of_kind,
    of_rewardline,
    parsed,
    quantity,
    rendered,
    selects,
    workloads,
)

NAMES = sorted(RENDERED)
VERSIONS = ("1.33", "1.35", "1.37")
CLUSTERS = [name for name in NAMES if name != "dev"]
"""Renderings that stand for real clusters."""
COMPONENTS = render.HERE / "components"
MB = 1e6


def test_what_is_committed_is_what_would_be_rendered_now() -> None:
    stale = [
        str(path.relative_to(render.ROOT))
        for path, text in render.made(kit()).items()
        if not path.exists() or parsed(path.read_text(encoding="utf-8")) != parsed(text)
    ]
    assert stale == [], "run `python -m deploy.kubernetes.render`"


def test_every_component_is_rendered_somewhere() -> None:
    used = "".join((folder / "kustomization.yaml").read_text() for folder in RENDERED.values())
    assert [each.name for each in COMPONENTS.iterdir() if f"components/{each.name}" not in used] == []


@pytest.mark.deploy(beyond=1)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_every_object_with_nothing_misspelt(name: str, version: str) -> None:
    for each in rendered(name):
        if (SCHEMAS / f"{each['kind']}.json").exists():
            _crd(each["kind"]).validate(each)
        else:
            kubernetes_validate.validate(each, version, strict=True)


def test_a_misspelt_field_is_found() -> None:
    front = copy.deepcopy(named(rendered("prod"), "Deployment", "rewardline"))
    front["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(front, VERSIONS[-1], strict=True)
    scaled = copy.deepcopy(named(rendered("prod"), "ScaledObject", "rewardline"))
    scaled["spec"]["triggers"][0]["metadata"]["treshold"] = "1"
    assert not _crd("ScaledObject").is_valid(scaled)


def _crd(kind: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(json.loads((SCHEMAS / f"{kind}.json").read_text()))


def _all(names: list[str] = NAMES) -> Iterator[Workload]:
    for name in names:
        yield from workloads(rendered(name))


def test_every_container_has_requests_and_limits_and_those_that_judge_have_what_they_ask_for() -> None:
    for each in _all():
        resources = each.container["resources"]
        for kind in ("requests", "limits"):
            assert set(resources[kind]) == {"cpu", "memory", "ephemeral-storage"}, each.name
    for name in CLUSTERS:
        for each in of_rewardline(rendered(name)):
            requests, limits = each.container["resources"]["requests"], each.container["resources"]["limits"]
            # Less CPU than expected turns time limits of programs into verdicts; a part of a core makes no worker.
            assert requests["cpu"] == limits["cpu"]
            assert quantity(limits["cpu"]).is_integer()
            assert requests["memory"] == limits["memory"]


def test_pods_are_restricted_but_for_what_namespaced_boxes_say_they_need() -> None:
    for each in _all():
        assert _faults(each) == []
    hardened = {each.name: each for each in workloads(rendered("hardened"))}
    for name in ("rewardline-boxes", "rewardline-check-host"):
        pod, container = hardened[name].pod, hardened[name].container
        assert pod["hostUsers"] is False
        assert pod["securityContext"]["seccompProfile"]["localhostProfile"] == "rewardline-boxes.json"
        assert container["securityContext"]["capabilities"]["add"] == ["SETGID", "SETUID"]
    in_gvisor = {each.name: each for each in workloads(rendered("gvisor"))}
    for name in ("rewardline-boxes", "rewardline-check-host"):
        assert in_gvisor[name].pod["runtimeClassName"] == "rewardline-boxes"
        rights = ["DAC_OVERRIDE", "KILL", "SETGID", "SETUID", "SYS_ADMIN", "SYS_CHROOT"]
        assert in_gvisor[name].container["securityContext"]["capabilities"]["add"] == rights
    assert "runtimeClassName" not in in_gvisor["rewardline"].pod


def _faults(each: Workload) -> list[str]:
    """What the Pod Security level `restricted`, and a little more, has to say against a pod."""
    pod, container = each.pod, each.container
    context, own = pod["securityContext"], container["securityContext"]
    in_user_namespace = pod.get("hostUsers") is False
    in_gvisor = pod.get("runtimeClassName") == "rewardline-boxes" and not in_user_namespace
    found = {
        "host namespaces": any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")),
        "service account token": pod["automountServiceAccountToken"] is not False,
        "service links": pod["enableServiceLinks"] is not False,
        "default service account": pod.get("serviceAccountName", "default") == "default",
        "root": not (in_user_namespace or in_gvisor)
        and (context.get("runAsNonRoot") is not True or context["runAsUser"] == 0),
        "seccomp": context["seccompProfile"]["type"] != ("Localhost" if in_user_namespace else "RuntimeDefault"),
        "privileged": own.get("privileged", False),
        "privilege escalation": own["allowPrivilegeEscalation"] is not False,
        "writable root": own["readOnlyRootFilesystem"] is not True,
        "capabilities": own["capabilities"]["drop"] != ["ALL"]
        or ("add" in own["capabilities"] and not (in_user_namespace or in_gvisor)),
        "proc": own.get("procMount", "Default") != ("Unmasked" if in_user_namespace else "Default"),
        "volumes": any("hostPath" in volume or "docker.sock" in str(volume) for volume in pod.get("volumes", [])),
        "unbounded memory": any(
            "sizeLimit" not in volume["emptyDir"] for volume in pod.get("volumes", []) if "emptyDir" in volume
        ),
        "init containers": bool(pod.get("initContainers")),
    }
    return [f"{each.name}: {fault}" for fault, is_there in found.items() if is_there]


def test_the_policy_check_sees_what_it_looks_for() -> None:
    objects = rendered("prod")
    for breakage in (
        lambda pod, _: pod.update(hostNetwork=True),
        lambda pod, _: pod["securityContext"].update(runAsUser=0),
        lambda pod, _: pod["volumes"].append({"name": "x", "hostPath": {"path": "/var/run/docker.sock"}}),
        lambda pod, _: pod.update(automountServiceAccountToken=True),
        lambda _, own: own.update(readOnlyRootFilesystem=False),
        lambda _, own: own["capabilities"].update(add=["SYS_ADMIN"]),
        lambda _, own: own.update(procMount="Unmasked"),
    ):
        broken = copy.deepcopy(named(objects, "Deployment", "rewardline"))
        pod = broken["spec"]["template"]["spec"]
        breakage(pod, pod["containers"][0]["securityContext"])
        assert len(_faults(Workload(broken, objects))) == 1


def test_namespaces_enforce_what_their_pods_keep() -> None:
    for name in ("dev", "prod"):
        (namespace,) = of_kind(rendered(name), "Namespace")
        assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
        assert all(
            each["metadata"].get("namespace") in (namespace["metadata"]["name"], None) for each in rendered(name)
        )


def test_no_secret_is_in_the_manifests_but_those_for_development() -> None:
    secret = {
        "REWARDLINE_API_KEYS",
        "REWARDLINE_REDIS_URL",
        "REWARDLINE_BOX_HOSTS_KEY",
        "REWARDLINE_JUDGE_FENCE_SECRET",
    }
    for name in NAMES:
        assert bool(of_kind(rendered(name), "Secret")) is (name == "dev")
        for each in workloads(rendered(name)):
            literal = {variable["name"] for variable in each.container.get("env", []) if "value" in variable}
            assert not literal & secret
        for config in of_kind(rendered(name), "ConfigMap"):
            assert not config["data"].keys() & secret


@pytest.mark.parametrize("name", NAMES)
def test_the_service_would_start_with_these_variables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in of_rewardline(rendered(name)):
        for variable in [known for known in os.environ if known.startswith("REWARDLINE_")]:
            monkeypatch.delenv(variable)
        for variable, value in each.environment.items():
            monkeypatch.setenv(variable, value)
        read = settings.read()
        assert (read.http_port, read.ops_port) == (each.port("http"), each.port("ops"))
        assert read.host == "0.0.0.0"
        assert read.ops_host is None
        part = each.labels["app.kubernetes.io/component"]
        assert read.sandbox == {"front": "remote", "box-host": "local"}[part]
        assert read.readiness_needs_boxes is (part == "box-host")
        if part == "front":
            assert read.grpc_port == each.port("grpc")
        _check_files(each)
        _check_clocks(each, read)
        if name != "dev":
            _check_memory(each, read)


def _check_files(each: Workload) -> None:
    """Every file that a variable names lies in a volume that is mounted."""
    mounts = [mount["mountPath"] for mount in each.container["volumeMounts"]]
    assert {mount["name"] for mount in each.container["volumeMounts"]} == {one["name"] for one in each.pod["volumes"]}
    for variable, value in each.environment.items():
        if value.startswith(("/etc/", "/var/")):
            assert any(value == mount or value.startswith(f"{mount}/") for mount in mounts), variable


def _check_clocks(each: Workload, read: settings.Settings) -> None:
    """A rolling update costs no request that names no deadline: draining outlasts it, and the pod outlasts both drains."""
    assert read.drain_timeout_s > read.default_deadline_s
    assert each.pod["terminationGracePeriodSeconds"] >= 2 * read.drain_timeout_s + 20
    # A pod whose hook fails has as much time: then SIGTERM is what readiness follows, and probes notice it in time.
    readiness = each.container["readinessProbe"]
    unready_s = readiness["periodSeconds"] * readiness["failureThreshold"]
    assert unready_s < read.drain_notice_s < read.drain_timeout_s
    # The hook is a call from the pod itself, by a program of the image: nobody else may drain without a key.
    hook = each.container["lifecycle"]["preStop"]["exec"]["command"]
    assert hook == ["/opt/rewardline/bin/python", "-I", "-m", drain.__name__]


def _check_memory(each: Workload, read: settings.Settings) -> None:
    """What the settings allow at worst fits: `idle` is measured, a request in flight counts twice, read and as objects."""
    idle_mb = 400.0
    limit_mb = quantity(each.container["resources"]["limits"]["memory"]) / MB
    folders_mb = sum(quantity(one["emptyDir"]["sizeLimit"]) for one in each.pod["volumes"] if "emptyDir" in one) / MB
    wanted_mb = idle_mb + folders_mb + read.cache_memory_mb + 2 * read.max_mb_in_flight
    wanted_mb += read.worker_count * read.worker_memory_mb
    if read.sandbox == "local":
        assert read.slot_count == quantity(each.container["resources"]["limits"]["cpu"])
        wanted_mb += read.slot_count * (read.box_memory_mb + 256)
    else:
        assert read.worker_count == quantity(each.container["resources"]["limits"]["cpu"])
        wanted_mb += read.interactions_memory_mb + read.max_jobs_mb
    assert wanted_mb <= limit_mb, f"{each.name}: {wanted_mb:.0f} MB may be wanted, {limit_mb:.0f} MB are allowed"


def test_probes_outlast_a_slow_start_and_a_stalled_moment() -> None:
    for name in NAMES:
        for each in of_rewardline(rendered(name)):
            probes = {kind: each.container[f"{kind}Probe"] for kind in ("startup", "readiness", "liveness")}
            assert {kind: probe["httpGet"] for kind, probe in probes.items()} == {
                "startup": {"path": "/startupz", "port": "ops"},
                "readiness": {"path": "/readyz", "port": "ops"},
                "liveness": {"path": "/healthz", "port": "ops"},
            }
            assert all(probe["timeoutSeconds"] >= 3 for probe in probes.values())
            assert probes["startup"]["periodSeconds"] * probes["startup"]["failureThreshold"] >= 60
            assert probes["readiness"]["failureThreshold"] >= 2
            assert probes["liveness"]["periodSeconds"] * probes["liveness"]["failureThreshold"] >= 60


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_selected_is_there(name: str) -> None:
    objects = rendered(name)
    every = list(workloads(objects))
    for service in of_kind(objects, "Service"):
        found = [each for each in every if selects({"matchLabels": service["spec"]["selector"]}, each.labels)]
        (target,) = [each for each in found if each.object["kind"] == "Deployment"]
        for port in service["spec"]["ports"]:
            assert target.port(port["targetPort"]) == port["port"]
    for budget in of_kind(objects, "PodDisruptionBudget"):
        assert any(selects(budget["spec"]["selector"], each.labels) for each in every)
        assert budget["spec"]["maxUnavailable"] == 1
    for each in of_rewardline(objects):
        for spread in each.pod["topologySpreadConstraints"]:
            assert selects(spread["labelSelector"], each.labels)
        assert {spread["topologyKey"] for spread in each.pod["topologySpreadConstraints"]} == {
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
        }
        assert each.object["spec"]["strategy"]["rollingUpdate"] == (
            {"maxSurge": 1, "maxUnavailable": 0} if each.name == "rewardline" else {"maxSurge": 0, "maxUnavailable": 1}
        )
    for monitor in of_kind(objects, "ServiceMonitor"):
        watched = [one for one in of_kind(objects, "Service") if selects(monitor["spec"]["selector"], _labels(one))]
        assert {label_of(one, "component") for one in watched} == {"front", "box-host"}
        assert all("ops" in [port["name"] for port in one["spec"]["ports"]] for one in watched)
    accounts = {each["metadata"]["name"] for each in of_kind(objects, "ServiceAccount")}
    assert {each.pod["serviceAccountName"] for each in every} <= accounts
    assert all(each["automountServiceAccountToken"] is False for each in of_kind(objects, "ServiceAccount"))


def _labels(each: Object) -> dict[str, str]:
    labels: dict[str, str] = each["metadata"]["labels"]
    return labels


def test_grpc_and_box_hosts_are_found_by_all_their_addresses() -> None:
    for name in NAMES:
        services = {each["metadata"]["name"]: each["spec"] for each in of_kind(rendered(name), "Service")}
        for headless in ("rewardline-grpc", "rewardline-boxes"):
            assert services[headless]["clusterIP"] == "None"
            assert services[headless]["publishNotReadyAddresses"] is False
        assert [port["name"] for port in services["rewardline"]["ports"]] == ["http"]
        front, boxes = of_rewardline(rendered(name))
        scheme = "https" if "REWARDLINE_TLS_CERT" in boxes.environment else "http"
        assert front.environment["REWARDLINE_BOX_HOSTS"] == f"{scheme}://rewardline-boxes:8080"
        assert services["rewardline-boxes"]["ports"][0]["appProtocol"] == scheme
        assert ("REWARDLINE_BOX_HOSTS_TLS_CERT" in front.environment) is (scheme == "https")
        assert ("REWARDLINE_TLS_CLIENT_CA" in boxes.environment) is (scheme == "https")


def test_box_hosts_speak_tls_where_all_components_are() -> None:
    (boxes,) = [each for each in of_rewardline(rendered("hardened")) if each.name == "rewardline-boxes"]
    assert "REWARDLINE_TLS_CERT" in boxes.environment


@pytest.mark.parametrize("name", CLUSTERS)
def test_each_autoscaler_has_a_target_whose_replicas_nobody_else_sets_and_scales_down_slowly(name: str) -> None:
    objects = rendered(name)
    scalers = of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject")
    assert {each["spec"]["scaleTargetRef"]["name"] for each in scalers} == {"rewardline", "rewardline-boxes"}
    for each in scalers:
        spec = each["spec"]
        target = named(objects, "Deployment", spec["scaleTargetRef"]["name"])
        assert "replicas" not in target["spec"]
        lowest, highest = (spec.get(f"{bound}Replicas", spec.get(f"{bound}ReplicaCount")) for bound in ("min", "max"))
        assert 2 <= lowest < highest
        behavior = spec.get("behavior") or spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
        assert behavior["scaleUp"]["stabilizationWindowSeconds"] == 0
        assert behavior["scaleDown"]["stabilizationWindowSeconds"] >= 1800
        assert "cpu" in str(spec.get("metrics") or spec["triggers"]), "CPU is the fallback"


def test_settings_that_change_replace_the_pods() -> None:
    for name in NAMES:
        read = {
            source["configMapRef"]["name"]
            for each in of_rewardline(rendered(name))
            for source in each.container["envFrom"]
            if "configMapRef" in source
        }
        settled = {
            config["metadata"]["name"]
            for config in of_kind(rendered(name), "ConfigMap")
            if "rewardline.json" not in config["data"]
        }
        assert read == settled
        assert all(re.fullmatch(r"rewardline(-boxes)?-[a-z0-9]{10}", each) for each in settled)

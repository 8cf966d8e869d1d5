"""Manifests as objects, and questions about them."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.kubernetes import render, tools

Object = dict[str, Any]
PARTS = ("front", "box-host")
RENDERED: Mapping[str, Path] = {
    name: folder / name
    for folder, names in {
        render.HERE / "overlays": ("dev", "prod"),
        Path(__file__).parent / "rendered": ("plain", "hardened", "gvisor"),
    }.items()
    for name in names
}
"""The folders that are rendered, by their names."""
_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 1e3, "M": 1e6, "G": 1e9}


def parsed(text: str) -> list[Object]:
    """The objects in YAML documents."""
    return [each for each in yaml.load_all(text, Loader=yaml.CSafeLoader) if each is not None]


@cache
def rendered(name: str) -> list[Object]:
    """The objects that kubectl makes of this kustomization. Copy one before you change it."""
    return parsed(kit().kustomize(RENDERED[name]))


def kit() -> tools.Tools:
    """The tools kubectl and helm. Without a package of them tests are skipped, except where all tests must pass."""
    try:
        return tools.ensure()
    except tools.NoTools as why:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NOTHING RENDERED: {why}")


def of_kind(objects: list[Object], *kinds: str) -> list[Object]:
    return [each for each in objects if each["kind"] in kinds]


def named(objects: list[Object], kind: str, name: str) -> Object:
    return next(each for each in of_kind(objects, kind) if each["metadata"]["name"] == name)


def label_of(thing: Object, label: str) -> str | None:
    value = thing["metadata"].get("labels", {}).get(f"app.kubernetes.io/{label}")
    return None if value is None else str(value)


@dataclass(frozen=True)
class Workload:
    """An object that runs pods."""

    object: Object
    objects: list[Object]

    @property
    def name(self) -> str:
        return str(self.object["metadata"]["name"])

    @property
    def template(self) -> Object:
        template: Object = self.object["spec"]["template"]
        return template

    @property
    def labels(self) -> Mapping[str, str]:
        labels: Mapping[str, str] = self.template["metadata"]["labels"]
        return labels

    @property
    def pod(self) -> Object:
        pod: Object = self.template["spec"]
        return pod

    @property
    def container(self) -> Object:
        (container,) = self.pod["containers"]
        return dict(container)

    @property
    def environment(self) -> dict[str, str]:
        """The environment as the process sees it. Values from Secrets are made up."""
        seen: dict[str, str] = {}
        for source in self.container.get("envFrom", []):
            if "configMapRef" in source:
                seen |= named(self.objects, "ConfigMap", source["configMapRef"]["name"])["data"]
        for variable in self.container.get("env", []):
            seen[variable["name"]] = self._value(variable)
        return seen

    def _value(self, variable: Object) -> str:
        source = variable.get("valueFrom", {})
        if "resourceFieldRef" in source:
            assert source["resourceFieldRef"]["resource"] == "limits.cpu"
            return str(int(quantity(self.container["resources"]["limits"]["cpu"])))
        if "secretKeyRef" in source:
            return "redis://somewhere" if source["secretKeyRef"]["key"] == "url" else "a-key-of-16-or-more"
        return str(variable.get("value", "a-field"))

    def port(self, name: str) -> int:
        return next(int(each["containerPort"]) for each in self.container["ports"] if each["name"] == name)


def workloads(objects: list[Object]) -> Iterator[Workload]:
    for each in of_kind(objects, "Deployment", "Job", "StatefulSet", "DaemonSet"):
        yield Workload(each, objects)


def of_rewardline(objects: list[Object]) -> Iterator[Workload]:
    """The Deployments of the service itself."""
    for each in workloads(objects):
        if each.object["kind"] == "Deployment" and each.labels["app.kubernetes.io/name"] == "rewardline":
            yield each


def quantity(text: str | float) -> float:
    """A quantity of Kubernetes as a number: bytes, or cores."""
    found = re.fullmatch(r"([0-9.]+)(m|[KMG]i|[kMG])?", str(text))
    assert found is not None, text
    value = float(found[1])
    return value / 1000 if found[2] == "m" else value * _UNITS.get(found[2] or "", 1)


def selects(selector: Object, labels: Mapping[str, str]) -> bool:
    """Whether a label selector (matchLabels only) takes these labels."""
    assert selector.keys() <= {"matchLabels"}, selector
    return all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items())


SCHEMAS = Path(__file__).parent / "schemas"

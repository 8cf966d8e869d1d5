"""Updates the files that are made from the kustomization: `python -m deploy.kubernetes.render`.

    deploy/prometheus/rules/rewardline.yml      ──► components/monitoring/prometheus-rule.yaml
    deploy/grafana/dashboards/rewardline.json   ──► components/dashboard/dashboard.yaml
    base, components                            ──► deploy/helm/rewardline/files
    service/settings.py                         ──► the names of variables in deploy/helm/rewardline/values.schema.json

All these files are committed. A test compares them with what would be made now.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from deploy.kubernetes import tools
from service import settings

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
RULES: Final = ROOT / "deploy/prometheus/rules/rewardline.yml"
DASHBOARD: Final = ROOT / "deploy/grafana/dashboards/rewardline.json"
CHART: Final = ROOT / "deploy/helm/rewardline"
_OF_CHART: Final[Mapping[str, tuple[str, ...]]] = {
    "cpu": ("cpu-autoscaling/autoscalers.yaml",),
    "keda": ("keda/autoscalers.yaml",),
    "prometheus-adapter": ("prometheus-adapter/autoscalers.yaml",),
    "monitoring": ("monitoring/service-monitor.yaml", "monitoring/prometheus-rule.yaml"),
    "dashboard": ("dashboard/dashboard.yaml",),
    "judges": ("judges/network.yaml",),
    "tracing": ("tracing/network.yaml",),
}
_HEAD: Final = """\
# Made from deploy/prometheus/rules/rewardline.yml by `python -m deploy.kubernetes.render`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: rewardline
  labels:
    app.kubernetes.io/name: rewardline
    app.kubernetes.io/part-of: rewardline
spec:
"""
_HEAD_OF_DASHBOARD: Final = """\
# Made from deploy/grafana/dashboards/rewardline.json by `python -m deploy.kubernetes.render`.
apiVersion: v1
kind: ConfigMap
metadata:
  name: rewardline-dashboard
  labels:
    app.kubernetes.io/name: rewardline
    app.kubernetes.io/part-of: rewardline
    grafana_dashboard: "1"
data:
  rewardline.json: |
"""
_COLUMNS: Final = 120
_SECRETS: Final = frozenset(
    {"REWARDLINE_API_KEYS", "REWARDLINE_BOX_HOSTS_KEY", "REWARDLINE_JUDGE_FENCE_SECRET", "REWARDLINE_REDIS_URL"}
)
_HASHED_NAME: Final = re.compile(r"\b(rewardline(?:-boxes)?)-[a-z0-9]{10}$", re.MULTILINE)


def prometheus_rule() -> str:
    """The rules as an object of the Prometheus operator."""
    rules = RULES.read_text(encoding="utf-8")
    return _HEAD + "".join(f"  {line}\n" if line else "\n" for line in rules[rules.index("groups:") :].splitlines())


def dashboard() -> str:
    """The dashboard as an object that Grafana's sidecar finds."""
    return _HEAD_OF_DASHBOARD + "".join(f"    {line}\n" for line in DASHBOARD.read_text(encoding="utf-8").splitlines())


def schema() -> str:
    """The schema of the chart's values, in which settings are those of the service: Helm refuses a misspelt one."""
    values = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values["definitions"]["setting"]["enum"] = sorted(settings.variables() - _SECRETS)
    return _dense(values) + "\n"


def _dense(value: Any, indent: int = 0) -> str:
    """JSON with each list, and each object that fits, on one line."""
    line = json.dumps(value)
    if not isinstance(value, dict) or indent + len(line) <= _COLUMNS:
        return line
    fields = (f"{json.dumps(name)}: {_dense(field, indent + 2)}" for name, field in value.items())
    return "{\n" + ",\n".join(" " * (indent + 2) + field for field in fields) + "\n" + " " * indent + "}"


def copies() -> dict[Path, str]:
    """The copies of other files that components and the chart hold."""
    return {
        CHART / "values.schema.json": schema(),
        HERE / "components/monitoring/prometheus-rule.yaml": prometheus_rule(),
        HERE / "components/dashboard/dashboard.yaml": dashboard(),
    }


def made(kit: tools.Tools) -> dict[Path, str]:
    """Every generated file, with the contents that it should have."""
    files = copies()
    # Helm replaces pods after a change of settings by an annotation, so names can stay the same.
    files[CHART / "files/base.yaml"] = _HASHED_NAME.sub(r"\1", kit.kustomize(HERE / "base"))
    for name, components in _OF_CHART.items():
        texts = [_text_of(files, HERE / "components" / part) for part in components]
        files[CHART / f"files/{name}.yaml"] = "---\n".join(texts)
    return files


def _text_of(files: Mapping[Path, str], path: Path) -> str:
    return files[path] if path in files else path.read_text(encoding="utf-8")


def main() -> None:
    """Write the generated files."""
    kit = tools.ensure()
    for path, text in copies().items():
        path.write_text(text, encoding="utf-8")  # kustomize reads this file
    for path, text in made(kit).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Makes the Grafana dashboard. It is a program, because hundreds of lines of JSON hide the questions and their queries.

python -m deploy.grafana.dashboard > deploy/grafana/dashboards/rewardline.json

The panels are those of `service/observe/panels.py`, which the console draws, too. Here their lines become PromQL. Every
query covers all replicas or some (`$instance`).
"""

import json
import sys
from typing import Any, Final

from service.observe.panels import ROWS, Increase, Level, Match, Panel, Quantile, Rate, Ratio, Seldom, Term, Value

WIDTH: Final = 24
HEIGHT: Final = 8
SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_CHOSEN: Final = Match("instance", "=~", "$instance")


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana reads it."""
    return {
        "uid": "rewardline",
        "title": "Rewardline",
        "tags": ["rewardline"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": _variables()},
        "panels": _laid_out(),
    }


def text() -> str:
    """The dashboard as JSON, with each panel on a line of its own."""
    fields = dashboard()
    panels = ",\n".join(json.dumps(panel) for panel in fields.pop("panels"))
    return f'{json.dumps(fields)[:-1]}, "panels": [\n{panels}\n]}}\n'


def _variables() -> list[dict[str, Any]]:
    source = {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus", "current": {}}
    variables = (
        ("instance", "Replica", "label_values(rewardline_build_info, instance)"),
        ("verifier", "Verifier", "label_values(rewardline_items_total, verifier)"),
        ("recipe", "Recipe", "label_values(rewardline_reward_count, recipe)"),
        ("tag", "Tag", "label_values(rewardline_reward_count, tag)"),
    )
    return [source, *(_variable(*variable) for variable in variables)]


def _variable(name: str, label: str, query: str) -> dict[str, Any]:
    everything = {"text": "All", "value": "$__all"}
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": everything,
    }


def _laid_out() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = []
    top = 0
    for row in ROWS:
        panels.append(
            {"type": "row", "title": row.title, "collapsed": False, "panels": [], "gridPos": _place(0, top, WIDTH, 1)}
        )
        column, top = 0, top + 1
        for panel in row.panels:
            if column + panel.width > WIDTH:
                column, top = 0, top + HEIGHT
            panels.append({**_drawn(panel), "gridPos": _place(column, top, panel.width, HEIGHT)})
            column += panel.width
        top += HEIGHT
    return [{"id": number, **panel} for number, panel in enumerate(panels, 1)]


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _drawn(panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.red_above is not None:
        steps.append({"color": "red", "value": panel.red_above})
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": steps}},
            "overrides": [],
        },
        "options": {"calculate": False} if panel.kind == "heatmap" else {},
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": SOURCE,
                "expr": _promql(line.value),
                "legendFormat": line.legend or "__auto",
                "format": "heatmap" if panel.kind == "heatmap" else "time_series",
            }
            for number, line in enumerate(panel.lines)
        ],
    }


def _promql(value: Value | Ratio) -> str:
    match value:
        case Ratio(part, whole):
            return f"{_dividend(part)} /{_matching(part, whole)} {_term(whole)}"
        case Seldom(term):
            return f"{_term(term)} or on() vector(0)"
        case _:
            return _term(value)


def _dividend(part: Value) -> str:
    return f"({_promql(part)})" if isinstance(part, Seldom) else _promql(part)


def _matching(part: Value, divisor: Term) -> str:
    """How lines find their divisor, if they have labels and it has none."""
    term = part.value if isinstance(part, Seldom) else part
    return " on() group_left()" if term.by and not divisor.by else ""


def _term(term: Term) -> str:
    match term:
        case Rate(metric, by):
            return f"sum{_grouped(by)}(rate({metric}{_chosen(term)}[$__rate_interval]))"
        case Increase(metric, by):
            span = "$__rate_interval" if term.per_step else "1h"
            return f"sum{_grouped(by)}(increase({metric}{_chosen(term)}[{span}]))"
        case Level(metric, by):
            return f"{term.how}{_grouped(by)}({metric}{_chosen(term)})"
        case Quantile(share, metric, by, where):
            return f"histogram_quantile({share}, {_term(Rate(f'{metric}_bucket', ('le', *by), where))})"


def _grouped(by: tuple[str, ...]) -> str:
    return f" by ({', '.join(by)}) " if by else " "


def _chosen(term: Term) -> str:
    return "{" + ",".join(f'{label}{how}"{value}"' for label, how, value in (_CHOSEN, *term.where)) + "}"


if __name__ == "__main__":
    sys.stdout.write(text())

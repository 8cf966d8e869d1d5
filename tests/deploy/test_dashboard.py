"""The dashboard: every query is asked of a real Prometheus that scrapes a service at work, and has an answer."""

import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import yaml

from deploy.grafana.dashboard import dashboard
from service.observe.history import History
from tests.conftest import Served, serving
from tests.deploy.engine import ROOT
from tests.judge_upstream.grader import Grader
from tests.ports import free_port
from tests.waiting import PATIENCE_S, eventually

FOLDER = ROOT / "deploy" / "grafana"
PANELS: Sequence[Mapping[str, Any]] = [panel for panel in dashboard()["panels"] if panel["type"] != "row"]
QUERIES = [(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]]
VARIABLES = {"$__rate_interval": "10s", "$instance": ".*", "$verifier": ".*", "$recipe": ".*", "$tag": ".*"}


def test_file_that_grafana_reads_is_what_the_program_makes() -> None:
    assert json.loads((FOLDER / "dashboards" / "rewardline.json").read_text()) == dashboard()


def test_panels_do_not_overlap_and_each_says_what_it_shows() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    assert all(panel["description"] for panel in PANELS)
    assert len({panel["id"] for panel in dashboard()["panels"]}) == len(dashboard()["panels"])


def test_the_console_has_every_panel_that_is_about_one_replica() -> None:
    past = History(list).since()()
    shown = [(panel.name, panel.about, panel.unit, panel.kind) for panel in past.panels]
    drawn = [
        (panel["title"], panel["description"], panel["fieldConfig"]["defaults"]["unit"], panel["type"])
        for panel in PANELS
        if panel["title"] != "Replicas"
    ]
    assert shown == drawn


def test_every_variable_of_a_query_is_one_that_can_be_chosen() -> None:
    offered = {f"${variable['name']}" for variable in dashboard()["templating"]["list"]} | {"$__rate_interval"}
    for _, expr in QUERIES:
        assert set(re.findall(r"\$\w+", expr)) <= offered


def test_provisioning_finds_the_source_and_the_dashboards_where_compose_puts_them() -> None:
    source = yaml.safe_load((FOLDER / "provisioning/datasources/prometheus.yml").read_text())["datasources"][0]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    provider = yaml.safe_load((FOLDER / "provisioning/dashboards/rewardline.yml").read_text())["providers"][0]
    mounts = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["grafana"]["volumes"]
    assert f"./deploy/grafana/dashboards:{provider['options']['path']}:ro" in mounts
    assert "./deploy/grafana/provisioning:/etc/grafana/provisioning:ro" in mounts


class Scraped(NamedTuple):
    """A Prometheus that scrapes a service, and the moment at which the service's work was in its numbers.

    Queries are asked for that moment: rates over a few seconds are gone later.
    """

    url: str
    moment: float
    service: str = ""


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    """One that has scraped a service of every kind of work for as long as a rate needs."""
    if shutil.which("prometheus") is None:
        pytest.fail("no prometheus here: `make docker` installs it")
    folder = tmp_path_factory.mktemp("dashboard")
    with (
        Grader() as grader,
        serving(folder / "log.jsonl", sandbox="local", judge_file=str(grader.file(folder))) as served,
        _scraping(served, folder) as url,
    ):
        yield Scraped(url, _work(served, url), served.url)


@contextmanager
def _scraping(served: Served, folder: Path) -> Iterator[str]:
    address = f"127.0.0.1:{free_port()}"
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    config["global"]["scrape_interval"] = "1s"
    config["scrape_configs"] = [
        {"job_name": "rewardline", "static_configs": [{"targets": [served.url.removeprefix("http://")]}]}
    ]
    del config["rule_files"]
    (folder / "prometheus.yml").write_text(json.dumps(config))
    command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    with (
        (folder / "prometheus.log").open("w") as log,
        subprocess.Popen([*command, f"--web.listen-address={address}"], stdout=log, stderr=log) as process,
    ):
        try:
            eventually(lambda: _answers(f"http://{address}/-/ready"))
            yield f"http://{address}"
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    """Whether it says that all is well. While Prometheus starts, it has a port and says 503."""
    with suppress(httpx.TransportError):
        return httpx.get(url).is_success
    return False


def _work(served: Served, url: str) -> float:
    """Batches of everything, until Prometheus has seen counters rise. Returns the moment of its answer."""
    numbers = itertools.count()
    moments: list[float] = []

    def seen() -> bool:
        number = next(numbers)
        batch = {"items": [*_items(number), *_items(number)]}
        assert httpx.post(f"{served.url}/v1/score", json=batch, timeout=PATIENCE_S).status_code == 200
        httpx.post(f"{served.url}/v1/score", content=b"no json")
        judged = 'sum(rate(rewardline_items_total{verifier="judge"}[10s])) > 0'
        moments[:] = [value["value"][0] for value in _values(Scraped(url, time.time()), judged)]
        return number >= 3 and bool(moments)

    eventually(seen)
    return moments[0]


def _items(number: int) -> list[Mapping[str, Any]]:
    program = f"```python\nprint(int(input()) + {number})\n```"
    return [
        {"verifier": "math", "response": f"\\boxed{{{number}}}", "reference": "1"},
        {"recipe": "think_math", "response": f"<think>x</think>\\boxed{{{number}}}", "reference": str(number)},
        {"tag": "deepmath_103k", "response": f"\\boxed{{{number}}}", "reference": "1"},
        {"verifier": "unheard_of", "response": "1", "reference": "1"},
        {"verifier": "judge", "prompt": "What?", "response": f"it is {number}", "reference": f"it is {number}"},
        {
            "verifier": "code",
            "response": program,
            "reference": {"test_cases": [{"input": "1", "expected_output": "1"}]},
        },
    ]


def _values(prometheus: Scraped, query: str) -> list[Any]:
    asked = {"query": query, "time": f"{prometheus.moment:.3f}"}
    answer = httpx.get(f"{prometheus.url}/api/v1/query", params=asked).json()
    assert answer["status"] == "success", answer
    found: list[Any] = answer["data"]["result"]
    return found


@pytest.mark.deploy
@pytest.mark.parametrize(("title", "expr"), QUERIES)
def test_every_query_has_an_answer(prometheus: Scraped, title: str, expr: str) -> None:
    values = _values(prometheus, _asked(expr))
    assert values, title
    assert all(value["value"][1] != "NaN" for value in values) or "histogram_quantile" in expr or "/" in expr


@pytest.mark.deploy
def test_numbers_are_those_of_the_work_that_was_done(prometheus: Scraped) -> None:
    shares = _values(prometheus, _asked(dict(QUERIES)["Share judged correct"]))
    by_verifier = {value["metric"]["verifier"]: float(value["value"][1]) for value in shares}
    assert by_verifier["judge"] == pytest.approx(1.0)
    assert 0 < by_verifier["math"] < 1


@pytest.mark.deploy
def test_the_console_has_the_lines_of_the_dashboard(prometheus: Scraped) -> None:
    """Both evaluate the same table: where Prometheus gives a line of a panel, the service's own history has it, too."""
    wanted: set[tuple[str, ...]] = set()
    for title, expr in QUERIES:
        for value in _values(prometheus, _asked(expr)):
            labels = {label: text for label, text in value["metric"].items() if label != "instance"}
            # Lines of 0 are absent, or share one with others, if there are many.
            if title != "Replicas" and float(value["value"][1]):
                wanted.add((title, *sorted(labels.values())))

    def missing() -> set[tuple[str, ...]]:
        series = httpx.get(f"{prometheus.service}/v1/series").json()["series"]
        return wanted - {(each["name"], *sorted(filter(None, each["labels"].values()))) for each in series}

    assert len(wanted) > 20
    eventually(lambda: not missing(), missing)


def _asked(expr: str) -> str:
    """As Grafana asks it, with everything chosen."""
    for name, value in VARIABLES.items():
        expr = expr.replace(name, value)
    assert "$" not in expr
    return expr

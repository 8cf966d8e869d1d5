"""docker-compose.yml: what it promises on paper, and that it comes up, is scored against, loses nothing and goes away."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.docker import environment
from tests.deploy.engine import ROOT, Engine, compose_command
from tests.deploy.scoring import MATH
from tests.ports import free_ports
from tests.waiting import eventually

COMPOSE = ROOT / "docker-compose.yml"
PARTS: Mapping[str, Mapping[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]
NETWORKS: Mapping[str, Any] = yaml.safe_load(COMPOSE.read_text())["networks"]


@pytest.mark.parametrize("name", PARTS)
def test_every_container_is_closed_bounded_and_watched(name: str) -> None:
    part = PARTS[name]
    assert part["read_only"] is True
    assert part["cap_drop"] == ["ALL"]
    assert part.get("cap_add", []) == (["SETUID", "SETGID", "KILL", "DAC_OVERRIDE"] if name == "box-host" else [])
    assert (part.get("user") == "0:0") == (name == "box-host")
    assert "privileged" not in part
    assert part["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "cpus", "pids_limit", "healthcheck"} <= part.keys()
    assert part["memswap_limit"] == part["mem_limit"], "memory and swap together: so there is no swap"


@pytest.mark.parametrize("name", PARTS)
def test_nothing_is_mounted_but_files_of_this_repository_and_volumes(name: str) -> None:
    mounts = [str(mount) for mount in PARTS[name].get("volumes", [])]
    assert not [mount for mount in mounts if "docker.sock" in mount]
    assert all(re.match(r"\./deploy/|[a-z]+:", mount) for mount in mounts)
    assert all(mount.endswith(":ro") for mount in mounts if mount.startswith("./"))
    assert all((ROOT / mount.split(":")[0]).exists() for mount in mounts if mount.startswith("./"))


def test_only_loopback_is_published_unless_asked_and_only_of_the_proxy_and_the_watchers() -> None:
    published = {name: part["ports"] for name, part in PARTS.items() if "ports" in part}
    assert published.keys() == {"proxy", "prometheus", "grafana"}
    assert all(
        re.match(r"(127\.0\.0\.1|\$\{ADDRESS:-127\.0\.0\.1\}):", port) for ports in published.values() for port in ports
    )


def test_programs_in_boxes_and_redis_share_no_network_that_leads_out() -> None:
    for name in ("box-host", "redis"):
        assert all(NETWORKS[network] == {"internal": True} for network in PARTS[name]["networks"])
    assert not set(PARTS["box-host"]["networks"]) & set(PARTS["redis"]["networks"])


def test_the_operators_port_is_on_the_network_of_those_who_watch_alone() -> None:
    """The name is on one network, and the port is at the name. Prometheus shares another network with box hosts."""
    service = PARTS["service"]
    names = {network: (options or {}).get("aliases", []) for network, options in service["networks"].items()}
    (watch,) = [network for network, aliases in names.items() if aliases]
    (name,) = names[watch]
    assert service["environment"]["REWARDLINE_OPS_HOST"] == name
    assert {part for part in PARTS if watch in PARTS[part]["networks"]} == {"proxy", "service", "prometheus", "grafana"}
    proxy = (ROOT / "deploy/docker/haproxy.cfg").read_text()
    assert set(re.findall(r"server-template \S+ \S+ (\S+):", proxy)) == {name}
    jobs = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())["scrape_configs"]
    assert [job["dns_sd_configs"][0]["names"] for job in jobs if job["job_name"] == "rewardline"] == [[name]]


def test_boxes_can_run_what_is_compiled_in_them_and_the_service_runs_nothing_from_its_tmp() -> None:
    assert PARTS["box-host"]["tmpfs"] == ["/tmp:size=1g,mode=1777,exec"]  # Docker's default is noexec
    assert "exec" not in PARTS["service"]["tmpfs"][0]


def test_no_secret_stands_in_the_file() -> None:
    for part in PARTS.values():
        for name, value in part.get("environment", {}).items():
            if re.search("KEY|PASSWORD|SECRET|REDIS_URL", name):
                assert re.search(r"\$\{[A-Z_]+:\?", str(value)), name


def test_proxy_waits_longer_than_any_deadline_and_a_container_longer_than_the_drain(
    settings_defaults: Mapping[str, float],
) -> None:
    proxy = (ROOT / "deploy/docker/haproxy.cfg").read_text()
    for name in ("client", "server"):
        found = re.search(rf"timeout {name} (\d+)s", proxy)
        assert found is not None
        assert int(found[1]) > settings_defaults["max_deadline_s"]
    for name in ("service", "box-host"):
        drain_s = settings_defaults["drain_notice_s"] + settings_defaults["drain_timeout_s"]
        assert int(PARTS[name]["stop_grace_period"].rstrip("s")) > drain_s
    # Two failed checks, at the latest a check's interval after readiness turned false.
    inter_s, fastinter_ms, fall = map(int, re.findall(r"check .*inter (\d+)s fastinter (\d+)ms fall (\d+)", proxy)[0])
    assert inter_s + fall * fastinter_ms / 1000 < settings_defaults["drain_notice_s"]


@pytest.fixture
def settings_defaults() -> Mapping[str, float]:
    from service.settings import Settings  # noqa: PLC0415 - only here

    return {
        name: Settings.model_fields[name].default for name in ("max_deadline_s", "drain_notice_s", "drain_timeout_s")
    }


def test_keys_are_new_each_time_for_the_owner_alone_and_never_written_over(tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        environment.main(["--local", "--out", str(path)])
        assert path.stat().st_mode & 0o777 == 0o600
    one, two = ({line.split("=")[0]: line.split("=")[1] for line in path.read_text().splitlines()} for path in paths)
    secrets = {name for name in one if name.endswith(("_KEY", "_PASSWORD", "_SECRET"))}
    assert all(one[name] != two[name] and len(one[name]) >= 32 for name in secrets)
    with pytest.raises(SystemExit, match="stays as it is"):
        environment.main(["--out", str(paths[0])])
    assert f"TRAINER_KEY={one['TRAINER_KEY']}\n" in paths[0].read_text()


def test_file_of_keys_has_every_variable_that_compose_insists_on(tmp_path: Path) -> None:
    needed = set(re.findall(r"\$\{([A-Z_]+):\?", COMPOSE.read_text()))
    assert needed <= environment.variables(local=False).keys()


@pytest.mark.deploy
@pytest.mark.parametrize("endpoint", [None, "http://collector.example:4318"])
def test_traces_are_sent_where_env_says_and_else_nowhere(tmp_path: Path, endpoint: str | None) -> None:
    command = compose_command()
    assert command is not None, "neither docker-compose nor `docker compose` is here: `make docker` installs the former"
    values = dict(environment.variables(local=True))
    if endpoint is not None:
        values["REWARDLINE_OTLP_ENDPOINT"] = endpoint
    variables = tmp_path / ".env"
    environment.write(variables, values)
    words = ("--project-directory", str(tmp_path), "--env-file", str(variables), "-f", str(COMPOSE), "config")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REWARDLINE_")}
    output = subprocess.run(
        [*command, *words], env=kept, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    for name, part in yaml.safe_load(output)["services"].items():
        given = part.get("environment", {}).get("REWARDLINE_OTLP_ENDPOINT")
        assert given == (endpoint if name == "service" else None)


@dataclass(frozen=True)
class Project:
    """The containers of one `docker-compose up`."""

    engine: Engine
    name: str
    variables: Mapping[str, str]

    def compose(self, *words: str) -> str:
        command = compose_command()
        assert command is not None
        return self.engine.run(*command, "-p", self.name, *words, variables=self.variables)

    def containers(self, part: str) -> list[str]:
        """Names of those that run."""
        return sorted(
            self._list("docker", "ps", "--filter", f"label=com.docker.compose.service={part}", "--format", "{{.Names}}")
        )

    def left_over(self) -> list[str]:
        """Of any kind, running or not."""
        return [
            *self._list("docker", "ps", "--all", "--format", "{{.Names}}"),
            *self._list("docker", "network", "ls", "--format", "{{.Name}}"),
            *self._list("docker", "volume", "ls", "--format", "{{.Name}}"),
        ]

    def _list(self, *command: str) -> list[str]:
        project = f"label=com.docker.compose.project={self.name}"
        return self.engine.run(*command, "--filter", project).split()

    def await_health(self, part: str, count: int) -> None:
        """Until so many of them run and are healthy."""
        names = self.containers
        eventually(
            lambda: [self._health(name) for name in names(part)] == ["healthy"] * count,
            lambda: [self.engine.run("docker", "logs", "--tail", "20", name, check=False) for name in names(part)],
        )

    def _health(self, name: str) -> str:
        return self.engine.run("docker", "inspect", "--format", "{{.State.Health.Status}}", name, check=False).strip()

    def scoring(self, rounds: int, programs: int) -> "subprocess.Popen[str]":
        http, grpc = (f"127.0.0.1:{self.variables[name]}" for name in ("HTTP_PORT", "GRPC_PORT"))
        words = (f"http://{http}", f"grpc://{grpc}", self.variables["TRAINER_KEY"], str(rounds), str(programs))
        return self.engine.popen(sys.executable, "-m", "tests.deploy.scoring", *words)

    def reaches(self, container: str, name: str, port: int) -> bool:
        """Whether a program in a container can connect."""
        script = f"exec 3<>/dev/tcp/{name}/{port} && echo connected"
        words = ("docker", "exec", container, "timeout", "5", "bash", "-c", script)
        return "connected" in self.engine.run(*words, check=False)

    def ask_prometheus(self, query: str) -> Mapping[str, float]:
        """The values of an instant query by instance."""
        command = (
            "docker",
            "exec",
            self.containers("prometheus")[0],
            "promtool",
            "query",
            "instant",
            "http://127.0.0.1:9090",
            query,
        )
        found = re.findall(r'instance="([^"]*)".* => (\S+) @', self.engine.run(*command))
        return {instance: float(value) for instance, value in found}


@pytest.fixture
def project(docker_images: Engine) -> Iterator[Project]:
    if compose_command() is None:
        pytest.fail("neither docker-compose nor `docker compose` is here: `make docker` installs the former")
    values = {
        **environment.variables(local=True),
        **dict(zip(("HTTP_PORT", "GRPC_PORT", "PROMETHEUS_PORT"), map(str, free_ports(3)), strict=True)),
        "WORKERS": "1",
        "BOX_SLOTS": "2",
        "SERVICE_MEMORY": "1g",
        "BOX_HOST_MEMORY": "3g",
    }
    made = Project(docker_images, f"rewardline-test-{values['HTTP_PORT']}", values)
    try:
        yield made
    finally:
        made.compose("down", "--volumes", "--timeout", "20")


@pytest.mark.deploy
def test_it_comes_up_scores_survives_a_killed_replica_grows_and_goes_away(project: Project) -> None:
    project.compose("up", "-d", "--scale", "service=2", "--scale", "box-host=2")
    for part, count in {"redis": 1, "box-host": 2, "service": 2, "proxy": 1, "prometheus": 1}.items():
        project.await_health(part, count)

    # Box hosts do not reach the operators' port of a replica, on whichever network. Its own host drains it, nobody else.
    box_host, prometheus, front = (project.containers(part)[0] for part in ("box-host", "prometheus", "service"))
    for name in ("service", "service-watch"):
        assert project.reaches(box_host, name, 8080) is (name == "service")
        assert not project.reaches(box_host, name, 8090)
    assert project.reaches(prometheus, "service-watch", 8090)
    assert "Drained: 0 requests" in project.engine.run("docker", "exec", front, "rewardline", "drain")
    project.engine.run("docker", "restart", front)
    project.await_health("service", 2)

    # Everything of the first rounds was scored, by both doors through the one address.
    _check(_rounds(project.scoring(rounds=4, programs=4)))

    # A replica is killed under way, and a third one comes.
    killed, *_ = project.containers("service")
    rounds = _rounds(project.scoring(rounds=60, programs=1), {10: lambda: project.engine.run("docker", "kill", killed)})
    _check(rounds)
    project.compose("up", "-d", "--scale", "service=3", "--scale", "box-host=2")
    project.await_health("service", 3)

    # A box host is killed under way: what it had is run by the other.
    box_host, *_ = project.containers("box-host")
    _check(_rounds(project.scoring(rounds=20, programs=4), {5: lambda: project.engine.run("docker", "kill", box_host)}))

    # One is stopped as an operator stops it, and the others take over.
    leaving, *_ = project.containers("service")
    _check(_rounds(project.scoring(rounds=60, programs=0), {10: lambda: project.engine.run("docker", "stop", leaving)}))

    counted = 'sum by (instance) (rewardline_items_total{job="rewardline"})'
    eventually(lambda: len(project.ask_prometheus(counted)) >= 2)
    assert sum(project.ask_prometheus(counted).values()) > 0

    project.compose("down", "--volumes", "--timeout", "20")
    assert project.left_over() == []


def _rounds(
    scoring: "subprocess.Popen[str]", then: Mapping[int, Callable[[], object]] | None = None
) -> list[Mapping[str, Any]]:
    """What each round came to; `then` is done when so many have been seen."""
    assert scoring.stdout is not None
    seen: list[str] = []
    with scoring:
        for line in scoring.stdout:
            seen.append(line)
            (then or {}).get(len(seen), lambda: None)()
    assert scoring.returncode == 0, "".join(seen[-20:])
    return [json.loads(line) for line in seen]


def _check(rounds: Sequence[Mapping[str, Any]]) -> None:
    """Nothing failed, and every score is right."""
    assert {figures["door"] for figures in rounds} == {"http", "grpc"}
    for figures in rounds:
        assert figures["statuses"].keys() == {"ok"}, figures
        assert figures["math"] == [1.0, 0.0] * (MATH // 2)
        assert figures["code"] == ([1.0, 0.0] * len(figures["code"]))[: len(figures["code"])]

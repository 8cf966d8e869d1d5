"""The images: what is in them, what is not, and that they do their work with as few rights as promised."""

import json
import re
import tarfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import docker
import pytest

from deploy.docker import build, sbom, wheels
from deploy.version import version
from tests.deploy.engine import ROOT, Engine
from tests.waiting import eventually

DOCKERFILE = (ROOT / "deploy/docker/Dockerfile").read_text()
KEY = "0123456789abcdef0123"
SEALED = (
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none"),
    *("--tmpfs", "/tmp:size=512m,mode=1777,exec", "--env", f"REWARDLINE_API_KEYS=test={KEY}"),
)
RIGHTS_OF_A_BOX_HOST = ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE")
"""Least of root's rights with which boxes have user ids of their own; docker-compose.yml gives the same."""


def test_each_package_of_the_server_is_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [name for name in packages if f"\nCOPY {name} {name}/\n" not in DOCKERFILE] == []
    visible = (ROOT / ".dockerignore").read_text().splitlines()
    assert [name for name in packages if f"!{name}" not in visible] == []


def test_context_holds_what_is_copied_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "WHEELS", tmp_path)
    (tmp_path / "some-1.0-py3-none-any.whl").write_bytes(b"wheel")
    with tarfile.open(fileobj=BytesIO(build.context())) as archive:
        names = archive.getnames()
        assert {(entry.mtime, entry.uid, entry.mode) for entry in archive.getmembers()} == {(0, 0, 0o644)}
    tops = {name.split("/")[0] for name in names}
    assert tops == {
        "LICENSE", "NOTICE", "README.md", "client", "deploy", "fairness", "memory", "pyproject.toml", "requirements",
        "sandbox", "service", "tracing", "verifiers",
    }  # fmt: skip
    assert "deploy/docker/wheelhouse/some-1.0-py3-none-any.whl" in names
    assert not [name for name in names if re.search(r"__pycache__|\.git/|\.env|\.venv|/tests?/.*test_", name)]
    for source in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE):
        assert all(any(name == path or name.startswith(f"{path}/") for name in names) for path in source.split()), (
            source
        )


def test_wheels_are_those_that_the_interpreter_of_the_image_needs() -> None:
    locked = (
        "a==1 \\\n    --hash=sha256:00\n"
        "b==2 ; python_full_version < '3.11.3' \\\n    --hash=sha256:01\n"
        "c==3 ; sys_platform == 'win32' \\\n    --hash=sha256:02\n"
        "d==4 ; python_full_version >= '3.12' \\\n    --hash=sha256:03\n"
    )
    assert re.findall(r"^(\w)==", "".join(wheels._needed(locked, "3.11.2")), re.MULTILINE) == ["a", "b"]
    assert re.findall(r"^(\w)==", "".join(wheels._needed(locked, "3.12.1")), re.MULTILINE) == ["a", "d"]
    assert "".join(wheels._needed(locked, "3.11.2")).count("--hash=sha256:") == 2


@pytest.mark.deploy
def test_a_wheel_that_was_exchanged_is_refused(tmp_path: Path) -> None:
    locked = tmp_path / "locked.txt"
    locked.write_text("colorama==0.4.6 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "colorama-0.4.6-py2.py3-none-any.whl").write_bytes(b"not what was locked")
    with pytest.raises(wheels.NoWheels, match=r"(?i)hash"):
        wheels._download(locked, tmp_path / "out", "3.11.2", "--no-index", "--find-links", str(folder))


def test_bill_of_materials_names_installed_packages_by_url_and_licence() -> None:
    status = (
        "Package: libstdc++6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:12.2.0-14+deb12u1\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n\n"
        "Package: half\nStatus: install ok half-installed\nArchitecture: amd64\nVersion: 1\n"
    )
    (package,) = sbom.debian_packages(status, "debian-12")
    assert package["purl"] == "pkg:deb/debian/libstdc%2B%2B6@1%3A12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12"
    by_name = {found["name"]: found for found in sbom.python_distributions()}
    assert by_name["pyyaml"]["purl"].startswith("pkg:pypi/pyyaml@")
    assert by_name["pyyaml"]["licenses"]
    bill = sbom.document("image", [package])
    assert bill["dependencies"] == [{"ref": "image", "dependsOn": [package["bom-ref"]]}]


def test_profile_of_system_calls_lets_boxes_be_built_and_the_machine_be() -> None:
    profile = json.loads((ROOT / "deploy/docker/seccomp-boxes.json").read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    free = {name for rule in profile["syscalls"] if not rule.get("args") for name in rule["names"]}
    assert {"unshare", "clone", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "mount_setattr"} <= free
    never = {"bpf", "kexec_load", "init_module", "perf_event_open", "io_uring_setup", "userfaultfd", "ptrace", "setns"}
    assert not free & {
        *never,
        "keyctl",
        "add_key",
        "reboot",
        "swapon",
        "open_by_handle_at",
        "clock_settime",
        "personality",
    }


@contextmanager
def _running(engine: Engine, image: str, *options: str) -> Iterator[str]:
    container = engine.run("docker", "run", "--detach", *SEALED, *options, image).strip()
    try:
        yield container
    finally:
        engine.run("docker", "rm", "--force", container)


def _await_health(engine: Engine, container: str) -> None:
    command = ("docker", "exec", container, "/opt/rewardline/bin/python", "/usr/share/rewardline/health.py", "/readyz")
    eventually(
        lambda: engine.run(*command, check=False).startswith("200"),
        lambda: engine.run("docker", "logs", container, check=False)[-3000:],
    )


def _ask(engine: Engine, container: str, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """From inside, since it has no network."""
    script = (
        "import sys; from rewardline import Client\n"
        "import json\n"
        "for url in ('http://127.0.0.1:8080', 'grpc://127.0.0.1:8081'):\n"
        f"    with Client(url, api_key={KEY!r}) as client:\n"
        "        for result in client.score(json.loads(sys.argv[1])):\n"
        "            print(json.dumps({'status': result.status, 'score': result.score, 'reason': result.reason}))\n"
    )
    said = engine.run("docker", "exec", container, "/opt/rewardline/bin/python", "-c", script, json.dumps(list(items)))
    return [json.loads(line) for line in said.splitlines()]


@pytest.fixture(scope="module")
def server_of_docker(docker_images: Engine) -> Iterator[str]:
    with _running(docker_images, build.SERVER.name) as container:
        _await_health(docker_images, container)
        yield container


@pytest.mark.deploy
def test_server_judges_with_no_rights_no_network_and_nothing_to_write_to(
    docker_images: Engine, server_of_docker: str
) -> None:
    results = _ask(docker_images, server_of_docker, [{"verifier": "math", "response": "\\boxed{4}", "reference": "4"}])
    assert [(result["status"], result["score"]) for result in results] == [("ok", 1.0)] * 2
    assert docker_images.run("docker", "exec", server_of_docker, "id", "-u").strip() == "65532"


@pytest.mark.deploy
def test_server_has_what_traces_need(docker_images: Engine) -> None:
    with _running(
        docker_images, build.SERVER.name, "--env", "REWARDLINE_OTLP_ENDPOINT=http://127.0.0.1:4318"
    ) as container:
        _await_health(docker_images, container)
        look = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8090/metrics').read().decode())"
        output = docker_images.run("docker", "exec", container, "/opt/rewardline/bin/python", "-c", look)
        assert "rewardline_spans_sent_total" in output


@pytest.mark.deploy
def test_server_has_no_compiler_no_installer_and_no_program_with_the_rights_of_another_user(
    docker_images: Engine,
) -> None:
    unwanted = "cc gcc g++ c++ clang ld as make pip pip3 easy_install apt apt-get curl wget go rustc node javac"
    look = f"for name in {unwanted}; do command -v $name; done; find / -xdev -perm /6000 -type f 2>/dev/null"
    look += "; ls /opt/rewardline/lib/python3*/site-packages | grep -iE '^(pip|setuptools|hatchling|pytest|pandas)'"
    assert (
        docker_images.run(
            "docker", "run", "--rm", "--user", "0", "--entrypoint", "sh", build.SERVER.name, "-c", look + "; true"
        )
        == ""
    )


@pytest.mark.deploy
def test_what_is_installed_is_what_was_locked_and_what_the_bill_of_materials_says(docker_images: Engine) -> None:
    with closing(docker.APIClient(docker_images.address, version="auto", timeout=60)) as client:
        bill = json.loads(build.bill_of_materials(client, build.SERVER.name))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    billed = {component["purl"] for component in bill["components"]}
    listing = "import importlib.metadata as m\nfor d in m.distributions(): print(d.metadata['Name'], d.version)"
    said = docker_images.run(
        "docker", "run", "--rm", "--entrypoint", "/opt/rewardline/bin/python", build.SERVER.name, "-c", listing
    )
    installed = {tuple(line.lower().replace("_", "-").split()) for line in said.splitlines()}
    assert {url for url in billed if url.startswith("pkg:pypi/")} == {
        f"pkg:pypi/{name}@{version}" for name, version in installed
    }
    locked = set(re.findall(r"^([\w.-]+)==([^ ]+)", (ROOT / "requirements/serve.txt").read_text(), re.MULTILINE))
    assert installed - locked == {("rewardline", version()), ("rewardline-server", version())}
    packages = {url.split("/")[2].split("@")[0] for url in billed if url.startswith("pkg:deb/")}
    assert {"libc6", "python3", "ca-certificates"} <= packages


@pytest.mark.deploy
def test_server_says_how_it_is_and_leaves_when_told(docker_images: Engine) -> None:
    with _running(docker_images, build.SERVER.name) as container:
        _await_health(docker_images, container)
        eventually(lambda: _inspect(docker_images, container, "{{.State.Health.Status}}") == "healthy")
        docker_images.run("docker", "stop", "--time", "40", container)
        assert _inspect(docker_images, container, "{{.State.ExitCode}}") == "0"
        assert '"drained"' in docker_images.run("docker", "logs", container, check=False)


def _inspect(engine: Engine, name: str, form: str) -> str:
    return engine.run("docker", "inspect", "--format", form, name).strip()


@pytest.mark.deploy
def test_box_host_runs_programs_with_four_of_roots_rights_and_dockers_own_profile(docker_images: Engine) -> None:
    rights = [word for right in RIGHTS_OF_A_BOX_HOST for word in ("--cap-add", right)]
    with _running(docker_images, build.BOX_HOST.name, *rights) as container:
        _await_health(docker_images, container)
        results = _ask(docker_images, container, [_program(name, text) for name, text in PROGRAMS.items()])
        assert [(result["status"], result["score"], result["reason"]) for result in results] == [
            ("ok", 1.0, "correct")
        ] * 2 * len(PROGRAMS)


@pytest.mark.deploy
def test_box_host_has_boxes_with_namespaces_where_compose_lets_it(docker_images: Engine) -> None:
    rights = [word for right in RIGHTS_OF_A_BOX_HOST for word in ("--cap-add", right)]
    profile = ROOT / "deploy/docker/seccomp-boxes.json"
    options = (*rights, "--security-opt", f"seccomp={profile}", "--security-opt", "systempaths=unconfined")
    with _running(
        docker_images, build.BOX_HOST.name, *options, "--env", "REWARDLINE_LOCAL_TIER=namespaces"
    ) as container:
        _await_health(docker_images, container)
        results = _ask(docker_images, container, [_program(name, text) for name, text in PROGRAMS.items()])
        assert {(result["status"], result["score"]) for result in results} == {("ok", 1.0)}
        assert '"isolation": "namespaces"' in docker_images.run("docker", "logs", container, check=False)


PROGRAMS: Mapping[str, str] = {
    "python": "import numpy\nprint(numpy.array([1, 2]).sum())",
    "cpp": "#include <bits/stdc++.h>\nint main() { std::cout << 1 + 2; }",
    "java": "public class Main { public static void main(String[] a) { System.out.println(1 + 2); } }",
    "javascript": "console.log(1 + 2)",
    "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println(1 + 2) }',
    "rust": 'fn main() { println!("{}", 1 + 2); }',
    "bash": "echo $((1 + 2))",
}


def _program(language: str, text: str) -> Mapping[str, Any]:
    reference = {"test_cases": [{"input": "", "expected_output": "3"}], "language": language}
    return {"verifier": "code", "response": f"```{language}\n{text}\n```", "reference": reference}

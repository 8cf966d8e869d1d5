"""Settings: where they come from, and which ones the service refuses to start with."""

import re
from pathlib import Path
from typing import Any

import pytest

from service.settings import Settings, SettingsError, read
from tests.conftest import ROOT
from tests.tables import table

KEY = "0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_settings_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"REWARDLINE_{name}".upper(), raising=False)


def test_the_defaults_serve_this_machine_alone() -> None:
    settings = read()
    assert (settings.host, settings.http_port, settings.grpc_port) == ("127.0.0.1", 8080, 8081)
    assert settings.redis_url is None
    assert settings.worker_count >= 1
    assert (settings.sandbox, settings.sandbox_isolation) == ("auto", "shared")
    assert settings.slot_count >= 1


def test_the_command_line_is_stronger_than_the_environment_and_that_than_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rewardline.yaml"
    file.write_text("http_port: 1\ngrpc_port: 1\nworkers: 1\n")
    monkeypatch.setenv("REWARDLINE_HTTP_PORT", "2")
    monkeypatch.setenv("REWARDLINE_GRPC_PORT", "2")
    settings = read(file, {"http_port": 3, "grpc_port": None})
    assert (settings.http_port, settings.grpc_port, settings.workers) == (3, 2, 1)


def test_keys_come_from_one_variable_or_a_mapping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rewardline.yaml"
    file.write_text(f"api_keys: {{train: {KEY}}}\n")
    assert set(read(file).key_digests()) == {"train"}
    monkeypatch.setenv("REWARDLINE_API_KEYS", f"a={KEY}, b=x={KEY}")
    digests = read(file).key_digests()
    assert set(digests) == {"a", "b"}
    assert digests["a"] != digests["b"]


@table(
    ("options", "said"),
    [
        ({"host": "0.0.0.0"}, "api_keys"),
        ({"box_hosts": "https://b", "box_hosts_tls_cert": "a.crt"}, "box_hosts_tls_key"),
        ({"box_hosts": "http://b", "box_hosts_tls_ca": "a.pem"}, "https://"),
        ({"host": "10.1.2.3"}, "api_keys"),
        ({"allowed_hosts": "http://judge.example"}, "without a scheme or a port"),
        ({"allowed_hosts": "judge.example:8080"}, "without a scheme or a port"),
        ({"allowed_hosts": "judge.*"}, "host names"),
        ({"host": "example"}, "api_keys"),
        ({"api_keys": "short=123"}, "16 characters"),
        ({"api_keys": "nameless"}, "name=key"),
        ({"api_keys": f"a={KEY},a={KEY}"}, "same name"),
        ({"http_port": 70000}, "http_port"),
        ({"item_deadline_s": 100}, "clocks must nest"),
        ({"default_deadline_s": 1000}, "clocks must nest"),
        ({"max_run_s": 600}, "clocks must nest"),
        ({"sandbox": "chroot"}, "sandbox"),
        ({"box_slots": -1}, "box_slots"),
        ({"box_disk_mb": 2048}, "box_disk_mb"),
        ({"max_items_in_flight": 10}, "must not exceed max_items_in_flight"),
        ({"max_body_mb": 1000}, "must not exceed max_items_in_flight"),
        ({"max_body_mb": float("nan")}, "max_body_mb"),
        ({"nosuch": 1}, "nosuch"),
    ],
)
def test_what_must_not_start_says_why(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read(None, options)


def test_other_machines_need_a_key_or_a_waiver() -> None:
    assert read(None, {"host": "0.0.0.0", "api_keys": f"a={KEY}"}).host == "0.0.0.0"
    assert read(None, {"host": "0.0.0.0", "allow_open": True}).host == "0.0.0.0"
    assert read(None, {"host": "::1"}).host == "::1"
    assert read(None, {"host": "localhost"}).host == "localhost"


def test_a_misspelt_option_is_an_error_wherever_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rewardline.yaml"
    file.write_text("htpp_port: 1\n")
    with pytest.raises(SettingsError, match="htpp_port"):
        read(file)
    monkeypatch.setenv("REWARDLINE_HTPP_PORT", "1")
    with pytest.raises(SettingsError, match="REWARDLINE_HTPP_PORT"):
        read()


def test_variables_of_the_client_may_be_set_where_a_service_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = (ROOT / "client" / "rewardline").rglob("*.py")
    names = {name for source in sources for name in re.findall(r"REWARDLINE_[A-Z_]+[A-Z]", source.read_text("utf-8"))}
    assert {"REWARDLINE_URL", "REWARDLINE_API_KEY"} <= names
    for name in names:
        monkeypatch.setenv(name, "of the client")
    read()


def test_what_kubernetes_says_of_a_service_of_our_name_is_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "REWARDLINE_SERVICE_HOST": "10.0.0.1",
        "REWARDLINE_SERVICE_PORT": "8080",
        "REWARDLINE_SERVICE_PORT_HTTP": "8080",
        "REWARDLINE_GRPC_SERVICE_HOST": "10.0.0.1",
        "REWARDLINE_PORT": "tcp://10.0.0.1:8080",
        "REWARDLINE_PORT_8080_TCP": "tcp://10.0.0.1:8080",
        "REWARDLINE_PORT_8080_TCP_ADDR": "10.0.0.1",
        "REWARDLINE_API_KEY": "of the client",
        "REWARDLINE_RUN_ID": "of the client",
    }.items():
        monkeypatch.setenv(name, value)
    assert read().http_port == 8080


@pytest.mark.parametrize("content", ["- a\n", "a: [\n", "\xff"])
def test_a_file_that_is_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "rewardline.yaml"
    file.write_text(content, encoding="latin-1")
    with pytest.raises(SettingsError, match=r"rewardline\.yaml"):
        read(file)
    with pytest.raises(SettingsError, match="absent"):
        read(tmp_path / "absent.yaml")


def test_secrets_do_not_show() -> None:
    settings = read(None, {"api_keys": f"a={KEY}", "redis_url": "redis://:password@localhost"})
    assert KEY not in repr(settings)
    assert "password" not in repr(settings)


def test_an_empty_collector_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_OTLP_ENDPOINT", "")
    assert read().otlp_endpoint is None

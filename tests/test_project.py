"""What must stay true of the repository itself."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STUBS = ROOT / "client/rewardline/pb/rewardline_pb2.py"

WORDS = """
above after again ahead all all_ alone anew any apart around aside asked asked_ before begin begins begun behind below
beside beyond both came closed come done each end_ ends expected_ few first_ found found_ further further_ given
given_ goes gone got held held_ here inner inner_ it its kept known known_ last_ lasting least left left_ less lost
made many meant meant_ more most named next_ one opened other others outer_ own own_ parts place places put read_ rest
said said_ same second_ seen sent several shown shown_ some starts stuff such taken that them there these they thing
things this those told wanted wanted_ went what which who whole whose within without written
"""
POINTING = frozenset(WORDS.split())
"""Participles, adverbs and pronouns: as names they say where a value was met, not what it is."""

MAX_POINTING = 0.02


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_messages_are_the_contract_as_it_is_written() -> None:
    """The generated module carries the descriptor of proto/: every message, field and number."""
    source = (ROOT / "proto/rewardline/v1/rewardline.proto").read_text()
    script = (
        "from rewardline.pb import rewardline_pb2 as pb\n"
        "for message in pb.DESCRIPTOR.message_types_by_name.values():\n"
        "    for field in message.fields: print(message.name, field.name, field.number)\n"
    )
    printed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    generated = {tuple(line.split()) for line in printed.stdout.splitlines() if "Entry" not in line.split()[0]}
    written = set()
    for message, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", source, re.DOTALL | re.MULTILINE):
        for name, number in re.findall(r"(\w+) = (\d+);", body):
            written.add((message, name, number))
    assert generated == written


def test_stubs_import_under_the_oldest_protobuf_that_trainers_pin() -> None:
    """Code made by protoc 4.25 calls no runtime version check, which is what refuses older runtimes."""
    assert "ValidateProtobufRuntimeVersion" not in STUBS.read_text()


def test_requirements_are_pinned_with_hashes_and_name_no_host() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text()
        assert "://" not in text
        pins = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
        assert pins
        assert all("==" in pin for pin in pins)
        assert text.count("--hash=sha256:") >= len(pins)


def test_no_file_is_large() -> None:
    assert [path for path in tracked() if path.stat().st_size > 5_000_000] == []


@pytest.mark.parametrize("name", ["HTTP", "gRPC"])
def test_every_request_error_has_a_code_for_each_door(name: str) -> None:
    script = (
        "from service.errors import RequestError\n"
        "for kind in RequestError.__subclasses__():\n"
        "    print(kind.__name__, kind.http_status, kind.grpc_code.name, kind.title)\n"
    )
    printed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    kinds = [line.split(maxsplit=3) for line in printed.stdout.splitlines()]
    documented = (ROOT / "service/errors.py").read_text().partition('"""')[2].partition('"""')[0]
    for kind, status, code, title in kinds:
        shown = status if name == "HTTP" else code
        assert re.search(rf"{kind}\s+.*{shown}", documented), f"{kind} ({title}) is not in the table with {shown}"


def assigned(source: str) -> Iterator[str]:
    """The names that a module's code assigns: targets and parameters, without underscores before them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id.lstrip("_")
        elif isinstance(node, ast.arg):
            yield node.arg.lstrip("_")


def test_targets_and_parameters_are_names_that_may_point() -> None:
    source = (
        "def f(given, *, row=0, **_rest):\n    found, _ = given\n    for each in found: x = lambda other: each.left\n"
    )
    assert sorted(POINTING.intersection(assigned(source))) == ["each", "found", "given", "other", "rest"]


@pytest.mark.parametrize(
    "package", ["client", "deploy", "fairness", "memory", "sandbox", "service", "tracing", "verifiers"]
)
def test_names_say_what_they_hold(package: str) -> None:
    names: dict[str, Counter[str]] = {}
    for path in tracked():
        relative = path.relative_to(ROOT)
        if relative.parts[0] == package and path.suffix == ".py" and not {"vendor", "pb"} & set(relative.parts):
            folder = "/".join(relative.parent.parts[:2])
            names.setdefault(folder, Counter()).update(assigned(path.read_text(encoding="utf-8")))
    shares = {}
    for folder, counts in names.items():
        shares[folder] = sum(count for name, count in counts.items() if name in POINTING) / max(counts.total(), 1)
    assert {folder: share for folder, share in shares.items() if share > MAX_POINTING} == {}

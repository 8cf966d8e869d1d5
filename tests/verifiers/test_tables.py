"""Tables are read from their YAML, or from the JSON that was kept when it was read."""

import sys
from pathlib import Path

import pytest

from verifiers import tables


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    table = tmp_path / "words.yaml"
    table.write_text("no: [yes, 'off', 1]\n", "utf-8")
    return table


def kept(path: Path) -> Path:
    (file,) = (path.parent / "__pycache__").iterdir()
    return file


def test_scalars_are_texts_whether_kept_or_not(path: Path) -> None:
    assert [tables.texts(path) for _ in range(2)] == [{"no": ["yes", "off", "1"]}] * 2


def test_what_is_kept_is_read(path: Path) -> None:
    tables.texts(path)
    file = kept(path)
    file.write_bytes(file.read_bytes().replace(b'"yes"', b'"kept"'))
    assert tables.texts(path) == {"no": ["kept", "off", "1"]}


def test_a_changed_table_is_read_anew_and_kept(path: Path) -> None:
    tables.texts(path)
    path.write_text("no: [maybe]\n", "utf-8")
    assert [tables.texts(path) for _ in range(2)] == [{"no": ["maybe"]}] * 2
    assert b"maybe" in kept(path).read_bytes()


@pytest.mark.parametrize("damage", [b"", b"[", b"{}", b"[1]", b"null", b"\xff"])
def test_a_damaged_file_is_written_anew(path: Path, damage: bytes) -> None:
    table = tables.texts(path)
    whole = kept(path).read_bytes()
    kept(path).write_bytes(damage)
    assert tables.texts(path) == table
    assert kept(path).read_bytes() == whole


def test_nothing_is_written_where_python_writes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    tables.texts(path)
    assert not (path.parent / "__pycache__").exists()


def test_a_folder_that_cannot_be_made_is_no_obstacle(path: Path) -> None:
    (path.parent / "__pycache__").write_bytes(b"a file")
    assert tables.texts(path) == {"no": ["yes", "off", "1"]}

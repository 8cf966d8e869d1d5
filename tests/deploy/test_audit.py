"""The audit of dependencies: what was not looked up is never told as "nothing known"."""

import json
from pathlib import Path

import pytest

from deploy import audit

FINE = {"name": "a", "version": "1", "vulns": []}
BAD = {
    "name": "b",
    "version": "2",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"], "aliases": [], "description": ""}],
}
SKIPPED = {"name": "c", "skip_reason": "Dependency not found on PyPI and could not be audited: c (1)"}


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([FINE], audit.CLEAN, "1 packages audited, 0 known"),
        ([FINE, BAD], audit.KNOWN, "b 2: PYSEC-1, mended in 3"),
        ([FINE, SKIPPED], audit.NOT_AUDITED, "COULD NOT AUDIT 1 of 2 packages: Dependency not found"),
        ([BAD, SKIPPED], audit.KNOWN, "COULD NOT AUDIT 1 of 2"),
        ([], audit.NOT_AUDITED, "COULD NOT AUDIT"),
    ],
    ids=["nothing known", "known", "a package skipped", "known and skipped", "nothing looked at"],
)
def test_only_what_was_looked_up_is_clean(packages: list[dict[str, object]], code: int, said: str) -> None:
    report = audit.read(json.dumps({"dependencies": packages, "fixes": []}))
    assert report.code == code
    assert said in report.text()


@pytest.mark.parametrize("output", ["", "No known vulnerabilities found", "{}", "[]", '{"dependencies": null}'])
def test_what_is_no_report_audits_nothing(output: str) -> None:
    with pytest.raises(audit.NotAudited):
        audit.read(output)


@pytest.mark.deploy
def test_it_is_told_where_no_index_can_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "_FOLDER", tmp_path / "audit")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert audit.main([]) == audit.NOT_AUDITED
    assert "COULD NOT AUDIT" in capsys.readouterr().out


@pytest.mark.deploy
def test_nothing_is_known_against_what_is_served(capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is a network, this is the audit of CI."""
    code = audit.main([])
    said = capsys.readouterr().out
    if code == audit.NOT_AUDITED:
        pytest.skip(f"DEPENDENCIES NOT AUDITED: {said}")
    assert code == audit.CLEAN, said

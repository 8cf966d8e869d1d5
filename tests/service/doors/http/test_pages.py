"""The pages in a real browser: what they show, and that the browser has nothing to complain of."""

import re
import subprocess
from pathlib import Path

import httpx

from tests.conftest import Served
from tests.waiting import PATIENCE_S

CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
    "--virtual-time-budget=10000", "--dump-dom",
)  # fmt: skip


def test_the_contract_is_shown_with_every_operation(served: Served, tmp_path: Path) -> None:
    command = [*CHROMIUM, f"--user-data-dir={tmp_path}", f"{served.url}/docs"]
    seen = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    paths = httpx.get(f"{served.url}/openapi.json").json()["paths"]
    assert len(paths) > 10
    assert [path for path in paths if path not in seen.stdout] == []
    assert "Loading" not in re.sub(r"<script>.*?</script>", "", seen.stdout, flags=re.DOTALL)
    assert "CONSOLE" not in seen.stderr

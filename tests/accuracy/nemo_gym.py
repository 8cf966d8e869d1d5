"""Posts rollouts of NeMo-Gym's servers to a running service, and prints a table of the rewards that are equal.

`python -m tests.accuracy.nemo_gym rollouts.jsonl.gz http://localhost:8080`; a line is `{"server": ..., "row": ...}`, and the
row holds the server's `reward`. With `--page` the table goes into docs/nemo-gym.md.
"""

import gzip
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx

from service.doors.compat.nemo_gym_servers import CONVENTION_OF, TABLE, UNJUDGED
from tests.conftest import ROOT
from verifiers.nemo_gym import RECORDED, SERVERS, replays

_PAGE = ROOT / "docs" / "nemo-gym.md"
_BEGIN, _END = "<!-- measured -->\n", "\n<!-- end -->"
_SHOWN = 110
_WE_DIFFER = frozenset(["math_with_code", "mcqa", "nvarc", "rolemrc"])
"""Servers some of whose rows are judged otherwise, or refused, as the page's table of differences says."""
_UNCOMPARED = "nothing shows"
"""In the reason of a row whose record cannot be compared with the response: `?replay=true` vouches for it."""
_OWN_ITEMS = {
    "arc_agi": "arc_grid", "ether0": "chemistry", "gui_coordinate": "point", "ifbench": "instruction_following",
    "instruction_following": "instruction_following", "nvarc": "arc_grid", "reasoning_gym": "reasoning_gym",
    "ruler2": "nemo_gym", "string_match": "qa", "structured_outputs": "structured_output",
}  # fmt: skip
"""The verifiers of servers for whose rows the service has a function."""
_DIGITS = 1e-9


def rollouts(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            read = json.loads(line)
            yield read["server"], read["row"]


def judged(client: httpx.Client, server: str, row: dict[str, Any]) -> tuple[float | None, str]:
    """The reward, or None and the reason of the refusal."""
    body = {name: value for name, value in row.items() if name != "reward"}
    answer = client.post(f"/compat/nemo_gym/{server}/verify", json=body)
    if answer.is_success:
        return answer.json()["reward"], ""
    return None, str(answer.json().get("detail", answer.status_code))


def table(client: httpx.Client, rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """The lines of a table: server, equal rewards of all, and why others are none."""
    equal: Counter[str] = Counter()
    all_rows: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for server, row in rows:
        reward, reason = judged(client, server, row)
        all_rows[server] += 1
        if reward is not None and math.isclose(reward, row["reward"], rel_tol=0, abs_tol=_DIGITS):
            equal[server] += 1
        else:
            reasons[server] = reason or f"{reward:g} instead of {row['reward']:g}"
    yield "| server | judged by | equal | otherwise |"
    yield "|---|---|---|---|"
    for server, count in sorted(all_rows.items()):
        yield f"| `{server}` | {recipe_of(server)} | {equal[server]} of {count} | {_short(reasons.get(server, ''))} |"
    whole = {server for server, count in all_rows.items() if equal[server] == count}
    out_of_scope = all_rows.keys() & UNJUDGED.keys()
    explained = whole | out_of_scope | _WE_DIFFER & all_rows.keys()
    uncompared = {server for server, reason in reasons.items() if _UNCOMPARED in reason} - explained
    yield f"\nAll rows are equal for {len(whole)} of {len(all_rows)} servers: {equal.total()} of {all_rows.total()} rows."
    yield (
        f"Equal or explained are {len(explained)} servers: these, {len(explained - whole - out_of_scope)} that we judge "
        f"otherwise, as the table of differences says, and {len(out_of_scope)} out of scope, for the reason above. Of the "
        f"other {len(all_rows) - len(explained)}, {len(uncompared)} record nothing that shows which response they are "
        "about (`?replay=true` vouches for it); the rollouts of the rest lack what their server judges by."
    )


def recipe_of(server: str) -> str:
    """What judges the rows of a server, for people."""
    plain = TABLE["verifiers"].get(server, {}).get("verifier") or _OWN_ITEMS.get(server)
    asks = server in (*TABLE["asked"], *TABLE["by_rubric"])
    own = "nemo_gym" if server in SERVERS and server not in replays.SERVERS else ""
    recipe = plain or CONVENTION_OF.get(server) or ("judge" if asks else own)
    record = "its judge's words" if server in replays.SERVERS else "its record" if server in RECORDED else ""
    return ", else ".join(part for part in (recipe and f"`{recipe}`", record) if part)


def _short(text: str) -> str:
    line = text.split("are not judged here; ")[-1].replace("|", "\\|").replace("\n", " ")
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _write_page(lines: str) -> None:
    before, rest = _PAGE.read_text(encoding="utf-8").split(_BEGIN)
    _PAGE.write_text(f"{before}{_BEGIN}{lines}{_END}{rest.split(_END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    with httpx.Client(base_url=sys.argv[2], timeout=300) as to_service:
        measured = "\n".join(table(to_service, rollouts(Path(sys.argv[1]))))
    print(measured)
    if "--page" in sys.argv:
        _write_page(measured)

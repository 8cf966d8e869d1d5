"""`make fuzz`: runs the targets for the given time and prints what breaks; or replays one input.

python -m tests.fuzz --seconds 3600 --out .build/fuzz [--target grading]
python -m tests.fuzz lane LANE OUT                 the campaign of a lane of the tests
python -m tests.fuzz replay TARGET BASE64          the law that this input breaks
python -m tests.fuzz shrink TARGET LAW BASE64      the smallest input that breaks the same law, as JSON
"""

import argparse
import base64
import importlib
import importlib.util
import json
import random
import sys
from pathlib import Path


def main() -> None:
    match sys.argv[1:]:
        case ["lane", lane, out]:
            _lane(lane, Path(out))
        case ["one", target, out, cpu_s, seed]:
            _one(target, Path(out), float(cpu_s), int(seed))
        case ["replay", target, encoded]:
            _replay(target, base64.b64decode(encoded))
        case ["shrink", target, law, encoded]:
            _shrink(target, law, base64.b64decode(encoded))
        case _:
            _all()


def _one(target: str, out: Path, cpu_s: float, seed: int) -> None:
    """Fuzz one target in this process. Our own modules are imported so that libFuzzer sees their branches."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["verifiers"]):
        campaign = importlib.import_module("tests.fuzz.campaign")
    campaign.Run(target, out, cpu_s, seed).fuzz()


def _lane(lane: str, out: Path) -> None:
    from tests.fuzz import campaign  # noqa: PLC0415 - as below

    campaign.of_lane(lane, out)


def _replay(target: str, data: bytes) -> None:
    from tests.fuzz import campaign  # noqa: PLC0415 - `_one` must import it under instrumentation, and first

    print(campaign.tried(target, data) or "no law is broken")


def _shrink(target: str, law: str, data: bytes) -> None:
    from tests.fuzz import campaign  # noqa: PLC0415 - as above

    found = campaign.smallest(target, law, data)
    print(json.dumps(found and found.row()))


def _all() -> None:
    from tests.fuzz import campaign, targets  # noqa: PLC0415 - as above

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="CPU seconds in all; two processes share them")
    parser.add_argument("--out", type=Path, default=Path(".build/fuzz"), help="corpora, logs and findings; kept")
    parser.add_argument("--target", choices=list(targets.TARGETS), action="append", help="only these")
    parser.add_argument("--seed", type=int, default=None, help="of the fuzzer; another one each time if not given")
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        sys.exit("atheris is not installed: there is no wheel of it for this Python and machine")
    seed = random.SystemRandom().randrange(1, 2**31) if options.seed is None else options.seed
    spent = campaign.run(options.out, options.seconds, options.target or tuple(campaign.SHARES), seed)
    findings = [finding for each in spent for finding in each.findings]
    for line in (*spent, *findings):
        print(line)
    print(f"seed {seed}; findings are in {options.out / 'findings.jsonl'}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()

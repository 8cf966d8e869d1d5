"""`make accuracy`: the labelled files judged through both doors and by the command line, in one table."""

import argparse
import json
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.accuracy.real_data import WAYS, deepmath, disagreements, gsm8k, judge
from tests.conftest import serving


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write every disagreement there")
    options = parser.parse_args()
    table = Table("data", "judged by", "items", "agree", "accepted, labelled wrong", "rejected, labelled right",
                  "not judged", "items/s", title="Verdicts against labels")  # fmt: skip
    report = []
    same = True
    with tempfile.TemporaryDirectory() as name, serving(Path(name) / "log.jsonl") as served:
        for rows in (gsm8k(), deepmath()):
            first = None
            for way in WAYS:
                outcome = judge(rows, way, served.url, served.grpc, Path(name))
                first = first or outcome
                same = same and outcome.verdicts == first.verdicts
                judged = len(rows.items) - outcome.unjudged.total()
                table.add_row(
                    rows.name,
                    way,
                    str(len(rows.items)),
                    f"{outcome.agree / judged:.2%}",
                    str(outcome.false_accepts),
                    str(outcome.false_rejects),
                    ", ".join(f"{count} {reason}" for reason, count in outcome.unjudged.items()) or "0",
                    f"{len(rows.items) / outcome.seconds:.0f}",
                )
            assert first is not None
            report += [
                {"data": rows.name, "label": label, "verdict": verdict, **item}
                for item, label, verdict in disagreements(rows, first)
            ]
    Console(width=140).print(table, f"The three ways gave {'the same' if same else 'DIFFERENT'} verdicts.")
    if options.json:
        options.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in report))


if __name__ == "__main__":
    main()

"""The result of a comparison as JSON, and as one HTML page that can be saved: without scripts, and nothing in it is loaded."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.dataset_audit.page import STYLE, escaped, row, table, text
from service.diff.flips import Comparison, Json, Kind, summary

ABOUT: Final[Mapping[Kind, str]] = {
    Kind.STATUS: "One side has no score for the item.",
    Kind.PAID_TO_UNPAID: "The score was above 0, and is 0.",
    Kind.UNPAID_TO_PAID: "The score was 0, and is above 0.",
    Kind.SCORE: "Both scores are above 0, and differ.",
    Kind.REWARD: "The scores are equal, and the rewards differ.",
    Kind.REASON: "Only the reason differs: no flip, and nothing that training sees.",
}


def plain(comparison: Comparison, names: Sequence[str], file: str) -> Json:
    """The result as JSON."""
    return {
        "before": names[0],
        "after": names[1],
        "file": file,
        "rows": comparison.rows,
        "compared": comparison.compared,
        "flips": comparison.flips,
        "share": comparison.share,
        "skipped": dict(comparison.skipped),
        "statuses": comparison.statuses,
        "versions": comparison.versions,
        "kinds": [
            {
                "kind": kind,
                "items": comparison.kinds[kind],
                "changes": [
                    {"verifier": verifier, "before": old, "after": new, "items": count}
                    for (of, verifier, old, new), count in comparison.changes.most_common()
                    if of is kind
                ],
                "examples": [flip for (of, _), flips in comparison.examples.items() if of is kind for flip in flips],
            }
            for kind in Kind
            if comparison.kinds[kind]
        ],
        "by": {
            axis: [
                {
                    "name": name,
                    "compared": comparison.compared_by[axis][name] if axis in comparison.compared_by else None,
                    **counts,
                }
                for name, counts in counts_by_name.items()
            ]
            for axis, counts_by_name in comparison.flips_by.items()
        },
    }


def html(result: Json) -> str:
    """The page of a result. Every text may come from a model, so all of them are escaped."""
    title = f"{text(result['before'])} and {text(result['after'])} on {text(result['file'])}"
    skipped = "".join(f"<p>{count} rows not compared: {text(why)}.</p>" for why, count in result["skipped"].items())
    statuses = "".join(
        f"<p>{text(result[side])}: {text(', '.join(f'{count} {status}' for status, count in counts.items()))}.</p>"
        for side, counts in result["statuses"].items()
    )
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(result['file'])}: flips</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>",
            f"<p>{result['compared']} items compared; {result['flips']} flips ({result['share']:.3%}).</p>{skipped}{statuses}",
            *map(_kind, result["kinds"]),
            *(_axis(axis, axis_rows) for axis, axis_rows in result["by"].items()),
            "" if result["kinds"] else "<p>All verdicts are the same.</p>",
            "</main></body></html>\n",
        ]
    )


def _kind(kind: Json) -> str:
    changes = (
        row([text(change["verifier"]), text(change["before"]), text(change["after"]), str(change["items"])])
        for change in kind["changes"]
    )
    return (
        f"<section><h2>{text(kind['kind'].replace('_', ' '))}: {kind['items']}</h2><p>{ABOUT[Kind(kind['kind'])]}</p>"
        f"{table(('verifier', 'reason before', 'after', 'items'), changes)}"
        f"{table(('line', 'before', 'after', 'reference', 'response'), map(_example, kind['examples']))}</section>"
    )


def _example(flip: Json) -> str:
    texts = (summary(flip["before"]), summary(flip["after"]), flip["reference"] or "", flip["response"] or "")
    return row([f"{text(flip['file'])}:{flip['line']}", *(f"<code>{text(content)}</code>" for content in texts)])


def _axis(axis: str, axis_rows: Sequence[Json]) -> str:
    kinds = [kind for kind in Kind if any(kind in axis_row for axis_row in axis_rows)]
    rows = (
        row([text(axis_row["name"]), str(axis_row["compared"] or ""), *(str(axis_row.get(kind, 0)) for kind in kinds)])
        for axis_row in axis_rows
    )
    heads = (axis, "compared", *(kind.replace("_", " ") for kind in kinds))
    return f"<section><h2>By {text(axis)}</h2>{table(heads, rows)}</section>"

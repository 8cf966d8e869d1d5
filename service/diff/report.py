"""The result of a comparison as JSON, and as one HTML page that can be saved: without scripts, and nothing in it is loaded."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.dataset_audit.page import STYLE, escaped, table, text
from service.diff.flips import Comparison, Json, Kind

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
                    {"verifier": verifier, "before": before, "after": after, "items": count}
                    for (of, verifier, before, after), count in comparison.changes.most_common()
                    if of is kind
                ],
                "examples": [flip for (of, _), kept in comparison.examples.items() if of is kind for flip in kept],
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
                for name, counts in named.items()
            ]
            for axis, named in comparison.flips_by.items()
        },
    }


def html(made: Json) -> str:
    """The page of a result. Every text may come from a model, so all of them are escaped."""
    title = f"{text(made['before'])} and {text(made['after'])} on {text(made['file'])}"
    skipped = "".join(f"<p>{count} rows not compared: {text(why)}.</p>" for why, count in made["skipped"].items())
    statuses = "".join(
        f"<p>{text(made[side])}: {text(', '.join(f'{count} {status}' for status, count in counts.items()))}.</p>"
        for side, counts in made["statuses"].items()
    )
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(made['file'])}: flips</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>",
            f"<p>{made['compared']} items compared; {made['flips']} flips ({made['share']:.3%}).</p>{skipped}{statuses}",
            *map(_kind, made["kinds"]),
            *(_axis(axis, named) for axis, named in made["by"].items()),
            "" if made["kinds"] else "<p>All verdicts are the same.</p>",
            "</main></body></html>\n",
        ]
    )


def _kind(kind: Json) -> str:
    changes = (
        _row([text(each["verifier"]), text(each["before"]), text(each["after"]), str(each["items"])])
        for each in kind["changes"]
    )
    return (
        f"<section><h2>{text(kind['kind'].replace('_', ' '))}: {kind['items']}</h2><p>{ABOUT[Kind(kind['kind'])]}</p>"
        f"{table(('verifier', 'reason before', 'after', 'items'), changes)}"
        f"{table(('line', 'before', 'after', 'reference', 'response'), map(_example, kind['examples']))}</section>"
    )


def _example(flip: Json) -> str:
    texts = (_verdict(flip["before"]), _verdict(flip["after"]), flip["reference"] or "", flip["response"] or "")
    return _row([f"{text(flip['file'])}:{flip['line']}", *(f"<code>{text(each)}</code>" for each in texts)])


def _verdict(verdict: Json) -> str:
    shown = [verdict["status"], verdict["score"], verdict["reason"], verdict["extracted"]]
    return " ".join(str(each) for each in shown if each is not None)


def _axis(axis: str, named: Sequence[Json]) -> str:
    kinds = [kind for kind in Kind if any(kind in each for each in named)]
    rows = (
        _row([text(each["name"]), str(each["compared"] or ""), *(str(each.get(kind, 0)) for kind in kinds)])
        for each in named
    )
    heads = (axis, "compared", *(kind.replace("_", " ") for kind in kinds))
    return f"<section><h2>By {text(axis)}</h2>{table(heads, rows)}</section>"


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"

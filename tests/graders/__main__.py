"""`make graders`: the graders that trainers ship, and this service, on the same labelled rows.

It writes the tables into docs/graders.md, and every row with what each grader said of it into docs/graders-rows.html.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.accuracy.real_data import Rows, judge
from tests.conftest import serving
from tests.graders import page
from tests.graders.bench import Answer, Environment, Tally, by_set, checked, judged, table
from tests.graders.sets import Recording, all_sets, is_of_letters, recording, xverify_examples

MOST = 250
"""Rows of a set."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="the interpreter of the graders' environment")
    parser.add_argument("--sources", type=Path, help="the folder with checkouts of the graders that have no wheel")
    parser.add_argument("--grader", type=Path, metavar="FILE", help="a file with graders of your own")
    parser.add_argument("--recorded", type=Path, help="more rows with what models said of them")
    parser.add_argument("--only", default="", help="the graders whose names begin so")
    parser.add_argument("--sets", default="", help="the sets whose names begin with one of these, A,B")
    parser.add_argument(
        "--most", type=int, default=MOST, help="rows of a set; the page is written for the default only"
    )
    parser.add_argument("--resume", action="store_true", help="ask graders only about rows that the page lacks")
    parser.add_argument("--jobs", type=int, default=1, help="graders at the same time; more need as many processors")
    options = parser.parse_args(arguments)
    sources = checked(options.sources.absolute()) if options.sources else None
    replays = [recording(), *([recording(options.recorded)] if options.recorded else [])]
    replays += [xverify_examples(sources)] if sources else []
    sets = [rows.sample(options.most) for rows in (*all_sets(), *(replay.rows for replay in replays))]
    asked = [rows for rows in sets if rows.name.startswith(tuple(options.sets.split(",")))]
    environment = Environment(options.python.absolute(), sources, options.grader and options.grader.absolute())
    tallies: list[Tally] = []
    old = page.read()
    known = old if options.resume else []
    for new in _results(environment, options.only, asked, replays, known, options.jobs):
        tallies += new
        if options.most == MOST and not options.recorded:
            page.write(page.merged(old, tallies, sets))
    print(*table(tallies), "", *by_set(tallies), "", *page.changes(old, tallies), sep="\n")


def _results(
    environment: Environment,
    only: str,
    sets: Sequence[Rows],
    replays: Sequence[Recording],
    known: Sequence[Tally],
    jobs: int,
) -> Iterator[list[Tally]]:
    if page.OURS.startswith(only):
        yield ours(sets)
    yield [tally for replay in replays for tally in replayed(replay) if tally.grader.startswith(only)]

    def asked(grader: str) -> list[Tally]:
        own = [rows for rows in sets if is_of_letters(rows) or not of_letters[grader]]
        return judged(environment, grader, own, {tally.rows.name: tally for tally in known if tally.grader == grader})

    of_letters = environment.graders()
    with ThreadPoolExecutor(jobs) as threads:
        running = [threads.submit(asked, grader) for grader in of_letters if grader.startswith(only)]
        for ended in as_completed(running):
            yield ended.result()


def replayed(replay: Recording) -> Iterator[Tally]:
    """What graders that are models said of rows. They do not run here."""
    for grader, said in replay.said.items():
        yield Tally(grader, replay.rows, said, 0.0)


def ours(sets: Sequence[Rows]) -> list[Tally]:
    """What the service says, over HTTP."""
    tallies = []
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "log.jsonl") as served:
        for rows in sets:
            outcome = judge(rows, "HTTP", served, Path(folder))
            answers: list[Answer] = [
                verdict["score"] == 1.0 if verdict["status"] == "ok" else None for verdict in outcome.verdicts
            ]
            tallies.append(Tally(page.OURS, rows, answers, outcome.cpu_s))
    return tallies


if __name__ == "__main__":
    main()

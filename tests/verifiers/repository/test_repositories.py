"""Twelve repositories in five languages: what each kind of response earns, and what swebench's parsers say of it."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final

import docker
import pytest

from tests.dockerd import ensure_toolchains_image
from tests.repositories import HONEST, KINDS, Repository, Response, diff, image_of, repositories
from tests.verifiers.repository.judge import Judge
from verifiers.base import Status, Verdict

REPORTED: Final = [repository for repository in repositories() if repository.swebench]
every_repository = pytest.mark.parametrize("repository", repositories(), ids=str)


def task_of(judge: Judge, repository: Repository) -> dict[str, Any]:
    if repository.tools == "toolchains":
        ensure_toolchains_image(judge.address)
    with closing(docker.APIClient(judge.address, version="auto", timeout=300)) as client:
        image, commit = image_of(client, repository)
    return {"image": image, "base_commit": commit, **repository.task}


def judged(judge: Judge, repository: Repository, responses: Sequence[Response], **changes: Any) -> Sequence[Verdict]:
    """The verdicts on responses. Each is a diff in a fence."""
    task = {**task_of(judge, repository), **changes}
    texts = [f"This is my change.\n\n```diff\n{diff(repository, response.files)}```\n" for response in responses]
    return judge.judged(*(judge.item(text, explain=True, **task) for text in texts))


def wrong_verdicts(judge: Judge, repository: Repository, responses: Sequence[Response]) -> list[str]:
    return [
        f"{response.kind}: {verdict}"
        for response, verdict in zip(responses, judged(judge, repository, responses), strict=True)
        if (verdict.status, verdict.score) != (Status.OK, response.score) or verdict.reason not in response.reasons
    ]


@every_repository
def test_a_repository_has_every_kind_of_response(repository: Repository) -> None:
    assert [kind for kind in KINDS if kind not in repository.responses] == []


@pytest.mark.repositories
@every_repository
def test_honest_responses_earn_what_their_tests_say(judge: Judge, repository: Repository) -> None:
    assert wrong_verdicts(judge, repository, [repository.responses[kind] for kind in HONEST]) == []


@pytest.mark.repositories
@every_repository
def test_hostile_responses_earn_nothing(judge: Judge, repository: Repository) -> None:
    hostile = [response for kind, response in repository.responses.items() if kind not in HONEST]
    assert wrong_verdicts(judge, repository, hostile) == []


@pytest.mark.repositories
@every_repository
def test_a_share_of_the_tests_earns_a_share(judge: Judge, repository: Repository) -> None:
    honest = [repository.responses[kind] for kind in HONEST if repository.responses[kind].reasons != ["tests_broken"]]
    verdicts = judged(judge, repository, honest, scoring="fraction")
    assert [verdict.score for verdict in verdicts] == [pytest.approx(response.fraction) for response in honest]


@pytest.mark.repositories
@pytest.mark.parametrize("judge", ["runc"], indirect=True)
@pytest.mark.parametrize("repository", REPORTED, ids=str)
def test_swebench_reads_the_same_states(judge: Judge, repository: Repository) -> None:
    """Each test has the same state before and after each honest response, by our reading and by that of swebench."""
    parser = repository.swebench
    assert parser is not None
    names = {
        field: [parser.name(test) for test in repository.task[field] if test not in parser.otherwise]
        for field in ("fail_to_pass", "pass_to_pass")
    }
    honest = [repository.responses[kind] for kind in HONEST]
    ours = judged(judge, repository, honest)
    theirs = judged(
        judge,
        repository,
        honest,
        **names,
        test_command=parser.test_command,
        log_format="swebench",
        log_options={"parser": parser.parser},
    )
    for our, their in zip(ours, theirs, strict=True):
        known = {parser.name(name): states for name, states in states_of(our).items() if name not in parser.otherwise}
        assert (states_of(their), their.reason) == (known, our.reason)


def states_of(verdict: Verdict) -> dict[str, tuple[str, str]]:
    """The states of each test before and after the response."""
    return {test["test"]: (test["before"], test["after"]) for test in verdict.detail["tests"]}

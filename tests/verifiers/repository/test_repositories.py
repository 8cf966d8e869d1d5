"""Twelve repositories in five languages: what each kind of response earns, and what swebench's parsers say of it."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import docker
import pytest

from tests.dockerd import ensure_toolchains_image
from tests.repositories import HONEST, KINDS, Repository, Response, diff, image_of, repositories
from tests.verifiers.repository.judge import Judge
from verifiers.base import Status, Verdict

every_repository = pytest.mark.parametrize("repository", repositories(), ids=str)


def task_of(judge: Judge, repository: Repository) -> dict[str, Any]:
    if repository.tools == "toolchains":
        ensure_toolchains_image(judge.address)
    with closing(docker.APIClient(judge.address, version="auto", timeout=300)) as client:
        image, commit = image_of(client, repository)
    return {"image": image, "base_commit": commit, **repository.task}


def judged(judge: Judge, repository: Repository, responses: Sequence[Response], **changes: Any) -> list[Verdict]:
    """The verdicts on responses, which are judged at the same time. Each is a diff in a fence."""
    task = {**task_of(judge, repository), **changes}
    texts = [f"This is my change.\n\n```diff\n{diff(repository, response.files)}```\n" for response in responses]
    items = [judge.item(text, explain=True, **task) for text in texts]
    verdicts: list[Verdict] = judge.run(judge.verifier.score(items))
    return verdicts


def wrong_verdicts(judge: Judge, repository: Repository, responses: Sequence[Response]) -> list[str]:
    return [
        f"{response.kind}: {verdict}"
        for response, verdict in zip(responses, judged(judge, repository, responses), strict=True)
        if (verdict.status, verdict.score) != (Status.OK, response.score) or verdict.reason not in response.reasons
    ]


@every_repository
def test_a_repository_has_every_kind_of_response(repository: Repository) -> None:
    assert [kind for kind in KINDS if kind not in repository.responses] == []


@pytest.mark.repositories(beyond=2)
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

"""The paths of jobs and interactions: their routes in metrics, and their ids."""

import pytest

from service.doors.routes import interactions, jobs
from service.doors.routes.resource import Resource
from service.errors import NotFound
from tests.tables import table

HEX = "0123456789abcdef" * 2


@table(
    "resource, path, route, found",
    [
        (jobs.RESOURCE, "/v1/jobs", jobs.ALL, None),
        (jobs.RESOURCE, f"/v1/jobs/{HEX}", jobs.ONE, HEX),
        (jobs.RESOURCE, "/v1/jobs/", jobs.ONE, None),
        (jobs.RESOURCE, f"/v1/jobs/{HEX}\n", jobs.ONE, None),
        (jobs.RESOURCE, f"/v1/jobs/{HEX}/more", jobs.ONE, None),
        (jobs.RESOURCE, "/v1/jobsx", None, None),
        (interactions.RESOURCE, "/v1/interactions", interactions.ALL, None),
        (interactions.RESOURCE, "/v1/interactions/a:1", interactions.ONE, "a:1"),
        (interactions.RESOURCE, "/v1/interactions/turns", interactions.ONE, "turns"),
        (interactions.RESOURCE, "/v1/interactions/a/turns", interactions.TURNS, "a"),
        (interactions.RESOURCE, "/v1/interactions/a\n/turns", interactions.TURNS, None),
        (interactions.RESOURCE, "/v1/interactions/a/turns/1", None, None),
        (interactions.RESOURCE, "/v1/interactions/", None, None),
        (interactions.RESOURCE, "/v1/interactions//turns", None, None),
    ],
)
def test_a_path_has_a_route_and_an_id(resource: Resource, path: str, route: str | None, found: str | None) -> None:
    assert resource.route(path) == route
    if found is None:
        with pytest.raises(NotFound, match=f"no {resource.noun} has such an id"):
            resource.id_of(path)
    else:
        assert resource.id_of(path) == found

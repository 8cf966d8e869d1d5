"""The containers of a daemon."""

from contextlib import suppress
from typing import Any

import docker
from docker.errors import NotFound

from sandbox.boxes.docker.owner import OWNER_LABEL


def containers_of(client: docker.APIClient, owner: str) -> list[str]:
    """The containers of this owner, also those that have ended."""
    found = client.containers(all=True, filters={"label": f"{OWNER_LABEL}={owner}"})
    return [container["Id"] for container in found]


def states_of(client: docker.APIClient, owner: str) -> list[Any]:
    """The daemon's description of each container that still exists, for the message of a test that expected none."""
    found = []
    for name in containers_of(client, owner):
        with suppress(NotFound):
            found.append(client.inspect_container(name)["State"])
    return found

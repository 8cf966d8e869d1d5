"""What a daemon has."""

from typing import Any

import docker

from sandbox.docker.owner import OWNER_LABEL


def containers_of(client: docker.APIClient, owner: str) -> list[str]:
    """Also those that have ended."""
    found = client.containers(all=True, filters={"label": f"{OWNER_LABEL}={owner}"})
    return [container["Id"] for container in found]


def states_of(client: docker.APIClient, owner: str) -> list[Any]:
    """What the daemon says of each: for the message of a test that expected none."""
    return [client.inspect_container(name)["State"] for name in containers_of(client, owner)]

"""What a daemon has."""

import docker

from sandbox.docker.owner import OWNER_LABEL


def containers_of(client: docker.APIClient, owner: str) -> list[str]:
    """Also those that have ended."""
    found = client.containers(all=True, filters={"label": f"{OWNER_LABEL}={owner}"})
    return [container["Id"] for container in found]

"""The images of this checkout in a Docker daemon."""

from contextlib import closing

import docker

from deploy.docker import build
from deploy.docker.debian import ensure


def build_images(address: str) -> None:
    """Build `rewardline-server`, `rewardline-box-host` and `rewardline-companions` from this checkout.

    Raises:
        NotMade, NoWheels: they cannot be made.
    """
    with closing(docker.APIClient(address, version="auto", timeout=900)) as client:
        prepared = build.prepare(client)
        for image in (build.SERVER, build.BOX_HOST):
            build.build(client, image, prepared)
        ensure(client, build.COMPANIONS)

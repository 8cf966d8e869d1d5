"""`rewardline drain` sends the callers of the service on this host elsewhere, and waits until its work is done.

`python -m service.cli.drain` does the same, for the preStop hooks of containers. It needs the standard library alone: the
other commands take seconds of CPU to start, which a busy container lacks.
"""

import http.client
import json
import os
import sys
from typing import Final
from urllib.parse import urlsplit

_DEFAULT_PORT: Final = "8090"


class NotDrained(Exception):
    """The service did not do it. The message says why."""


def default_url() -> str:
    """The operators' port of this host."""
    return f"http://127.0.0.1:{os.environ.get('REWARDLINE_OPS_PORT') or _DEFAULT_PORT}"  # noqa: TID251 - see above


def drain(url: str, api_key: str | None = None) -> str:
    """Drain the service with this operators' port. Returns what is left to say.

    Raises:
        NotDrained: it does not answer, or refuses.
    """
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        connection.request("POST", "/drain", headers=headers)
        answer = connection.getresponse()
        content = json.loads(answer.read() or b"{}")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotDrained(f"{url} is not the operators' port of a service (setting `ops_port`): {error!r}") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise NotDrained(f"{url} refuses ({answer.status}): {content.get('detail', '')}")
    return f"Drained: {content['requests']} requests and {content['items']} items are still under way."


def main() -> int:
    try:
        print(drain(default_url()))  # noqa: T201 - for the log of the hook
    except NotDrained as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

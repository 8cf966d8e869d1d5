"""Asks the service of this container for its health. Docker and Compose look at the exit code.

health.py [/healthz | /readyz | /startupz]: is it alive (the default), does it take work, was it ever ready.
"""

import http.client
import os
import sys

PATIENCE_S = 4.0


def main() -> int:
    path = sys.argv[1] if len(sys.argv) > 1 else "/healthz"
    port = int(os.environ.get("REWARDLINE_OPS_PORT", "8090"))  # noqa: TID251 - it runs without the service's modules
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        sys.stdout.write(f"{answer.status} {answer.read(500).decode(errors='replace')}\n")
    except OSError as error:
        sys.stdout.write(f"{error}\n")
        return 1
    return 0 if answer.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main())

"""Scores rounds of math and code against a deployment, over HTTP and gRPC in turn, and prints a line of JSON for each.

python -m tests.deploy.scoring HTTP_URL GRPC_URL KEY ROUNDS [PROGRAMS]
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from rewardline import Client

MATH = 20


def items(number: int, programs: int) -> list[Mapping[str, Any]]:
    """New items for each round. Half of them are right."""
    math = [
        {"verifier": "math", "response": f"\\boxed{{{number * MATH + i}}}", "reference": str(number * MATH + i + i % 2)}
        for i in range(MATH)
    ]
    return [*math, *(_program(number * programs + i, i % 2 == 0) for i in range(programs))]


def _program(number: int, is_right: bool) -> Mapping[str, Any]:
    wanted = f"{number + 3}" if is_right else "another"
    return {
        "verifier": "code",
        "response": f"```python\nprint(sum(map(int, input().split())) + {number})\n```",
        "reference": {"test_cases": [{"input": "1 2\n", "expected_output": wanted}]},
    }


def main() -> None:
    http, grpc, key, rounds, programs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    with Client(http, api_key=key) as by_http, Client(grpc, api_key=key) as by_grpc:
        for number in range(rounds):
            client = by_http if number % 2 == 0 else by_grpc
            results = client.score(items(number, programs))
            scores = [result.score for result in results]
            figures = {
                "door": "http" if client is by_http else "grpc",
                "statuses": Counter(str(result.status.value) for result in results),
                "math": scores[:MATH],
                "code": scores[MATH:],
                "reasons": Counter(result.reason for result in results if result.score is None),
            }
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()

"""What a judge says of two responses, in the form of NeMo-Gym's genrm_compare."""

import json


def scored(first: str, second: str) -> str:
    """Scores by the lengths of both; often they are equal, so that the ranking decides."""
    own, other = len(first), len(second)
    return json.dumps({"score_1": 1 + own % 3, "score_2": 1 + other % 3, "ranking": 1 + (2 * own + other) % 6})

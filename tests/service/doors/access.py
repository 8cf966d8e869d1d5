"""Who may call what: a line for each route of HTTP and each method of gRPC. A route without a line fails the tests."""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class Access:
    """What a call needs, and what a caller gets who may make it."""

    needs: Literal["nothing", "key", "score", "sandbox", "admin"]
    right: int = 200
    """The status for the example of the OpenAPI document, in a service without boxes and judge models. For gRPC the
    number of the code, or 200 for OK."""
    of: Literal["", "interaction", "job", "task", "session"] = ""
    """What of a tenant the call names. What another tenant has is answered like what nobody has."""


SCORE, SANDBOX, ADMIN = Access("score"), Access("sandbox"), Access("admin")

HTTP: Final[dict[str, Access]] = {
    "GET /": Access("nothing"),
    "GET /docs": Access("nothing"),
    "GET /healthz": Access("nothing"),
    "GET /openapi.json": Access("nothing"),
    "GET /readyz": Access("nothing"),
    "GET /metrics": ADMIN,
    "GET /v1/series": ADMIN,
    "GET /v1/judges": ADMIN,
    "GET /v1/log": Access("admin", 404),
    "GET /v1/log/record": Access("admin", 422),
    "GET /v1/log/summary": Access("admin", 404),
    "GET /v1/log/export": Access("admin", 404),
    "GET /v1/log/corrections": Access("admin", 404),
    "POST /v1/log/corrections": Access("admin", 422),
    "GET /v1/log/records": Access("admin", 404),
    "GET /v1/log/groups": Access("admin", 404),
    "GET /v1/log/steps": Access("admin", 404),
    "GET /v1/log/compare": Access("admin", 422),
    "GET /v1/audits": ADMIN,
    "POST /v1/audits": Access("admin", 422),
    "GET /v1/audits/{id}": Access("admin", 404),
    "DELETE /v1/audits/{id}": Access("admin", 404),
    "GET /v1/audits/{id}/report": Access("admin", 404),
    "GET /v1/audits/{id}/fixes": Access("admin", 404),
    "GET /v1/ping": Access("key"),
    "GET /v1/recipes": Access("key"),
    "GET /v1/sandbox": Access("key"),
    "GET /v1/usage": Access("key"),
    "GET /v1/watch/alarms": SCORE,
    "GET /v1/prompts": SCORE,
    "GET /v1/verifiers": Access("key"),
    "GET /v1/verifiers/{name}": Access("key"),
    "POST /v1/score": SCORE,
    "POST /v1/group/advantages": SCORE,
    "POST /v1/groups/score": SCORE,
    "POST /v1/rubrics/evolve": SCORE,
    "POST /v1/chat/completions": Access("score", 404),
    "POST /classify": Access("score", 404),
    "POST /v1/embeddings": Access("score", 404),
    "POST /get_reward": Access("score", 404),
    "GET /v1/models": Access("score", 404),
    "POST /v1/interactions": Access("score", 201),
    "GET /v1/interactions/{id}": Access("score", of="interaction"),
    "DELETE /v1/interactions/{id}": Access("score", of="interaction"),
    "POST /v1/interactions/{id}/turns": Access("score", of="interaction"),
    "POST /v1/jobs": Access("score", 202),
    "GET /v1/jobs/{id}": Access("score", of="job"),
    "DELETE /v1/jobs/{id}": Access("score", of="job"),
    "POST /v1/boxes/runs": Access("sandbox", 415),
    "POST /run_code": SANDBOX,
    "POST /run_jupyter": SANDBOX,
    "POST /submit": Access("sandbox", 503),
    "POST /compat/sandboxfusion/run_code": Access("sandbox", 400),
    "POST /compat/sandboxfusion/run_jupyter": Access("sandbox", 400),
    "POST /compat/sandboxfusion/submit": Access("sandbox", 400),
    "POST /compat/open_instruct/test_program": Access("sandbox", 503),
    "POST /compat/open_instruct/test_program_stdio": Access("sandbox", 503),
    "GET /compat/open_instruct/health": SANDBOX,
    "POST /compat/open_r1/execute_batch": SANDBOX,
    "POST /compat/kimina/verify": Access("sandbox", 503),
    "POST /compat/kimina/one_pass_verify_batch": Access("sandbox", 400),
    "POST /api/check": Access("sandbox", 503),
    "POST /compat/kimina/api/check": Access("sandbox", 400),
    "GET /compat/kimina/health": SANDBOX,
    "POST /compat/openrlhf/get_reward": SCORE,
    "POST /compat/slime/rm": SCORE,
    "POST /compat/roll/submit_task": SCORE,
    "GET /compat/roll/task_result": Access("score", of="task"),
    "POST /apis/custom/reward-system/v1/submit_task": Access("score", 400),
    "GET /apis/custom/reward-system/v1/task_result": Access("score", 400),
    "POST /compat/nemo_gym/verify": SCORE,
    "POST /compat/nemo_gym/seed_session": Access("score", of="session"),
    "POST /compat/nemo_gym/close_session": SCORE,
    "POST /compat/nemo_gym/aggregate_metrics": SCORE,
    "POST /compat/nemo_gym/compare": Access("score", 503),
    "GET /compat/nemo_gym/reverify_mode": SCORE,
    "POST /compat/openenv/reset": SCORE,
    "POST /compat/openenv/{kind}/{name}/reset": SCORE,
    "POST /compat/openenv/step": Access("score", of="interaction"),
    "GET /compat/openenv/state": Access("score", of="interaction"),
    "GET /compat/openenv/health": SCORE,
    "GET /compat/openenv/schema": SCORE,
    "GET /compat/openenv/metadata": SCORE,
}

GRPC: Final[dict[str, Access]] = {
    "rewardline.v1.Verifier/Score": SCORE,
    "rewardline.v1.Verifier/ScoreStream": SCORE,
    "rewardline.v1.Verifier/ScoreGroups": SCORE,
    "rewardline.v1.Verifier/EvolveRubrics": SCORE,
    "rewardline.v1.Verifier/ListVerifiers": SCORE,
    "grpc.health.v1.Health/Check": Access("nothing"),
    "grpc.health.v1.Health/List": Access("nothing", right=12),  # UNIMPLEMENTED
    "grpc.health.v1.Health/Watch": Access("nothing"),
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Access("nothing"),
}

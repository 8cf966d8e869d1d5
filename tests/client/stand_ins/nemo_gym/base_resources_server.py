"""How a resources server is configured, and what it takes and gives."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict


class ReverifyMode(StrEnum):
    STATELESS = "stateless"
    UNKNOWN = "unknown"


class BaseResourcesServerConfig(BaseModel):
    name: str = "verifier"
    host: str = "127.0.0.1"
    port: int = 0
    entrypoint: str = "app.py"
    domain: str = "other"


class BaseRunRequest(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    responses_create_params: dict[str, Any]


class BaseVerifyRequest(BaseRunRequest):
    response: dict[str, Any]


class BaseVerifyResponse(BaseVerifyRequest):
    reward: float


class SimpleResourcesServer(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    config: BaseResourcesServerConfig
    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.UNKNOWN

    def setup_webserver(self) -> FastAPI:
        app = FastAPI()
        app.post("/verify")(self.verify)
        return app

    async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
        raise NotImplementedError

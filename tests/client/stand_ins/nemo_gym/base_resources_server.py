"""The configuration of a resources server, and its requests and answers."""

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
    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.UNKNOWN


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

    def setup_webserver(self) -> FastAPI:
        app = FastAPI()
        app.post("/seed_session")(self.seed_session)
        app.post("/close_session")(self.close_resources_session)
        app.post("/verify")(self.verify)
        app.get("/reverify_mode")(self.get_reverify_mode)
        return app

    async def seed_session(self, body: dict[str, Any]) -> Any:
        raise NotImplementedError

    async def close_resources_session(self, body: dict[str, Any]) -> Any:
        raise NotImplementedError

    async def get_reverify_mode(self) -> ReverifyMode:
        return self.config.REVERIFY_MODE

    async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse:
        raise NotImplementedError

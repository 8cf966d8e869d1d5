"""Usage as it is shown: of one tenant, or of all; with Redis, whatever replica it was used at."""

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from pydantic import SecretStr

from service.cancellation import cancel
from service.errors import StateUnavailable
from service.usage.ledger import Ledger
from service.usage.report import TenantUsage

if TYPE_CHECKING:
    from service.usage.redis_sharing import RedisSharing  # its library is loaded only where there is a Redis

_PATIENCE_S = 3.0


class UsageReport(msgspec.Struct, frozen=True):
    """What tenants have used."""

    tenants: Sequence[TenantUsage]
    shared: bool
    """Whether this is the usage at all replicas. Otherwise it is what this one knows: there is no Redis, or it does not
    answer."""


class Usage:
    """A ledger, and what shares it if it is shared."""

    def __init__(self, ledger: Ledger, sharing: "RedisSharing | None" = None) -> None:
        self.ledger = ledger
        self._sharing = sharing

    @property
    def errors(self) -> int:
        """Calls to Redis that failed."""
        return 0 if self._sharing is None else self._sharing.errors

    async def of(self, tenant: str) -> UsageReport:
        """The usage of one tenant, with its runs."""
        shared = await self._is_up_to_date([tenant])
        return UsageReport([self.ledger.report(tenant)], shared)

    async def of_all(self) -> UsageReport:
        """The usage of all tenants that have been seen here or have a budget, without their runs."""
        tenants = self.ledger.tenants()
        shared = await self._is_up_to_date(tenants)
        return UsageReport([self.ledger.report(tenant, with_runs=False) for tenant in tenants], shared)

    async def _is_up_to_date(self, tenants: Sequence[str]) -> bool:
        if self._sharing is None:
            return False
        try:
            async with asyncio.timeout(_PATIENCE_S):
                for tenant in tenants:
                    await self._sharing.look_up(tenant)
        except (TimeoutError, StateUnavailable):
            return False
        return True


@contextlib.asynccontextmanager
async def open_usage(ledger: Ledger, redis_url: SecretStr | None) -> AsyncIterator[Usage]:
    """Share the ledger through Redis, if there is one."""
    if redis_url is None:
        yield Usage(ledger)
        return
    kind: type[RedisSharing] = importlib.import_module("service.usage.redis_sharing").RedisSharing
    sharing = kind(ledger, redis_url.get_secret_value())
    task = asyncio.create_task(sharing.run())
    try:
        yield Usage(ledger, sharing)
    finally:
        await cancel(task)
        await sharing.close()

"""Whose request is being served, and which name a kept thing has for its owner.

A tenant is who calls: a key, or all keys that name the same tenant. Whatever is kept for a caller (interactions, jobs,
tasks, sessions) is kept under its `owned` name. So the same id may exist once per tenant, and the id of another tenant is
an unknown one. Names of the default tenant are as they were before there were tenants.
That is the tenant of everyone where no keys are set, and of everything that older releases kept.

A run is what a caller says its request is for, such as one training. It tells apart what is counted and logged, and owns
nothing.
"""

import re
from contextvars import ContextVar
from typing import Final
from urllib.parse import quote, unquote

from fairness import DEFAULT, TENANT
from memory import remember

FORM: Final = re.compile(r"[!-~]{1,128}")
"""The form of a tenant."""
RUN_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._:@~+=/-]{0,127}$"
"""The form of the name of a run."""
RUN: ContextVar[str] = ContextVar("run", default="")
"""The run of the request that is being served. Empty: it names none."""


def owned(name: str) -> str:
    """The name under which the thing of the current tenant is kept. `name` holds no slash."""
    return prefix_of(TENANT.get()) + name


@remember(4096)
def prefix_of(tenant: str) -> str:
    """What comes before the names of what a tenant owns."""
    return "" if tenant == DEFAULT else f"{quote(tenant, safe='')}/"


def parted(owned_name: str) -> tuple[str, str]:
    """The tenant and the name of what is kept under an `owned` name."""
    tenant, slash, name = owned_name.rpartition("/")
    return (unquote(tenant), name) if slash else (DEFAULT, owned_name)

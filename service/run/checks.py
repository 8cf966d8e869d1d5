"""Looks for everything that would stop a start, or be wrong later, without starting anything."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sandbox.boxes.remote import BadTlsFiles
from sandbox.workers import Workers
from service.backends import judges
from service.backends.boxes import kinds
from service.doors.compat.openenv import BadTasks, tasks_of
from service.recipes import book as recipes
from service.recipes.files import BadRecipes
from service.run import host, tls
from service.run.cannot_start import CannotStart
from service.run.core import redis_cache, stamp_of
from service.run.tls import BadCertificate
from service.run.whole import callers_of, open_traces
from service.settings import Settings
from verifiers import registry
from verifiers.base import Resources
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import BadKey
from verifiers.judge.rendering.templates import BrokenPrompt

_FIRST_WORD = re.compile(r"\W")
_TROUBLE = (
    BadCertificate,
    BadJudges,
    BadKey,
    BadRecipes,
    BadTasks,
    BrokenPrompt,
    CannotStart,
    registry.BrokenVerifier,
)


def problems(settings: Settings) -> list[str]:
    """One line for each thing that is wrong: what, where, and what to write instead."""
    return [line for name, check in _CHECKS for line in _problems_of(name, check, settings)]


def _problems_of(name: str, check: Callable[[Settings], None], settings: Settings) -> Iterator[str]:
    try:
        check(settings)
    except _TROUBLE as error:
        for line in str(error).splitlines():
            yield line if _FIRST_WORD.split(line, 1)[0] in Settings.model_fields else f"{name}: {line}"


def _check_keys(settings: Settings) -> None:
    callers_of(settings)


def _check_issuer(settings: Settings) -> None:
    jwks = settings.oidc_jwks
    if jwks is not None and "://" not in jwks:
        _check_file("oidc_jwks", Path(jwks))


def _check_certificates(settings: Settings) -> None:
    tls.certificates(settings)


def _check_box_hosts(settings: Settings) -> None:
    try:
        kinds(settings)
    except BadTlsFiles as error:
        raise CannotStart(f"box_hosts_tls: {error}") from error


def _check_redis(settings: Settings) -> None:
    redis_cache(settings)


def _check_judges(settings: Settings) -> None:
    if settings.judge_file is not None:
        judges.load(settings.judge_file)


def _check_recipes(settings: Settings) -> None:
    recipes.load(registry.load(Resources(Workers(1))), settings.recipes_file)


def _check_tasks(settings: Settings) -> None:
    tasks_of(settings.openenv_tasks)


def _check_traces(settings: Settings) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(open_traces(settings))


def _check_audit_log(settings: Settings) -> None:
    folder = settings.log_folder
    if folder is None:
        return
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise CannotStart(f"audit_dir: nothing can be written to {folder}; name a folder of this user")


def _check_receipts(settings: Settings) -> None:
    stamp_of(settings, None)


def _check_releases(settings: Settings) -> None:
    for name, folder in (("releases_dir", settings.releases_dir), ("pins_dir", settings.pins_dir)):
        if folder is not None and not folder.is_dir():
            raise CannotStart(f"{name}: there is no folder {folder}; name one that exists")


def _check_file(setting: str, path: Path) -> None:
    try:
        path.read_bytes()
    except OSError as error:
        raise CannotStart(f"{setting}: cannot read {path}: {error.strerror}") from error


_CHECKS: Sequence[tuple[str, Callable[[Settings], None]]] = (
    ("harbor_root", host.check_folders),
    ("keys_file", _check_keys),
    ("oidc_jwks", _check_issuer),
    ("tls_cert", _check_certificates),
    ("box_hosts_tls", _check_box_hosts),
    ("redis_url", _check_redis),
    ("judge_file", _check_judges),
    ("recipes_file", _check_recipes),
    ("openenv_tasks", _check_tasks),
    ("otlp_endpoint", _check_traces),
    ("audit_dir", _check_audit_log),
    ("receipt_key_file", _check_receipts),
    ("releases_dir", _check_releases),
)
"""The setting that the first words of a message name, and what looks for mistakes."""

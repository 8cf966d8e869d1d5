"""Whatever remembers texts is in the registry."""

import ast
import gc
import pkgutil
from functools import _lru_cache_wrapper
from importlib import import_module
from pathlib import Path

import pytest

from memory import registry
from tests.conftest import ROOT

ROOMS = ("service", "verifiers", "sandbox", "fairness", "tracing")
ELSEWHERE = ("sandbox/runner/", "sandbox/images/")
"""Folders of what runs in boxes."""
OWN_TABLES = {
    # What they are asked for are names of ours.
    "verifiers.code.joining._tokens",
    "verifiers.commitment.afterwords._forms",
    "verifiers.commitment.amounts._operators",
    "verifiers.commitment.cues._entries",
    "verifiers.commitment.cues._parsed",
    "verifiers.commitment.cues.alone",
    "verifiers.commitment.cues.listed",
    "verifiers.commitment.glance._by_last",
    "verifiers.commitment.glance._table",
    "verifiers.commitment.glance.bits_of",
    "verifiers.commitment.retraction._table",
    "verifiers.commitment.slots._terms",
    "verifiers.commitment.slots.openings_of",
    "verifiers.commitment.slots.slotted",
    "verifiers.commitment.wording._finder",
    "verifiers.commitment.wording.openings",
    "verifiers.commitment.wording.single",
    "verifiers.long_texts.named",
    "verifiers.reasoning_gym.scoring._program",
    # Classes of parameters.
    "verifiers.shapes._validator",
    "verifiers.shapes.names",
}


def _modules() -> list[str]:
    names = []
    for room in ("verifiers", "sandbox.workers", "sandbox.boxes", "sandbox.languages", "sandbox.containers", "service"):
        package = import_module(room)
        names += [room, *(module.name for module in pkgutil.walk_packages(package.__path__, f"{room}."))]
    return [name for name in names if not name.endswith("__main__") and ".cluster" not in name]


@pytest.mark.leaks
def test_no_function_remembers_texts_without_a_bound_in_bytes() -> None:
    for name in _modules():
        import_module(name)
    counted = {id(function.cached) for function in registry._functions}
    uncounted, tables = set(), set()
    gc.unfreeze()
    gc.collect()  # tables of calls that are over
    for cache in gc.get_objects():
        if not isinstance(cache, _lru_cache_wrapper) or id(cache) in counted:
            continue
        function = cache.__wrapped__
        if function.__module__.partition(".")[0] not in ROOMS:
            continue
        name = f"{function.__module__}.{function.__qualname__}"
        if cache.cache_parameters()["maxsize"] is not None:
            uncounted.add(name)
        elif function.__code__.co_argcount or function.__code__.co_flags & 0x04:
            tables.add(name)
    gc.freeze()  # or each search for garbage in later tests would look at all of this
    assert not uncounted
    assert tables <= OWN_TABLES


@pytest.mark.leaks
def test_memories_of_functions_are_made_once_by_modules() -> None:
    """None is made for each object: it would keep the object, and be kept by it."""
    wrong = []
    for path in _sources():
        source = path.read_text(encoding="utf-8")
        if "remember" not in source and "lru_cache" not in source:
            continue
        tree = ast.parse(source)
        inner = {id(node) for outer in ast.walk(tree) if isinstance(outer, ast.FunctionDef) for node in ast.walk(outer)}
        decorators = {
            id(node)
            for function in tree.body
            if isinstance(function, ast.FunctionDef)
            for decorator in function.decorator_list
            for node in ast.walk(decorator)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == "lru_cache":
                wrong.append(f"{path}:{node.lineno}: use memory.remember")
            if isinstance(node, ast.Name) and node.id == "remember" and id(node) in inner - decorators:
                wrong.append(f"{path}:{node.lineno}: made for each call")
    assert not wrong


def _sources() -> list[Path]:
    found = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return [path for path in found if not str(path.relative_to(ROOT)).startswith(ELSEWHERE)]

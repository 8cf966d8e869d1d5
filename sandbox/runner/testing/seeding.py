"""Sends the tests' random seeds to the program, so that they hold there too, as in one process.

    random.seed(7)                    sent to the program with the next request
    assert shuffled([1, 2, 3]) == [3, 1, 2]

The states of `random` and of NumPy's global generator are sent when tests have seeded one, or drawn from it since.
Nothing is sent in the other direction: a program that could set the tests' generator could choose its own test data.
"""

import functools
import importlib
import random
import re
import struct
from collections.abc import Callable
from typing import Any, Final

from sandbox.runner.testing.specification import Specification

_ABOUT_SEEDS: Final = re.compile(r"\b(?:seed|set_?state)\b")
_ABOUT_NUMPY: Final = re.compile(r"\b(?:numpy|np)\b")
_NUMBERS: Final = struct.Struct("<624I")
_VERSION: Final = 3
"""Version of the states of `random.Random`."""

State = list[Any]
"""As sent: the numbers in hexadecimal, the position among them, and the second half of a drawn pair, if any."""


class _Generator:
    """A global generator of the tests, and the state that was last sent to the program."""

    def __init__(self, state: Callable[[], State]) -> None:
        self._state = state
        self._is_seeded = self._is_new = False
        self._last_sent: State = []

    def watch(self, module: Any, *names: str) -> None:
        """Notice calls of these functions of a module, which seed the generator."""
        for name in names:
            setattr(module, name, self._watched(getattr(module, name)))

    def changed_state(self) -> State | None:
        """Its state, if the program does not know it yet."""
        if not self._is_seeded:
            return None
        state = self._state()
        if state == self._last_sent and not self._is_new:
            return None
        self._last_sent, self._is_new = state, False
        return state

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noticing(*arguments: Any, **keywords: Any) -> Any:
            self._is_seeded = self._is_new = True
            return function(*arguments, **keywords)

        return noticing


class Seeds:
    """The tests' global generators."""

    def __init__(self, plain: _Generator, numpy: _Generator | None) -> None:
        self._plain = plain
        self._numpy = numpy

    def changed_state(self) -> list[State | None] | None:
        """The arguments of `seed` in the program; None: it knows them already."""
        new_states = [self._plain.changed_state(), self._numpy.changed_state() if self._numpy else None]
        return new_states if any(new_states) else None


def seeds_of(specification: Specification) -> Seeds | None:
    """Begin to notice when tests seed a global generator. None for the many tests that never do."""
    if not specification.mentions(_ABOUT_SEEDS, "seed", "state"):
        return None
    plain = _Generator(_plain_state)
    plain.watch(random, "seed", "setstate")
    module = _numpy_random() if specification.mentions(_ABOUT_NUMPY, "numpy", "np") else None
    if module is None:
        return Seeds(plain, None)
    numpy = _Generator(lambda: _numpy_state(module))
    numpy.watch(module, "seed", "set_state")
    return Seeds(plain, numpy)


def seed(plain: State | None, numpy: State | None) -> None:
    """In the program's process: continue from the state of the tests' generators."""
    if plain is not None:
        numbers, position, drawn = plain
        random.setstate((_VERSION, (*_NUMBERS.unpack(bytes.fromhex(numbers)), position), drawn))
    if numpy is not None and (module := _numpy_random()) is not None:  # the program may load numpy only when it draws
        numbers, position, has_drawn, drawn = numpy
        module.set_state(("MT19937", _NUMBERS.unpack(bytes.fromhex(numbers)), position, has_drawn, drawn))


def _plain_state() -> State:
    _, (*numbers, position), drawn = random.getstate()
    return [_NUMBERS.pack(*numbers).hex(), position, drawn]


def _numpy_state(module: Any) -> State:
    _, numbers, position, has_drawn, drawn = module.get_state()
    return [_NUMBERS.pack(*numbers.tolist()).hex(), int(position), int(has_drawn), float(drawn)]


def _numpy_random() -> Any:
    try:
        return importlib.import_module("numpy.random")
    except ImportError:
        return None

"""The judged program's side of tests that are programs themselves: answers the tester's requests.

Nothing in this process can be trusted once the program has run in it. It can give any answer; only the tester decides
what an answer is worth.
"""

import builtins
import collections
import copy
import importlib
import math
import operator
import types
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Final

from sandbox.runner.testing.arguments import copy_changes
from sandbox.runner.testing.captured_output import CapturedOutput
from sandbox.runner.testing.identity import Scope, SharingDecoder, SharingEncoder, changed, states
from sandbox.runner.testing.object_proxy import ProxyClass, is_proxy, new_proxy, number_of, proxy_class
from sandbox.runner.testing.rpc import Broken, Kind, RpcChannel
from sandbox.runner.testing.seeding import seed
from sandbox.runner.testing.surroundings import surround
from sandbox.runner.values.encoding import (
    FAITHFUL_BUILDERS,
    MAX_BYTES,
    Encoder,
    Image,
    TooLarge,
    bases_of,
    dumped,
    in_namespace,
    type_name,
)
from sandbox.runner.values.tables import TABLE_BUILDERS

_MAX_TEXT_CHARS: Final = 2000
_MAX_ARGUMENTS: Final = 20
_CONTAINERS: Final = (list, dict, set, bytearray, collections.deque)
_MOST_CONTAINERS: Final = 32
_MOST_ITEMS: Final = 2000


def serve(namespace: dict[str, Any], requests: int, replies: int) -> None:
    """Answer requests about a program's module until the tester is gone.

    Args:
        namespace: The module's.
        requests: A blocking descriptor to read from.
        replies: A blocking descriptor to write to.
    """
    candidate = _Candidate(namespace, RpcChannel(requests, replies))
    try:
        while True:
            candidate.answer_next()
    except Broken:
        return


class _OwnClasses(SharingEncoder):
    """Does not copy instances of the program's own list, dictionary, set and deque classes.

    Args:
        foreign: As in `Encoder`.
        names: Of these classes; None: all.
    """

    def __init__(self, foreign: Callable[[Any], Image], names: list[str] | None) -> None:
        super().__init__(foreign)
        self._names = names

    def reduced(self, value: Any, kind: type) -> Image:
        is_own = in_namespace(kind, "__module__") == "solution" and issubclass(
            kind, (list, dict, set, collections.deque)
        )
        if is_own and (self._names is None or type_name(kind) in self._names):
            return self.foreign(value)
        return super().reduced(value, kind)


class _Callback:
    """A callable of the tester."""

    def __init__(self, candidate: "_Candidate", number: int, name: str | None, text: str | None) -> None:
        self._candidate = candidate
        self.number = number
        if name is not None:  # functools.wraps looks at it
            self.__name__ = self.__qualname__ = name
        self.__doc__ = text

    def __call__(self, *arguments: object, **keywords: object) -> object:
        return self._candidate.call_back(self.number, arguments, keywords)


class _Candidate:
    def __init__(self, namespace: dict[str, Any], channel: RpcChannel) -> None:
        self._namespace = namespace
        self._channel = channel
        self._printed = CapturedOutput()
        self._objects: list[object] = [None]
        self._numbers: dict[int, int] = {}
        self._callbacks: dict[int, _Callback] = {}
        self._proxies: dict[int, object] = {}
        self._proxy_classes: dict[int, ProxyClass] = {}
        self._raised: dict[int, tuple[BaseException, int]] = {}
        self._containers: dict[int, Image] | None = None
        """The images of containers that tests hold copies of, by number; None: tests change none."""
        self._keeps_arguments = False
        self._kept_arguments: set[int] = set()
        self._encoder: SharingEncoder = SharingEncoder(self._foreign)
        self._argument_encoder = Encoder(self._object)
        self._decoder = SharingDecoder(
            {
                **FAITHFUL_BUILDERS,
                **TABLE_BUILDERS,
                "object": lambda _, content: self._objects[content[0]],
                "callable": lambda _, content: self._callback(*content),
                "lent": lambda _, content: self._proxy(*content),
                "lent class": lambda _, content: self._proxy_class(*content),
                "builtin": lambda _, content: getattr(builtins, content),
                "slice": lambda decoder, content: slice(*map(decoder.part, content)),
                "exception": lambda _, content: self._exception(content),
            }
        )
        self._actions: Mapping[str, Callable[..., Image]] = {
            "get": self._get,
            "set": self._set,
            "delete": self._delete,
            "operate": self._operate,
            "names": self._names,
            "keep classes": self._keep_classes,
            "keep containers": self._keep_containers,
        }

    def answer_next(self) -> None:
        """Handle one request. A request that only informs gets no answer.

        Raises:
            Broken: there will be no more.
        """
        self._answer(self._channel.receive())

    def call_back(self, number: int, arguments: tuple[object, ...], keywords: dict[str, object]) -> object:
        """Call one of the tester's callables, and return its result."""
        images = self._encoder.images([*arguments, *keywords.values()], [])
        positional, named = images[: len(arguments)], images[len(arguments) :]
        self._channel.send(
            ["call back", number, positional, dict(zip(keywords, named, strict=True)), self._printed.take()]
        )
        while True:
            message = self._channel.receive()
            if message[0] == "value":
                return self._decoder.value(message[1])
            if message[0] == "error":
                raise self._exception(message[1])
            self._answer(message)

    def _answer(self, request: list[Any]) -> None:
        name, *details = request
        if name == "seed":
            seed(*details)
            return
        if name == "surround":
            surround(*details)
            return
        if name == "update":
            self._update(*details)
            return
        try:
            reply = self._call(*details) if name == "call" else ["value", self._actions[name](*details), None]
        except Broken:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            reply = ["error", self._error(error), None]
        self._send(reply)

    def _send(self, reply: list[Any]) -> None:
        *said, changed = reply
        text = dumped([*said, [*(changed or ()), *self._changed_containers()] or None, self._printed.take()])
        if len(text) > MAX_BYTES:
            text = dumped(["error", self._error(TooLarge()), None, None])
        self._channel.send_text(text)

    # Requests of the tester.

    def _get(self, target: int, name: str) -> Image:
        if target:
            return self._result(getattr(self._objects[target], name))
        if name not in self._namespace:
            raise AttributeError(f"module 'solution' has no attribute '{name}'")
        return self._result(self._namespace[name])

    def _set(self, target: int, name: str, value: Image) -> None:
        if target:
            setattr(self._objects[target], name, self._decoder.value(value))
        else:
            self._namespace[name] = self._decoder.value(value)

    def _delete(self, target: int, name: str) -> None:
        if target:
            delattr(self._objects[target], name)
        else:
            del self._namespace[name]

    def _names(self) -> list[str]:
        return [name for name, value in self._namespace.items() if type(value) is not types.ModuleType]

    def _keep_classes(self, names: list[str] | None) -> None:
        self._encoder = _OwnClasses(self._foreign, names)

    def _operate(self, name: str, target: int, operands: list[Image]) -> Image:
        values = [self._decoder.value(operand) for operand in operands]
        return self._result(_OPERATORS[name](self._objects[target], *values))

    # Containers that the tests change.

    def _keep_containers(self, arguments: bool) -> None:
        self._containers = {}
        self._keeps_arguments = arguments

    def _result(self, value: Any, scope: Scope | None = None) -> Image:
        """The image of a value, with a number if it is a container that tests may change."""
        (image,) = self._encoder.images([value], [] if scope is None else scope)
        if not self._may_keep(value) or (type(image) is dict and "same" in image):
            return image
        return {"kept": [self._keep(value), image]}

    def _may_keep(self, value: Any) -> bool:
        return self._containers is not None and type(value) in _CONTAINERS and len(value) <= _MOST_ITEMS

    def _keep(self, value: Any) -> int:
        assert self._containers is not None
        number = self._number(value)
        self._containers.pop(number, None)
        self._containers[number] = self._encoder.image(value)
        if len(self._containers) > _MOST_CONTAINERS:
            self._drop(next(iter(self._containers)))
        return number

    def _drop(self, number: int) -> None:
        assert self._containers is not None
        del self._containers[number]
        if number in self._kept_arguments:  # no message has told its number as that of an object
            self._kept_arguments.remove(number)
            del self._numbers[id(self._objects[number])]
            self._objects[number] = None

    def _update(self, number: int, image: Image) -> None:
        copy_changes(self._objects[number], self._decoder.value(image))
        if self._containers is not None and number in self._containers:
            self._containers[number] = self._encoder.image(self._objects[number])

    def _changed_containers(self) -> list[Image]:
        changed = []
        for number, before in (self._containers or {}).items():
            after = self._encoder.image(self._objects[number])
            if after != before:
                changed.append([-number, after])
        for number, after in changed:
            assert self._containers is not None
            self._containers[-number] = after
        return changed

    def _call(self, target: int, images: list[Image], keyword_images: dict[str, Image]) -> list[Any]:
        scope: Scope = []
        values = self._decoder.values([*images, *keyword_images.values()], scope)
        arguments, keywords = values[: len(images)], dict(zip(keyword_images, values[len(images) :], strict=True))
        passed = [*scope]
        before = states(passed, self._encoder)
        try:
            result = self._objects[target](*arguments, **keywords)  # type: ignore[operator]
            said = ["value", self._result(result, scope)]
        except Broken:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            del scope[len(passed) :]
            said = ["error", self._error(error)]
        numbers = changed(passed, before, self._encoder)
        changes = [*map(list, zip(numbers, self._encoder.contents(numbers, scope), strict=True))]
        return [*said, [*changes, *self._newly_kept(values, passed)] or None]

    def _newly_kept(self, arguments: list[Any], passed: Scope) -> Iterator[Image]:
        """Arguments that tests may change later, when an object of the program may have kept them."""
        if not self._keeps_arguments:
            return
        numbers = {id(container): number for number, (container, _) in enumerate(passed)}
        for argument in arguments:
            if id(argument) in numbers and self._may_keep(argument):
                kept = self._keep(argument)
                self._kept_arguments.add(kept)
                yield [numbers[id(argument)], None, kept]

    # Objects that cannot be copied.

    def _foreign(self, value: Any) -> Image:
        """The image of a value that is not plain data."""
        if type(value) is _Callback:  # a function that the tests passed
            return {"callable": value.number}
        if is_proxy(value):  # an object of a class of the tests
            return {"lent": number_of(value)}
        if isinstance(value, BaseException):  # ValueError("no")
            return {"exception": self._error(value)}
        if isinstance(value, type):  # int, or a class of the program
            return self._class(value)
        return self._encoder.table(value) or self._object(value)

    def _proxy(self, number: int, kind: list[Any]) -> object:
        if number not in self._proxies:
            self._proxies[number] = new_proxy(number, self._proxy_class(*kind))
        return self._proxies[number]

    def _proxy_class(self, number: int, name: str, specials: list[str]) -> ProxyClass:
        if number not in self._proxy_classes:
            self._proxy_classes[number] = proxy_class(number, name, specials, self._ask)
        return self._proxy_classes[number]

    def _ask(self, number: int, /, *arguments: object, **keywords: object) -> object:
        return self.call_back(number, arguments, keywords)

    def _object(self, value: Any) -> Image:
        return {"object": [self._number(value), type_name(type(value)), _kind(value)]}

    def _class(self, kind: type) -> Image:
        name = type_name(kind)
        if vars(builtins).get(name) is kind:
            return {"builtin": name}
        if not issubclass(kind, BaseException):
            return {"object": [self._number(kind), name, Kind.CLASS]}
        module = in_namespace(kind, "__module__")
        bases = [self._class(base) for base in bases_of(kind) if issubclass(base, BaseException)]
        return {"exception class": [self._number(kind), name, module if type(module) is str else "", bases]}

    def _number(self, value: object) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def _callback(self, number: int, name: str | None, text: str | None) -> _Callback:
        if number not in self._callbacks:
            self._callbacks[number] = _Callback(self, number, name, text)
        return self._callbacks[number]

    # Exceptions.

    def _error(self, error: BaseException) -> Image:
        if id(error) in self._raised:
            return {"raised": self._raised[id(error)][1]}
        if isinstance(error, TooLarge):
            error = ValueError("the value is too large to leave the program")
        return {
            "class": self._class(type(error)),
            "arguments": self._arguments(error),
            "text": _text(error),
            "number": self._number(error),
        }

    def _arguments(self, error: BaseException) -> list[Image]:
        try:
            return [self._argument_encoder.image(argument) for argument in error.args[:_MAX_ARGUMENTS]]
        except TooLarge:
            return []

    def _exception(self, content: dict[str, Any]) -> BaseException:
        kind = self._decoder.value(content["class"])
        arguments = [self._decoder.value(argument) for argument in content["arguments"]]
        try:
            error: BaseException = kind(*arguments)
        except Exception:  # noqa: BLE001 - the class may be the program's own
            error = RuntimeError(content["text"])
        self._raised[id(error)] = (error, content["raised"])
        return error


def _kind(value: object) -> Kind:
    if isinstance(value, types.CoroutineType):
        return Kind.COROUTINE
    if hasattr(type(value), "__next__"):
        return Kind.ITERATOR
    return Kind.CALLABLE if callable(value) else Kind.OTHER


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_TEXT_CHARS]
    except Exception:  # noqa: BLE001 - the class may be the program's own
        return ""


def _next_item(iterator: Iterator[object]) -> tuple[object] | None:
    try:
        return (next(iterator),)
    except StopIteration:
        return None


def _run(coroutine: Coroutine[Any, Any, object]) -> object:
    return importlib.import_module("asyncio").run(coroutine)


def _reflected(function: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    return lambda value, left: function(left, value)


_ARITHMETIC: Final = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.matmul, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
)
_IN_PLACE: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")

_OPERATORS: Final[Mapping[str, Callable[..., object]]] = {
    "next item": _next_item,
    "run": _run,
    "has instance": lambda kind, value: isinstance(value, kind),
    "has subclass": lambda kind, other: issubclass(other, kind),
    "class": type,
    **{f"reflected {function.__name__}": _reflected(function) for function in (*_ARITHMETIC, divmod)},
    **{f"i{name}": getattr(operator, f"i{name}") for name in _IN_PLACE},
    **{function.__name__: function for function in (math.trunc, math.floor, math.ceil)},
    **{
        function.__name__: function
        for function in (
            *_ARITHMETIC,
            *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.contains),
            *(operator.getitem, operator.setitem, operator.delitem, operator.index),
            *(operator.neg, operator.pos, operator.invert),
            *(iter, len, reversed, abs, int, float, complex, round, divmod, str, repr, format, bool, hash, dir),
            *(copy.copy, copy.deepcopy),
        )
    },
}

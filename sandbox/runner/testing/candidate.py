"""The judged program's side of tests that are programs themselves: answers the tester's requests.

Nothing in this process can be trusted once the program has run in it. It can give any answer; only the tester decides
what an answer is worth.
"""

import builtins
import collections
import contextlib
import copy
import datetime
import functools
import importlib
import math
import operator
import sys
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

from sandbox.runner.testing.arguments import copy_changes
from sandbox.runner.testing.captured_output import CapturedOutput
from sandbox.runner.testing.identity import (
    MOST_TRACKED,
    Scope,
    SharingDecoder,
    Tracked,
    changed,
    replace_contents,
    states,
)
from sandbox.runner.testing.lent_containers import MOST_LENT, LendingEncoder, is_known
from sandbox.runner.testing.object_proxy import ProxyClass, adopt, is_proxy, new_proxy, number_of, proxy_class
from sandbox.runner.testing.protocol import ARITHMETIC, HELD, IN_PLACE, ORDER, SPECIALS, VALUES
from sandbox.runner.testing.rpc import Broken, RpcChannel
from sandbox.runner.testing.seeding import seed
from sandbox.runner.testing.surroundings import surround
from sandbox.runner.values.encoding import (
    FAITHFUL_BUILDERS,
    MAX_BYTES,
    Decoder,
    Encoder,
    Image,
    TooLarge,
    bases_of,
    dumped,
    fields_of,
    in_namespace,
    mro_of,
    namespace_of,
    type_name,
)
from sandbox.runner.values.library import LIBRARY_BUILDERS, image_of_defaults, image_of_library, image_of_zoned
from sandbox.runner.values.tables import TABLE_BUILDERS

_MAX_TEXT_CHARS: Final = 2000
_MAX_ARGUMENTS: Final = 20
_MOST_CAUSES: Final = 4
_CONTAINERS: Final = (list, dict, set, bytearray, collections.deque)
_MOST_IN_A_MESSAGE: Final = MOST_TRACKED // 2
_MOST_ITEMS: Final = 2000
_ATOMS: Final = frozenset(map(id, (type(None), bool, int, float, str, bytes)))
_CONTAINER_IDS: Final = frozenset(map(id, _CONTAINERS))
_OF_TABLES: Final = frozenset({"numpy", "pandas"})
_HEAP_TYPE: Final = 1 << 9
"""Flag of classes that Python code has made (CPython's `Py_TPFLAGS_HEAPTYPE`)."""


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


class _ObjectEncoder(LendingEncoder):
    """Tells instances of classes that are derived from plain types as objects.

    Args:
        foreign: As in `Encoder`.
        number: Gives an object its number.
    """

    def __init__(self, foreign: Callable[[Any], Image], number: Callable[[object], int]) -> None:
        super().__init__(foreign, first=1)
        self._number = number
        self.keep: Callable[[Any], int | None] | None = None
        """Gives a container that tests may change its own number; None: they change none."""
        self.named_tuples: dict[int, Any] = {}
        """Classes of named tuples that the tests know as their own, by their ids: they are told as data."""

    def part(self, value: Any) -> Image:
        keep = self.keep
        if keep is None or type(value) not in _CONTAINERS or self.is_apart:
            return super().part(value)
        image = super().part(value)
        if is_known(image):
            return image
        number = keep(value)
        return image if number is None else {"kept": [number, image]}

    def reduced(self, value: Any, kind: type) -> Image:
        if kind is collections.defaultdict:
            return image_of_defaults(self, value)
        if id(kind) in self.named_tuples:
            return super().reduced(value, kind)
        if _root(kind) == "numpy" and _is_of_records(value, kind):
            return self.foreign(value)
        for base in mro_of(kind):
            if id(base) in VALUES:
                if _root(kind) in _OF_TABLES:
                    break
                _, copied = VALUES[id(base)]
                return {"value": [self._number(value), self._number(kind), self.part(copied(value))]}
            if id(base) in _CONTAINER_IDS:
                return self.foreign(value)
        return super().reduced(value, kind)


def _is_of_records(value: Any, kind: type) -> bool:
    """Whether a value of numpy has more than its items, as a record's fields of texts or an array's mask."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or not (dtype.names or type_name(kind) == "MaskedArray"):
        return False
    return type_name(kind) != "ndarray" or not fields_of(dtype)


class _Callback:
    """A callable of the tester."""

    def __init__(
        self, candidate: "_Candidate", number: int, name: str | None, text: str | None, parameters: list[Any] | None
    ) -> None:
        self._candidate = candidate
        self.number = number
        self.is_method = False
        if name is not None:  # functools.wraps looks at it
            self.__name__ = self.__qualname__ = name
        self.__doc__ = text
        if parameters is not None:
            self.__dict__.update(_seen_of_function(*parameters))

    @property  # type: ignore[misc]  # what `isinstance` asks
    def __class__(self) -> type:
        return types.FunctionType if "__code__" in self.__dict__ else _Callback

    def __call__(self, *arguments: object, **keywords: object) -> object:
        return self._candidate.call_back(self.number, arguments, keywords)


def _seen_of_function(
    names: list[str], counts: list[int], defaults: Any, keyword_defaults: Any, annotations: Any
) -> dict[str, object]:
    """The attributes of a function with these parameters, which `inspect` reads."""
    positional, positional_only, keyword_only, has_arguments, has_keywords = counts
    flags = 0x4 * has_arguments | 0x8 * has_keywords | _OPTIMIZED
    code = _nothing.__code__.replace(
        co_varnames=tuple(names),
        co_nlocals=len(names),
        co_argcount=positional,
        co_posonlyargcount=positional_only,
        co_kwonlyargcount=keyword_only,
        co_flags=flags,
    )
    function = types.FunctionType(code, {}, argdefs=defaults)
    function.__kwdefaults__, function.__annotations__ = keyword_defaults, annotations
    return {
        name: getattr(function, name) for name in ("__code__", "__defaults__", "__kwdefaults__", "__annotations__")
    } | {"__signature__": importlib.import_module("inspect").signature(function)}


def _nothing() -> None: ...


_OPTIMIZED: Final = 0x3
"""Flags of all functions of Python's code (CPython's `CO_OPTIMIZED` and `CO_NEWLOCALS`)."""


class _Iterator:
    """An iterator of the tests."""

    def __init__(self, candidate: "_Candidate", number: int) -> None:
        self._candidate = candidate
        self.number = number

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        item = self._candidate.call_back(self.number, (), {})
        if type(item) is not tuple:
            raise StopIteration
        return item[0]


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
        self._methods: dict[tuple[object, ...], _Callback] = {}
        """Methods of the tests' objects that the open request has read, by object and name."""
        self._named_tuples: dict[tuple[str, ...], Any] = {}
        self._raised: dict[int, tuple[BaseException, int]] = {}
        self._containers: Tracked | None = None
        """Containers that tests hold copies of; None: tests change none."""
        self._newly_stored: list[Image] = []
        """What tests must know of containers that they have put into others."""
        self._keeps_arguments = False
        self._kept_arguments: set[int] = set()
        self._encoder = _ObjectEncoder(self._foreign, self._number)
        self._lent = self._encoder.lent
        self._changes_of_lent: list[Image] = []
        self._argument_encoder = Encoder(self._argument)
        self._errors_around = 0
        self._decoder = SharingDecoder(
            {
                **FAITHFUL_BUILDERS,
                **TABLE_BUILDERS,
                **LIBRARY_BUILDERS,
                "object": lambda _, content: self._objects[content[0]],
                "callable": lambda _, content: self._callback(*content),
                "lent": lambda _, content: self._proxy(*content),
                "iterator": lambda _, content: self._iterator(content),
                "lent class": lambda _, content: self._proxy_class(*content),
                "named": lambda decoder, content: self._named_tuple(decoder, *content),
                "named class": lambda decoder, content: self._named_tuple_class(decoder, *content),
                "builtin": lambda _, content: getattr(builtins, content),
                "module": lambda _, content: importlib.import_module(content),
                "new": lambda decoder, content: self._to_new(decoder, *content),
                "exception": lambda _, content: self._exception(content),
                "shared": lambda decoder, content: self._to_lent(decoder, *content),
            }
        )
        self._actions: Mapping[str, Callable[..., Image]] = {
            "get": self._get,
            "set": self._set,
            "set item": self._set_item,
            "delete": self._delete,
            "operate": self._operate,
            "names": self._names,
            "describe": self._describe,
            "keep containers": self._keep_containers,
            "define": self._define,
            "changes": self._note_changes_of_lent,
        }

    def answer_next(self) -> None:
        """Handle one request. A request that only informs gets no answer.

        Raises:
            Broken: there will be no more.
        """
        self._answer(self._channel.receive())
        self._lent.clear()
        self._methods.clear()

    def call_back(
        self, number: int, arguments: tuple[object, ...], keywords: dict[str, object], *, stores: bool = False
    ) -> object:
        """Call one of the tester's callables, and return its result. It may store containers that it gets."""
        scope: Scope = []
        with self._encoder.lending(MOST_LENT if stores else 0):
            images = self._encoder.images([*arguments, *keywords.values()], scope)
        positional, keyword_images = images[: len(arguments)], images[len(arguments) :]
        self._channel.send(
            ["call back", number, positional, dict(zip(keywords, keyword_images, strict=True)), self._printed.take()]
        )
        while True:
            message = self._channel.receive()
            if message[0] == "value":
                (value,) = self._decoder.values([message[1]], scope)
                for number, image in message[2]:
                    replace_contents(scope[number][0], self._decoder.contents(image, scope))
                return value
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
        if name == "share":
            self._share(*details)
            return
        try:
            reply = self._call(*details) if name == "call" else ["value", self._actions[name](*details), None]
        except Broken:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            reply = ["error", self._error(error), None]
        self._send(reply)

    def _send(self, reply: list[Any]) -> None:
        *answer, changed = reply
        try:
            self._note_changes_of_lent()
        except TooLarge as error:
            answer = ["error", self._error(error)]
        if self._changes_of_lent:
            changed = [["shared", self._changes_of_lent], *(changed or ())]
            self._changes_of_lent = []
        if self._containers is not None:
            changed = [*(changed or ()), *self._newly_stored, *self._changed_containers(), *self._dropped()] or None
            self._newly_stored.clear()
        text = dumped([*answer, changed, self._printed.take()])
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

    def _set(self, target: int, name: str, image: Image) -> int | None:
        """Returns the number of a container that tests may change later."""
        value = self._decoder.value(image)
        own = self._namespace.get(name)
        if not target and type(value) is ProxyClass and type(own) is type:
            adopt(value, own)
        if target:
            setattr(self._objects[target], name, value)
        else:
            self._namespace[name] = value
        return self._stored(value)

    def _set_item(self, target: int, key: Image, image: Image) -> int | None:
        value = self._decoder.value(image)
        self._objects[target][self._decoder.value(key)] = value  # type: ignore[index]  # whatever the tests say
        return self._stored(value)

    def _stored(self, value: Any) -> int | None:
        return self._keep(value) if self._may_keep(value) else None

    def _delete(self, target: int, name: str) -> None:
        if target:
            delattr(self._objects[target], name)
        else:
            del self._namespace[name]

    def _define(self, name: str, bases: list[str]) -> None:
        """Define an exception of the tests, as if they were one file with the program, if it does not itself."""
        known = {**vars(builtins), **self._namespace}
        if name not in self._namespace and known.keys() >= {*bases}:
            self._namespace[name] = type(name, tuple(known[base] for base in bases), {"__module__": "solution"})

    def _names(self) -> list[str]:
        return [name for name, value in self._namespace.items() if type(value) is not types.ModuleType]

    def _describe(self, number: int) -> Image:
        """What a class is, see `rpc`."""
        kind: Any = self._objects[number]
        bases = mro_of(kind)[:-1]
        base = next((cls for cls in bases if id(cls) in VALUES or id(cls) in _CONTAINER_IDS), None)
        specials: dict[str, bool] = {}
        names = []
        for name in SPECIALS:
            holder = next((cls for cls in bases if name in namespace_of(cls)), None)
            if holder is not None:
                specials[name] = namespace_of(holder)[name] is not None
                if id(holder) not in VALUES and id(holder) not in _CONTAINER_IDS:
                    names.append(name)
        is_library = _is_library(kind)
        parents = [] if is_library else [self._number(cls) for cls in bases_of(kind) if not _is_library(cls)]
        library = [[_text_in(cls, "__module__"), type_name(cls)] for cls in bases if _is_library(cls)]
        return [type_name(kind), names, specials, type_name(base) if base else "", parents, library, is_library]

    def _operate(self, name: str, target: int, operands: list[Image]) -> Image:
        values = [self._decoder.value(operand) for operand in operands]
        return self._result(_OPERATORS[name](self._objects[target], *values))

    # Containers that the tests change.

    def _keep_containers(self, arguments: bool) -> None:
        self._containers = Tracked(self._encoder.image)
        self._keeps_arguments = arguments

    def _result(self, value: Any, scope: Scope | None = None) -> Image:
        """The image of a value, with a number if it is a container that tests may change."""
        if self._containers is None or id(type(value)) in _ATOMS:
            return self._encoder.images([value], [] if scope is None else scope)[0]
        containers: list[Any] = []
        self._encoder.keep = functools.partial(self._begin_keeping, containers)
        try:
            (image,) = self._encoder.images([value], [] if scope is None else scope)
        finally:
            self._encoder.keep = None
        for container in containers:
            self._keep(container)
        return image

    def _begin_keeping(self, containers: list[Any], container: Any) -> int | None:
        assert self._containers is not None
        is_new = id(container) not in self._containers.numbers
        if not self._may_keep(container) or (is_new and len(containers) >= _MOST_IN_A_MESSAGE):
            return None
        containers.append(container)
        return self._number(container)

    def _may_keep(self, value: Any) -> bool:
        return self._containers is not None and type(value) in _CONTAINERS and len(value) <= _MOST_ITEMS

    def _keep(self, value: Any) -> int:
        assert self._containers is not None
        number = self._number(value)
        self._containers.add(number, value)
        return number

    def _to_new(self, decoder: Decoder, label: int, image: Image) -> Any:
        """A container of the tests that they have put into one of the program's."""
        value = decoder.part(image)
        if self._may_keep(value):
            self._newly_stored.append(["new", label, self._keep(value)])
        return value

    def _update(self, number: int, image: Image) -> None:
        numbers = {} if self._containers is None else self._containers.numbers
        copy_changes(self._objects[number], self._decoder.value(image), numbers)
        if self._containers is not None and number in self._containers:
            self._containers.agree(number)

    def _to_lent(self, decoder: Decoder, number: int, *images: Image) -> Any:
        if images:
            self._lent.add(decoder.part(images[0]), self._encoder, number)
        return self._lent[number]

    def _note_changes_of_lent(self) -> None:
        """Note what the program has changed in containers of the tests, to be sent with the next reply."""
        for number, container in self._lent.changed(self._encoder):
            self._changes_of_lent.append([number, self._encoder.contents_of_lent(container)])

    def _share(self, changes: list[tuple[int, Image]]) -> None:
        """Take over what the tests have changed."""
        for number, image in changes:
            container = self._lent[number]
            replace_contents(container, self._decoder.contents(image, [(container, 0)]))
            self._lent.agree(number, self._encoder)

    def _changed_containers(self) -> list[Image]:
        assert self._containers is not None
        return [[-number, self._result(self._objects[number])] for number in self._containers.changed()]

    def _dropped(self) -> list[Image]:
        """Arguments that are kept no more; no other message has told their numbers as those of objects."""
        assert self._containers is not None
        dropped = self._kept_arguments.intersection(self._containers.trim())
        self._kept_arguments -= dropped
        for number in dropped:
            del self._numbers[id(self._objects[number])]
            self._objects[number] = None
        return [[-number] for number in dropped]

    def _call(self, target: int, images: list[Image], keyword_images: dict[str, Image]) -> list[Any]:
        scope: Scope = []
        values = self._decoder.values([*images, *keyword_images.values()], scope)
        arguments, keywords = values[: len(images)], dict(zip(keyword_images, values[len(images) :], strict=True))
        passed = [*scope]
        old_states = states(passed, self._encoder)
        try:
            result = self._objects[target](*arguments, **keywords)  # type: ignore[operator]
            self._note_changes_of_lent()
            reply = ["value", self._result(result, scope)]
        except Broken:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            del scope[len(passed) :]
            reply = ["error", self._error(error)]
        numbers = changed(passed, old_states, self._encoder)
        changes = [*map(list, zip(numbers, self._encoder.contents(numbers, scope), strict=True))]
        return [*reply, [*changes, *self._newly_kept(passed)] or None]

    def _newly_kept(self, passed: Scope) -> Iterator[Image]:
        """Containers in arguments that tests may change later, when an object of the program may have kept them."""
        if not self._keeps_arguments:
            return
        for number, (container, _) in [*enumerate(passed)][-_MOST_IN_A_MESSAGE:]:
            if self._may_keep(container):
                is_new = id(container) not in self._numbers
                container_number = self._keep(container)
                if is_new:
                    self._kept_arguments.add(container_number)
                yield [number, None, container_number]

    # Objects that cannot be copied.

    def _foreign(self, value: Any) -> Image:
        """The image of a value that is not plain data."""
        if type(value) is _Callback:  # a function that the tests passed
            return {"callable": value.number}
        if value is NotImplemented:
            return {"not implemented": None}
        if type(value) is _Iterator:
            return {"lent": value.number}
        if is_proxy(value):  # an object of a class of the tests
            return {"lent": number_of(value)}
        if isinstance(value, BaseException):  # ValueError("no")
            return {"exception": self._error(value)}
        if isinstance(value, type):  # int, or a class of the program
            return self._class(value)
        if type(value) is datetime.datetime and (zoned := image_of_zoned(self._encoder, value)) is not None:
            return zoned
        return image_of_library(self._encoder, value) or self._encoder.table(value) or self._object(value)

    def _iterator(self, number: int) -> object:
        if number not in self._proxies:
            self._proxies[number] = _Iterator(self, number)
        return self._proxies[number]

    def _proxy(self, number: int, kind: list[Any]) -> object:
        if number not in self._proxies:
            self._proxies[number] = new_proxy(number, self._proxy_class(*kind))
        return self._proxies[number]

    def _proxy_class(self, number: int, name: str, specials: list[str], *bases: list[Any]) -> ProxyClass:
        if number not in self._proxy_classes:
            own_bases = [self._proxy_class(*base) for base in bases]
            self._proxy_classes[number] = proxy_class(number, name, specials, own_bases, self._ask, _of_library(name))
        return self._proxy_classes[number]

    def _named_tuple(self, decoder: Decoder, name: str, fields: list[str], items: Image) -> Any:
        return self._named_tuple_class(decoder, name, fields)._make(decoder.parts(items))

    def _named_tuple_class(
        self, decoder: Decoder, name: str, fields: list[str], defaults: Image = (), members: Image = ()
    ) -> Any:
        """The program's class of this name, if it has these fields; else a new one."""
        own = self._namespace.get(name)
        if isinstance(own, type) and issubclass(own, tuple) and getattr(own, "_fields", None) == tuple(fields):
            if mro_of(own) == (own, tuple, object):
                self._encoder.named_tuples[id(own)] = own
            return own
        key = (name, *fields)
        if defaults or members or key not in self._named_tuples:
            values = decoder.parts(defaults) if defaults else ()
            plain = collections.namedtuple(name, fields, rename=True, defaults=values)  # type: ignore[misc]  # names of the tests
            body = {
                member: _member_of_tuple(sort, self._callback(number, member, None, None))
                for member, sort, number in members
            }
            kind = type(name, (plain,), {"__slots__": (), **body}) if body else plain
            self._named_tuples[key] = self._encoder.named_tuples[id(kind)] = kind
        return self._named_tuples[key]

    def _ask(self, number: int, /, *arguments: object, **keywords: object) -> object:
        key = (number, *arguments) if arguments[0] == "get" else None
        if key is not None and key in self._methods:
            return self._methods[key]
        value = self.call_back(number, arguments, keywords, stores=True)
        if key is not None and type(value) is _Callback and value.is_method:
            self._methods[key] = value
        return value

    def _object(self, value: Any) -> Image:
        return {"object": [self._number(value), self._number(type(value))]}

    def _class(self, kind: type) -> Image:
        name = type_name(kind)
        if vars(builtins).get(name) is kind:
            return {"builtin": name}
        if _root(kind) in _OF_TABLES and getattr(sys.modules[_root(kind)], name, None) is kind:
            return {"table class": [_root(kind), name]}
        if not issubclass(kind, BaseException):
            return {"class": self._number(kind)}
        module = in_namespace(kind, "__module__")
        bases = [self._class(base) for base in bases_of(kind) if issubclass(base, BaseException)]
        return {"exception class": [self._number(kind), name, module if type(module) is str else "", bases]}

    def _number(self, value: object) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def _callback(self, number: int, name: str | None, text: str | None, parameters: Image) -> _Callback:
        if number not in self._callbacks:
            is_method = parameters == "method"
            decoded = None if is_method else parameters and [*parameters[:2], *map(self._decoder.part, parameters[2:])]
            callback = self._callbacks[number] = _Callback(self, number, name, text, decoded)
            callback.is_method = is_method
        return self._callbacks[number]

    # Exceptions.

    def _error(self, error: BaseException) -> Image:
        if id(error) in self._raised:
            return {"raised": self._raised[id(error)][1]}
        if isinstance(error, TooLarge):
            error = ValueError("the value is too large to leave the program")
        image = {
            "class": self._class(type(error)),
            "arguments": self._arguments(error),
            "text": _text(error),
            "number": self._number(error),
        }
        return {**image, **self._circumstances(error)}

    def _circumstances(self, error: BaseException) -> dict[str, Image]:
        """What else an exception has: what caused it, and notes."""
        image: dict[str, Image] = {}
        if self._errors_around < _MOST_CAUSES:
            self._errors_around += 1
            for name in ("__cause__", "__context__"):
                linked_error = getattr(error, name, None)
                if isinstance(linked_error, BaseException):
                    image[name] = self._error(linked_error)
            self._errors_around -= 1
        if error.__suppress_context__:
            image["__suppress_context__"] = True
        if type(notes := getattr(error, "__notes__", None)) is list:
            image["__notes__"] = [str(note)[:_MAX_TEXT_CHARS] for note in notes[:_MAX_ARGUMENTS]]
        return image

    def _arguments(self, error: BaseException) -> list[Image]:
        arguments = error.args[:_MAX_ARGUMENTS]
        if isinstance(error, OSError) and len(arguments) == 2 and error.filename is not None:
            arguments = (*arguments, error.filename)
        try:
            return [self._argument_encoder.image(argument) for argument in arguments]
        except TooLarge:
            return []

    def _argument(self, value: Any) -> Image:
        """The image of a part of an exception that is not plain data."""
        if not isinstance(value, BaseException) or self._errors_around >= _MOST_CAUSES:
            return self._object(value)
        self._errors_around += 1
        try:
            return {"exception": self._error(value)}
        finally:
            self._errors_around -= 1

    def _exception(self, content: dict[str, Any]) -> BaseException:
        if "number" in content:  # it was the program's
            program_error: BaseException = self._objects[content["number"]]
            return program_error
        kind = self._decoder.value(content["class"])
        arguments = [self._decoder.value(argument) for argument in content["arguments"]]
        try:
            error: BaseException = kind(*arguments)
        except Exception:  # noqa: BLE001 - the class may be the program's own
            error = RuntimeError(content["text"])
        self._raised[id(error)] = (error, content["raised"])
        return error


def _of_library(path: str) -> type | None:
    """The class of the library at a dotted path; None for the name of a class of the tests."""
    module, _, name = path.rpartition(".")
    kind: type | None = getattr(importlib.import_module(module), name, None) if module else None
    return kind


def _is_library(kind: type) -> bool:
    """Whether it is a class of the standard library, or of the interpreter."""
    if not kind.__flags__ & _HEAP_TYPE:
        return True
    module = in_namespace(kind, "__module__")
    if type(module) is not str or module.partition(".")[0] not in sys.stdlib_module_names:
        return False
    return vars(sys.modules.get(module, builtins)).get(type_name(kind)) is kind


def _text_in(kind: type, name: str) -> str:
    text = in_namespace(kind, name)
    return text if type(text) is str else type.__dict__["__module__"].__get__(kind)


def _root(kind: type) -> str:
    return _text_in(kind, "__module__").partition(".")[0]


def _plain(value: Any) -> object:
    """A copy of the value that a base of its class holds; the object itself if there is none."""
    if type(value) in HELD:
        return HELD[type(value)](value)
    bases: tuple[Any, ...] = mro_of(type(value))
    for base in bases:
        if id(base) in _CONTAINER_IDS:
            plain = base.__new__(base)
            if base is dict:
                plain.update(dict.items(value))
            elif base is bytearray:
                plain += value
            else:
                (plain.update if base is set else plain.extend)(base.__iter__(value))
            return plain
    return value


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_TEXT_CHARS]
    except Exception:  # noqa: BLE001 - the class may be the program's own
        return ""


def _next_item(iterator: Iterator[object]) -> tuple[object] | list[object]:
    """The next item in a tuple; at the end what the iterator returns, in a list."""
    try:
        return (next(iterator),)
    except StopIteration as end:
        return [end.value]


async def _next_item_later(iterator: AsyncIterator[object]) -> tuple[object] | None:
    try:
        return (await anext(iterator),)
    except StopAsyncIteration:
        return None


def _start(awaitable: Awaitable[Any]) -> object:
    """Begin to run an awaitable in an event loop that stays: locks and queues of the program belong to it."""
    if not _loops:
        _loops.append(_asyncio().new_event_loop())

    async def wait() -> object:
        return await awaitable

    return _loops[0].create_task(wait())


def _advance(task: Any, patience_s: float) -> tuple[object] | None:
    """Run the event loop for this time, or until the task has ended. Then its result in a tuple."""

    async def wait() -> None:
        await _asyncio().wait([task], timeout=patience_s)

    if not task.done():
        _loops[0].run_until_complete(wait())
    return (task.result(),) if task.done() else None


def _cancel(task: Any) -> None:
    if task.cancel():
        _advance_quietly(task)


def _advance_quietly(task: Any) -> None:
    with contextlib.suppress(BaseException):
        _advance(task, 0.0)


def _step(generator: Any, name: str, *arguments: object) -> tuple[object] | list[object]:
    """As `_next_item`, by another method of a generator."""
    try:
        return (getattr(generator, name)(*arguments),)
    except StopIteration as end:
        return [end.value]


def _asyncio() -> Any:
    return importlib.import_module("asyncio")


_loops: Final[list[Any]] = []


def _call_special(value: Any, name: str, *arguments: object) -> object:
    return getattr(type(value), name)(value, *arguments)


def _by_library(_: object, module: str, name: str, arguments: list[Any], keywords: dict[str, Any]) -> object:
    return getattr(importlib.import_module(module), name)(*arguments, **keywords)


def _member_of_tuple(sort: str, callback: Callable[..., Any]) -> Any:
    """A member of a named tuple's class that the tests have written: they run it, with the items of the tuple."""
    if sort == "property":
        return property(lambda items: callback(items))
    if sort == "static":
        return staticmethod(lambda *operands, **keywords: callback((), *operands, **keywords))

    def method(items: Any, /, *operands: Any, **keywords: Any) -> Any:
        return callback(items, *operands, **keywords)

    return method


def _reflected(function: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    return lambda value, operand: function(operand, value)


_OPERATORS: Final[Mapping[str, Callable[..., object]]] = {
    "next item": _next_item,
    "next item later": _next_item_later,
    "start": _start,
    "advance": _advance,
    "cancel": _cancel,
    "step": _step,
    "aiter": aiter,
    "has instance": lambda kind, value: isinstance(value, kind),
    "has subclass": lambda kind, other: issubclass(other, kind),
    "class": type,
    "subclasses": lambda kind: type.__subclasses__(kind),
    "plain": _plain,
    "call special": _call_special,
    "by library": _by_library,
    "and": operator.and_,
    "or": operator.or_,
    **IN_PLACE,
    **{f"r{name}": _reflected(getattr(operator, f"{name}_" if name in ("and", "or") else name)) for name in ARITHMETIC},
    "rdivmod": _reflected(divmod),
    **{function.__name__: function for function in (math.trunc, math.floor, math.ceil)},
    **{name: getattr(operator, name) for name in (*ARITHMETIC, *ORDER) if name not in ("and", "or")},
    **{
        function.__name__: function
        for function in (
            *(operator.eq, operator.ne, operator.contains, operator.getitem, operator.setitem, operator.delitem),
            *(operator.index, operator.neg, operator.pos, operator.invert),
            *(iter, len, reversed, abs, int, float, complex, round, divmod, str, repr, format, bool, hash, dir),
            *(copy.copy, copy.deepcopy),
        )
    },
}

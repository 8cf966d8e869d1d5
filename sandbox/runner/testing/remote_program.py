"""The tester's side of the messages: a proxy for the judged program.

The candidate can send only values, and exceptions of known kinds. Numbers that were never given out, and any other
nonsense, break the connection for good (`Gone`).
"""

import builtins
import collections
import contextlib
import datetime
import importlib
import inspect
import io
import sys
import threading
import types
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from sandbox.runner.testing import caught, remote_classes, remote_exceptions
from sandbox.runner.testing.arguments import copy_changes
from sandbox.runner.testing.identity import (
    Scope,
    SharingDecoder,
    Tracked,
    changed,
    copied,
    replace_contents,
    states,
)
from sandbox.runner.testing.lent_containers import MOST_LENT, MOST_OF_FUNCTIONS, LendingEncoder, is_known
from sandbox.runner.testing.lent_states import LentStates
from sandbox.runner.testing.object_server import (
    LentIterator,
    ServedObject,
    has_more_than_data,
    is_file_of_tests,
    is_of_tests,
    is_plain_access,
    lent_bases,
    lent_class,
    named_tuple_class,
    specials_of,
    tuple_members,
)
from sandbox.runner.testing.remote_classes import Description, RemoteClass
from sandbox.runner.testing.remote_objects import Remote, done, is_own, number_of
from sandbox.runner.testing.rpc import Broken, RpcChannel
from sandbox.runner.testing.seeding import Seeds
from sandbox.runner.testing.strict_zip import Absent
from sandbox.runner.testing.surroundings import Surroundings
from sandbox.runner.values.encoding import (
    FAITHFUL_BUILDERS,
    MAX_BYTES,
    MAX_DEPTH,
    Decoder,
    Image,
    TooLarge,
    Undecodable,
    dumped,
)
from sandbox.runner.values.library import LIBRARY_BUILDERS, image_of_defaults, image_of_library, image_of_zoned
from sandbox.runner.values.tables import TABLE_BUILDERS

_INPUT: Final = builtins.input
_MAX_CLASSES: Final = 1000
_MOST_VALUES: Final = 1000
_MAX_TEXT_CHARS: Final = 2000
_MAX_NAME_CHARS: Final = 100
_USES: Final = frozenset({"names", "get", "call", "operate"})
_CONTAINERS: Final = frozenset({list, dict, set, bytearray, collections.deque})
_NESTING: Final = _CONTAINERS | {tuple, frozenset}
_TOO_LARGE: Final = "the value is too large to be passed to the program"
_NONSENSE: Final = (
    Broken,
    Undecodable,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    MemoryError,
)


class Gone(BaseException):
    """The program has ended, or sends nonsense. Not an `Exception`: a test that expects one must not pass by it.

    Its name is part of the outcomes' format: the message of a test that found no program begins with `Gone: `.
    """


class Untestable(BaseException):
    """The tests need something that is impossible with the program in another process; says nothing about the program.

    Not an `Exception`, for the same reason as above.
    """


class Unreturnable(BaseException):
    """Tests hand a value of the program back to it, and the program made it so that it cannot go back.

    Not an `Exception`, for the same reason as above.
    """


class _RemoteEncoder(LendingEncoder):
    """Passes objects of the program back themselves, if they have a value here, too."""

    kept: Mapping[int, int] = types.MappingProxyType({})
    """The numbers of containers that the program has, by their ids."""
    new: Callable[[Any], int] | None = None
    """Gives a container that the program has not, and keeps in one of its own, a label."""

    def __init__(self, foreign: Callable[[Any], Image], first: int) -> None:
        super().__init__(foreign, first)
        self.named_tuples: dict[tuple[str, ...], Any] = {}
        """Classes of named tuples of the tests that the program has met, by their names and fields."""

    def part(self, value: Any) -> Image:
        if self.kept and id(value) in self.kept:
            return {"object": [self.kept[id(value)]]}
        if self.new is None or type(value) not in _CONTAINERS or self.is_apart:
            return super().part(value)
        image = super().part(value)
        return image if is_known(image) else {"new": [self.new(value), image]}

    def contents_of(self, container: Any, numbers_of_kept: Mapping[int, int], new: Callable[[Any], int]) -> Image:
        """The image of what a container holds, with the numbers and labels of containers in it."""
        self.kept, self.new = {**numbers_of_kept}, new
        del self.kept[id(container)]
        try:
            return self.image(container)["new"][1]
        finally:
            self.kept, self.new = {}, None

    def reduced(self, value: Any, kind: type) -> Image:
        if type(kind) is RemoteClass:
            return self.foreign(value)
        self.meet(kind)
        if has_more_than_data(value):
            return self.foreign(value)
        return image_of_defaults(self, value) if kind is collections.defaultdict else super().reduced(value, kind)

    def meet(self, kind: type) -> None:
        """Note that the program learns of a class."""
        if (named := named_tuple_class(kind)) is not None:
            name, fields, _ = named
            self.named_tuples[name, *fields] = kind


class RemoteProgram:
    """The program in one candidate process.

    Args:
        channel: To that process.
        objects: Whether its objects may be compared and computed with.
        hidden_names: Returns the names that `from solution import *` must not bring, whatever the program defines. It
            is called late, because few tests need it, and most sources would have to be parsed for it.
    """

    def __init__(
        self, channel: RpcChannel, *, objects: bool = False, hidden_names: Callable[[], Collection[str]] = tuple
    ) -> None:
        self.forwarded = 0
        self.uses = 0
        """How often tests have read or called something of the program, and had an answer."""
        self.shares_files = False
        """Tests may look at files that the program has written before: it need only have been loaded."""
        self.rehearses = False
        """No program is there: see `rehearsal`."""
        self.gone = False
        self.untestable = False
        """The last test needed something that is impossible here."""
        self.refused = ""
        """What the last test needed that is impossible here."""
        self.fault = ""
        """Why the last test has failed, whatever it caught."""
        self.shares_process = False
        """The last test changed its own process, and the program would have to be in the same process to notice."""
        self.mocks: list[Any] = []
        """Objects of `unittest.mock` that the last test gave to the program."""
        self.keeps_arguments = False
        """Whether the program's changes of its arguments stay in its process."""
        self.seeds: Seeds | None = None
        """For tests that seed global generators."""
        self.surroundings: Surroundings | None = None
        """For tests that change the environment."""
        self._channel = channel
        self._objects = objects
        self._hidden_names = hidden_names
        self._lock = threading.RLock()
        self._open_requests = 0
        self._failed_callback: BaseException | None = None
        self._callables: list[Callable[..., object]] = []
        self._callable_numbers: dict[tuple[int, int], int] = {}
        self._served: dict[int, ServedObject | LentIterator] = {}
        """By the id of the object, which is valid as long as the object is held here."""
        self._raised: list[BaseException] = []
        self._new_containers: dict[int, Any] = {}
        """Containers that tests have put into those of the program, by the labels under which it is told of them."""
        self._labels = 0
        self._has_kept_arguments = False
        self._remotes: weakref.WeakValueDictionary[int, Remote] = weakref.WeakValueDictionary()
        self._values: dict[int, Remote] = {}
        """The last objects that have values: numbers and tuples cannot be referred to weakly."""
        self._remote_classes: dict[int, RemoteClass] = {}
        self._classes: dict[int, type[BaseException]] = {}
        self._classes_of_tests: dict[str, type[Exception]] = {}
        """Exceptions that tests define in one file with the program, by their names."""
        self._encoder = _RemoteEncoder(self._foreign, first=0)
        self._lent_states: LentStates | None = None
        """Of what the open call has been lent, if the program's changes of it do not stay."""
        self._copies: Mapping[int, Any] = {}
        """What was lent as the program has changed it, by the ids of what it was again after the call."""
        self._containers = Tracked(self._encoder.image)
        """Copies of containers of the program that tests may change."""
        self._decoder = SharingDecoder(
            {
                **FAITHFUL_BUILDERS,
                **TABLE_BUILDERS,
                **LIBRARY_BUILDERS,
                "named": self._to_named,
                "object": lambda _, content: self._to_remote(*content),
                "class": lambda _, content: remote_classes.shared(self._class_of(content)),
                "value": lambda decoder, content: self._to_value(decoder, *content),
                "kept": lambda _, content: self._to_container(*content),
                "exception class": self._to_exception_class,
                "exception": lambda _, content: self._to_exception(content),
                "builtin": lambda _, content: remote_exceptions.builtin_class(content),
                "not implemented": lambda *_: NotImplemented,
                "table class": lambda _, content: _table_class(*content),
                "callable": lambda _, content: self._callables[_number(content)],
                "lent": lambda _, content: self._to_served(content),
                "shared": lambda decoder, content: self._to_lent_container(decoder, *content),
            }
        )

    def note_fault(self, why: str) -> None:
        self.fault = self.fault or why

    def begin_case(self) -> None:
        """Count anew what a case uses. Among shared files, each case uses a program that answers."""
        self.uses = 0
        if self.shares_files:
            with contextlib.suppress(Gone):
                self._ask(["names"])

    def public_names(self) -> list[str]:
        """The names that `from solution import *` brings."""
        names = self._ask(["names"])
        if type(names) is not list:
            return []
        hidden = self._hidden_names()
        return [name for name in names if type(name) is str and not name.startswith("_") and name not in hidden]

    def get(self, target: int, name: str) -> Any:
        """An attribute of an object, or of the program's module, which is number 0."""
        return self._value(self._ask(["get", target, name]))

    def set(self, target: int, name: str, value: object) -> None:
        self._store(value, self._ask(["set", target, name, *self._arguments([value], [])]))

    def set_item(self, target: int, key: object, value: object) -> None:
        self._store(value, self._ask(["set item", target, *self._arguments([key, value], [])]))

    def _store(self, value: object, number: Any) -> None:
        """Note what the program has been given to keep."""
        if number is not None and type(value) in _CONTAINERS:
            self._keep(_number(number), value)

    def share_exception(self, kind: type[Exception]) -> None:
        """Let a class that tests define in one file with the program be the program's class of this name.

        A program that defines none gets one, if the class has nothing but bases.
        """
        self._classes_of_tests[kind.__name__] = kind
        if not self.rehearses and not any(map(_is_member, vars(kind).values())):
            self._ask(["define", kind.__name__, [base.__name__ for base in kind.__bases__]])

    def delete(self, target: int, name: str) -> None:
        self._ask(["delete", target, name])

    def call(self, target: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call an object. Arguments that it changes in place are changed here too."""
        scope: Scope = []
        images = self._arguments([*arguments, *keywords.values()], scope)
        positional, named_images = images[: len(arguments)], dict(zip(keywords, images[len(arguments) :], strict=True))
        if self._open_requests or not self.keeps_arguments:
            return self._ask(["call", target, positional, named_images], scope)
        self._lent_states = LentStates()
        self._lent_states.add(*arguments, *keywords.values())
        try:
            return self._ask(["call", target, positional, named_images], scope)
        finally:
            self._restore_lent()
            self._copies = {}

    def operate(self, operator: str, target: int, *operands: object) -> Any:
        """Run an operator in the program. Its result is an answer, not a judgement."""
        return self._value(self._ask(["operate", operator, target, [self._operand(operand) for operand in operands]]))

    def compute(self, operator: str, remote: Remote, *operands: object) -> Any:
        """Compute with an object of the program and another value: later, if the value may be what is expected.

        Raises:
            TypeError: the result would decide a test, and nothing allows that.
        """

        def result() -> Any:
            return self.operate(operator, number_of(remote), *operands)

        def another_object() -> Remote:
            computed = result()
            if not isinstance(computed, Remote):
                self.allow_judging()
            return done(computed)  # type: ignore[no-any-return]  # checked above

        if self.may_judge(remote, *operands):
            self.forwarded += 1
            return result()
        if all(isinstance(operand, Remote) and not operand._rewardline_is_told for operand in (remote, *operands)):
            return another_object()
        return remote_classes.computation(self, another_object)

    def decide_by(self, method: str, remote: Remote, *operands: object) -> Any:
        """Call a special method of an object that the tests have made; it may give `NotImplemented`."""
        self.forwarded += 1
        return self.operate("call special", number_of(remote), method, *operands)

    def give_up(self, reason: str) -> NoReturn:
        """End the test as untestable.

        Raises:
            Untestable: always; the tests need something impossible.
        """
        self.untestable = True
        self.refused = reason
        raise Untestable(reason)

    def may_judge(self, *remotes: object) -> bool:
        """Whether the program may decide about a test that uses these objects."""
        return self._objects or any(isinstance(remote, Remote) and is_own(remote) for remote in remotes)

    def allow_judging(self, *remotes: object) -> None:
        """Count that the program decides something, if that is allowed.

        Raises:
            TypeError: it is not.
        """
        if not self.may_judge(*remotes):
            raise TypeError(
                "an object that the program returned cannot be compared or computed with plain values; set `objects` to "
                "allow it"
            )
        self.forwarded += 1

    # Requests.

    def _ask(self, request: list[Any], scope: Scope | None = None) -> Any:
        """The image of the answer; its value, if the request has had these containers."""
        self.shares_process |= type(sys.stdin) is io.StringIO or builtins.input is not _INPUT
        with self._lock:
            text = self._text(request)
            updates = [*self._changed_containers()]
            self._open_requests += 1
            try:
                is_error, content = self._exchange(updates, text, scope)
            finally:
                self._open_requests -= 1
                if not self._open_requests:
                    self._encoder.lent.clear()
        if self._failed_callback is not None and not self._open_requests:
            failed, self._failed_callback = self._failed_callback, None
            raise failed
        self.uses += request[0] in _USES
        if is_error:
            raise caught.marked(content)
        return content

    def _exchange(self, updates: list[Image], request: bytes, scope: Scope | None) -> tuple[bool, Any]:
        """Send a request and handle all callbacks. Returns (True, the error) or (False, the answer)."""
        if self.gone:
            raise Gone("the program has ended")
        try:
            self._send_seeds()
            self._send_surroundings()
            self._send_changes_of_lent()
            for update in updates:
                self._channel.send(update)
            self._channel.send_text(request)
            while (message := self._channel.receive())[0] == "call back":
                self._call_back(*message[1:])
            outcome, content, changes, printed = message
            if outcome not in ("value", "error"):
                raise Undecodable("not an answer")
            _replay(printed)
            changes = [*self._take_changes_of_lent(changes or ())]
            if self._open_requests == 1:
                self._restore_lent()
            if scope and changes and self.keeps_arguments:
                scope = copied(scope)
            if outcome == "value" and scope is not None:
                (content,) = self._decoder.values([content], scope)
            self._take_changes(changes, [] if scope is None else scope)
            return (True, self._to_exception(content)) if outcome == "error" else (False, content)
        except _NONSENSE as error:
            raise self._broken() from error

    def _send_seeds(self) -> None:
        if self.seeds is not None and self._open_requests == 1 and (state := self.seeds.changed_state()) is not None:
            self._channel.send(["seed", *state])

    def _send_surroundings(self) -> None:
        if self.surroundings is not None and (changes := self.surroundings.changes()) is not None:
            self._channel.send(["surround", *changes])

    # Containers that the program reads from what it has been lent.

    def _to_lent_container(self, decoder: Decoder, number: Any, *images: Image) -> Any:
        lent = self._encoder.lent
        if images:
            lent.add(decoder.part(images[0]), self._encoder, number)
        return self._copies.get(id(lent[number]), lent[number])

    def _send_changes_of_lent(self) -> None:
        """Tell the program what the tests have changed in containers that they share with it."""
        encoder = self._encoder
        try:
            changes = [
                [number, encoder.contents_of_lent(container)] for number, container in encoder.lent.changed(encoder)
            ]
        except TooLarge:
            self._refuse(ValueError(_TOO_LARGE))
        if changes:
            self._channel.send(["share", changes])

    def _take_changes_of_lent(self, changes: Iterable[Any]) -> Iterator[Any]:
        """Take over what the program has changed in these containers, and return the other changes."""
        for change in changes:
            if change[0] != "shared":
                yield change
                continue
            for number, image in change[1]:
                container = self._encoder.lent[number]
                replace_contents(container, self._decoder.contents(image, [(container, 0)]))
                self._encoder.lent.agree(number, self._encoder)

    def _restore_lent(self) -> None:
        states, self._lent_states = self._lent_states, None
        if states is not None:
            self._copies = states.restore()

    # Containers that the tests change.

    def keep_containers(self, *, arguments: bool = False) -> None:
        """Bring changes that tests make to containers of the program back to it, and its own changes to the tests.

        Args:
            arguments: Containers that tests have passed to it, too.
        """
        self._has_kept_arguments = arguments
        try:
            self._ask(["keep containers", arguments])
        except Gone:
            return  # as above

    def _to_container(self, number: int, image: Image) -> Any:
        container = self._decoder.part(image)
        if type(container) not in _CONTAINERS:
            raise Undecodable("not a container")
        if _number(number) in self._containers and type(held_container := self._containers[number]) is type(container):
            container = copy_changes(held_container, container, self._containers.numbers)
            self._decoder.replace_last(container)
        self._containers.add(number, container)
        return container

    def _keep(self, number: Any, container: Any) -> None:
        if type(container) in _CONTAINERS:
            self._containers.add(_number(number), container)

    def _changed_containers(self) -> Iterator[Image]:
        """What tells the program of the changes that tests have made."""
        for number in self._containers.changed():
            container = self._containers[number]
            try:
                image = self._encoder.contents_of(container, self._containers.numbers, self._label)
            except TooLarge:
                self._refuse(ValueError(_TOO_LARGE))
            yield ["update", number, image]
            self._containers.agree(number)

    def _label(self, container: Any) -> int:
        label = self._labels = self._labels + 1
        self._new_containers[label] = container
        return label

    def _take_changes(self, changes: Iterable[Any], scope: Scope) -> None:
        """Take over changes of containers in the arguments, and of those with numbers of their own (negative)."""
        contents = []
        for number, *content in changes:
            if number == "new":
                label, own_number = content
                self._keep(own_number, self._new_containers.pop(label))
            elif not content:
                self._containers.remove(-number)
            elif len(content) > 1:
                if self._has_kept_arguments:
                    self._keep(content[1], scope[_number(number)][0])
            elif number >= 0:
                contents.append((scope[number][0], self._decoder.contents(content[0], scope)))
            else:
                self._decoder.value(content[0])
        for container, new in contents:
            replace_contents(container, new)
        self._containers.trim()

    def _arguments(self, values: Sequence[object], scope: Scope) -> list[Image]:
        """The images of arguments; a container of the program is passed back itself."""
        self._encoder.kept = self._containers.numbers
        try:
            return self._images(values, scope)
        finally:
            self._encoder.kept = {}

    def _call_back(self, number: int, images: list[Image], keyword_images: dict[str, Image], printed: Any) -> None:
        _replay(printed)
        function = self._callables[_number(number)]
        scope: Scope = []
        values = self._decoder.values([*images, *keyword_images.values()], scope)
        arguments, keywords = values[: len(images)], dict(zip(keyword_images, values[len(images) :], strict=True))
        passed = [*scope]
        if self._encoder.lent and not is_plain_access(function, arguments):
            self._ask(["changes"])
        old_states = states(passed, self._encoder)
        try:
            result = function(*arguments, **keywords)
            if self._lent_states is not None:
                self._lent_states.add(result)
            with self._encoder.lending(_most_lent(function)):
                (image,) = self._arguments([result], scope)
            self._send_changes_of_lent()
            numbers = changed(passed, old_states, self._encoder)
            changes = [*zip(numbers, self._encoder.contents(numbers, scope), strict=True)]
            reply = self._text(["value", image, changes])
        except Gone:
            raise
        except BaseException as error:  # noqa: BLE001 - the program may handle what a test's function raises
            if isinstance(error, AssertionError) or not isinstance(error, Exception):
                self._failed_callback = error
            reply = self._text(["error", self._error_image(error)])
            self._send_changes_of_lent()
        self._channel.send_text(reply)

    def _broken(self) -> Gone:
        self.gone = True
        return Gone("the program has ended, or speaks nonsense")

    # Values.

    def _image(self, value: object) -> Image:
        return self._images([value], [])[0]

    def _images(self, values: Sequence[object], scope: Scope) -> list[Image]:
        try:
            return self._encoder.images(values, scope)
        except TooLarge:
            self._refuse(ValueError(_TOO_LARGE))

    def _operand(self, value: object) -> Image:
        """The image of an operand. It is the program's doing that it gets any, so nothing is untestable for it."""
        self._open_requests += 1
        try:
            return self._image(value)
        finally:
            self._open_requests -= 1

    def _text(self, message: list[Any]) -> bytes:
        text = dumped(message)
        if len(text) > MAX_BYTES:
            self._refuse(ValueError(_TOO_LARGE))
        return text

    def _value(self, image: Image) -> Any:
        try:
            return self._decoder.value(image)
        except _NONSENSE as error:
            raise self._broken() from error

    def _foreign(self, value: Any) -> Image:
        """The image of a value that is not plain data."""
        if isinstance(value, Remote):  # an object that the program returned
            return {"object": [number_of(value)]}
        if type(value) is RemoteClass:
            return {"object": [value.__rewardline_number__]}
        if type(value) is types.CoroutineType and (awaitable := remote_classes.awaitable_of(value)) is not None:
            return {"object": [number_of(awaitable)]}
        if isinstance(value, BaseException):  # ValueError("no")
            return {"exception": self._error_image(value)}
        if isinstance(value, Absent):  # a missing item of a short answer
            raise AssertionError("the answer is shorter than expected")
        if type(value) is datetime.datetime and (zoned := image_of_zoned(self._encoder, value)) is not None:
            return zoned
        table = image_of_library(self._encoder, value) or self._encoder.table(value)
        if table is not None:  # pandas.DataFrame({"a": [1]})
            return table
        if type(value) is types.ModuleType and sys.modules.get(value.__name__) is value and _is_of_library(value):
            return {"module": value.__name__}
        number = remote_exceptions.class_number(value)
        if number is not None:  # an exception class of the program
            return {"object": [number]}
        name = getattr(value, "__name__", None)
        if type(name) is str and vars(builtins).get(name) is value:  # len
            return {"builtin": name}
        return self._lent(value)

    def _lent(self, value: Any) -> Image:
        """The image of what stays here, and serves the program by a number."""
        if isinstance(value, type) and lent_class(value) is value:  # class Node, defined by the tests
            return {"lent class": self._served_class(value, value)}
        if (kind := lent_class(type(value))) is not None:  # Node(1)
            return {"lent": [self._served_number(value), self._served_class(kind, type(value))]}
        if (named := named_tuple_class(value)) is not None:  # P = namedtuple("P", "x y")
            name, fields, defaults = named
            self._encoder.meet(value)
            members = [[one.name, one.sort, self._callable_number(one)] for one in tuple_members(value)]
            return {"named class": [name, fields, self._encoder.parts(defaults), members]}
        is_function = not _is_used_as_object(value)
        if isinstance(value, Iterator) and not callable(value) and is_function:  # (x for x in [1])
            return {"iterator": self._lent_number(value, LentIterator)}
        if callable(value) and is_function:  # lambda x: x + 1
            if type(value).__module__ == "unittest.mock":
                self.mocks.append(value)
            is_known = _key(value) in self._callable_numbers
            parameters = None if is_known else self._parameters(value)
            return {"callable": [self._callable_number(value), *_name_and_text(value), parameters]}
        if type(value) in _NESTING:  # too deep
            self._refuse(ValueError(_TOO_LARGE))
        return self._refuse(
            TypeError(f"an object of the tests cannot be passed to the program: {type(value).__name__}")
        )

    def _refuse(self, error: Exception) -> NoReturn:
        """Refuse to pass something to the program.

        Raises:
            Unreturnable: it is large or deep because the program made it so.
            Untestable: the tests need something impossible.
            Exception: the error itself, in a call back: what it is for is the program's own matter.
        """
        if self._open_requests:
            raise error
        is_heavy = self._channel.largest >= MAX_BYTES // 4 or self._decoder.deepest >= MAX_DEPTH // 2
        if is_heavy and isinstance(error, ValueError):
            self.fault = "what the program returned is too large to go back to it"
            raise Unreturnable(self.fault)
        self.give_up(str(error))

    def _callable_number(self, function: Callable[..., object]) -> int:
        number = self._callable_numbers.get(_key(function))
        if number is None:
            number = self._callable_numbers[_key(function)] = len(self._callables)
            self._callables.append(function)
        return number

    def _parameters(self, function: Any) -> Image:
        """What the program may see of a function of the tests, see `rpc`; None for another callable."""
        if _is_own_method(function):
            return "method"
        if type(function) is not types.FunctionType:
            return None
        code = function.__code__
        has_more = [bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)]
        count = code.co_argcount + code.co_kwonlyargcount + sum(has_more)
        defaults, keyword_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
        annotations = {name: kind for name, kind in function.__annotations__.items() if kind in _BUILTIN_CLASSES}
        if not all(callable(default) or type(default) in _PLAIN for default in (*defaults, *keyword_defaults.values())):
            return None
        return [
            [*code.co_varnames[:count]],
            [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, *has_more],
            self._encoder.part(defaults or None),
            self._encoder.part(keyword_defaults or None),
            self._encoder.part(annotations),
        ]

    def _served_class(self, kind: type, real: type) -> Image:
        """The image of a class that the program sees as one of `real`."""
        bases = [self._served_class(base, base) for base in lent_bases(kind)]
        return [self._served_number(kind), kind.__name__, specials_of(real), *bases]

    def _served_number(self, value: Any) -> int:
        return self._lent_number(value, ServedObject)

    def _lent_number(self, value: Any, kind: type[ServedObject] | type[LentIterator]) -> int:
        served = self._served.get(id(value))
        if served is None:
            served = self._served[id(value)] = kind(value)
        return self._callable_number(served)

    def _to_served(self, content: Any) -> Any:
        served = self._callables[_number(content)]
        if type(served) is not ServedObject and type(served) is not LentIterator:
            raise Undecodable("the number of something that was not lent")
        return self._copies.get(id(served.thing), served.thing)

    def _to_remote(self, number: Any, class_number: Any) -> Any:
        remote = self._remotes.get(_number(number))
        if remote is None:
            kind = self._class_of(class_number)
            if type.__getattribute__(kind, "__rewardline_value__") is not None:
                raise Undecodable("an object without its value")
            remote = self._remotes[number] = remote_classes.new(kind, number)
        remote_class: Any = type(remote)
        is_coroutine = type.__getattribute__(remote_class, "__rewardline_known__") is types.CoroutineType
        return remote_classes.awaited(remote) if is_coroutine else remote

    def _to_value(self, decoder: Decoder, number: Any, class_number: Any, image: Image) -> Remote:
        value = decoder.part(image)
        remote = self._values.get(_number(number))
        if remote is None:
            kind = self._class_of(class_number)
            if kind.__rewardline_value__ is not type(value):
                raise Undecodable("a value of another type than its class")
            remote = self._values[number] = remote_classes.new(kind, number, value)
            if len(self._values) > _MOST_VALUES:
                del self._values[next(iter(self._values))]
        return remote

    def _class_of(self, number: Any) -> RemoteClass:
        """The class here for one of the program's."""
        kind = self._remote_classes.get(_number(number))
        if kind is None:
            if len(self._remote_classes) >= _MAX_CLASSES:
                raise Undecodable("too many classes")
            self._remote_classes[number] = kind = remote_classes.made(self, number, self._described(number))
        return kind

    def _described(self, number: int) -> Description:
        name, own_names, specials, base, parents, library, is_library = self._ask(["describe", number])
        if not all(type(text) is str for text in (name, base, *own_names)):
            raise Undecodable("not what a class is")
        library_classes = [remote_classes.library_class(*path) for path in library]
        return Description(
            name,
            frozenset(own_names),
            {str(special): value is True for special, value in specials.items()},
            base,
            tuple(self._class_of(parent) for parent in parents),
            tuple(kind for kind in library_classes if kind is not None),
            is_library is True and bool(library_classes) and library_classes[0] is not None,
        )

    def _to_named(self, decoder: Decoder, content: Any) -> Any:
        """A named tuple, of the class of the tests if it came from them."""
        named = FAITHFUL_BUILDERS["named"](decoder, content)
        kind = self._encoder.named_tuples.get((content[0], *named.names)) if type(content[0]) is str else None
        return named if kind is None else kind._make(named)

    # Exceptions.

    def _to_exception_class(self, _: Decoder, content: Any) -> type[BaseException]:
        number, name, module, bases = content
        if _number(number) not in self._classes:
            if len(self._classes) >= _MAX_CLASSES:
                raise Undecodable("too many classes")
            parents = tuple(dict.fromkeys(self._to_class(base) for base in bases)) or (Exception,)
            if (own := self._classes_of_tests.get(name)) is not None:
                parents = (*(parent for parent in parents if not issubclass(own, parent)), own)
            self._classes[number] = remote_exceptions.named_class(self, number, name, module, parents)
        return self._classes[number]

    def _to_class(self, image: Image) -> type[BaseException]:
        kind = self._decoder.part(image)
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise Undecodable("not the class of an exception")
        return remote_exceptions.harmless(kind)

    def _to_exception(self, content: dict[str, Any]) -> BaseException:
        if "raised" in content:
            return self._raised[_number(content["raised"])]
        error = remote_exceptions.instance(
            self._to_class(content["class"]),
            [self._decoder.value(argument) for argument in content["arguments"]],
            str(content["text"])[:_MAX_TEXT_CHARS],
            self,
            _number(content["number"]),
        )
        for name in ("__cause__", "__context__"):
            if name in content:
                setattr(error, name, self._to_exception(content[name]))
        error.__suppress_context__ = content.get("__suppress_context__") is True
        for note in content.get("__notes__", ()):
            error.add_note(str(note))
        return error

    def _error_image(self, error: BaseException) -> Image:
        number = remote_exceptions.number_of(error)
        if number is not None:
            return {"number": number}
        self._raised.append(error)
        known_kinds = (kind for kind in type(error).__mro__ if _is_known_there(kind))
        return {
            "class": self._foreign(next(known_kinds)),
            "arguments": [argument for argument in error.args if type(argument) in (str, bool, int, float)],
            "text": str(error)[:_MAX_TEXT_CHARS],
            "raised": len(self._raised) - 1,
        }


def _most_lent(function: Any) -> int:
    """How many containers may be shared once a callable of the tests has returned one."""
    is_of_object = isinstance(function, ServedObject | LentIterator) or (
        isinstance(function, types.MethodType) and lent_class(type(function.__self__)) is not None
    )
    return MOST_LENT if is_of_object else MOST_OF_FUNCTIONS


def _is_own_method(function: Any) -> bool:
    """Whether the class of the tests that made an object gives it this method, and not the object itself."""
    return (
        type(function) is types.MethodType
        and is_of_tests(type(function.__self__))
        and vars(type(function.__self__)).get(function.__name__) is function.__func__
    )


def _key(function: Callable[..., object]) -> tuple[int, int]:
    """What knows a callable as long as it is held; each reading of a method makes another object of it."""
    if type(function) is types.MethodType:
        return id(function.__self__), id(function.__func__)
    return id(function), 0


def _is_member(value: object) -> bool:
    """Whether a class has more in its body than a docstring."""
    return callable(value) or isinstance(value, property | classmethod | staticmethod)


def _table_class(module: Any, name: Any) -> type:
    """`numpy.ndarray`, `pandas.Series`"""
    kind = getattr(importlib.import_module(module), name) if module in _OF_TABLES and type(name) is str else None
    if not isinstance(kind, type):
        raise Undecodable("not a class of tables")
    return kind


_OF_TABLES: Final = ("numpy", "pandas")
_OF_FUNCTIONS: Final = frozenset(
    {*("builtins", "functools", "itertools", "operator", "types", "typing", "unittest"), *_OF_TABLES}
)
"""Modules of classes whose instances are used as functions, or as iterators."""
_PLAIN: Final = frozenset({type(None), bool, int, float, str, bytes})
_BUILTIN_CLASSES: Final = (None, *(one for one in vars(builtins).values() if isinstance(one, type)))


def _is_used_as_object(value: Any) -> bool:
    """Whether something that can be called, or gone through, has methods, too: a connection of `sqlite3`, a file."""
    kind = type(value)
    if kind.__module__.partition(".")[0] in _OF_FUNCTIONS or issubclass(kind, type):
        return False
    return any(callable(getattr(kind, name, None)) for name in dir(kind) if not name.startswith("_"))


def _is_of_library(module: types.ModuleType) -> bool:
    """Whether the program has a module of this name, too, which is the same: `f(math)`"""
    return not is_file_of_tests(getattr(module, "__file__", None))


def _name_and_text(function: Callable[..., object]) -> list[str | None]:
    """`__name__` and `__doc__` of a function."""
    if not isinstance(function, types.FunctionType | types.MethodType):
        return [None, None]
    return [function.__name__, function.__doc__]


def _is_known_there(kind: type) -> bool:
    return remote_exceptions.class_number(kind) is not None or kind.__module__ == "builtins"


def _number(content: Any) -> int:
    """Check a number that was given out before."""
    if type(content) is not int or content < 0:
        raise Undecodable("a number that was never given out")
    return content


def _replay(printed: Any) -> None:
    if printed is None:
        return
    for text, stream in zip(printed, (sys.stdout, sys.stderr), strict=True):
        stream.write(str(text).encode("utf-8", "backslashreplace").decode())

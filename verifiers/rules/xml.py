"""The response is one well-formed XML document, with the elements it was asked for.

Read by expat with namespaces, so that an undeclared prefix is an error, and without document type declarations: a
document that has one is refused, and so there are no entities but XML's own five, and nothing to fetch or to
blow up. It may stand in one code fence, with nothing beside it. Elements are nested at most 100 deep.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, NoReturn
from xml.parsers import expat

from pydantic import Field

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Resources, Verdict, Verifier, clip
from verifiers.long_texts import INLINE_CHARS, judge_all
from verifiers.rules.documents import MAX_DEPTH, DocumentParams, Unreadable, document

_MAX_PATH_CHARS = 1000
_Path = Annotated[str, Field(pattern=r"^[^\s/]+(/[^\s/]+)*$", max_length=_MAX_PATH_CHARS)]


class XmlParams(DocumentParams):
    """What the document must hold. Names are as they stand, with their prefix left off."""

    root: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The name of the outermost element."""
    required: Annotated[tuple[_Path, ...], Field(max_length=256)] = ()
    """Elements that must be there, by their path from the root on: `person/name`."""
    allowed: Annotated[tuple[str, ...], Field(max_length=1024)] | None = None
    """When given, no element may have another name."""


class Xml(Verifier[XmlParams]):
    name = "xml"
    version = "5"
    params = XmlParams
    summary = "The response is one well-formed XML document, with the elements asked for"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[XmlParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> Xml:
    resources.workers.register(long_texts.JUDGE)
    return Xml(resources.workers)


def judge(response: str, params: XmlParams, explain: bool = False) -> Verdict:
    walk = _Walk(params)
    try:
        _read(document(response, params, ("xml",)), walk)
    except Unreadable as error:
        return Verdict.wrong(error.fault, **({"message": clip(str(error))} if explain else {}))
    if walk.fault:
        return Verdict.wrong(walk.fault, **({"message": clip(walk.message)} if explain else {}))
    missing = [path for path in params.required if path not in walk.seen]
    if missing:
        return Verdict.wrong("missing_element", **({"message": clip(f"there is no {missing[0]}")} if explain else {}))
    return Verdict.correct()


def _read(text: str, walk: "_Walk") -> None:
    """Go through the document's tags, once expat knows it for one: a call for each of them takes longer than all else.

    A text that is none counts as too deep where it is that before it goes wrong; and what is open is kept in memory. So
    where there is room for that, and in long texts, expat calls at each tag.

    Raises:
        Unreadable: the text is no such document.
    """
    may_be_deep = text.count("<") - text.count("</") > MAX_DEPTH
    if may_be_deep and len(text) > INLINE_CHARS:
        _read_by_calls(text, walk)
        return
    try:
        _parse(_parser(), text)
    except Unreadable:
        if may_be_deep:
            _read_by_calls(text, walk)
        raise
    walk.go(_tags(text))


def _read_by_calls(text: str, walk: "_Walk") -> None:
    parser = _parser()
    parser.StartElementHandler = walk.enter
    parser.EndElementHandler = walk.leave
    _parse(parser, text)


def _parser() -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator=_BEHIND_URI)
    parser.StartDoctypeDeclHandler = _refuse
    return parser


def _parse(parser: expat.XMLParserType, text: str) -> None:
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise Unreadable("not_readable", str(error)) from error


def _tags(text: str) -> list[str]:
    """The names of the elements of a well-formed document without document type, and "" where one of them ends."""
    if "<!" in text or "<?" in text:
        text = _NO_TAG.sub("", text)
    if "/>" not in text:
        return _NAME.findall(text)
    tags: list[str] = []
    for name, is_empty in _TAG.findall(text):
        tags.append(name)
        if is_empty:
            tags.append("")
    return tags


_NO_TAG = re.compile(r"<(?:!--.*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>)", re.DOTALL)
_NAME = re.compile(r"<([^ \t\r\n/>]*+)")
_TAG = re.compile(r"""<([^ \t\r\n/>]*+)[^>"'/]*+(?:(?:"[^"]*+"|'[^']*+'|/(?!>))[^>"'/]*+)*+(/?)>""")


class _Place(dict[str, "_Place"]):
    """A path of elements, and by their names those that were met directly below it: most come again and again."""

    __slots__ = ("depth", "path")

    def __init__(self, path: str | None, depth: int) -> None:
        super().__init__()
        self.path = path
        """None where nothing is required, there or below."""
        self.depth = depth


class _Walk:
    """Goes into the elements of a document and out of them, and remembers which of the required paths it met."""

    def __init__(self, params: XmlParams) -> None:
        self._params = params
        self._allowed = None if params.allowed is None else frozenset(params.allowed)
        self._wanted = _and_above(params.required)
        self._place = _Place("", 0)
        self._around: list[_Place] = []
        """What is around that, from the document on."""
        self.seen: set[str] = set()
        self.fault = ""
        self.message = ""

    def go(self, tags: Iterable[str]) -> None:
        """Through a whole document by its `_tags`."""
        place, around = self._place, self._around
        for name in tags:
            if name:
                around.append(place)
                inner = place.get(name)
                place = self._met(place, name, _BEHIND_PREFIX) if inner is None else inner
            else:
                place = around.pop()

    def enter(self, name: str, attributes: dict[str, str]) -> None:
        self._around.append(self._place)
        inner = self._place.get(name)
        self._place = self._met(self._place, name, _BEHIND_URI) if inner is None else inner

    def leave(self, name: str) -> None:
        self._place = self._around.pop()

    def _met(self, above: _Place, full_name: str, separator: str) -> _Place:
        """The place of an element that is met there for the first time."""
        if above.depth >= MAX_DEPTH:
            raise Unreadable("too_deep")
        name = full_name.rpartition(separator)[2]
        if above.depth == 0 and self._params.root not in (None, name):
            self.fault, self.message = "wrong_root", f"the root is {name}, not {self._params.root}"
        if self._allowed is not None and name not in self._allowed and not self.fault:
            self.fault, self.message = "unexpected_element", f"{name} is not allowed"
        place = above[full_name] = _Place(self._path(above.path, name), above.depth + 1)
        return place

    def _path(self, above: str | None, name: str) -> str | None:
        if above is None or len(name) > _MAX_PATH_CHARS:
            return None
        path = f"{above}/{name}" if above else name
        if path not in self._wanted:
            return None
        self.seen.add(path)
        return path


_BEHIND_PREFIX = ":"
_BEHIND_URI = "}"


@lru_cache(maxsize=64)
def _and_above(paths: tuple[str, ...]) -> frozenset[str]:
    parts = (path.split("/") for path in paths)
    return frozenset("/".join(names[: count + 1]) for names in parts for count in range(len(names)))


def _refuse(*_: object) -> NoReturn:
    raise Unreadable("not_readable", "document type declarations are refused")


EXAMPLES = (
    Example("<a><b>1</b><c x='2'/></a>", {"required": ["a/b"]}, 1.0, "correct", "well-formed, with what is required"),
    Example("<a>1</a><b>2</b>", {}, 0.0, "not_readable", "two roots"),
    Example("<a><b></a></b>", {}, 0.0, "not_readable", "looks balanced, but crosses"),
    Example("<a/>", {"root": "b"}, 0.0, "wrong_root", "another root"),
    Example("<a>b/c</a>", {"required": ["a/b"]}, 0.0, "missing_element", "text is no element"),
    Example(
        "<!DOCTYPE a [<!ENTITY l 'lol'>]><a>&l;</a>", {}, 0.0, "not_readable", "no declarations, so no entity bombs"
    ),
)

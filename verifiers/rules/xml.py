"""Judges whether the response is one well-formed XML document with the wanted elements.

Expat reads the document with namespaces, so an undeclared prefix is an error. A document with a document type
declaration is refused. So there are no entities except the five of XML itself: nothing is fetched, and nothing expands
without limit. The document may stand in one code fence, with no text beside it. The nesting is at most 100 deep.
"""

from collections.abc import Sequence
from typing import Annotated, NoReturn
from xml.parsers import expat

from pydantic import Field

from memory import remember
from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Resources, Verdict, Verifier, clip
from verifiers.long_texts import judge_all
from verifiers.rules.documents import MAX_DEPTH, DocumentParams, Unreadable, document

_MAX_PATH_CHARS = 1000
_Path = Annotated[str, Field(pattern=r"^[^\s/]+(/[^\s/]+)*$", max_length=_MAX_PATH_CHARS)]


class XmlParams(DocumentParams):
    """The elements that the document must hold. Their names are written without a prefix."""

    root: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The name of the outermost element."""
    required: Annotated[tuple[_Path, ...], Field(max_length=256)] = ()
    """Elements that must occur, by their path from the root: `person/name`."""
    allowed: Annotated[tuple[str, ...], Field(max_length=1024)] | None = None
    """The names that elements may have. Without it, every name is allowed."""


class Xml(Verifier[XmlParams]):
    name = "xml"
    version = "8"
    params = XmlParams
    summary = "The response is one well-formed XML document, with the elements asked for"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[XmlParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> Xml:
    long_texts.register(resources.workers, judge, XmlParams, EXAMPLES[0])
    return Xml(resources.workers)


def judge(response: str, params: XmlParams, explain: bool = False) -> Verdict:
    reader = _Reader(params)
    try:
        reader.read(document(response, params, ("xml",)))
    except Unreadable as error:
        return Verdict.wrong(error.fault, **({"message": clip(str(error))} if explain else {}))
    if reader.fault:
        return Verdict.wrong(reader.fault, **({"message": clip(reader.message)} if explain else {}))
    missing = [path for path in params.required if path not in reader.seen]
    if missing:
        return Verdict.wrong(
            "missing_element", **({"message": clip(f"the element {missing[0]} is missing")} if explain else {})
        )
    return Verdict.correct()


class _Place(dict[str, "_Place"]):
    """A path of elements, with the places directly below it by name. Most places are met many times."""

    __slots__ = ("depth", "path")

    def __init__(self, path: str | None, depth: int) -> None:
        super().__init__()
        self.path = path
        """The path; None if no element is required here or below."""
        self.depth = depth


class _Reader:
    """Walks through a document, and records the required paths that it meets."""

    def __init__(self, params: XmlParams) -> None:
        self._params = params
        self._allowed = None if params.allowed is None else frozenset(params.allowed)
        self._wanted = _and_above(params.required)
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._around = [_Place("", 0)]
        """The open elements, from the place around the root to the innermost one."""
        self._may_end_early = False
        """Whether the other elements can be skipped once the root and all required elements were met."""
        self.seen: set[str] = set()
        self.fault = ""
        self.message = ""

    def read(self, text: str) -> None:
        """Read a document.

        Raises:
            Unreadable: the text is no such document.
        """
        self._may_end_early = self._allowed is None and _is_shallow(text)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = _refuse
        try:
            self._parser.Parse(text, True)
        except (expat.ExpatError, UnicodeEncodeError) as error:
            raise Unreadable("not_readable", str(error)) from error
        finally:
            self._look_away()

    def _look_away(self) -> None:
        """Stop handling elements. This also breaks the circle of references between this reader and the parser."""
        self._parser.StartElementHandler = self._parser.EndElementHandler = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        around = self._around[-1]
        element = around.get(name)
        self._around.append(self._met(around, name) if element is None else element)

    def _met(self, around: _Place, full_name: str) -> _Place:
        """The place of an element that is met below `around` for the first time."""
        if around.depth >= MAX_DEPTH:
            raise Unreadable("too_deep")
        name = full_name.rpartition("}")[2]
        if around.depth == 0 and self._params.root not in (None, name):
            self.fault, self.message = "wrong_root", f"the root must be {self._params.root}, not {name}"
        if self._allowed is not None and name not in self._allowed and not self.fault:
            self.fault, self.message = "unexpected_element", f"the element {name} is not allowed"
        element = around[full_name] = _Place(self._path(around.path, name), around.depth + 1)
        if self._may_end_early and len(self.seen) == len(self._wanted):
            self._look_away()
        return element

    def _path(self, parent: str | None, name: str) -> str | None:
        if parent is None or len(name) > _MAX_PATH_CHARS:
            return None
        path = f"{parent}/{name}" if parent else name
        if path not in self._wanted:
            return None
        self.seen.add(path)
        return path

    def _end(self, name: str) -> None:
        self._around.pop()


def _is_shallow(text: str) -> bool:
    """Whether the text has too few opening tags for nesting that is too deep."""
    tags = text.count("<")
    return tags <= MAX_DEPTH or tags - text.count("</") <= MAX_DEPTH


@remember(64)
def _and_above(paths: tuple[str, ...]) -> frozenset[str]:
    steps = (path.split("/") for path in paths)
    return frozenset("/".join(names[: count + 1]) for names in steps for count in range(len(names)))


def _refuse(*_: object) -> NoReturn:
    raise Unreadable("not_readable", "document type declarations are refused")


EXAMPLES = (
    Example(
        "<a><b>1</b><c x='2'/></a>", {"required": ["a/b"]}, 1.0, "correct", "well-formed, with the required element"
    ),
    Example("<a>1</a><b>2</b>", {}, 0.0, "not_readable", "two roots"),
    Example("<a><b></a></b>", {}, 0.0, "not_readable", "looks balanced, but the elements cross"),
    Example("<a/>", {"root": "b"}, 0.0, "wrong_root", "another root"),
    Example("<a>b/c</a>", {"required": ["a/b"]}, 0.0, "missing_element", "text is not an element"),
    Example(
        "<!DOCTYPE a [<!ENTITY l 'lol'>]><a>&l;</a>",
        {},
        0.0,
        "not_readable",
        "declarations are refused, so entities cannot multiply",
    ),
)

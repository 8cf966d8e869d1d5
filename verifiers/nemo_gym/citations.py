"""A server that looks at the citations of an answer alone: citation_if."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.commitment import takes_back
from verifiers.nemo_gym.patterns import compile_all
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers

_ATTEMPT: Final = re.compile(r"citation_[A-Za-z0-9_:]+", re.IGNORECASE)
"""Whatever looks like the name of a source, right or wrong."""
_TAGS: Final = (re.compile(r"<cite\b", re.IGNORECASE), re.compile(r"</cite\s{0,100}>", re.IGNORECASE))
_SOURCES: Final = {"full_source": r"citation_[0-9]+", "snippet": r"citation_[0-9]+:snippet_[0-9]+"}
_MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "cite_xml": ("<cite>", "</cite>"),
    "ascii_brackets": (r"\[", r"\]"),
    "claim_wrap_xml": ('<cite index="', '">(.*?)</cite>'),
    "fullwidth_brackets": ("【", "】"),
    "ref_colon": (r"\[ref:", r"\]"),
    "double_angle": ("<<", ">>"),
    "web_brackets": (r"\[web:", r"\]"),
    "paren_part": (r"\(", r"\)"),
    "markdown_footnote": (r"\[\^", r"\]"),
    "curly_double": (r"\{\{", r"\}\}"),
    "angle_pipe": (r"<ref\|", ">"),
}
"""What stands before and after the sources, by the grammar."""
_LISTS: Final = frozenset(["cite_xml", "claim_wrap_xml"])
"""Grammars of tags, which hold lists of sources, too."""


def citation_if(rollout: Rollout) -> Judgement:
    """Well-formed citations of the right sources and no others; or none at all, where the row wants none.

    A citation without an answer earns nothing, and neither does a call.
    """
    rule = rollout.get("verifier", dict)
    grammar, mode = str(rule.get("grammar")), rule.get("mode", "cite")
    if grammar not in _MARKS:
        raise InvalidItem("bad_row", f"the row's 'verifier.grammar' must be one of {', '.join(_MARKS)}")
    if mode not in ("cite", "no_cite"):
        raise InvalidItem("bad_row", "the row's 'verifier.mode' must be cite or no_cite")
    valid, expected = set(_names(rule, "valid_id_set") or ()), _names(rule, "expected_ids")
    min_citations, slack = _count(rule, "min_valid_citations"), _count(rule, "expected_slack")
    pattern = _pattern(rule, grammar)
    text = rollout.text
    if not text or rollout.calls:
        return Judgement(0.0, None, "no_answer" if not text else "call_unexpected")
    spans = list(_spans(pattern, grammar, text))
    cited = list(dict.fromkeys(source for span in spans for source in span.group(1).split(",")))
    if mode == "no_cite":
        marked = bool(spans) or (grammar in _LISTS and bool(_TAGS[0].search(text)))
        return Judgement(float(not marked and not _ATTEMPT.search(text)), None, "citation_unexpected")
    right = [source for source in cited if source in valid]
    wrong = _fault(text, spans, grammar) or _wrong_sources(cited, right, expected, min_citations, slack)
    return Judgement(float(wrong is None), ",".join(cited), wrong or "wrong_citation")


SERVERS: Final[Servers] = {"citation_if": citation_if}


def _pattern(rule: Mapping[str, Any], grammar: str) -> Any:
    kind = rule.get("id_kind", "full_source")
    source = rule.get("id_regex") or _SOURCES.get(str(kind), _SOURCES["full_source"])
    if not isinstance(source, str):
        raise InvalidItem("bad_row", "the row's 'verifier.id_regex' must be text")
    opening, closing = _MARKS[grammar]
    tail = f"(?:,(?:{source}))*" if grammar in _LISTS else ""
    citation = f"{opening}((?:{source}){tail}){closing}"
    (compiled,) = compile_all([citation], "verifier.id_regex", dot_all=grammar == "claim_wrap_xml")
    if compiled.groups != (2 if grammar == "claim_wrap_xml" else 1):
        raise InvalidItem("bad_row", "the row's 'verifier.id_regex' must have no groups; write (?:...)")
    return compiled


def _spans(pattern: Any, grammar: str, text: str) -> Sequence[Any]:
    spans = pattern.finditer(text)
    if grammar == "claim_wrap_xml":
        return [span for span in spans if span.group(2).strip()]
    if grammar == "ascii_brackets":  # with (...) behind it, it is a link
        return [span for span in spans if not text.startswith("(", span.end())]
    return list(spans)


def _fault(text: str, spans: Sequence[Any], grammar: str) -> str | None:
    """Why the form of the citations is wrong."""
    answer, uncited = _blanked(text, spans, keeps_claim=True), _blanked(text, spans, keeps_claim=False)
    if not re.search(r"\w", answer) or (spans and takes_back(text[spans[-1].start() :])):
        return "no_answer"
    if _ATTEMPT.search(uncited):
        return "malformed_citation"
    if grammar in _LISTS and any(len(tag.findall(text)) != len(spans) for tag in _TAGS):
        return "malformed_citation"
    return None


def _blanked(text: str, spans: Sequence[Any], *, keeps_claim: bool) -> str:
    """The text with a blank for each citation, or for all of it but its claim."""
    pieces, end = [], 0
    for span in spans:
        claim = span.group(2) if keeps_claim and span.re.groups > 1 else ""
        pieces += [text[end : span.start()], " ", claim, " "]
        end = span.end()
    return "".join([*pieces, text[end:]])


def _wrong_sources(
    cited: Sequence[str], right: Sequence[str], expected: Sequence[str] | None, min_citations: int, slack: int
) -> str | None:
    if len(right) < min_citations:
        return "no_citation"
    if len(right) < len(cited):
        return "wrong_citation"
    if expected is not None and (set(expected) - set(right) or len(right) > len(set(expected)) + slack):
        return "wrong_citation"
    return None


def _names(rule: Mapping[str, Any], name: str) -> list[str] | None:
    values = rule.get(name)
    if values is not None and not (isinstance(values, list) and all(isinstance(value, str) for value in values)):
        raise InvalidItem("bad_row", f"the row's 'verifier.{name}' must be a list of texts")
    return values


def _count(rule: Mapping[str, Any], name: str) -> int:
    value = rule.get(name, 1)
    if not isinstance(value, int):
        raise InvalidItem("bad_row", f"the row's 'verifier.{name}' must be a whole number")
    return value

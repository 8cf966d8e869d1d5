"""HTML emphasis, which some models write instead of asterisks (`The answer is <b>12</b>.`), struck-out text, and calls."""

import re

from verifiers.commitment.spans import behind_thinking
from verifiers.sightings import Scan

_INLINE = "b|strong|i|em|u|ins|mark|span|font|big|small|code|tt|kbd|samp|var"
_BLOCKS = "p|div|center|h[1-6]|li|ul|ol"
_MAY_BE = re.compile(rf"<(?:/(?:{_INLINE}|{_BLOCKS})\s{{0,4}}|br\s{{0,4}}/?)>", re.IGNORECASE)
"""A closing tag or a line break; most texts have neither."""
_TAG = re.compile(rf"<(?P<closes>/?)(?P<name>{_INLINE}|{_BLOCKS}|br)(?:\s[^<>\n]{{0,200}})?/?>", re.IGNORECASE)
_VISIBLE = re.compile(r"\S")
_BLOCK = re.compile(rf"</?(?:{_BLOCKS}|br)(?![A-Za-z\d])", re.IGNORECASE)
_TILDES = r"(?<![^\s(\[*_\"'“>：，。])~~(?=[^\s~,;])[^~\n]{1,400}(?<![\s,;:=(])~~(?![\w~\\$])"
_STRUCK_TAGS = r"<(?P<name>del|strike)>[^<>\n]{1,400}</(?P=name)>|(?<=[^\n<])<s>(?=[^\s<])[^<>\n]{1,400}</s>"
_UNSEEN = r"(?:hidden|display:\s?none|(?<![-\w])color:\s?(?:white|#fff))"
_LOOKS = r"(?![^<>\n]{0,160}background)[^<>\n]{0,80}"
_HIDDEN_TAG = rf"<(?P<shut>[a-z]{{1,10}})\s{_LOOKS}{_UNSEEN}[^<>\n]{{0,80}}>[^<>\n]{{1,400}}</(?P=shut)>"
_REMARKS = r"<!--[\s\S]{0,600}?-->|\\if(?:false|0)(?![a-z])[\s\S]{0,600}?\\fi(?![a-z])"
_COMMENT = r"\\begin\{comment\}[\s\S]{0,600}?\\end\{comment\}"
_RUN = r"(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,400}"
_STRUCK_COMMANDS = rf"\\(?:sout|hcancel|enclose\{{[a-z]{{1,20}}strike\}})\s?\{{{_RUN}\}}"
_WHITE = rf"(?<!\}}\{{)\\(?:text)?color\{{white\}}(?:\s?\{{{_RUN}\}}|{_RUN})"
_BRACKETED = r"\[(?P<bb>s|strike|strikethrough|del)\][^\[\]\n]{1,400}\[/(?P=bb)\]"
_COMMENT_LINE = r"\[//\]:\s?#[^\n]{0,400}"
_COMMANDS = "|".join([_STRUCK_COMMANDS, _WHITE])
_STRUCK = re.compile(
    "|".join([_TILDES, _STRUCK_TAGS, _HIDDEN_TAG, _REMARKS, _COMMENT, _COMMANDS, _BRACKETED, _COMMENT_LINE])
)
_MAY_HIDE = Scan(r"~~|</(?:s|del>)|<!--| hidden|style=|color\{white\}|\[/|\\(?:if|sout|hcancel|enclose)|\{comment\}")
"""What struck-out or hidden text holds; most texts have none of it. `<s>` at the start of a line may be a chat token; `~` is
a space in LaTeX and a tone in chats."""
_END_OF_MESSAGE = re.compile(
    r"</s>|<(?:eo[a-z]{1,2}|end_of_[a-z]{2,12})>|<[|｜](?:im_end|eot_id|end[_▁]?of[_▁]?(?:text|turn|sentence))[|｜]>"
)
"""The tokens behind a message, by which a model that runs on begins another one: `<eoa>`, `<|im_end|>`, `<end_of_turn>`."""
_STEP = r"(?m)^(?P<label>[*_]{0,2}(?:Action[ \d]{0,3}:[*_ ]{0,3})?)"
_CALLED = r"(?:\w{0,12}?(?i:answer|finish)\((?:\w{1,12}=)?(?=[\"'\dA-Z$\\−-])|(?:[Ff]inish|Answer)\[)"
_GIVEN = (
    r"(?P<quote>[\"']?)(?P<value>(?:[^()\[\]\n]|\([^()\[\]\n]{0,80}\)){1,400}?)(?P=quote)[)\]](?=[.*_]{0,3}[^\S\n]*$)"
)
_CALL = re.compile(_STEP + _CALLED + _GIVEN)
"""A line that is the last step of an agent: `Action: Answer("C")`, `Finish[Paris]` (ReAct), `final_answer(42)` (smolagents)."""


def _as_line(call: re.Match[str]) -> str:
    lead = "Answer:".rjust(call.start("value") - call.end("label"))
    return call["label"] + lead + call["value"] + " " * (call.end() - call.end("value"))


def _as_end(token: re.Match[str]) -> str:
    return "\n".ljust(len(token[0]))


def without_struck(text: str) -> str:
    """A text of the same length, with spaces in place of text that is struck out or hidden: `~~12~~ 13`, `<!-- 12 -->`."""
    if not any(sign in text for sign in ("<", "~", "\\", "[/")):
        return text
    start = behind_thinking(text)
    if not _MAY_HIDE.is_in(text[start:].encode("utf-8", "surrogatepass")):
        return text
    return text[:start] + _STRUCK.sub(lambda struck: " " * len(struck[0]), text[start:])


def without_html(text: str) -> str:
    """A text of the same length, with spaces in place of the tags that only change its looks.

    These are pairs of tags with content, and line breaks. Other tags may be the subject of the text, or inequalities.
    Struck-out text (`without_struck`), indices and powers (`<sub>`, `<sup>`) stay as they are: their tags carry
    meaning. A call that gives an answer becomes an answer line, and a token that ends a message the end of a line.
    """
    if "nswer(" in text or "inish(" in text or "nswer[" in text or "inish[" in text:
        text = _CALL.sub(_as_line, text)
    first = text.find("<")
    if first >= 0 and "<|im_start|>" not in text:  # which names the part of the message behind it
        text = _END_OF_MESSAGE.sub(_as_end, text)
    if first < 0 or _MAY_BE.search(text, first, text.rfind(">") + 1) is None:
        return text
    pieces: list[str] = []
    position = 0
    for start, end in sorted(_mere_looks(text, first)):
        is_block = _BLOCK.match(text, start) is not None
        pieces += (text[position:start], ("\n" if is_block else " ") + " " * (end - start - 1))
        position = end
    return "".join((*pieces, text[position:]))


def _mere_looks(text: str, first: int) -> list[tuple[int, int]]:
    """The spans of line breaks, and of tags around content."""
    spans: list[tuple[int, int]] = []
    still_open: dict[str, list[tuple[int, int]]] = {}
    for tag in _TAG.finditer(text, first):
        name, span = tag["name"].lower(), tag.span()
        if name == "br":
            spans.append(span)
        elif not tag["closes"]:
            still_open.setdefault(name, []).append(span)
        elif extents := still_open.get(name):
            opening = extents.pop()
            if _VISIBLE.search(text, opening[1], span[0]):
                spans += (opening, span)
    return spans

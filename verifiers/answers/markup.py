"""HTML's emphasis, which models write where others write asterisks: `The answer is <b>12</b>.`"""

import re

_INLINE = "b|strong|i|em|u|ins|mark|span|font|big|small|code|tt|kbd|samp|var"
_BLOCKS = "p|div|center|h[1-6]|li|ul|ol"
_MAY_BE = re.compile(rf"<(?:/(?:{_INLINE}|{_BLOCKS})\s{{0,4}}|br\s{{0,4}}/?)>", re.IGNORECASE)
"""A tag that closes another, or a line break; most texts have neither."""
_TAG = re.compile(rf"<(?P<closes>/?)(?P<name>{_INLINE}|{_BLOCKS}|br)(?:\s[^<>\n]{{0,200}})?/?>", re.IGNORECASE)
_VISIBLE = re.compile(r"\S")
_BLOCK_NAMES = frozenset(["p", "div", "center", "br", *(f"h{level}" for level in range(1, 7)), "li", "ul", "ol"])


def without_html(text: str) -> str:
    """A text of the same length with space in place of the tags that change a text's looks only.

    Those are pairs with something in them, and line breaks; other tags may be what is spoken of, or inequalities. Struck-out text
    (`<s>`, `<del>`), indices and powers (`<sub>`, `<sup>`) stay as they are: there the tag says something.
    """
    first = text.find("<")
    if first < 0 or _MAY_BE.search(text, first, text.rfind(">") + 1) is None:
        return text
    tags = list(_TAG.finditer(text))
    pieces: list[str] = []
    position = 0
    for tag in sorted(_paired(text, tags), key=lambda tag: tag.start()):
        is_block = tag["name"].lower() in _BLOCK_NAMES
        pieces += (text[position : tag.start()], ("\n" if is_block else " ") + " " * (len(tag[0]) - 1))
        position = tag.end()
    return "".join((*pieces, text[position:]))


def _paired(text: str, tags: list[re.Match[str]]) -> list[re.Match[str]]:
    """Line breaks, and the tags around something."""
    found: list[re.Match[str]] = []
    still_open: dict[str, list[re.Match[str]]] = {}
    for tag in tags:
        name = tag["name"].lower()
        if name == "br":
            found.append(tag)
        elif not tag["closes"]:
            still_open.setdefault(name, []).append(tag)
        elif opened := still_open.get(name):
            opening = opened.pop()
            if _VISIBLE.search(text, opening.end(), tag.start()):
                found += (opening, tag)
    return found

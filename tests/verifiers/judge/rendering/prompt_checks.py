"""Checks that hold for every rendered prompt, whatever its data."""

import re

from verifiers.judge.rendering import Rendered
from verifiers.judge.rendering.neutral import SECTIONS, has_control_tokens, has_hidden

_OPENS = re.compile(rf"^<<<({'|'.join(SECTIONS)}) ([0-9a-f]{{12}})$", re.MULTILINE)
_ANY_FENCE = re.compile(
    r"[<＜]{3}[^\S\n]*(?:question|reference|response|criteria|steps)|[>＞]{3}[^\S\n]*(?:question|reference|response|criteria|steps)",
    re.IGNORECASE,
)


def sections(rendered: Rendered) -> dict[str, str]:
    """The data of each section. It fails if a section is not fenced exactly once, or if data holds a tag or a fence."""
    user = rendered.messages[1]["content"]
    found: dict[str, str] = {}
    for name, tag in _OPENS.findall(user):
        begin, end = f"<<<{name} {tag}\n", f"\n>>>{name} {tag}"
        assert user.count(begin) == user.count(end) == 1, name
        assert name not in found
        body = user[user.index(begin) + len(begin) : user.index(end)]
        assert tag not in body
        assert not _ANY_FENCE.search(body)
        found[name] = body
    assert len(_ANY_FENCE.findall(user)) == 2 * len(found)
    return found


def frame(rendered: Rendered, attacked: str) -> str:
    """The prompt without the attacked data, and without the tags that depend on it."""
    user = rendered.messages[1]["content"]
    for name, body in sections(rendered).items():
        if name.lower().startswith(attacked):
            user = re.sub(rf"{name} [0-9a-f]{{12}}", name, user.replace(f"\n{body}\n>>>{name}", f"\n>>>{name}"))
    return user


def check_structure(rendered: Rendered, benign: Rendered, attacked: str) -> None:
    assert [message["role"] for message in rendered.messages] == ["system", "user"]
    assert rendered.messages[0] == benign.messages[0]
    if attacked.startswith("response"):
        assert frame(rendered, "response") == frame(benign, "response")
    user = rendered.messages[1]["content"]
    assert not has_control_tokens(user)
    assert not has_hidden(user)
    user.encode()

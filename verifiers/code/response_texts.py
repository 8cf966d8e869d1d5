"""Prepares tests about a text response: they get the response as the value of a name, never by substitution.

The placeholder `{response}` in test code becomes the name if it stands for an expression. In a string it is replaced
when the test runs; in an f-string it already means the name.
"""

import io
import json
import re
import tokenize

from verifiers.base import InvalidItem

NAME = "response"
DATA_FILE = "response.json"
PROOF_FILE = "finished.txt"
"""Written with the nonce of this run at the end of the test, so that leaving early is not pass."""
PLACEHOLDER = "{response}"

TEST_FILE = "test_response.py"
LOADER = f"""\
import json
def test():
    with open({DATA_FILE!r}, encoding="utf-8") as file:
        response, nonce = json.load(file)
    with open({TEST_FILE!r}, encoding="utf-8") as file:
        code = compile(file.read(), {TEST_FILE!r}, "exec")
    exec(code, {{{NAME!r}: response, "__name__": "__main__"}})
    with open({PROOF_FILE!r}, "w", encoding="utf-8") as file:
        file.write(nonce)
test()
"""


def bound_to_name(code: str, where: str) -> str:
    """The test code with the placeholder as a name.

    Raises:
        InvalidItem: the code cannot be read.
    """
    marked = code.replace(PLACEHOLDER, _MARK)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(marked).readline))
    except (tokenize.TokenError, SyntaxError, ValueError) as error:
        raise InvalidItem("unparseable_tests", f"{where}: the test code is not Python: {error}") from error
    lines = marked.splitlines(keepends=True)
    for token in reversed(tokens):
        if token.type == tokenize.STRING and _MARK in token.string:
            _replace(lines, token, _rewritten(token.string))
    return "".join(lines).replace(_MARK, NAME)


def data(response: str, nonce: str) -> bytes:
    """The content of `DATA_FILE`."""
    return json.dumps([response, nonce]).encode()


_MARK = "__rewardline_response__"
_STRING = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<rest>.*)", re.DOTALL)


def _rewritten(string: str) -> str:
    match = _STRING.fullmatch(string)
    assert match is not None
    original = string.replace(_MARK, PLACEHOLDER)
    if "f" in match["prefix"].lower():
        return original
    suffix = ".encode()" if "b" in match["prefix"].lower() else ""
    return f"({original}.replace({'b' if suffix else ''}{PLACEHOLDER!r}, {NAME}{suffix}))"


def _replace(lines: list[str], token: tokenize.TokenInfo, new: str) -> None:
    (first, start), (last, end) = token.start, token.end
    text = "".join(lines[first - 1 : last])
    stop = len("".join(lines[first - 1 : last - 1])) + end
    lines[first - 1 : last] = [text[:start] + new + text[stop:]]

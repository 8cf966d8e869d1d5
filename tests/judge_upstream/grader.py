"""An honest judge in a thread: a model server that reads the fenced parts of its prompts and grades them.

reference   A where the reference is the last thing the response says, else B
criteria    1 for a criterion whose last word the response has, 0.5 for one whose first word it has, else 0; of a list of
            answers, the one that is so far from the worst
quality     as many points as the response has words, from 1 to 10
pairwise    the longer response; the first, where both are equally long
steps       the first step with a `!` in it, else 0

It is also a reward model at `/classify`: 20 where the response has the last word of the question, else -20; the length of a text.
At `/v1/embeddings` the vector of a text has the numbers of its letters a, b and c.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.judge_upstream.reward_servers import values_of

_SECTION = re.compile(r"^<<<([A-Z_]+) ([0-9a-f]{12})\n(.*?)\n>>>\1 \2$", re.MULTILINE | re.DOTALL)
MODES = ("reference", "criteria", "quality", "pairwise", "compare", "listwise", "steps")
_NUMBER = re.compile(r"^\(\d+\) ")
_WORDS = re.compile(r"\w+")
_CRITERION = re.compile(r"\n?^- ", re.MULTILINE)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, *_: object) -> None:
        """Ignore callers that disconnect."""


class Grader:
    """The server; `with` starts and stops it."""

    def __init__(self, answer: Callable[[dict[str, str]], str] | None = None) -> None:
        """`answer` gives the reply to the sections of a prompt. The default is an honest verdict."""
        self.answer = answer or honest
        self.prompts: list[str] = []
        self.calls: Counter[str] = Counter()
        """The number of calls, by path and mode."""
        self.trouble: Callable[[int], tuple[int, str] | None] = lambda number: None
        """The status and the body that a call gets instead of a verdict."""
        grader = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                doors = {"/classify": grader._rewards, "/v1/embeddings": grader._vectors}
                answer = doors.get(self.path, grader._respond)
                status, content = answer(body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def reset(self) -> None:
        """Make the judge honest again, and forget all calls."""
        self.answer, self.trouble = honest, lambda number: None
        self.prompts.clear()
        self.calls.clear()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def file(self, folder: Path, **parts: Any) -> Path:
        """A configuration with this judge for every mode, and with this reward model. `parts` override it; other pools have
        no reward model.
        """
        profiles = {mode: {"mode": mode, "pool": "judges"} for mode in MODES}
        endpoint = {"base_url": self.url, "model": "grader", "health": {"probe": False}}
        content: dict[str, Any] = {
            "endpoints": {"grader": endpoint},
            "pools": {"judges": {"members": ["grader"]}},
            "profiles": profiles,
        }
        if not {"endpoints", "pools"} & parts.keys():
            content["endpoints"]["rewards"] = {**endpoint, "protocol": "vllm_classify"}
            content["pools"]["rewards"] = {"members": ["rewards"]}
            content["reward_models"] = {"greeting": {"pool": "rewards", "map": {"kind": "sigmoid"}}}
        path = folder / "judges.yaml"
        path.write_text(json.dumps({**content, **parts}), encoding="utf-8")
        return path

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _rewards(self, body: dict[str, Any]) -> tuple[int, bytes]:
        self.calls["/classify"] += 1
        failure = self.trouble(self.calls["/classify"])
        if failure is not None:
            return failure[0], failure[1].encode()
        return 200, json.dumps(values_of("vllm_classify", body, _greeted)).encode()

    def _vectors(self, body: dict[str, Any]) -> tuple[int, bytes]:
        self.calls["/v1/embeddings"] += 1
        failure = self.trouble(self.calls["/v1/embeddings"])
        if failure is not None:
            return failure[0], failure[1].encode()
        vectors = [[text.count(letter) for letter in "abc"] for text in body["input"]]
        return 200, json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(vectors)]}).encode()

    def _respond(self, body: dict[str, Any]) -> tuple[int, bytes]:
        text = "\n".join(str(message["content"]) for message in body["messages"])
        sections = {name: content for name, _, content in _SECTION.findall(text)}
        if not sections:
            return 200, _completion('{"reasoning": "hello", "verdict": "A"}')
        self.calls[_mode(sections)] += 1
        self.prompts.append(text)
        failure = self.trouble(len(self.prompts))
        if failure is not None:
            return failure[0], failure[1].encode()
        return 200, _completion(self.answer(sections))


def _greeted(messages: Any) -> float:
    if isinstance(messages, str):
        return float(len(messages))
    question, response = (str(message["content"]) for message in messages[-2:])
    words = _WORDS.findall(question.casefold())
    return 20.0 if set(words[-1:]) & set(_WORDS.findall(response.casefold())) else -20.0


def _mode(sections: dict[str, str]) -> str:
    for name, mode in (("CRITERIA", "criteria"), ("RESPONSE_B", "pairwise"), ("STEPS", "steps")):
        if name in sections:
            return mode
    return "reference" if "REFERENCE" in sections else "quality"


def honest(sections: dict[str, str]) -> str:
    """A verdict by the rules above, in the form that the prompts ask for."""
    response = sections.get("RESPONSE", "")
    mode = _mode(sections)
    if mode == "criteria":
        blocks = [block.partition("\n    answers: ") for block in _CRITERION.split(sections["CRITERIA"]) if block]
        scores = []
        for named, _, answers in blocks:
            name, _, text = named.partition(": ")
            met, choices = _met(text, response), answers.split(" | ") if answers else []
            score = choices[round(met * (len(choices) - 1))] if choices else met
            scores.append({"id": name, "reason": "seen", "score": score})
        return json.dumps({"criteria": scores})
    if mode == "pairwise":
        first, second = sections["RESPONSE_A"], sections["RESPONSE_B"]
        return json.dumps({"reasoning": "length", "winner": "B" if len(second) > len(first) else "A"})
    if mode == "steps":
        wrong = [int(line.partition("|")[0]) for line in sections["STEPS"].splitlines() if "!" in line]
        return json.dumps({"reasoning": "looked", "first_error": wrong[0] if wrong else 0})
    if mode == "quality":
        return json.dumps({"reasoning": "counted", "score": min(10, max(1, len(_WORDS.findall(response))))})
    said = _WORDS.findall(response.casefold())
    wanted = [_WORDS.findall(_NUMBER.sub("", line.casefold())) for line in sections["REFERENCE"].splitlines()]
    verdict = "A" if any(said[-len(words) :] == words for words in wanted) else "B"
    return json.dumps({"reasoning": "compared", "verdict": verdict})


def _met(criterion: str, response: str) -> float:
    words = _WORDS.findall(criterion.casefold())
    said = set(_WORDS.findall(response.casefold()))
    return 1.0 if words[-1] in said else 0.5 if words[0] in said else 0.0


def _completion(content: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return json.dumps(
        {"id": "g", "object": "chat.completion", "model": "grader", "choices": [choice], "usage": usage}
    ).encode()

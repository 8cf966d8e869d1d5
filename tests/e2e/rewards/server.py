"""transformers behind the paths of vLLM and OpenRLHF: `server.py FOLDER`, a folder of `models.py`. Prints its port, ends with its input.

`/classify` and `/get_reward` give the logits of `scalar`; `/pooling` gives the logits of `steps` at each separator, as vLLM's
pooling type STEP does. Each text is computed by itself, so that its values do not depend on the others.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from models import SEPARATOR  # type: ignore[import-not-found]  # it lies beside this script
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer


class Engine:
    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder / "scalar")
        self.scalar = AutoModelForSequenceClassification.from_pretrained(folder / "scalar").eval()
        self.steps = AutoModelForTokenClassification.from_pretrained(folder / "steps").eval()
        self.separator = self.tokenizer.convert_tokens_to_ids(SEPARATOR)
        self.lock = threading.Lock()

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        texts: list[str] = body.get("query") or body.get("input") or []
        if "messages" in body:
            texts = [self.tokenizer.apply_chat_template(body["messages"], tokenize=False)]
        with self.lock, torch.no_grad():
            if path == "/pooling":
                return _data("data", [self._step_rows(text) for text in texts])
            rows = [self.scalar(**self._encoded(text)).logits[0].tolist() for text in texts]
        if path == "/classify":
            return _data("probs", rows)
        return {"rewards": [row[0] for row in rows], "scores": [row[0] for row in rows]}

    def _encoded(self, text: str) -> Any:
        return self.tokenizer(text, return_tensors="pt", truncation=True)

    def _step_rows(self, text: str) -> Any:
        encoded = self._encoded(text)
        logits = self.steps(**encoded).logits[0]
        return logits[encoded["input_ids"][0] == self.separator].tolist()


def _data(name: str, rows: list[Any]) -> dict[str, Any]:
    return {"object": "list", "data": [{"index": at, name: row} for at, row in enumerate(rows)]}


def main(folder: Path) -> None:
    engine = Engine(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(engine.answer(self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
